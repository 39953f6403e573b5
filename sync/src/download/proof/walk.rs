//! The way down from a checkpoint, header by header.
//!
//! ```text
//!   below ... | not asked for | asked for | arrived, not proven yet | known (skeleton) | checkpoint
//!                                                                   ^ lowest known id
//! ```
//! Ranges are asked for downwards, of several peers at once, and prove themselves from the top: a range counts when its
//! last header has the known id.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use cairn_chain::BlockId;

use super::headers::{HeaderRun, MAX_HEADERS};
use super::skeleton::{Skeleton, SkeletonError};
use crate::download::scheduler::ChunkId;

/// Ranges that may be asked for or have arrived ahead of the lowest known id: what bounds the memory of a walk (80 KiB a
/// range).
const AHEAD: u32 = 16;

/// A range that is asked for.
#[derive(Debug)]
struct Asked {
    peer: Arc<str>,
    first: u32,
    last: u32,
    since: Instant,
}

#[derive(Debug)]
struct Arrived {
    peer: Arc<str>,
    run: HeaderRun,
}

/// What a step of the walk has brought.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Finding {
    /// A peer's headers contradict what is proven.
    Lie {
        peer: Arc<str>,
        number: u32,
        expected: BlockId,
        found: BlockId,
    },
    /// A peer's header at the checkpoint itself has another id.
    AgainstCheckpoint { peer: Arc<str>, found: BlockId },
    /// A peer's header has the checkpoint's id.
    ForCheckpoint,
    /// The walk has come down; the lowest header names this id as the block before.
    Complete(BlockId),
}

#[derive(Debug)]
pub(super) struct Walk {
    skeleton: Skeleton,
    /// The last block below the walk.
    below: u32,
    asked: BTreeMap<ChunkId, Asked>,
    /// By their last number.
    arrived: BTreeMap<u32, Arrived>,
    /// How often each peer did not answer in time, or with less than it was asked for.
    failures: BTreeMap<Arc<str>, u32>,
}

impl Walk {
    pub(super) fn new(skeleton: Skeleton, below: u32) -> Self {
        Self {
            skeleton,
            below,
            asked: BTreeMap::new(),
            arrived: BTreeMap::new(),
            failures: BTreeMap::new(),
        }
    }

    /// Begins anew with nothing but the checkpoint.
    ///
    /// # Errors
    /// When the file cannot be cut.
    pub(super) fn restart(&mut self) -> Result<(), SkeletonError> {
        self.asked.clear();
        self.arrived.clear();
        self.skeleton.reset()
    }

    /// How often a peer has disappointed this walk; others are preferred.
    pub(super) fn failures(&self, peer: &str) -> u32 {
        self.failures.get(peer).copied().unwrap_or(0)
    }

    fn disappointed(&mut self, peer: Arc<str>) {
        *self.failures.entry(peer).or_default() += 1;
    }

    /// The range that the walk waits for, if the one peer that was asked for it takes long: with that peer.
    pub(super) fn lagging(&self, limit: Instant) -> Option<((u32, u32), Arc<str>)> {
        let lowest = self.skeleton.lowest();
        let mut asked = self.asked.values().filter(|asked| asked.last == lowest);
        let (only, None) = (asked.next()?, asked.next()) else {
            return None;
        };
        (only.since < limit).then(|| ((only.first, only.last), Arc::clone(&only.peer)))
    }

    /// If the skeleton already reaches down: the id that it has for the block below.
    pub(super) fn known_below(&mut self) -> Result<Option<BlockId>, SkeletonError> {
        if self.below == 0 {
            return Ok(None); // Nothing is known of block 0 but by the header of block 1.
        }
        self.skeleton.id(self.below)
    }

    /// The lowest proven number: what the walk waits for.
    pub(super) fn lowest(&self) -> u32 {
        self.skeleton.lowest()
    }

    pub(super) fn into_skeleton(mut self) -> Skeleton {
        self.skeleton.forget_cached();
        self.skeleton
    }

