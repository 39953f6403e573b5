//! What an operator is told when blocks do not come.

use std::time::{Duration, Instant};

use super::network::PeerOffer;
use crate::checkpoint::Checkpoints;
use crate::log_limit::LogLimit;

/// hived's interval of the line about silence.
pub(super) const SILENCE: Duration = Duration::from_secs(30);
/// How long no peer may serve the next block before that is said. Lower, it is said while further seeds are being
/// dialed; higher, who starts a node for the first time thinks that it hangs.
const UNSERVED: Duration = Duration::from_secs(3);
/// Lines about blocks that did not come in time in [`SILENCE`].
const STALLS: u32 = 3;

/// When what was said last.
#[derive(Debug)]
pub(super) struct Complaints {
    last_silence: Instant,
    /// Bytes that had come at the last look, and when there were more than before.
    heard: (u64, Instant),
    /// Since when no peer serves the next block.
    unserved: Option<Instant>,
    last_unserved: Option<Instant>,
    stalls: LogLimit,
}

/// What there is to complain about.
#[derive(Debug)]
pub(super) struct Look<'a> {
    pub(super) now: Instant,
    /// Bytes received so far.
    pub(super) received: u64,
    /// The lowest block that is not here.
    pub(super) lowest: u32,
    /// The block or header that everything waits for; see `Scheduler::waits_for`.
    pub(super) next: u32,
    pub(super) offers: &'a [PeerOffer],
    pub(super) checkpoints: &'a Checkpoints,
}

impl Complaints {
    pub(super) fn new(now: Instant) -> Self {
        Self {
            last_silence: now,
            heard: (0, now),
            unserved: None,
            last_unserved: None,
            stalls: LogLimit::new(SILENCE, STALLS),
        }
    }

    /// A peer that has a block did not send it in time.
    pub(super) fn stalled(&mut self, now: Instant, peer: &str, number: u32) {
        if self.stalls.admit(now) {
            tracing::warn!(target: "sync", "{peer} did not send block {number} in time; other peers are asked for it");
        }
    }

    /// Says what there is to say.
    pub(super) fn look(&mut self, look: &Look<'_>) {
        if let Some(count) = self.stalls.suppressed(look.now) {
            tracing::warn!(target: "sync", "{count} more blocks did not come in time");
        }
        if let Some(number) = self.unserved_due(look) {
            tracing::warn!(
                target: "sync",
                "no peer serves block {}: the connected peers keep only later blocks (the lowest is {})",
                number,
                look.offers.iter().map(|offer| offer.first).min().unwrap_or(0)
            );
        }
        self.complain_of_silence(look);
    }

    /// The block of which it is to be said that no peer serves it: once after a short time, then from time to time.
    fn unserved_due(&mut self, look: &Look<'_>) -> Option<u32> {
        let Look { now, offers, .. } = *look;
        let is_unserved = |number: &u32| {
            offers.iter().any(|offer| offer.head >= *number)
                && !offers.iter().any(|offer| offer.serves(*number))
        };
        let Some(number) = [look.lowest, look.next].into_iter().find(is_unserved) else {
            self.unserved = None;
            return None;
        };
        let since = *self.unserved.get_or_insert(now);
        let rests = self
            .last_unserved
            .is_some_and(|last| now.saturating_duration_since(last) < SILENCE);
        if rests || now.saturating_duration_since(since) < UNSERVED {
            return None;
        }
        self.last_unserved = Some(now);
        Some(number)
    }

    /// hived's line when nothing comes in, and the reason if it is known.
    fn complain_of_silence(&mut self, look: &Look<'_>) {
        let Look {
            now, next, offers, ..
        } = *look;
        if look.received != self.heard.0 {
            self.heard = (look.received, now);
        }
        let since = self.heard.1.max(self.last_silence);
        if now.saturating_duration_since(since) < SILENCE {
            return;
        }
        self.last_silence = now;
        tracing::info!(
            target: "p2p",
            "No P2P data (block/transaction) received in last {} seconds... peer_count={}",
            SILENCE.as_secs(),
            offers.len()
        );
        if let Some(best) = offers.iter().map(|offer| offer.head).max()
            && best < next
            && look.checkpoints.at(next).is_some()
        {
            tracing::warn!(
                target: "sync",
                "checkpoint {next} is above every peer's head (the best is {best}): blocks below it are not applied \
                 before a peer shows that they lead to it"
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use cairn_chain::BlockId;

    use super::*;

    fn offer(first: u32, head: u32) -> PeerOffer {
        PeerOffer {
            peer: Arc::from("peer"),
            first,
            head,
            head_id: BlockId::ZERO,
        }
    }

    #[test]
    fn a_block_that_nobody_serves_is_told_soon_and_then_from_time_to_time() {
        let (start, checkpoints) = (Instant::now(), Checkpoints::default());
        let mut complaints = Complaints::new(start);
        let mut told = |seconds: u64, next: u32, offers: &[PeerOffer]| {
            let due = complaints.unserved_due(&Look {
                now: start + Duration::from_secs(seconds),
                received: 0,
                lowest: next,
                // The checkpoint, while the headers below it are not known.
                next: 1700,
                offers,
                checkpoints: &checkpoints,
            });
            assert!(due.is_none_or(|number| number == next));
            due.is_some()
        };
        let pruned = [offer(1201, 1700)];
        assert!(!told(0, 1, &[]), "nobody is there");
        assert!(!told(1, 1, &pruned), "another peer may be on its way");
        assert!(told(4, 1, &pruned));
        assert!(!told(5, 1, &pruned) && !told(33, 1, &pruned));
        assert!(told(34, 1, &pruned));
        assert!(!told(70, 1, &[offer(1201, 1700), offer(1, 10)]), "one serves it");
        assert!(!told(71, 1, &pruned), "it begins anew");
        assert!(told(74, 1, &pruned));
        assert!(
            !told(200, 1701, &pruned) && !told(210, 1701, &pruned),
            "at the head"
        );
    }
}
