//! The requests for headers: those of the walks, and the polls of a dispute.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::Proof;
use super::dispute::Answer;
use super::segment::Knowledge;
use crate::download::network::{HeaderRange, PeerOffer};
use crate::download::scheduler::ChunkId;

impl Proof {
    /// Headers to ask for. `choose` names a peer for a range of blocks, if one is free; the given function says which
    /// are busy.
    pub(in crate::download) fn ask(
        &mut self,
        now: Instant,
        offers: &[PeerOffer],
        mut next_id: impl FnMut() -> ChunkId,
        choose: impl Fn(&dyn Fn(&str) -> bool, u32, u32) -> Option<Arc<str>>,
    ) -> Vec<(ChunkId, Arc<str>, HeaderRange)> {
        let mut requests = Vec::new();
        for segment in &mut self.segments {
            if let Some(dispute) = &mut segment.dispute {
                let peers: Vec<_> = dispute
                    .to_poll(offers)
                    .map(|offer| Arc::clone(&offer.peer))
                    .collect();
                for peer in peers {
                    let (id, first) = (next_id(), segment.top.number);
                    dispute.polled(id, Arc::clone(&peer), now);
                    requests.push((id, peer, HeaderRange { first, count: 1 }));
                }
                continue;
            }
            let Knowledge::Walking(walk) = &mut segment.knowledge else {
                continue;
            };
            while let Some((first, last)) = walk.wanted() {
                let Some(peer) = choose(&|peer| walk.is_busy(peer), first, last) else {
                    break;
                };
                let id = next_id();
                walk.ask(id, Arc::clone(&peer), (first, last), now);
                let count = last - first + 1;
                requests.push((id, peer, HeaderRange { first, count }));
            }
        }
        requests
    }

    /// Takes the answer to a request for headers. `Err`: the peer's fault, in words.
    pub(in crate::download) fn headers(
        &mut self,
        id: ChunkId,
        bytes: &[u8],
    ) -> Result<(), (Arc<str>, String)> {
        for index in 0..self.segments.len() {
            let segment = &mut self.segments[index];
            if let Some(dispute) = segment.dispute.as_mut().filter(|dispute| dispute.has(id)) {
                match dispute.answered(id, bytes) {
                    Answer::Agrees => self.settle_dispute(index),
                    Answer::Broken(peer, what) => return Err((peer, what)),
                    Answer::Disagrees | Answer::Unknown => {}
                }
                return Ok(());
            }
            if let Knowledge::Walking(walk) = &mut segment.knowledge
                && let Some(peer) = walk.asked_of(id)
            {
                return walk.take(id, bytes).map_err(|what| (peer, what));
            }
        }
        Ok(())
    }

    /// A request for headers has failed.
    pub(in crate::download) fn headers_failed(&mut self, id: ChunkId) {
        for segment in &mut self.segments {
            if let Some(dispute) = &mut segment.dispute {
                dispute.give_up(id);
            }
            if let Knowledge::Walking(walk) = &mut segment.knowledge {
                walk.give_up(id);
            }
        }
    }

    /// Requests for headers that have taken too long: name, peer and the block that is missing.
    pub(in crate::download) fn give_up_stalled(
        &mut self,
        now: Instant,
        stall: Duration,
    ) -> Vec<(ChunkId, Arc<str>, u32)> {
        let mut stalled = Vec::new();
        for segment in &mut self.segments {
            if let Some(dispute) = &mut segment.dispute {
                for id in dispute.overdue(now) {
                    dispute.give_up(id);
                }
            }
            if let Knowledge::Walking(walk) = &mut segment.knowledge {
                let limit = now.checked_sub(stall);
                for (id, peer, number) in limit.map(|limit| walk.asked_before(limit)).unwrap_or_default() {
                    walk.give_up(id);
                    stalled.push((id, peer, number));
                }
            }
        }
        stalled
    }
}
