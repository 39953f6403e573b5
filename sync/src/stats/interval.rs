//! What happened between two readings of the meter, as a line for people and a record for programs.

use std::fmt;
use std::time::Duration;

use cairn_chain::Time;
use serde::Serialize;

use super::meter::{HeaderReading, MeterReading};
use super::phase::PhaseTimes;
use super::way::Standing;

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
    /// The writer waits for the disk: for the block log in a replay, or for commits to be on it.
    DiskBound,
    /// The writer has stopped until there is room on a disk.
    DiskFull,
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
            Verdict::DiskFull => "disk full: waiting for room",
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

/// The way down from a checkpoint at the end of an interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Headers {
    /// The checkpoint's number.
    pub checkpoint: u32,
    /// Headers in all.
    pub wanted: u32,
    /// Headers that are proven.
    pub done: u32,
    /// Proven in a second, over the interval.
    pub per_second: f64,
}

/// What an observer of the whole run adds to an interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outlook {
    /// Where the run stands.
    pub standing: Standing,
    /// Time since the last block was applied.
    pub last_block_age: Duration,
}

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
    /// Share of the way to the target that lies behind, from 0 to 1; `None` while the target is unknown.
    pub share: Option<f64>,
    /// Seconds to the target at the speed of the last minute; `None` while there is none.
    pub remaining: Option<f64>,
    /// Headers that are fetched before the blocks they prove; `None`: none at present.
    pub headers: Option<Headers>,
    /// Seconds since the last block was applied, as far as this run knows.
    pub last_block_age: f64,
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
        outlook: &Outlook,
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
            verdict: match later.disk_full {
                true => Verdict::DiskFull,
                false => verdict(&writer, prepare_busy, blocks, source),
            },
            writer,
            prepare_busy,
            queue_blocks: later.queue_blocks,
            queue_bytes: later.queue_bytes,
            peers: later.peers,
            next_checkpoint,
            next_checkpoint_in: distance.filter(|_| rate > 0.0).map(|blocks| blocks / rate),
            share: outlook.standing.share,
            remaining: outlook.standing.remaining.map(|time| time.as_secs_f64()),
            headers: headers(earlier.headers, later.headers, seconds),
            last_block_age: outlook.last_block_age.as_secs_f64(),
            source_is_network: source == WorkSource::Network,
        }
    }

    /// A line about the headers, while there is something to say.
    pub fn headers_line(&self) -> Option<String> {
        let Headers {
            checkpoint,
            wanted,
            done,
            per_second,
        } = self.headers?;
        let eta = match per_second > 0.0 {
            true => hours(f64::from(wanted - done) / per_second),
            false => "an unknown time".to_owned(),
        };
        Some(format!(
            "{done} of {wanted} headers proven back from checkpoint {checkpoint} = {:.2}%, {per_second:.0} headers/s, the \
             rest in {eta}",
            100.0 * f64::from(done) / f64::from(wanted.max(1))
        ))
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
        if let Some(share) = self.share {
            let eta = self.remaining.map_or_else(|| "an unknown time".to_owned(), hours);
            line += &format!(", {:.2}% done, the rest in {eta}", 100.0 * share);
        }
        if self.blocks == 0 && self.headers.is_none() {
            line += &format!(", no block for {}", hours(self.last_block_age));
        }
        line + &format!(", {}", self.verdict)
    }
}

fn headers(earlier: HeaderReading, later: HeaderReading, seconds: f64) -> Option<Headers> {
    let HeaderReading {
        checkpoint,
        wanted,
        done,
    } = later;
    let before = if earlier.checkpoint == checkpoint {
        earlier.done
    } else {
        0
    };
    let (wanted, new) = (wanted.max(done), f64::from(done.saturating_sub(before)));
    (checkpoint > 0).then(|| Headers {
        checkpoint,
        wanted,
        done,
        per_second: if seconds > 0.0 { new / seconds } else { 0.0 },
    })
}

