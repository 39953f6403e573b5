//! The fork database beside a slow twin that keeps every block in a list and works everything out anew.

use std::collections::{BTreeMap, BTreeSet};

use cairn_chain::{AccountName, BlockId};
use cairn_rules::Finality;
use proptest::prelude::*;

use super::*;

#[derive(Clone, Debug, PartialEq, Eq)]
struct Block {
    id: BlockId,
    previous: BlockId,
    witness: AccountName,
    bytes: usize,
}

impl ForkBlock for Block {
    fn id(&self) -> BlockId {
        self.id
    }

    fn previous(&self) -> BlockId {
        self.previous
    }

    fn witness(&self) -> AccountName {
        self.witness
    }

    fn bytes(&self) -> usize {
        self.bytes
    }
}

fn id(number: u32, tail: u32) -> BlockId {
    let mut bytes = [0; 20];
    bytes[..4].copy_from_slice(&number.to_be_bytes());
    bytes[4..8].copy_from_slice(&tail.to_le_bytes());
    BlockId(bytes)
}

fn witness(n: usize) -> AccountName {
    AccountName::from(format!("witness{n}").as_str())
}

fn root() -> BlockId {
    id(100, 0)
}

fn child(parent: BlockId, tail: u32, by: usize) -> Block {
    Block {
        id: id(parent.number() + 1, tail),
        previous: parent,
        witness: witness(by),
        bytes: 10 + tail as usize,
    }
}

/// Goes to the highest block as the writer does; `invalid` are those that cannot be applied.
fn follow(database: &mut ForkDatabase<Block>, invalid: &BTreeSet<BlockId>) {
    let before = database.head();
    loop {
        let target = match database.longer() {
            Some(longer) if longer.number() > before.number() => longer,
            _ if database.head() != before && database.head().number() <= before.number() => before,
            _ => return,
        };
        let route = database.route(&target).unwrap();
        while database.head().number() > route.fork_point {
            database.taken_back();
        }
        for id in route.branch {
            if invalid.contains(&id) {
                assert!(database.refuse(&id, "invalid").is_some());
                break;
            }
            database.applied(&id, true);
        }
    }
}

fn line(
    database: &mut ForkDatabase<Block>,
    from: BlockId,
    count: u32,
    tail: u32,
    by: impl Fn(u32) -> usize,
) -> BlockId {
    let mut at = from;
    for n in 0..count {
        let block = child(at, tail, by(n));
        at = block.id;
        assert_eq!(database.push(block), Push::Linked);
    }
    at
}

#[test]
fn the_longer_branch_wins_and_of_equal_ones_the_first() {
    let mut database = ForkDatabase::new(root());
    let none = BTreeSet::new();
    let first = line(&mut database, root(), 3, 1, |_| 1);
    follow(&mut database, &none);
    assert_eq!(database.head(), first);
    let second = line(&mut database, root(), 3, 2, |_| 2);
    follow(&mut database, &none);
    assert_eq!(database.head(), first, "equally long");
    let longer = line(&mut database, second, 1, 2, |_| 2);
    assert_eq!(database.route(&longer).unwrap().fork_point, 100);
    follow(&mut database, &none);
    assert_eq!(database.head(), longer);
    assert_eq!((database.main_len(), database.side_len()), (4, 3));
}

#[test]
fn an_invalid_block_brings_the_old_head_back_and_is_remembered() {
    let mut database = ForkDatabase::new(root());
    let old = line(&mut database, root(), 5, 1, |_| 1);
    follow(&mut database, &BTreeSet::new());
    // The third of six is invalid.
    let bad = id(103, 2);
    line(&mut database, root(), 6, 2, |_| 2);
    follow(&mut database, &BTreeSet::from([bad]));
    assert_eq!(database.head(), old);
    assert_eq!(&**database.refusal(&bad).unwrap(), "invalid");
    let again = child(id(102, 2), 2, 2);
    assert!(matches!(database.push(again), Push::Refused(reason) if &*reason == "invalid"));
    let descendant = child(id(105, 2), 2, 2);
    assert!(matches!(database.push(descendant), Push::Refused(reason) if reason.contains("block 103")));
    let unheard_of = child(id(106, 2), 9, 2);
    assert!(matches!(database.push(unheard_of), Push::Refused(_)));
    // Equally high as the old head when the invalid one is met: still the old one.
    line(&mut database, root(), 6, 3, |_| 2);
    follow(&mut database, &BTreeSet::from([id(106, 3)]));
    assert_eq!(database.head(), old);
}

