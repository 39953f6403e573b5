//! Chains with forks: every branch is valid by itself, and branches contradict each other.

#![allow(
    clippy::unwrap_used,
    missing_docs,
    reason = "a test that cannot go on shall stop"
)]

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use cairn_chain::{AccountName, BlockId, DecodedBlock, Operation, TransactionId};
use cairn_node::devnet::{self, BlocksOptions, ChainShape, RawBlock, Step, Tip, Tree, blocks};
use cairn_rules::{IdentityState, Validation, signatures};
use cairn_state::{Registers, Store, StoreOptions};

const SEED: u64 = 21;

/// A state that follows one branch after the other, in full validation.
struct Node {
    state: IdentityState,
    _folder: tempfile::TempDir,
}

impl Node {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let spec = Arc::new(devnet::chain_spec(SEED));
        let store = Store::open(folder.path(), &StoreOptions::new(spec.chain_id().0)).unwrap();
        let mut state = IdentityState::open(Registers::new(store).unwrap(), spec).unwrap();
        state.set_undo_sessions(true);
        Self {
            state,
            _folder: folder,
        }
    }

    fn apply(&mut self, block: &RawBlock) {
        let spec = Arc::clone(self.state.spec());
        let decoded = DecodedBlock::decode(block.bytes.clone(), spec.symbols).unwrap();
        decoded.check_merkle_root(&spec).unwrap();
        assert_eq!(decoded.id(), block.id);
        let keys = signatures::recover(&decoded, &spec).unwrap();
        let applied = self.state.apply_block(&decoded, Validation::Full(&keys));
        if let Err(error) = applied {
            panic!("{error}");
        }
    }

    fn back_to(&mut self, id: BlockId) {
        while self.state.head().id != id {
            assert!(self.state.undo_block().unwrap());
        }
    }
}

fn decode(block: &RawBlock) -> DecodedBlock {
    DecodedBlock::decode(block.bytes.clone(), devnet::chain_spec(SEED).symbols).unwrap()
}

fn transactions(block: &RawBlock) -> Vec<TransactionId> {
    let decoded = decode(block);
    decoded.block().transactions.iter().map(|t| t.id()).collect()
}

/// A beginning of 45 blocks, with all witnesses at work.
fn trunk() -> (Tree, Vec<RawBlock>) {
    let mut tree = Tree::new(ChainShape::small(SEED));
    let trunk = tree.grow(BlockId::ZERO, 45);
    (tree, trunk)
}

#[test]
fn a_tip_makes_the_blocks_that_many_threads_make() {
    for shape in [
        ChainShape::small(SEED),
        ChainShape {
            missed_slots: 30,
            ..ChainShape::new(SEED)
        },
    ] {
        let options = BlocksOptions {
            shape,
            ..BlocksOptions::new(150)
        };
        let mut tip = Tip::genesis(shape);
        for block in blocks(&options) {
            assert_eq!(tip.grow(&Step::default()), block);
        }
        assert_eq!(tip.number(), 150);
    }
}

#[test]
fn chains_with_any_number_of_witnesses_and_missed_slots_are_valid() {
    for (witnesses, missed_slots) in [(1, 0), (2, 50), (4, 20), (11, 5), (21, 75)] {
        let mut tip = Tip::genesis(ChainShape {
            witnesses,
            missed_slots,
            ..ChainShape::small(SEED)
        });
        let mut node = Node::new();
        let mut producers = HashSet::new();
        let mut missed = 0;
        let mut last = tip.time();
        for _ in 0..400 {
            let block = tip.grow(&Step::default());
            node.apply(&block);
            producers.insert(block.witness);
            missed += (block.time.0 - last.0) / 3 - 1;
            last = block.time;
        }
        let checks = node.state.checks();
        assert_eq!((checks.blocks_signed, checks.slots), (400, 400));
        assert!(checks.undecided.is_empty(), "{checks:?}");
        assert!(checks.transactions > 600);
        assert_eq!(producers.len(), witnesses as usize);
        // So many slots as the chance says, within a third.
        let expected = 400 * missed_slots / (100 - missed_slots);
        assert!(
            missed * 3 >= expected * 2 && missed * 3 <= expected * 4,
            "{missed} of {expected}"
        );
    }
}

#[test]
fn every_branch_is_valid_by_itself() {
    let (mut tree, trunk) = trunk();
    let mut node = Node::new();
    trunk.iter().for_each(|block| node.apply(block));
    // Branches of branches: each starts at some block of one before.
    let mut all: Vec<RawBlock> = trunk;
    for branch in 0..30 {
        let from = all[44 + branch * 3].id;
        let grown = tree.grow(from, 6 + branch as u32 % 7);
        let mut way: Vec<&RawBlock> = grown.iter().collect();
        // From the block that the last branch ended with, back to the trunk, and up again.
        node.back_to(all[44].id);
        let known: HashMap<BlockId, &RawBlock> = all.iter().map(|block| (block.id, block)).collect();
        let mut at = from;
        while at != all[44].id {
            let block = known[&at];
            way.insert(0, block);
            at = block.previous;
        }
        way.iter().for_each(|block| node.apply(block));
        all.extend(grown);
    }
    let ids: HashSet<BlockId> = all.iter().map(|block| block.id).collect();
    assert_eq!(ids.len(), all.len(), "no block is made twice");
    assert!(node.state.checks().undecided.is_empty());
}

