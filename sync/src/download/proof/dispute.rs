//! A checkpoint that a peer's chain does not go through: who is wrong?
//!
//! One peer that contradicts the operator's checkpoint may be on another chain; if every peer does, it is the checkpoint
//! that stands alone. So the others are asked for the one header, and nobody is blamed before they have answered.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use cairn_chain::BlockId;

use super::headers::HeaderRun;
use crate::checkpoint::Checkpoint;
use crate::download::network::PeerOffer;
use crate::download::scheduler::ChunkId;

/// An answer that takes longer is not waited for; it counts all the same when it comes.
const POLL_LIMIT: Duration = Duration::from_secs(10);
/// A peer that did not answer is asked again after this time,
const ASK_AGAIN: Duration = Duration::from_secs(3);
/// so often.
const ATTEMPTS: u32 = 4;
/// With one contradicting voice among several peers, or while other peers have not come to the block yet, the patience is
/// longer.
const LONG_PATIENCE: u32 = 12;

#[derive(Debug)]
pub(super) struct Dispute {
    checkpoint: Checkpoint,
    since: Instant,
    votes: BTreeMap<Arc<str>, BlockId>,
    polls: BTreeMap<ChunkId, Poll>,
    /// Peers that did not answer: how often, and since when.
    silent: BTreeMap<Arc<str>, (u32, Instant)>,
}

#[derive(Debug)]
struct Poll {
    peer: Arc<str>,
    since: Instant,
    /// It is not waited for any more.
    overdue: bool,
}

impl Dispute {
    pub(super) fn new(checkpoint: Checkpoint, now: Instant) -> Self {
        Self {
            checkpoint,
            since: now,
            votes: BTreeMap::new(),
            polls: BTreeMap::new(),
            silent: BTreeMap::new(),
        }
    }

    pub(super) fn vote(&mut self, peer: Arc<str>, found: BlockId) {
        self.votes.insert(peer, found);
    }

    /// The peers that have contradicted the checkpoint.
    pub(super) fn voters(&self) -> impl Iterator<Item = (&Arc<str>, &BlockId)> {
        self.votes.iter()
    }

    /// Peers that serve the block and are to be asked now.
    pub(super) fn to_poll<'a>(
        &'a self,
        now: Instant,
        offers: &'a [PeerOffer],
    ) -> impl Iterator<Item = &'a PeerOffer> {
        let asked = |peer: &Arc<str>| {
            self.polls
                .values()
                .any(|poll| poll.peer == *peer && !poll.overdue)
        };
        offers.iter().filter(move |offer| {
            let rests = self.silent.get(&offer.peer).is_some_and(|(attempts, since)| {
                *attempts >= ATTEMPTS || now.saturating_duration_since(*since) < ASK_AGAIN
            });
            offer.serves(self.checkpoint.number)
                && !self.votes.contains_key(&offer.peer)
                && !rests
                && !asked(&offer.peer)
        })
    }

    /// Forgets the voices of peers that are gone. False when none is left: there is no dispute any more.
    pub(super) fn hear_only(&mut self, offers: &[PeerOffer]) -> bool {
        self.votes
            .retain(|peer, _| offers.iter().any(|offer| offer.peer == *peer));
        !self.votes.is_empty() || !self.polls.is_empty()
    }

    pub(super) fn polled(&mut self, id: ChunkId, peer: Arc<str>, now: Instant) {
        self.polls.insert(
            id,
            Poll {
                peer,
                since: now,
                overdue: false,
            },
        );
    }

    pub(super) fn has(&self, id: ChunkId) -> bool {
        self.polls.contains_key(&id)
    }

    /// A poll has failed.
    pub(super) fn give_up(&mut self, id: ChunkId, now: Instant) {
        if let Some(poll) = self.polls.remove(&id).filter(|poll| !poll.overdue) {
            self.fell_silent(poll.peer, now);
        }
    }

    /// Does not wait for polls any more that have taken too long.
    pub(super) fn give_up_overdue(&mut self, now: Instant) {
        let mut silent = Vec::new();
        for poll in self.polls.values_mut().filter(|poll| !poll.overdue) {
            if now.saturating_duration_since(poll.since) > POLL_LIMIT {
                poll.overdue = true;
                silent.push(Arc::clone(&poll.peer));
            }
        }
        for peer in silent {
            self.fell_silent(peer, now);
        }
    }

    fn fell_silent(&mut self, peer: Arc<str>, now: Instant) {
        let (attempts, since) = self.silent.entry(peer).or_insert((0, now));
        (*attempts, *since) = (*attempts + 1, now);
    }

    /// Whether the answer agrees with the checkpoint.
    pub(super) fn answered(&mut self, id: ChunkId, run: &HeaderRun) -> bool {
        let Some(Poll { peer, .. }) = self.polls.remove(&id) else {
            return false;
        };
        match run.last_id() {
            Some(id) if id == self.checkpoint.id => true,
            found => {
                self.votes.insert(peer, found.unwrap_or(BlockId::ZERO));
                false
            }
        }
    }

    /// Whether everybody who could be asked has answered, or did not after several attempts, and there was time enough
    /// for others to come.
    pub(super) fn is_over(&self, now: Instant, patience: Duration, offers: &[PeerOffer]) -> bool {
        let number = self.checkpoint.number;
        let open = |offer: &&PeerOffer| {
            let gave_up = self
                .silent
                .get(&offer.peer)
                .is_some_and(|(attempts, _)| *attempts >= ATTEMPTS);
            offer.serves(number) && !self.votes.contains_key(&offer.peer) && !gave_up
        };
        let lone = self.votes.len() == 1 && offers.len() > 1;
        let others_come = offers.iter().any(|offer| offer.head < number);
        let patience = match lone || others_come {
            true => patience * LONG_PATIENCE,
            false => patience,
        };
        !self.votes.is_empty()
            && !offers.iter().any(|offer| open(&offer))
            && now.saturating_duration_since(self.since) >= patience
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
}
