//! hived's progress lines, by block count. The statistics lines, by time, are the reporter's.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use cairn_chain::{AccountName, Time};

use crate::pipeline::PreparedBlock;

/// Blocks between two lines of a replay, as in hived.
const REPLAY_STEP: u32 = 100_000;
/// Blocks between two lines of a sync, as in hived.
const SYNC_STEP: u32 = 10_000;

/// A head that is at most this old is live, as in hived.
pub(crate) const LIVE_SECONDS: u64 = 60;

/// Which lines to print.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProgressStyle {
    /// `   N of M blocks = P%   (...)` every 100,000 blocks.
    Replay {
        /// The last block of the replay.
        last: u32,
    },
    /// `Syncing Blockchain --- Got block: #N ...` every 10,000 blocks.
    Sync,
}

/// What the lines say of a block.
#[derive(Clone, Copy, Debug)]
pub(super) struct BlockFacts {
    number: u32,
    time: Time,
    witness: AccountName,
    bytes: usize,
    transactions: usize,
}

impl BlockFacts {
    pub(super) fn of(prepared: &PreparedBlock) -> Self {
        let block = prepared.block.block();
        Self {
            number: prepared.block.number(),
            time: block.header.timestamp,
            witness: block.header.witness,
            bytes: prepared.block.bytes().len(),
            transactions: block.transactions.len(),
        }
    }
}

#[derive(Debug)]
pub(super) struct Progress {
    style: ProgressStyle,
    since: Instant,
    blocks: u32,
    bytes: u64,
    transactions: u64,
}

impl Progress {
    pub(super) fn new(style: ProgressStyle) -> Self {
        Self {
            style,
            since: Instant::now(),
            blocks: 0,
            bytes: 0,
            transactions: 0,
        }
    }

    pub(super) fn note(&mut self, block: BlockFacts, dirty_bytes: usize) {
        let number = block.number;
        self.blocks += 1;
        self.bytes += block.bytes as u64;
        self.transactions += block.transactions as u64;
        match self.style {
            ProgressStyle::Replay { last } if number.is_multiple_of(REPLAY_STEP) => {
                tracing::info!(target: "replay", "{}", replay_line(number, last, dirty_bytes));
            }
            ProgressStyle::Sync if number.is_multiple_of(SYNC_STEP) => {
                let head = format!(
                    "Syncing Blockchain --- Got block: #{number} time: {} producer: {}",
                    block.time, block.witness
                );
                tracing::info!(target: "sync", "{head}{}", self.averages());
                *self = Self::new(self.style);
            }
            _ => {}
        }
    }

    /// Whether a sync has come within a minute of now. Looked at once a batch: the clock costs more than the rest of the
    /// progress.
    pub(super) fn is_live(&self, head_time: u32) -> bool {
        if self.style != ProgressStyle::Sync {
            return false;
        }
        let now = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .map_or(0, |time| time.as_secs());
        now.saturating_sub(u64::from(head_time)) <= LIVE_SECONDS
    }

    /// The averages cover whole steps only; a run that began between two steps has none at first.
    fn averages(&self) -> String {
        if self.blocks < SYNC_STEP {
            return String::new();
        }
        average_text(self.since.elapsed(), self.blocks, self.bytes, self.transactions)
    }
}

fn replay_line(number: u32, last: u32, dirty_bytes: usize) -> String {
    let percent = f64::from(number) * 100.0 / f64::from(last.max(1));
    let waiting = dirty_bytes >> 20;
    format!(
        "   {number} of {last} blocks = {percent:.2}%   ({waiting}MB of state waiting for the next commit)"
    )
}

fn average_text(elapsed: Duration, blocks: u32, bytes: u64, transactions: u64) -> String {
    let count = f64::from(blocks);
    format!(
        " --- {:.2}\u{b5}s/block, avg. size {:.0}, avg. tx count {:.0}",
        elapsed.as_secs_f64() * 1e6 / count,
        bytes as f64 / count,
        transactions as f64 / count
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_of_the_last_minute_is_live_in_a_sync() {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs() as u32;
        let sync = Progress::new(ProgressStyle::Sync);
        assert!(!sync.is_live(now - 600) && sync.is_live(now) && !sync.is_live(now - 600));
        assert!(!Progress::new(ProgressStyle::Replay { last: 9 }).is_live(now));
    }

    #[test]
    fn the_lines_are_hiveds() {
        assert_eq!(
            replay_line(100_000, 300_000, 5 << 20),
            "   100000 of 300000 blocks = 33.33%   (5MB of state waiting for the next commit)"
        );
        assert_eq!(
            average_text(Duration::from_millis(250), 10_000, 15_000_000, 450_000),
            " --- 25.00µs/block, avg. size 1500, avg. tx count 45"
        );
    }
}