#[test]
fn siblings_share_as_many_transactions_as_they_are_asked_to() {
    let (mut tree, trunk) = trunk();
    let mut node = Node::new();
    trunk.iter().for_each(|block| node.apply(block));
    let (mut shared_some, mut at) = (0, trunk[44].id);
    let mut first = tree.extend(at, &Step::default()).unwrap();
    for _ in 0..40 {
        let all = tree.sibling(at, u32::MAX, &Step::default()).unwrap();
        let one = tree.sibling(at, 1, &Step::default()).unwrap();
        assert_ne!(first.id, all.id);
        assert_eq!(transactions(&all), transactions(&first));
        let (first_ids, one_ids) = (transactions(&first), transactions(&one));
        assert_eq!(one_ids.len(), first_ids.len());
        if first_ids.len() > 1 {
            shared_some += 1;
            assert_eq!(one_ids[0], first_ids[0]);
            assert!(one_ids[1..].iter().all(|id| !first_ids.contains(id)));
        }
        let mut next = Vec::new();
        for block in [&first, &all, &one] {
            node.apply(block);
            // What comes next in each branch is its own.
            next.push(tree.extend(block.id, &Step::default()).unwrap());
            node.apply(next.last().unwrap());
            node.back_to(at);
        }
        node.apply(&first);
        at = first.id;
        first = next.swap_remove(0);
    }
    assert!(shared_some > 10);
}

#[test]
fn branches_contradict_each_other() {
    let (mut tree, trunk) = trunk();
    let mut created: Vec<HashMap<AccountName, Vec<u8>>> = Vec::new();
    let mut updated: Vec<HashSet<AccountName>> = Vec::new();
    let mut posted: Vec<HashSet<(AccountName, Vec<u8>)>> = Vec::new();
    for _ in 0..2 {
        let (mut creations, mut updates, mut posts) = (HashMap::new(), HashSet::new(), HashSet::new());
        for block in tree.grow(trunk[44].id, 60) {
            let decoded = decode(&block);
            for operation in decoded.block().transactions.iter().flat_map(|t| &t.operations) {
                match operation {
                    Operation::AccountCreate(create) => {
                        let key = create.owner.key_auths[0].0.as_bytes().to_vec();
                        creations.insert(create.new_account_name, key);
                    }
                    Operation::AccountUpdate(update) => {
                        updates.insert(update.account);
                    }
                    Operation::AccountUpdate2(update) => {
                        updates.insert(update.account);
                    }
                    Operation::Comment(comment) => {
                        posts.insert((comment.author, comment.permlink.as_bytes().to_vec()));
                    }
                    _ => {}
                }
            }
        }
        created.push(creations);
        updated.push(updates);
        posted.push(posts);
    }
    let both: Vec<_> = created[0]
        .iter()
        .filter_map(|(name, key)| Some((key, created[1].get(name)?)))
        .collect();
    assert!(both.len() > 5, "accounts that both branches create");
    assert!(both.iter().all(|(one, other)| one != other), "with other keys");
    assert!(updated[0].intersection(&updated[1]).count() > 5);
    assert!(posted[0].symmetric_difference(&posted[1]).count() > 5);
}

#[test]
fn the_same_calls_make_the_same_blocks() {
    let make = || {
        let (mut tree, trunk) = trunk();
        let mut made = tree.grow(trunk[40].id, 7);
        made.extend(tree.sibling(made[2].id, 2, &Step { missed: Some(3) }));
        made.extend(tree.grow(made[7].id, 3));
        made
    };
    let made = make();
    assert_eq!(made.len(), 11);
    assert_eq!(made, make());
    let (mut tree, _) = trunk();
    assert!(tree.extend(made[3].id, &Step::default()).is_none());
    assert!(tree.grow(made[3].id, 4).is_empty());
}

/// Prints how fast trees are made.
#[test]
fn a_thousand_trees_are_made_in_seconds() {
    let (tree, trunk) = trunk();
    let start = std::time::Instant::now();
    let (mut blocks, mut transactions) = (0, 0);
    for number in 0..1000u32 {
        let mut tree = tree.clone();
        let mut at = trunk[44].id;
        for branch in 0..8 {
            let grown = tree.grow(at, 5);
            blocks += grown.len();
            transactions += grown.iter().map(|block| block.transactions).sum::<u32>();
            at = grown[((number + branch) % 5) as usize].id;
        }
    }
    println!(
        "{blocks} blocks, {transactions} transactions in {:?}",
        start.elapsed()
    );
    assert_eq!(blocks, 40_000);
}
