//! What happened between two readings of the meter, as a line for people and a record for programs.

use std::fmt;

use cairn_chain::Time;
use serde::Serialize;

use super::meter::MeterReading;
use super::phase::PhaseTimes;

/// Where the writer's blocks come from; decides what waiting for work means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkSource {
    /// A block log on disk.
    BlockLog,
    /// Peers.
    Network,
}

/// What limits the speed, as far as the phases show it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The writer waits for peers.
    NetworkBound,
    /// The writer waits for the disk that holds the block log.
    DiskBound,
    /// The writer, or the threads before it, work nearly all of the time.
    CpuBound,
    /// Nobody waits long for anybody.
    Balanced,
    /// No block was applied: nothing to judge.
    Idle,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Verdict::NetworkBound => "network-bound",
            Verdict::DiskBound => "disk-bound",
            Verdict::CpuBound => "cpu-bound",
            Verdict::Balanced => "balanced",
            Verdict::Idle => "idle",
        })
    }
}

/// Share of the time from which on a worker counts as fully used.
const BUSY: f64 = 0.75;
/// Share of waiting from which on the source is the limit.
const WAITING: f64 = 0.5;

/// One interval of the statistics.
#[derive(Clone, Debug, Serialize)]
pub struct Interval {
    /// Length in seconds.
    pub seconds: f64,
    /// Number of the head at its end.
    pub head: u32,
    /// Time of the head, as hived prints it.
    pub head_time: String,
    /// Last durable block.
    pub durable: u32,
    /// Blocks applied in it.
    pub blocks: u64,
    /// Their transactions.
    pub transactions: u64,
    /// Their operations.
    pub operations: u64,
    /// Their bytes as stored.
    pub stored_bytes: u64,
    /// Seconds by phase.
    pub writer: PhaseTimes,
    /// Share of the prevalidation threads' time that they worked, from 0 to 1.
    pub prepare_busy: f64,
    /// Blocks in the queue at its end.
    pub queue_blocks: u64,
    /// Bytes in the queue at its end.
    pub queue_bytes: u64,
    /// Peers at its end.
    pub peers: u32,
    /// The next checkpoint's number, if one is ahead.
    pub next_checkpoint: Option<u32>,
    /// Seconds until the next checkpoint, if one is ahead and blocks come in.
    pub next_checkpoint_in: Option<f64>,
    /// What limits the speed.
    pub verdict: Verdict,
    #[serde(skip)]
    source_is_network: bool,
}

impl Interval {
    /// The interval between two readings. `seconds` is measured by the caller's clock.
    pub fn between(
        earlier: &MeterReading,
        later: &MeterReading,
        seconds: f64,
        source: WorkSource,
        next_checkpoint: Option<u32>,
    ) -> Self {
        let blocks = later.blocks - earlier.blocks;
        let writer = later.phases.since(&earlier.phases);
        let threads = f64::from(later.prepare_threads.max(1));
        let worked = later.prepare_seconds - earlier.prepare_seconds;
        let prepare_busy = if seconds > 0.0 {
            (worked / seconds / threads).clamp(0.0, 1.0)
        } else {
            0.0
        };
        let rate = if seconds > 0.0 {
            blocks as f64 / seconds
        } else {
            0.0
        };
        let distance = next_checkpoint.map(|number| f64::from(number.saturating_sub(later.head)));
        Interval {
            seconds,
            head: later.head,
            head_time: Time(later.head_time).to_string(),
            durable: later.durable,
            blocks,
            transactions: later.transactions - earlier.transactions,
            operations: later.operations - earlier.operations,
            stored_bytes: later.stored_bytes - earlier.stored_bytes,
            verdict: verdict(&writer, prepare_busy, blocks, source),
            writer,
            prepare_busy,
            queue_blocks: later.queue_blocks,
            queue_bytes: later.queue_bytes,
            peers: later.peers,
            next_checkpoint,
            next_checkpoint_in: distance.filter(|_| rate > 0.0).map(|blocks| blocks / rate),
            source_is_network: source == WorkSource::Network,
        }
    }

