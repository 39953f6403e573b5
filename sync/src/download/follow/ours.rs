//! What is known here of the blocks near the head.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use cairn_chain::BlockId;

use crate::view::ChainView;

/// Blocks that are remembered as handed on; more than a fork database may hold.
const MOST_FED: usize = 20_000;
/// A block above the head that was handed on so long ago and has not become the head was lost or refused.
const LOST: Duration = Duration::from_secs(5);

/// The chain that this node has, as it is published.
pub(in crate::download) trait OurChain: Debug + Send + Sync {
    /// The last applied block.
    fn head(&self) -> BlockId;
    /// The last block that cannot be taken back.
    fn irreversible(&self) -> BlockId;
    /// Whether a block is the last irreversible one or an applied one above it.
    fn has(&self, id: &BlockId) -> bool;
}

impl OurChain for ChainView {
    fn head(&self) -> BlockId {
        self.heads().head.map_or(BlockId::ZERO, |head| head.id)
    }

    fn irreversible(&self) -> BlockId {
        self.heads().irreversible.map_or(BlockId::ZERO, |head| head.id)
    }

    fn has(&self, id: &BlockId) -> bool {
        let heads = self.heads();
        let irreversible = heads.irreversible.map_or(BlockId::ZERO, |head| head.id);
        let held = heads.reversible.get(id.number());
        *id == irreversible || held.is_some_and(|held| held.block.id() == *id)
    }
}

/// A block that was handed on.
#[derive(Debug)]
struct Fed {
    peer: Arc<str>,
    since: Instant,
}

/// The blocks of this node's chain, and those that were handed to the writer and link to them.
///
/// What becomes of the latter is the writer's to say: one that comes back as unlinked or refused is forgotten, and those
/// that it casts doubt on.
#[derive(Clone, Debug)]
pub(in crate::download) struct Known {
    ours: Arc<dyn OurChain>,
    /// Ids sort by number.
    fed: Arc<Mutex<BTreeMap<BlockId, Fed>>>,
}

impl Known {
    pub(in crate::download) fn new(ours: Arc<dyn OurChain>) -> Self {
        Self {
            ours,
            fed: Arc::default(),
        }
    }

    pub(in crate::download) fn ours(&self) -> &dyn OurChain {
        &*self.ours
    }

    fn fed(&self) -> MutexGuard<'_, BTreeMap<BlockId, Fed>> {
        self.fed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a block need not be fetched, and blocks that name it as their parent link to this node's.
    pub(in crate::download) fn has(&self, id: &BlockId) -> bool {
        self.fed().contains_key(id) || self.ours.has(id)
    }

    /// A block that links to a known one was handed on.
    pub(super) fn was_fed(&self, id: BlockId, peer: &Arc<str>, now: Instant) {
        let mut fed = self.fed();
        let new = Fed {
            peer: Arc::clone(peer),
            since: now,
        };
        fed.insert(id, new);
        if fed.len() > MOST_FED {
            fed.pop_first();
        }
    }

    /// A block is not here after all. Whether it had been handed on from here.
    pub(super) fn forget(&self, id: &BlockId) -> bool {
        self.fed().remove(id).is_some()
    }

    /// A block that this peer had sent under its number was refused: neither it nor what the peer sent behind it is here.
    ///
    /// The bytes may have been another block's than the id that they went by, which an honest peer's block has as well.
    pub(super) fn forget_of(&self, peer: &str, number: u32) {
        self.fed()
            .retain(|id, fed| id.number() < number || &*fed.peer != peer);
    }

    /// A block's parent is not here. If it was handed on, it is not known how much of the branch below it got lost: all of
    /// that is asked for again if it is wanted, and what is here does no harm a second time.
    pub(super) fn is_missing(&self, parent: &BlockId) {
        let mut fed = self.fed();
        if fed.remove(parent).is_some() {
            fed.retain(|id, _| id.number() > parent.number());
        }
    }

    /// Forgets what has become irreversible, and what seems to be lost.
    pub(super) fn tidy(&self, now: Instant) {
        let (head, irreversible) = (self.ours.head().number(), self.ours.irreversible().number());
        self.fed().retain(|id, fed| {
            let lost = id.number() > head && now.saturating_duration_since(fed.since) > LOST;
            id.number() > irreversible && !lost
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug)]
    struct AtRoot;

    impl OurChain for AtRoot {
        fn head(&self) -> BlockId {
            BlockId::ZERO
        }

        fn irreversible(&self) -> BlockId {
            BlockId::ZERO
        }

        fn has(&self, id: &BlockId) -> bool {
            *id == BlockId::ZERO
        }
    }

    fn id(number: u32, branch: u8) -> BlockId {
        let mut bytes = [branch; 20];
        bytes[..4].copy_from_slice(&number.to_be_bytes());
        BlockId(bytes)
    }

    /// Blocks 1 to 9 of two branches; of the first branch "a" has sent what is below 5, and "b" the rest.
    fn known() -> Known {
        let (known, now) = (Known::new(Arc::new(AtRoot)), Instant::now());
        for number in 1..10 {
            let sender = if number < 5 { "a" } else { "b" };
            known.was_fed(id(number, 1), &Arc::from(sender), now);
            known.was_fed(id(number, 2), &Arc::from("c"), now);
        }
        known
    }

    fn here(known: &Known, branch: u8) -> Vec<u32> {
        (1..10).filter(|number| known.has(&id(*number, branch))).collect()
    }

    #[test]
    fn what_a_peer_sent_behind_a_refused_block_is_forgotten() {
        let known = known();
        known.forget_of("b", 7);
        assert_eq!(here(&known, 1), [1, 2, 3, 4, 5, 6]);
        known.forget_of("a", 1);
        assert_eq!(here(&known, 1), [5, 6]);
        assert_eq!(here(&known, 2).len(), 9, "another peer's");
    }

    #[test]
    fn below_a_missing_block_nothing_is_taken_for_granted() {
        let known = known();
        known.is_missing(&id(6, 3));
        assert_eq!(
            (here(&known, 1).len(), here(&known, 2).len()),
            (9, 9),
            "nobody said that it was here"
        );
        known.is_missing(&id(6, 1));
        assert_eq!(here(&known, 1), [7, 8, 9]);
        assert_eq!(here(&known, 2), [7, 8, 9]);
    }
}