#[test]
fn blocks_wait_for_their_parent_and_not_for_ever() {
    let mut database = ForkDatabase::new(root());
    let mut blocks = Vec::new();
    let mut at = root();
    for tail in 0..MAX_UNLINKED_BLOCKS as u32 + 10 {
        blocks.push(child(at, tail, 1));
        at = blocks[blocks.len() - 1].id;
    }
    for block in blocks[1..].iter().rev() {
        assert_eq!(database.push(block.clone()), Push::Unlinked);
    }
    assert_eq!(database.unlinked_len(), MAX_UNLINKED_BLOCKS);
    assert_eq!(database.push(blocks[5].clone()), Push::Known);
    assert_eq!(database.push(blocks[0].clone()), Push::Linked);
    follow(&mut database, &BTreeSet::new());
    // The highest ones came first and had to make room.
    assert_eq!(database.main_len(), MAX_UNLINKED_BLOCKS + 1);
    assert_eq!(database.unlinked_len(), 0);
}

#[test]
fn what_is_not_above_the_root_is_too_old() {
    let mut database = ForkDatabase::new(root());
    assert_eq!(database.push(child(id(99, 5), 5, 1)), Push::TooOld);
    assert_eq!(
        database.push(child(id(100, 5), 5, 1)),
        Push::TooOld,
        "its parent is not the root"
    );
    assert_eq!(database.push(child(id(98, 5), 5, 1)), Push::TooOld);
    let root_itself = child(id(99, 0), 0, 1);
    assert_eq!(
        (root_itself.id, database.push(root_itself)),
        (root(), Push::Known)
    );
}

#[test]
fn three_quarters_of_the_witnesses_make_a_block_irreversible_and_kill_other_forks() {
    let mut database = ForkDatabase::new(root());
    let finality = Finality::Votes {
        witnesses: (0..4).map(witness).collect(),
        needed: 3,
    };
    let none = BTreeSet::new();
    // A fork of two blocks, by witness 3.
    line(&mut database, root(), 2, 9, |_| 3);
    follow(&mut database, &none);
    assert_eq!(database.irreversible(&finality), 100);
    line(&mut database, root(), 4, 1, |n| n as usize % 3);
    follow(&mut database, &none);
    // Witnesses 1, 2, 0 have 102, 103, 104; witness 3 has voted for the other fork, that is for the root only.
    assert_eq!(database.irreversible(&finality), 102);
    let gone: Vec<u32> = database
        .advance(102)
        .iter()
        .map(|block| block.id.number())
        .collect();
    assert_eq!(gone, [101, 102]);
    assert_eq!(
        (database.root(), database.main_len(), database.side_len()),
        (id(102, 1), 2, 0)
    );
    assert_eq!(
        database.push(child(id(103, 9), 9, 3)),
        Push::Unlinked,
        "the fork is not known any more"
    );
    assert_eq!(database.push(child(id(101, 1), 9, 3)), Push::TooOld);
    assert_eq!(database.irreversible(&finality), 102, "it never goes back");
}