    /// The second line of the report; the first is [`PhaseTimes::sentence`].
    pub fn progress_line(&self) -> String {
        let rate = if self.seconds > 0.0 {
            self.blocks as f64 / self.seconds
        } else {
            0.0
        };
        let per_block = |total: f64| {
            if self.blocks > 0 {
                total / self.blocks as f64
            } else {
                0.0
            }
        };
        let mut line = format!(
            "head block {} ({}), {:.0} blocks/s, {:.0} us/block, {:.0} tx/block, queue {} blocks {:.1} MiB",
            self.head,
            self.head_time,
            rate,
            per_block(self.writer.processing_blocks * 1e6),
            per_block(self.transactions as f64),
            self.queue_blocks,
            self.queue_bytes as f64 / f64::from(1 << 20),
        );
        if self.source_is_network {
            line += &format!(", {} peers", self.peers);
        }
        if let Some(number) = self.next_checkpoint {
            let eta = self
                .next_checkpoint_in
                .map_or_else(|| "an unknown time".to_owned(), hours);
            line += &format!(", next checkpoint {number} in {eta}");
        }
        line + &format!(", {}", self.verdict)
    }
}

fn verdict(writer: &PhaseTimes, prepare_busy: f64, blocks: u64, source: WorkSource) -> Verdict {
    let total = writer.total();
    if total <= 0.0 || (blocks == 0 && writer.processing_blocks / total < BUSY) {
        return Verdict::Idle;
    }
    if writer.processing_blocks / total >= BUSY || prepare_busy >= BUSY {
        Verdict::CpuBound
    } else if writer.waiting_for_work / total >= WAITING {
        match source {
            WorkSource::BlockLog => Verdict::DiskBound,
            WorkSource::Network => Verdict::NetworkBound,
        }
    } else {
        Verdict::Balanced
    }
}

/// `HH:MM:SS`, with days in front when there are any.
fn hours(seconds: f64) -> String {
    let seconds = seconds.round() as u64;
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    let clock = format!("{:02}:{:02}:{:02}", rest / 3600, rest / 60 % 60, rest % 60);
    if days == 0 {
        clock
    } else {
        format!("{days}d {clock}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reading(blocks: u64, waiting: f64, processing: f64) -> MeterReading {
        MeterReading {
            phases: PhaseTimes {
                waiting_for_work: waiting,
                processing_blocks: processing,
                ..PhaseTimes::default()
            },
            head: blocks as u32,
            head_time: 1_518_855_087,
            blocks,
            transactions: blocks * 61,
            prepare_threads: 2,
            peers: 8,
            ..MeterReading::default()
        }
    }

    #[test]
    fn the_line_tells_rate_and_distance() {
        let (earlier, later) = (reading(1000, 0.0, 0.0), reading(31_000, 20.0, 10.0));
        let interval = Interval::between(&earlier, &later, 30.0, WorkSource::Network, Some(91_000));
        assert_eq!(
            interval.progress_line(),
            "head block 31000 (2018-02-17T08:11:27), 1000 blocks/s, 333 us/block, 61 tx/block, \
             queue 0 blocks 0.0 MiB, 8 peers, next checkpoint 91000 in 00:01:00, network-bound"
        );
    }

    #[test]
    fn nothing_applied_gives_no_nonsense() {
        let interval = Interval::between(
            &reading(5, 0.0, 0.0),
            &reading(5, 30.0, 0.0),
            30.0,
            WorkSource::BlockLog,
            Some(9),
        );
        assert_eq!(
            interval.progress_line(),
            "head block 5 (2018-02-17T08:11:27), 0 blocks/s, 0 us/block, 0 tx/block, queue 0 blocks 0.0 MiB, \
             next checkpoint 9 in an unknown time, idle"
        );
    }

    #[test]
    fn the_verdict_follows_the_phases() {
        let judge = |waiting, processing, prepare, source| {
            let times = PhaseTimes {
                waiting_for_work: waiting,
                processing_blocks: processing,
                ..PhaseTimes::default()
            };
            verdict(&times, prepare, 1, source)
        };
        assert_eq!(judge(0.1, 0.9, 0.0, WorkSource::Network), Verdict::CpuBound);
        assert_eq!(judge(0.9, 0.1, 0.9, WorkSource::Network), Verdict::CpuBound);
        assert_eq!(judge(0.9, 0.1, 0.1, WorkSource::Network), Verdict::NetworkBound);
        assert_eq!(judge(0.9, 0.1, 0.1, WorkSource::BlockLog), Verdict::DiskBound);
        assert_eq!(judge(0.4, 0.6, 0.1, WorkSource::BlockLog), Verdict::Balanced);
    }

    #[test]
    fn long_times_are_days() {
        assert_eq!(hours(59.6), "00:01:00");
        assert_eq!(hours(90_061.0), "1d 01:01:01");
    }
}
