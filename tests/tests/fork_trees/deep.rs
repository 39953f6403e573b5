//! Forks of two hundred blocks, and a chain that has no majority at all.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use cairn_chain::{AccountName, BlockId};
use cairn_node::devnet::{ChainShape, RawBlock, Step, Tree};
use cairn_sync::pipeline::Origin;
use cairn_sync::writer::{MAX_REVERSIBLE_BLOCKS, SetAside, Taken, WriterError};
use cairn_tests::chains::faction;

use crate::world::{Forward, Library, Node, TRUNK, shape};

#[test]
fn a_fork_200_blocks_deep_is_switched_to_and_back() {
    let shape = shape(7);
    let mut library = Library::new(&shape);
    let mut tree = Tree::new(shape);
    let spec = Arc::clone(&library.spec);
    let mut node = Node::new(&spec);
    let mut judge = Forward::new(&spec);
    let trunk: Vec<BlockId> = tree
        .grow(BlockId::ZERO, 2 * TRUNK)
        .into_iter()
        .map(|raw| library.add(raw))
        .collect();
    for id in &trunk {
        judge.apply(&library, id);
        node.take(&library, id);
    }
    let base = *trunk.last().unwrap();
    let producers: BTreeSet<AccountName> = trunk[TRUNK as usize..]
        .iter()
        .map(|id| library.blocks[id].0.witness)
        .collect();
    let witnesses: Vec<AccountName> = producers.into_iter().collect();
    assert_eq!(witnesses.len(), 21);
    // Two halves of the witnesses that do not hear of each other: neither has three quarters.
    let mut add =
        |blocks: Vec<RawBlock>| -> Vec<BlockId> { blocks.into_iter().map(|raw| library.add(raw)).collect() };
    let left = add(faction(&mut tree, base, 200, &witnesses[..10]));
    let right = add(faction(&mut tree, base, 201, &witnesses[10..]));
    left.iter()
        .for_each(|id| assert!(matches!(node.take(&library, id), Taken::Applied)));
    let kept = node.chain.kept_head();
    assert!(kept.number <= base.number(), "{kept:?}");
    for id in &right[..200] {
        assert!(matches!(node.take(&library, id), Taken::Held));
    }
    assert_eq!(node.chain.head().id, left[199]);
    assert!(matches!(node.take(&library, &right[200]), Taken::Applied));
    assert_eq!(node.chain.head().id, right[200]);
    // The halves find each other again, on the left branch.
    let joined: Vec<BlockId> = tree
        .grow(left[199], 60)
        .into_iter()
        .map(|raw| library.add(raw))
        .collect();
    let taken = node.take(&library, &joined[0]);
    assert!(matches!(taken, Taken::Held), "equally high: {taken:?}");
    for id in &joined[1..] {
        assert!(matches!(node.take(&library, id), Taken::Applied));
    }
    assert_eq!(node.meter.fork_switches.load(Relaxed), 2);
    node.chain.commit().unwrap();
    let kept = node.chain.kept_head();
    assert!(kept.number > left[199].number(), "{kept:?}");
    for id in left.iter().chain(&joined).filter(|id| id.number() <= kept.number) {
        judge.apply(&library, id);
    }
    assert_eq!((kept, node.durable_digest()), judge.digest());
    // The right branch is dead now: nobody is wrong who sends it, and it does not come back.
    for id in [right[0], right[100], right[200]] {
        let taken = node.take(&library, &id);
        assert!(
            matches!(taken, Taken::SetAside(SetAside::DeadFork { .. })),
            "{taken:?}"
        );
    }
}

#[test]
fn a_chain_without_majority_ends_with_a_clear_stop() {
    let shape = ChainShape {
        witnesses: 4,
        missed_slots: 0,
        transactions: (0, 0),
        ..ChainShape::small(5)
    };
    let mut library = Library::new(&shape);
    let mut tree = Tree::new(shape);
    let spec = Arc::clone(&library.spec);
    let mut node = Node::new(&spec);
    let trunk = tree.grow(BlockId::ZERO, TRUNK);
    let witnesses: BTreeSet<AccountName> = trunk.iter().map(|raw| raw.witness).collect();
    let two: Vec<AccountName> = witnesses.into_iter().take(2).collect();
    let mut at = BlockId::ZERO;
    for raw in trunk {
        at = library.add(raw);
        node.take(&library, &at);
    }
    let before = node.chain.kept_head();
    assert!(before.number >= TRUNK - 4, "{before:?}");
    let mut tip = tree.tip(at).unwrap().clone();
    let stopped = loop {
        // Three of four are needed, and two are at work.
        let by = |missed: u32| tip.clone().grow(&Step { missed: Some(missed) }).witness;
        let missed = (0..8).find(|missed| two.contains(&by(*missed)));
        let id = library.add(tip.grow(&Step { missed }));
        match node.chain.take(library.prepared(&id), &Origin::BlockLog) {
            Ok(taken) => assert!(matches!(taken, Taken::Applied), "{taken:?}"),
            Err(error) => break error,
        }
        library.blocks.clear();
    };
    let WriterError::TooManyReversible {
        blocks, irreversible, ..
    } = &stopped
    else {
        panic!("{stopped}");
    };
    assert_eq!(*blocks, MAX_REVERSIBLE_BLOCKS + 1);
    let kept = node.chain.kept_head();
    assert_eq!(*irreversible, kept.number);
    assert!(kept.number < before.number + 4, "{kept:?}");
    let text = stopped.to_string();
    assert!(
        text.contains("too few of the scheduled witnesses") && text.contains("--checkpoint"),
        "{text}"
    );
    // What is durable is whole all the same.
    node.chain.commit().unwrap();
    let node = node.reopen(&spec);
    assert_eq!(node.chain.head(), kept);
}