#[test]
fn a_block_that_was_never_applied_has_no_vote() {
    let mut database = ForkDatabase::new(root());
    let finality = Finality::Votes {
        witnesses: (0..3).map(witness).collect(),
        needed: 3,
    };
    let head = line(&mut database, root(), 6, 1, |n| n as usize % 3);
    follow(&mut database, &BTreeSet::new());
    assert_eq!(database.irreversible(&finality), 104);
    // Anybody can write three names on blocks.
    let forged = line(&mut database, id(101, 1), 4, 7, |n| n as usize % 3);
    assert_eq!(forged.number(), 105);
    assert_eq!(database.irreversible(&finality), 104);
    assert_eq!(database.head(), head);
}

#[test]
fn a_block_without_a_vote_confirms_nothing() {
    let mut database = ForkDatabase::new(root());
    let finality = Finality::Producers {
        needed: 3,
        within: 42,
    };
    line(&mut database, root(), 6, 1, |n| n as usize);
    for number in 101..=106 {
        // The fourth, fifth and sixth witness are not known from before.
        database.applied(&id(number, 1), number <= 103);
        let expected = if number >= 103 { 101 } else { 100 };
        assert_eq!(database.irreversible(&finality), expected, "at {number}");
    }
}

#[test]
fn without_the_schedule_only_the_last_two_rounds_count() {
    let mut database = ForkDatabase::new(root());
    let finality = Finality::Producers {
        needed: 3,
        within: 42,
    };
    // Two witnesses at the beginning, then one alone for longer than two rounds, then a third.
    line(&mut database, root(), 60, 1, |n| n.min(2) as usize);
    follow(&mut database, &BTreeSet::new());
    assert_eq!(database.irreversible(&finality), 100);
    line(&mut database, id(160, 1), 1, 1, |_| 0);
    follow(&mut database, &BTreeSet::new());
    assert_eq!(
        database.irreversible(&finality),
        100,
        "the second one's vote is too old"
    );
    line(&mut database, id(161, 1), 1, 1, |_| 1);
    follow(&mut database, &BTreeSet::new());
    assert_eq!(database.irreversible(&finality), 160);
}

#[test]
fn in_the_mining_era_depth_is_enough() {
    let mut database = ForkDatabase::new(root());
    let finality = Finality::Depth(21);
    line(&mut database, root(), 30, 1, |_| 1);
    follow(&mut database, &BTreeSet::new());
    assert_eq!(database.irreversible(&finality), 109);
    database.advance(109);
    assert_eq!(database.irreversible(&finality), 109);
}

#[test]
fn a_branch_that_has_just_become_the_longest_is_not_cut() {
    let mut database = ForkDatabase::new(root());
    let block = |parent, tail| Block {
        bytes: MAX_SIDE_BYTES / 10,
        ..child(parent, tail, 1)
    };
    // Other branches fill the room.
    for tail in 100..109 {
        database.push(block(root(), tail));
    }
    follow(&mut database, &BTreeSet::new());
    let mut at = root();
    for tail in 1..12 {
        let next = block(at, tail);
        at = next.id;
        database.push(next);
        follow(&mut database, &BTreeSet::new());
        assert!(database.side_len() * (MAX_SIDE_BYTES / 10) <= MAX_SIDE_BYTES);
    }
    assert_eq!(database.head(), at);
}

#[test]
fn side_branches_are_bounded_and_the_main_branch_stays() {
    let mut database = ForkDatabase::new(root());
    let head = line(&mut database, root(), 50, 0, |_| 1);
    follow(&mut database, &BTreeSet::new());
    for tail in 1..=(MAX_SIDE_BLOCKS as u32 + 500) {
        database.push(child(id(120, 0), tail, 2));
        assert!(database.side_len() <= MAX_SIDE_BLOCKS);
    }
    assert_eq!((database.head(), database.main_len()), (head, 50));
    assert!(database.side_len() > MAX_SIDE_BLOCKS / 2);
    let mut database = ForkDatabase::new(root());
    for tail in 1..10 {
        let block = Block {
            bytes: MAX_SIDE_BYTES / 4,
            ..child(root(), tail, 2)
        };
        database.push(block);
        assert!(database.bytes() <= MAX_SIDE_BYTES);
    }
}

