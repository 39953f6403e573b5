//! The requests for headers: those of the walks, and the polls of a dispute.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::Proof;
use super::headers::HeaderRun;
use super::segment::Knowledge;
use crate::download::network::{HeaderRange, PeerOffer};
use crate::download::scheduler::ChunkId;

/// What a walk says of the peers when it asks for one.
pub(in crate::download) struct Wish<'a> {
    /// The last block of the range.
    pub(in crate::download) last: u32,
    /// Peers that are not to be asked.
    pub(in crate::download) except: &'a dyn Fn(&str) -> bool,
    /// How often a peer has disappointed: the least is preferred.
    pub(in crate::download) failures: &'a dyn Fn(&str) -> u32,
}

impl Proof {
    /// Headers to ask for. `choose` names a peer that serves the last block of a range, and its first block.
    /// `patience`: how long one peer may take for the range that a walk waits for before another is asked too.
    pub(in crate::download) fn ask(
        &mut self,
        now: Instant,
        offers: &[PeerOffer],
        patience: Duration,
        mut next_id: impl FnMut() -> ChunkId,
        choose: impl Fn(&Wish<'_>) -> Option<(Arc<str>, u32)>,
    ) -> Vec<(ChunkId, Arc<str>, HeaderRange)> {
        let mut requests = Vec::new();
        for segment in &mut self.segments {
            if let Some(dispute) = &mut segment.dispute {
                let peers: Vec<_> = dispute
                    .to_poll(now, offers)
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
            let race = now.checked_sub(patience).and_then(|limit| walk.lagging(limit));
            let mut slow = race.as_ref().map(|(_, peer)| Arc::clone(peer));
            let mut next = race.map(|(range, _)| range);
            while let Some((first, last)) = next.take().or_else(|| walk.wanted()) {
                let slow = slow.take();
                let chosen = choose(&Wish {
                    last,
                    except: &|peer| walk.is_busy(peer) || slow.as_deref() == Some(peer),
                    failures: &|peer| walk.failures(peer),
                });
                let raced = slow.is_some();
                let Some((peer, lowest)) = chosen else {
                    match raced {
                        true => continue,
                        false => break,
                    }
                };
                let (id, first) = (next_id(), first.max(lowest));
                walk.ask(id, Arc::clone(&peer), (first, last), now);
                let count = last - first + 1;
                requests.push((id, peer, HeaderRange { first, count }));
            }
        }
        requests
    }

    /// Takes the answer to a request for headers.
    pub(in crate::download) fn headers(&mut self, id: ChunkId, run: HeaderRun) {
        for index in 0..self.segments.len() {
            let segment = &mut self.segments[index];
            if let Some(dispute) = segment.dispute.as_mut().filter(|dispute| dispute.has(id)) {
                if dispute.answered(id, &run) {
                    self.settle_dispute(index);
                }
                return;
            }
            if let Knowledge::Walking(walk) = &mut segment.knowledge
                && walk.has(id)
            {
                return walk.take(id, run);
            }
        }
    }

    /// A request for headers has failed.
    pub(in crate::download) fn headers_failed(&mut self, id: ChunkId, now: Instant) {
        for segment in &mut self.segments {
            if let Some(dispute) = &mut segment.dispute {
                dispute.give_up(id, now);
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
                dispute.give_up_overdue(now);
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