fn verdict(writer: &PhaseTimes, prepare_busy: f64, blocks: u64, source: WorkSource) -> Verdict {
    let total = writer.total();
    if total <= 0.0 || (blocks == 0 && writer.processing_blocks / total < BUSY) {
        return Verdict::Idle;
    }
    if writer.processing_blocks / total >= BUSY || prepare_busy >= BUSY {
        Verdict::CpuBound
    } else if writer.waiting_for_locks / total >= WAITING {
        Verdict::DiskBound
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

    const NOTHING: Outlook = Outlook {
        standing: Standing {
            share: None,
            remaining: None,
        },
        last_block_age: Duration::ZERO,
    };

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
        let outlook = Outlook {
            standing: Standing {
                share: Some(0.125),
                remaining: Some(Duration::from_secs(210)),
            },
            ..NOTHING
        };
        let interval = Interval::between(
            &earlier,
            &later,
            30.0,
            WorkSource::Network,
            Some(91_000),
            &outlook,
        );
        assert_eq!(
            interval.progress_line(),
            "head block 31000 (2018-02-17T08:11:27), 1000 blocks/s, 333 us/block, 61 tx/block, \
             queue 0 blocks 0.0 MiB, 8 peers, next checkpoint 91000 in 00:01:00, 12.50% done, the rest in 00:03:30, \
             network-bound"
        );
    }

    /// Case S44: while headers come in, or nothing does, the lines say which.
    #[test]
    fn the_lines_tell_headers_from_a_standstill() {
        let (earlier, mut later) = (reading(0, 0.0, 0.0), reading(0, 30.0, 0.0));
        later.headers = HeaderReading {
            checkpoint: 100_000,
            wanted: 100_000,
            done: 30_000,
        };
        let between = |later: &MeterReading| {
            let outlook = Outlook {
                last_block_age: Duration::from_secs(65),
                ..NOTHING
            };
            Interval::between(&earlier, later, 30.0, WorkSource::Network, None, &outlook)
        };
        assert_eq!(
            between(&later).headers_line().unwrap(),
            "30000 of 100000 headers proven back from checkpoint 100000 = 30.00%, 1000 headers/s, the rest in 00:01:10"
        );
        assert!(!between(&later).progress_line().contains("no block"));
        later.headers = HeaderReading::default();
        assert_eq!(between(&later).headers_line(), None);
        assert!(
            between(&later)
                .progress_line()
                .contains(", no block for 00:01:05, idle")
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
            &NOTHING,
        );
        assert_eq!(
            interval.progress_line(),
            "head block 5 (2018-02-17T08:11:27), 0 blocks/s, 0 us/block, 0 tx/block, queue 0 blocks 0.0 MiB, \
             next checkpoint 9 in an unknown time, no block for 00:00:00, idle"
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
    fn a_writer_that_waits_for_the_disk_is_disk_bound_and_a_full_disk_is_said() {
        let times = PhaseTimes {
            waiting_for_locks: 0.6,
            processing_blocks: 0.4,
            ..PhaseTimes::default()
        };
        assert_eq!(verdict(&times, 0.1, 1, WorkSource::Network), Verdict::DiskBound);
        let full = MeterReading {
            disk_full: true,
            ..reading(5, 0.0, 0.0)
        };
        let interval = Interval::between(
            &reading(5, 0.0, 0.0),
            &full,
            30.0,
            WorkSource::Network,
            None,
            &NOTHING,
        );
        assert!(
            interval.progress_line().ends_with("disk full: waiting for room"),
            "{}",
            interval.progress_line()
        );
        assert_eq!(serde_json::to_value(&interval).unwrap()["verdict"], "disk-full");
    }

    #[test]
    fn long_times_are_days() {
        assert_eq!(hours(59.6), "00:01:00");
        assert_eq!(hours(90_061.0), "1d 01:01:01");
    }
}