#[test]
fn refused_ids_are_bounded() {
    let mut database = ForkDatabase::new(root());
    for tail in 0..MAX_REFUSED as u32 + 100 {
        database.push(child(root(), tail, 2));
        database.refuse(&id(101, tail), "invalid");
    }
    assert_eq!(database.refused_len(), MAX_REFUSED);
    assert!(database.refusal(&id(101, 0)).is_none());
}

/// Every block that was pushed and not forgotten.
#[derive(Debug)]
struct Twin {
    root: BlockId,
    pushed: BTreeMap<BlockId, Block>,
    applied: BTreeSet<BlockId>,
    /// Invalid ones that were found out, and of those that are forgotten also what continued them.
    refused: BTreeSet<BlockId>,
}

impl Twin {
    fn new() -> Self {
        Self {
            root: root(),
            pushed: BTreeMap::new(),
            applied: BTreeSet::new(),
            refused: BTreeSet::new(),
        }
    }

    /// The block itself, its parent and so on, down to the root or to a block that is not here.
    fn line(&self, of: BlockId) -> Vec<BlockId> {
        let parent = |at: &BlockId| match *at == self.root {
            true => None,
            false => self.pushed.get(at).map(|block| block.previous),
        };
        std::iter::successors(Some(of), parent).collect()
    }

    fn is_refused(&self, of: BlockId) -> bool {
        self.line(of).iter().any(|id| self.refused.contains(id))
    }

    fn is_linked(&self, of: BlockId) -> bool {
        self.line(of).last() == Some(&self.root) && !self.is_refused(of)
    }

    fn waits(&self, of: BlockId) -> bool {
        self.line(of).last() != Some(&self.root) && !self.is_refused(of)
    }

    fn bytes(&self, which: impl Fn(BlockId) -> bool) -> usize {
        self.pushed
            .values()
            .filter(|block| which(block.id))
            .map(|block| block.bytes)
            .sum()
    }

    /// `None`: a witness has made two blocks at its highest height, so that either may be its vote.
    fn irreversible(&self, voters: &[AccountName], needed: usize, head: BlockId) -> Option<u32> {
        let mut votes = Vec::new();
        for voter in voters {
            let own = || {
                self.applied
                    .iter()
                    .filter(|id| self.pushed[*id].witness == *voter)
            };
            let Some(highest) = own().map(|id| id.number()).max() else {
                continue;
            };
            let newest: Vec<&BlockId> = own().filter(|id| id.number() == highest).collect();
            let [newest] = newest[..] else { return None };
            votes.push(self.line(*newest));
        }
        let confirmed = |id: &BlockId| votes.iter().filter(|vote| vote.contains(id)).count() >= needed;
        let found = self.line(head).into_iter().find(confirmed);
        Some(found.unwrap_or(self.root).number())
    }

    fn advance(&mut self, root: BlockId) {
        let waiting: BTreeSet<BlockId> = self
            .pushed
            .keys()
            .filter(|id| self.waits(**id))
            .copied()
            .collect();
        let refused: Vec<BlockId> = self
            .pushed
            .keys()
            .filter(|id| self.is_refused(**id))
            .copied()
            .collect();
        self.refused.extend(refused);
        let irreversible = self.line(root);
        self.pushed.retain(|id, _| !irreversible.contains(id));
        self.root = root;
        let linked: BTreeSet<BlockId> = self
            .pushed
            .keys()
            .filter(|id| self.is_linked(**id))
            .copied()
            .collect();
        self.pushed
            .retain(|id, _| linked.contains(id) || (waiting.contains(id) && id.number() > root.number()));
        self.applied.retain(|id| self.pushed.contains_key(id));
    }
}

