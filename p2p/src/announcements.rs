//! When which peers are told of a new head.

use std::{
    collections::BTreeSet,
    time::{Duration, Instant},
};

use libp2p::PeerId;

use crate::LocalStatus;

/// Holds new heads back only where they come faster than one per interval for longer than a burst: in a sync.
#[derive(Debug)]
pub(crate) struct Announcements {
    interval: Duration,
    burst: u32,
    /// Announcements that may be made at once.
    turns: u32,
    /// When the last turn was added.
    added: Instant,
    /// What is being told.
    told: LocalStatus,
    /// Who has not been told yet.
    untold: BTreeSet<PeerId>,
}

impl Announcements {
    /// Everybody knows `status`: who connects is told by the hello.
    pub(crate) fn new(interval: Duration, burst: u32, status: LocalStatus, now: Instant) -> Self {
        Self {
            interval,
            burst: burst.max(1),
            turns: burst.max(1),
            added: now,
            told: status,
            untold: BTreeSet::new(),
        }
    }

    /// Who is to be told of this status. `everybody` names the ready peers.
    pub(crate) fn due(
        &mut self,
        status: LocalStatus,
        now: Instant,
        everybody: impl FnOnce() -> BTreeSet<PeerId>,
    ) -> Vec<PeerId> {
        self.add_turns(now);
        if status != self.told && self.turns > 0 {
            self.turns -= 1;
            self.told = status;
            self.untold = everybody();
        }
        // Those who are still to be told of the head before are told of the present one.
        self.untold.iter().copied().collect()
    }

    /// A peer is being told, or is gone.
    pub(crate) fn told(&mut self, peer: &PeerId) {
        self.untold.remove(peer);
    }

    fn add_turns(&mut self, now: Instant) {
        while self.turns < self.burst && now.saturating_duration_since(self.added) >= self.interval {
            self.turns += 1;
            self.added += self.interval;
        }
        if self.turns == self.burst {
            self.added = now;
        }
    }
}

#[cfg(test)]
mod tests {
    use cairn_chain::BlockId;

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn at(head: u32) -> LocalStatus {
        LocalStatus {
            head,
            head_id: BlockId([head as u8; 20]),
            ..LocalStatus::EMPTY
        }
    }

    fn announcements(burst: u32, now: Instant) -> (Announcements, BTreeSet<PeerId>) {
        let peers = BTreeSet::from([PeerId::random(), PeerId::random()]);
        (Announcements::new(SECOND, burst, at(0), now), peers)
    }

    /// Heads that are announced when there is a new one every 10 ms for `time`.
    fn announced(announcements: &mut Announcements, start: Instant, time: Duration) -> usize {
        let peer = PeerId::random();
        let count = time.as_millis() as u32 / 10;
        (1..=count)
            .filter(|number| {
                let now = start + Duration::from_millis(10) * *number;
                let due = announcements.due(at(*number), now, || BTreeSet::from([peer]));
                announcements.told(&peer);
                !due.is_empty()
            })
            .count()
    }

    #[test]
    fn a_burst_at_once_and_then_one_an_interval() {
        let now = Instant::now();
        let (mut announcements, _) = announcements(3, now);
        assert_eq!(announced(&mut announcements, now, 10 * SECOND), 3 + 9);
        // A quiet time gives a burst back, and no more.
        assert_eq!(announced(&mut announcements, now + 100 * SECOND, SECOND / 2), 3);
    }

    #[test]
    fn each_peer_is_told_once_and_a_busy_one_later() {
        let now = Instant::now();
        let (mut announcements, peers) = announcements(2, now);
        let all: Vec<_> = peers.iter().copied().collect();
        assert!(announcements.due(at(0), now, || peers.clone()).is_empty());
        assert_eq!(announcements.due(at(1), now, || peers.clone()), all);
        announcements.told(&all[0]);
        assert_eq!(announcements.due(at(1), now, || peers.clone()), [all[1]]);
        announcements.told(&all[1]);
        assert!(announcements.due(at(1), now, || peers.clone()).is_empty());
        // The same height, another block.
        let other = LocalStatus {
            head_id: BlockId([9; 20]),
            ..at(1)
        };
        assert_eq!(announcements.due(other, now, || peers.clone()), all);
    }
}
