//! A checkpoint that a peer's chain does not go through: who is wrong?
//!
//! One peer that contradicts the operator's checkpoint may be on another chain; if every peer does, it is the checkpoint
//! that stands alone. So the others are asked for the one header, and nobody is blamed before they have answered.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use cairn_chain::BlockId;

use super::headers::HeaderRun;
use crate::checkpoint::Checkpoint;
use crate::download::network::PeerOffer;
use crate::download::scheduler::ChunkId;

/// An answer that takes longer is none.
const POLL_LIMIT: Duration = Duration::from_secs(10);

#[derive(Debug)]
pub(super) struct Dispute {
    checkpoint: Checkpoint,
    since: Instant,
    votes: BTreeMap<Arc<str>, BlockId>,
    polls: BTreeMap<ChunkId, (Arc<str>, Instant)>,
    silent: BTreeSet<Arc<str>>,
}

/// What an answer means.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Answer {
    /// The peer's chain goes through the checkpoint.
    Agrees,
    /// It does not, like others' before.
    Disagrees,
    /// The bytes are not the header that was asked for.
    Broken(Arc<str>, String),
    /// Not a poll of this dispute.
    Unknown,
}

impl Dispute {
    pub(super) fn new(checkpoint: Checkpoint, now: Instant) -> Self {
        Self {
            checkpoint,
            since: now,
            votes: BTreeMap::new(),
            polls: BTreeMap::new(),
            silent: BTreeSet::new(),
        }
    }

    pub(super) fn vote(&mut self, peer: Arc<str>, found: BlockId) {
        self.votes.insert(peer, found);
    }

    /// The peers that have contradicted the checkpoint.
    pub(super) fn voters(&self) -> impl Iterator<Item = (&Arc<str>, &BlockId)> {
        self.votes.iter()
    }

    /// Peers that serve the block and have not been asked.
    pub(super) fn to_poll<'a>(&'a self, offers: &'a [PeerOffer]) -> impl Iterator<Item = &'a PeerOffer> {
        offers.iter().filter(|offer| {
            offer.serves(self.checkpoint.number)
                && !self.votes.contains_key(&offer.peer)
                && !self.silent.contains(&offer.peer)
                && !self.polls.values().any(|(peer, _)| *peer == offer.peer)
        })
    }

    pub(super) fn polled(&mut self, id: ChunkId, peer: Arc<str>, now: Instant) {
        self.polls.insert(id, (peer, now));
    }

    pub(super) fn has(&self, id: ChunkId) -> bool {
        self.polls.contains_key(&id)
    }

    /// A poll has failed.
    pub(super) fn give_up(&mut self, id: ChunkId) {
        if let Some((peer, _)) = self.polls.remove(&id) {
            self.silent.insert(peer);
        }
    }

    /// Polls that have taken too long.
    pub(super) fn overdue(&self, now: Instant) -> Vec<ChunkId> {
        let late = |since: Instant| now.saturating_duration_since(since) > POLL_LIMIT;
        self.polls
            .iter()
            .filter(|(_, (_, since))| late(*since))
            .map(|(id, _)| *id)
            .collect()
    }

    pub(super) fn answered(&mut self, id: ChunkId, bytes: &[u8]) -> Answer {
        let Some((peer, _)) = self.polls.remove(&id) else {
            return Answer::Unknown;
        };
        match HeaderRun::read(bytes, self.checkpoint.number, 1) {
            Err(what) => Answer::Broken(peer, what),
            Ok(run) => match run.last_id() {
                Some(id) if id == self.checkpoint.id => Answer::Agrees,
                found => {
                    self.votes.insert(peer, found.unwrap_or(BlockId::ZERO));
                    Answer::Disagrees
                }
            },
        }
    }

    /// Whether everybody who could be asked has answered and there was time enough for others to come.
    pub(super) fn is_over(&self, now: Instant, patience: Duration, offers: &[PeerOffer]) -> bool {
        !self.votes.is_empty()
            && self.polls.is_empty()
            && now.saturating_duration_since(self.since) >= patience
            && self.to_poll(offers).next().is_none()
    }

    /// The ids that were found, each with how many peers have it; the most common first.
    pub(super) fn found(&self) -> Vec<(BlockId, usize)> {
        let mut counts: Vec<(BlockId, usize)> = Vec::new();
        for id in self.votes.values() {
            match counts.iter_mut().find(|(known, _)| known == id) {
                Some((_, count)) => *count += 1,
                None => counts.push((*id, 1)),
            }
        }
        counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        counts
    }

    /// Asks everybody again: for `checkpoint-mismatch = wait`.
    pub(super) fn begin_again(&mut self, now: Instant) {
        *self = Self::new(self.checkpoint, now);
    }
}
