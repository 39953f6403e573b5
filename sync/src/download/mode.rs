//! Syncing in large ranges, or following the peers' heads.
//!
//! Large ranges are for what is missing in number, below the last checkpoint always. They end when nothing is left to ask
//! for and no peer is far ahead any more, and begin again, behind the head as it is then, when one is.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use cairn_chain::BlockId;

use super::follow::NEAR;
use crate::writer::LIVE_SECONDS;

/// The head must have been the same for so long before large ranges begin behind it: what was handed on before may still
/// be on its way through the pipeline.
const SETTLED: Duration = Duration::from_millis(300);
/// After this time without a new head what was handed on is taken to be lost.
const LOST: Duration = Duration::from_secs(2);

/// What the driver sees at one look.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sight {
    pub(super) now: Instant,
    /// This node's head.
    pub(super) head: BlockId,
    /// The last checkpoint's number.
    pub(super) last_checkpoint: u32,
    /// The block that the large ranges go on with.
    pub(super) next: u32,
    /// Nothing of them is here or under way.
    pub(super) is_empty: bool,
    /// Nothing is between them and the writer.
    pub(super) pipeline_empty: bool,
    /// No peer that has blocks is connected.
    pub(super) is_alone: bool,
    /// The highest head among the peers on the common chain.
    pub(super) best: u32,
    /// The highest head among those that the ranges could be asked of.
    pub(super) lead: u32,
}

/// What changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    /// The peers' heads are followed from now on.
    Follow,
    /// Large ranges are fetched from now on.
    Bulk,
}

/// See the module.
#[derive(Debug)]
pub(super) struct Mode {
    bulk: bool,
    head: BlockId,
    head_since: Option<Instant>,
    live: bool,
}

impl Mode {
    pub(super) fn new() -> Self {
        Self {
            bulk: true,
            head: BlockId::ZERO,
            head_since: None,
            live: false,
        }
    }

    pub(super) fn is_bulk(&self) -> bool {
        self.bulk
    }

    /// Looks whether it is time for the other mode.
    pub(super) fn look(&mut self, sight: &Sight) -> Option<Change> {
        let head = sight.head.number();
        if self.head != sight.head {
            (self.head, self.head_since) = (sight.head, Some(sight.now));
        }
        let quiet = self
            .head_since
            .map_or(Duration::MAX, |since| sight.now.saturating_duration_since(since));
        let near = head.saturating_add(NEAR);
        let change = if self.bulk {
            let applied = head >= sight.next.saturating_sub(1) || quiet >= LOST;
            let done = sight.is_empty && sight.pipeline_empty && applied && sight.best <= near;
            (done && head >= sight.last_checkpoint).then_some(Change::Follow)
        } else {
            let settled = sight.pipeline_empty && quiet >= SETTLED;
            (settled && sight.lead > near).then_some(Change::Bulk)
        };
        if let Some(change) = change {
            self.bulk = change == Change::Bulk;
        }
        change
    }

    /// Says that the node has come to the head of the network, or has fallen behind.
    pub(super) fn note_live(&mut self, sight: &Sight, head_time: u32) {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let age = now.as_secs().saturating_sub(u64::from(head_time));
        let (head, ahead) = (sight.head.number(), sight.best.max(sight.lead));
        if !self.live && age <= LIVE_SECONDS && head >= sight.last_checkpoint && !self.bulk {
            self.live = true;
            tracing::info!(
                target: "sync",
                "entering live mode at block {head}: it is {age} s old, and no peer is more than {NEAR} blocks ahead"
            );
        } else if self.live && age > LIVE_SECONDS && self.bulk {
            self.live = false;
            tracing::info!(
                target: "sync",
                "leaving live mode at block {head}: {} blocks behind the best peer's head {ahead}, syncing",
                ahead.saturating_sub(head)
            );
        } else if self.live && age > LIVE_SECONDS && sight.is_alone {
            self.live = false;
            tracing::info!(
                target: "sync",
                "leaving live mode at block {head}: it is {age} s old, and no peer with blocks is connected"
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(number: u32) -> BlockId {
        let mut bytes = [7; 20];
        bytes[..4].copy_from_slice(&number.to_be_bytes());
        BlockId(bytes)
    }

    fn sight(now: Instant, head: u32, best: u32) -> Sight {
        Sight {
            now,
            head: id(head),
            last_checkpoint: 100,
            next: head + 1,
            is_empty: true,
            pipeline_empty: true,
            is_alone: false,
            best,
            lead: best,
        }
    }

    #[test]
    fn follows_at_the_head_and_syncs_when_far_behind() {
        let (now, mut mode) = (Instant::now(), Mode::new());
        assert_eq!(mode.look(&sight(now, 90, 95)), None, "below the last checkpoint");
        assert_eq!(mode.look(&sight(now, 100, 133)), None, "a peer is too far ahead");
        let busy = Sight {
            is_empty: false,
            ..sight(now, 101, 133)
        };
        assert_eq!(mode.look(&busy), None, "there is work left");
        assert_eq!(mode.look(&sight(now, 101, 133)), Some(Change::Follow));
        assert!(!mode.is_bulk());
        assert_eq!(mode.look(&sight(now, 102, 134)), None);
        assert_eq!(mode.look(&sight(now, 102, 500)), None, "the head has just moved");
        let later = now + SETTLED;
        assert_eq!(mode.look(&sight(later, 102, 500)), Some(Change::Bulk));
        assert!(mode.is_bulk());
    }

    #[test]
    fn what_was_handed_on_and_never_applied_is_not_waited_for() {
        let (now, mut mode) = (Instant::now(), Mode::new());
        let lost = |now| Sight {
            next: 150,
            ..sight(now, 120, 130)
        };
        assert_eq!(mode.look(&lost(now)), None);
        assert_eq!(mode.look(&lost(now + LOST / 2)), None);
        assert_eq!(mode.look(&lost(now + LOST)), Some(Change::Follow));
    }

    #[test]
    fn live_is_a_head_of_the_last_minute_and_no_longer_one_that_is_older() {
        let clock = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs() as u32;
        let (now, mut mode) = (Instant::now(), Mode::new());
        let sight = sight(now, 200, 200);
        mode.note_live(&sight, clock);
        assert!(!mode.live, "large ranges are being fetched");
        mode.look(&sight);
        mode.note_live(&sight, clock - 600);
        assert!(!mode.live, "the head is old");
        mode.note_live(&sight, clock);
        assert!(mode.live);
        mode.note_live(&sight, clock - 600);
        assert!(mode.live, "nobody has more");
        mode.bulk = true;
        mode.note_live(&sight, clock - 600);
        assert!(!mode.live);
        mode.bulk = false;
        mode.note_live(&sight, clock);
        let alone = Sight {
            is_alone: true,
            ..sight
        };
        mode.note_live(&alone, clock);
        assert!(mode.live, "cut off for a moment");
        mode.note_live(&alone, clock - 600);
        assert!(!mode.live);
    }
}
