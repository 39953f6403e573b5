//! The fork database beside a slow twin that keeps every block in a list and works everything out anew.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::*;

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
            let applied = database.held.values().filter(|held| held.vote.is_some());
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
