//! A thousand random trees, to three nodes each.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use cairn_chain::BlockId;
use cairn_node::devnet::{Step, Tree};
use cairn_sync::writer::{SetAside, Taken};

use crate::world::{Dice, Forward, Library, Node, SEAL, TRUNK, shape};

/// No branch is longer, so that none that loses can become irreversible: that takes 16 witnesses.
const MOST_LEVELS: u32 = 12;

/// Grows a random tree on `base`, and one block more on its highest one. Gives all of its blocks and the winner.
fn random_tree(
    tree: &mut Tree,
    library: &mut Library,
    base: BlockId,
    dice: &mut Dice,
) -> (Vec<BlockId>, BlockId) {
    let mut blocks: Vec<BlockId> = Vec::new();
    let bottom = base.number();
    for _ in 0..5 + dice.below(30) {
        // Mostly on one of the last ones: branches, not bushes.
        let parent = match blocks.len() {
            0 => base,
            count if dice.below(10) < 7 => blocks[count - 1 - dice.below(count.min(3))],
            count => blocks[dice.below(count)],
        };
        let parent = if dice.below(12) == 0 { base } else { parent };
        if parent.number() - bottom >= MOST_LEVELS {
            continue;
        }
        let shared = dice.below(3) as u32;
        blocks.push(library.add(tree.sibling(parent, shared, &Step::default()).unwrap()));
    }
    let highest = *blocks.iter().max_by_key(|id| id.number()).unwrap();
    let winner = library.add(tree.extend(highest, &Step::default()).unwrap());
    blocks.push(winner);
    (blocks, winner)
}

/// The ids from behind `base` up to `head`.
fn branch(library: &Library, base: BlockId, head: BlockId) -> Vec<BlockId> {
    let parent = |id: &BlockId| Some(library.blocks[id].0.previous).filter(|parent| *parent != base);
    let mut branch: Vec<BlockId> = std::iter::successors(Some(head), parent).collect();
    branch.reverse();
    branch
}

/// Blocks in the order of their delivery, some of them twice; what comes from the future comes again.
fn deliver(node: &mut Node, library: &Library, blocks: &[BlockId], dice: &mut Dice) {
    let mut waiting: Vec<BlockId> = blocks.to_vec();
    waiting.extend((0..blocks.len() / 4).map(|_| blocks[dice.below(blocks.len())]));
    dice.shuffle(&mut waiting);
    let times: Vec<u32> = blocks.iter().map(|id| library.time(id)).collect();
    node.clock.0.store(*times.iter().min().unwrap(), Relaxed);
    while !waiting.is_empty() {
        let mut early = Vec::new();
        for id in waiting {
            match node.take(library, &id) {
                Taken::SetAside(SetAside::FromTheFuture { .. }) => early.push(id),
                Taken::Refused(refused) => panic!("{refused:?}"),
                Taken::SetAside(SetAside::DeadFork { .. }) => panic!("{id} is on a dead fork"),
                Taken::Applied | Taken::Held | Taken::Known | Taken::SetAside(SetAside::Unlinked { .. }) => {}
            }
        }
        node.clock.0.fetch_add(20, Relaxed);
        waiting = early;
    }
}

/// Grows `trees` random trees one behind the other, and follows them with several nodes.
fn follow_trees(seed: u64, trees: u32) -> u64 {
    let mut dice = Dice(seed);
    let shape = shape(seed);
    let mut library = Library::new(&shape);
    let mut tree = Tree::new(shape);
    let spec = Arc::clone(&library.spec);
    let mut nodes: Vec<Node> = (0..3).map(|_| Node::new(&spec)).collect();
    let mut judge = Forward::new(&spec);
    let trunk: Vec<BlockId> = tree
        .grow(BlockId::ZERO, TRUNK)
        .into_iter()
        .map(|raw| library.add(raw))
        .collect();
    for id in &trunk {
        judge.apply(&library, id);
        nodes
            .iter_mut()
            .for_each(|node| assert!(matches!(node.take(&library, id), Taken::Applied)));
    }
    let mut base = *trunk.last().unwrap();
    for round in 0..trees {
        let (mut blocks, winner) = random_tree(&mut tree, &mut library, base, &mut dice);
        for node in &mut nodes {
            deliver(node, &library, &blocks, &mut dice);
            assert_eq!(node.chain.head().id, winner, "seed {seed}, tree {round}");
        }
        // With more blocks on top the winner is irreversible, and its state durable.
        let mut at = winner;
        for _ in 0..SEAL {
            at = library.add(tree.extend(at, &Step::default()).unwrap());
            blocks.push(at);
        }
        for node in &mut nodes {
            node.clock.0.store(u32::MAX, Relaxed);
            let mut seal = branch(&library, winner, at);
            dice.shuffle(&mut seal);
            seal.iter().for_each(|id| drop(node.take(&library, id)));
            assert_eq!(node.chain.head().id, at, "seed {seed}, tree {round}");
            node.chain.commit().unwrap();
        }
        let durable = nodes[0].chain.kept_head();
        assert!(durable.number >= winner.number(), "{durable:?}");
        let whole = branch(&library, base, at);
        let kept = whole.iter().take_while(|id| id.number() <= durable.number);
        for id in kept {
            judge.apply(&library, id);
        }
        let expected = judge.digest();
        for node in &mut nodes {
            assert_eq!(
                (node.chain.kept_head(), node.durable_digest()),
                expected,
                "seed {seed}, tree {round}"
            );
            node.check_log(&whole, durable.number);
            node.check_view(&whole);
        }
        for id in whole.iter().filter(|id| id.number() > durable.number) {
            judge.apply(&library, id);
        }
        // The judge went ahead of the nodes only in memory.
        assert_eq!(judge.state.head().id, at);
        base = at;
        if round % 10 == 9 {
            let node = nodes.swap_remove(dice.below(nodes.len()));
            let mut node = node.reopen(&spec);
            assert_eq!(
                node.chain.head(),
                expected.0,
                "what was reversible is gone, and nothing else"
            );
            for id in whole.iter().filter(|id| id.number() > expected.0.number) {
                drop(node.take(&library, id));
            }
            assert_eq!(node.chain.head().id, at);
            nodes.push(node);
        }
        let recent: BTreeSet<BlockId> = blocks.iter().copied().collect();
        library.blocks.retain(|id, _| recent.contains(id));
    }
    nodes
        .iter()
        .map(|node| node.meter.fork_switches.load(Relaxed))
        .sum()
}

#[test]
fn every_node_ends_on_the_longest_branch_of_any_tree() {
    let switches: u64 = (1..=20).map(|seed| follow_trees(seed, 50)).sum();
    println!("1000 trees, 3 nodes each: {switches} switches to another fork");
    assert!(
        switches > 1_000,
        "{switches}: the trees do not test what they are to test"
    );
}