    /// The next range to ask for, first and last block.
    pub(super) fn wanted(&self) -> Option<(u32, u32)> {
        let lowest = self.skeleton.lowest();
        let mut last = lowest;
        // Ranges are made downwards without holes between them, so that the first uncovered number is the next one.
        loop {
            let asked = self
                .asked
                .values()
                .find(|asked| asked.last == last)
                .map(|a| a.first);
            let arrived = self.arrived.get(&last).map(|arrived| arrived.run.first());
            match asked.or(arrived) {
                Some(first) => last = first - 1,
                None => break,
            }
        }
        if last <= self.below || lowest - last >= AHEAD * MAX_HEADERS {
            return None;
        }
        // Not into a range that is there already: it began at its last header, which may lie above.
        let floor = self
            .asked
            .values()
            .map(|asked| asked.last)
            .chain(self.arrived.keys().copied())
            .filter(|taken| *taken < last)
            .max()
            .unwrap_or(self.below)
            .max(self.below);
        let first = (floor + 1).max(last.saturating_sub(MAX_HEADERS - 1));
        Some((first, last))
    }

    pub(super) fn ask(&mut self, id: ChunkId, peer: Arc<str>, range: (u32, u32), now: Instant) {
        let (first, last) = range;
        self.asked.insert(
            id,
            Asked {
                peer,
                first,
                last,
                since: now,
            },
        );
    }

    /// Whether a request is one of this walk's.
    pub(super) fn has(&self, id: ChunkId) -> bool {
        self.asked.contains_key(&id)
    }

    /// Whether `peer` is asked for something now.
    pub(super) fn is_busy(&self, peer: &str) -> bool {
        self.asked.values().any(|asked| &*asked.peer == peer)
    }

    /// Requests that were made before `limit`.
    pub(super) fn asked_before(&self, limit: Instant) -> Vec<(ChunkId, Arc<str>, u32)> {
        self.asked
            .iter()
            .filter(|(_, asked)| asked.since < limit)
            .map(|(id, asked)| (*id, Arc::clone(&asked.peer), asked.last))
            .collect()
    }

    /// A request has ended without an answer.
    pub(super) fn give_up(&mut self, id: ChunkId) {
        if let Some(asked) = self.asked.remove(&id) {
            self.disappointed(asked.peer);
        }
    }

    /// Takes what a peer has sent.
    pub(super) fn take(&mut self, id: ChunkId, run: HeaderRun) {
        let Some(asked) = self.asked.remove(&id) else {
            return; // Given up before; somebody else was asked.
        };
        let last = run.last();
        if last < asked.last {
            self.disappointed(Arc::clone(&asked.peer));
        }
        if last <= self.skeleton.lowest() {
            let peer = asked.peer;
            self.arrived.entry(last).or_insert(Arrived { peer, run });
        }
    }

    /// Throws away what a peer has sent and is asked for.
    pub(super) fn drop_of(&mut self, peer: &str) {
        self.arrived.retain(|_, arrived| &*arrived.peer != peer);
        self.asked.retain(|_, asked| &*asked.peer != peer);
    }

    /// Goes down as far as the arrived headers lead. Findings come one at a time; call it again until there is none.
    ///
    /// # Errors
    /// When the skeleton cannot be written; what has arrived is asked for again.
    pub(super) fn descend(&mut self) -> Result<Option<Finding>, SkeletonError> {
        loop {
            let lowest = self.skeleton.lowest();
            // Of a range that was asked for twice the second answer may lie above by now.
            self.arrived.retain(|last, _| *last <= lowest);
            let Some(arrived) = self.arrived.get(&lowest) else {
                return Ok(None);
            };
            let found = arrived.run.last_id().unwrap_or(BlockId::ZERO);
            let expected = self.skeleton.id(lowest)?.unwrap_or(BlockId::ZERO);
            if found != expected {
                let peer = Arc::clone(&arrived.peer);
                self.arrived.remove(&lowest);
                return Ok(Some(if lowest == self.skeleton.top().number {
                    Finding::AgainstCheckpoint { peer, found }
                } else {
                    Finding::Lie {
                        peer,
                        number: lowest,
                        expected,
                        found,
                    }
                }));
            }
            let (first, ids): (u32, Vec<BlockId>) = (arrived.run.first(), arrived.run.below_last().collect());
            let previous = arrived.run.previous;
            let at_top = lowest == self.skeleton.top().number;
            for (number, id) in (first - 1..lowest).rev().zip(ids) {
                if number > self.below
                    && let Err(error) = self.skeleton.push(id)
                {
                    // The ids that were pushed are known for good. What has arrived begins at numbers that are not the
                    // lowest any more, and is asked for again.
                    self.arrived.clear();
                    return Err(error);
                }
            }
            self.arrived.remove(&lowest);
            if first == self.below + 1 {
                return Ok(Some(Finding::Complete(previous)));
            }
            if at_top {
                return Ok(Some(Finding::ForCheckpoint));
            }
        }
    }
}