fn check(database: &ForkDatabase<Block>, twin: &Twin, finality: &Finality) {
    let head = database.head();
    let linked: BTreeSet<BlockId> = twin
        .pushed
        .keys()
        .filter(|id| twin.is_linked(**id))
        .copied()
        .collect();
    let held: BTreeSet<BlockId> = database.held.keys().copied().collect();
    assert_eq!(held, linked);
    let highest = linked
        .iter()
        .map(BlockId::number)
        .max()
        .unwrap_or(twin.root.number());
    assert_eq!(head.number(), highest);
    let mut main: Vec<BlockId> = database.main_branch().map(|block| block.id).collect();
    main.reverse();
    main.push(twin.root);
    assert_eq!(main, twin.line(head));
    let waiting = twin.pushed.keys().filter(|id| twin.waits(**id)).count();
    assert_eq!(database.unlinked_len(), waiting);
    assert_eq!(database.main_bytes(), twin.bytes(|id| main.contains(&id)));
    let bytes = twin.bytes(|id| held.contains(&id) || twin.waits(id));
    assert_eq!(database.bytes(), bytes);
    let Finality::Votes { witnesses, needed } = finality else {
        unreachable!()
    };
    if let Some(expected) = twin.irreversible(witnesses, *needed, head) {
        assert_eq!(database.irreversible(finality), expected);
    }
}

/// A block of a tree: its parent among those before it, whether that is the last one, its witness, whether it is invalid.
type Sprout = (prop::sample::Index, bool, usize, bool);

fn sprouts() -> impl Strategy<Value = Vec<Sprout>> {
    let sprout = (
        any::<prop::sample::Index>(),
        prop::bool::weighted(0.8),
        0..4_usize,
        prop::bool::weighted(0.08),
    );
    prop::collection::vec(sprout, 1..60)
}

fn tree(sprouts: Vec<Sprout>) -> (Vec<Block>, BTreeSet<BlockId>) {
    let mut blocks: Vec<Block> = Vec::new();
    let mut invalid = BTreeSet::new();
    for (tail, (parent, continues_last, by, is_invalid)) in (1..).zip(sprouts) {
        let parent = match blocks.last() {
            Some(last) if continues_last => last.id,
            _ => parent
                .index(blocks.len() + 1)
                .checked_sub(1)
                .map_or(root(), |at| blocks[at].id),
        };
        let block = child(parent, tail, by);
        if is_invalid {
            invalid.insert(block.id);
        }
        blocks.push(block);
    }
    (blocks, invalid)
}

proptest! {
    #[test]
    fn any_tree_in_any_order_is_followed_as_the_twin_does(
        (blocks, invalid) in sprouts().prop_map(tree),
        keys in prop::collection::vec(any::<u32>(), 60),
        advance_every in 3..20_usize,
    ) {
        let mut order: Vec<usize> = (0..blocks.len()).collect();
        order.sort_by_key(|at| keys[*at]);
        let finality = Finality::Votes { witnesses: (0..4).map(witness).collect(), needed: 3 };
        let mut database = ForkDatabase::new(root());
        let mut twin = Twin::new();
        for (count, at) in order.into_iter().enumerate() {
            let block = &blocks[at];
            let push = database.push(block.clone());
            prop_assert_eq!(push == Push::TooOld, block.id.number() <= twin.root.number()
                || block.previous.number() == twin.root.number() && block.previous != twin.root);
            if push == Push::TooOld {
                continue;
            }
            twin.pushed.insert(block.id, block.clone());
            prop_assert_eq!(matches!(push, Push::Refused(_)), twin.is_refused(block.id));
            prop_assert_eq!(push == Push::Unlinked, twin.waits(block.id));
            follow(&mut database, &invalid);
            twin.refused.extend(invalid.iter().filter(|id| database.refusal(id).is_some()));
            let applied = database.held.values().filter(|held| held.votes);
            twin.applied.extend(applied.map(|held| held.block.id));
            check(&database, &twin, &finality);
            prop_assert_ne!(database.push(block.clone()), Push::Linked);
            if count % advance_every == 0 {
                let number = database.irreversible(&finality);
                database.advance(number);
                twin.advance(database.root());
                check(&database, &twin, &finality);
            }
        }
    }
}
