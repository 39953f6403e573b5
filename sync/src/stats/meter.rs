//! Counters that the writer and the pipeline keep and that everybody may read.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::Relaxed};

use super::phase::{PhaseClock, PhaseTimes};

/// The head as far as a status line needs it. Number and time are read separately and may for an
/// instant belong to neighbouring blocks, which a status line can bear.
#[derive(Debug, Default)]
pub struct HeadMeter {
    number: AtomicU32,
    time: AtomicU32,
}

impl HeadMeter {
    /// Number and time (seconds since 1970) of the last applied block.
    pub fn set(&self, number: u32, time: u32) {
        self.number.store(number, Relaxed);
        self.time.store(time, Relaxed);
    }

    /// Number of the last applied block.
    pub fn number(&self) -> u32 {
        self.number.load(Relaxed)
    }

    /// Time of the last applied block.
    pub fn time(&self) -> u32 {
        self.time.load(Relaxed)
    }
}

/// The way down from a checkpoint, header by header.
#[derive(Debug, Default)]
pub struct HeaderMeter {
    checkpoint: AtomicU32,
    wanted: AtomicU32,
    done: AtomicU32,
}

/// [`HeaderMeter`] at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HeaderReading {
    /// The checkpoint; 0: no headers are being fetched.
    pub checkpoint: u32,
    /// Headers between it and the block below, in all.
    pub wanted: u32,
    /// Those that are proven.
    pub done: u32,
}

impl HeaderMeter {
    /// Where the way down stands.
    pub fn set(&self, reading: HeaderReading) {
        self.checkpoint.store(reading.checkpoint, Relaxed);
        self.wanted.store(reading.wanted, Relaxed);
        self.done.store(reading.done, Relaxed);
    }

    fn read(&self) -> HeaderReading {
        HeaderReading {
            checkpoint: self.checkpoint.load(Relaxed),
            wanted: self.wanted.load(Relaxed),
            done: self.done.load(Relaxed),
        }
    }
}

/// What one run has done so far. Written by the writer once a batch and by the pipeline.
#[derive(Debug, Default)]
pub struct Meter {
    /// The writer's phases.
    pub clock: PhaseClock,
    /// Last applied block.
    pub head: HeadMeter,
    /// Block up to which the work goes as far as is known: the log's head, or the best peer's; 0 unknown.
    pub target: AtomicU32,
    /// The bytes of a source whose size is known, up to `target`; 0 unknown.
    pub target_bytes: AtomicU64,
    /// Those of them that lie before this run's first block.
    pub base_bytes: AtomicU64,
    /// Headers that a sync fetches before the blocks they prove: all of the present way down, and those that are here.
    pub headers: HeaderMeter,
    /// Applied blocks, and those that were put into the log only.
    pub blocks: AtomicU64,
    /// Blocks that were put into the log and not applied: the state had them.
    pub logged: AtomicU64,
    /// Transactions in them.
    pub transactions: AtomicU64,
    /// Operations in them.
    pub operations: AtomicU64,
    /// Bytes of applied blocks as they were stored or received.
    pub stored_bytes: AtomicU64,
    /// Bytes of blocks and headers that peers have sent, wanted or not.
    pub received_bytes: AtomicU64,
    /// Blocks between source and writer.
    pub queue_blocks: AtomicU64,
    /// Their bytes as they were stored or received.
    pub queue_bytes: AtomicU64,
    /// Nanoseconds that the prevalidation threads worked, summed over the threads.
    pub prepare_nanos: AtomicU64,
    /// How many prevalidation threads there are.
    pub prepare_threads: AtomicU32,
    /// Connected peers that serve blocks of this chain.
    pub peers: AtomicU32,
    /// The writer waits for room on a disk.
    pub disk_full: AtomicBool,
    /// Last block that is in the durable state.
    pub durable: AtomicU32,
    /// Undo sessions opened so far.
    pub undo_sessions: AtomicU64,
    /// Switches to another fork so far.
    pub fork_switches: AtomicU64,
}

/// The counters at one moment.
#[derive(Clone, Copy, Debug, Default)]
pub struct MeterReading {
    /// Time by phase since the start.
    pub phases: PhaseTimes,
    /// Number of the head.
    pub head: u32,
    /// Time of the head.
    pub head_time: u32,
    /// See [`Meter::target`].
    pub target: u32,
    /// See [`Meter::target_bytes`].
    pub target_bytes: u64,
    /// See [`Meter::base_bytes`].
    pub base_bytes: u64,
    /// See [`Meter::headers`].
    pub headers: HeaderReading,
    /// Applied blocks.
    pub blocks: u64,
    /// Their transactions.
    pub transactions: u64,
    /// Their operations.
    pub operations: u64,
    /// Their stored bytes.
    pub stored_bytes: u64,
    /// Bytes that peers have sent.
    pub received_bytes: u64,
    /// Blocks in the queue.
    pub queue_blocks: u64,
    /// Bytes in the queue.
    pub queue_bytes: u64,
    /// Seconds that the prevalidation threads worked.
    pub prepare_seconds: f64,
    /// Prevalidation threads.
    pub prepare_threads: u32,
    /// Peers.
    pub peers: u32,
    /// See [`Meter::disk_full`].
    pub disk_full: bool,
    /// Last durable block.
    pub durable: u32,
}

impl Meter {
    /// An undo session was opened.
    pub(crate) fn note_session(&self) {
        self.undo_sessions.fetch_add(1, Relaxed);
    }

    /// A block was put into the log only.
    pub(crate) fn note_logged(&self) {
        self.blocks.fetch_add(1, Relaxed);
        self.logged.fetch_add(1, Relaxed);
    }

    /// A block that was counted was taken back.
    pub(crate) fn uncount(&self, transactions: u64, operations: u64, stored_bytes: u64) {
        self.blocks.fetch_sub(1, Relaxed);
        self.transactions.fetch_sub(transactions, Relaxed);
        self.operations.fetch_sub(operations, Relaxed);
        self.stored_bytes.fetch_sub(stored_bytes, Relaxed);
    }

    /// Blocks are taken back for those of another fork.
    pub(crate) fn note_switch(&self) {
        self.fork_switches.fetch_add(1, Relaxed);
    }

    /// Reads all counters.
    pub fn read(&self) -> MeterReading {
        MeterReading {
            phases: self.clock.read(),
            head: self.head.number(),
            head_time: self.head.time(),
            target: self.target.load(Relaxed),
            target_bytes: self.target_bytes.load(Relaxed),
            base_bytes: self.base_bytes.load(Relaxed),
            headers: self.headers.read(),
            blocks: self.blocks.load(Relaxed),
            transactions: self.transactions.load(Relaxed),
            operations: self.operations.load(Relaxed),
            stored_bytes: self.stored_bytes.load(Relaxed),
            received_bytes: self.received_bytes.load(Relaxed),
            queue_blocks: self.queue_blocks.load(Relaxed),
            queue_bytes: self.queue_bytes.load(Relaxed),
            prepare_seconds: self.prepare_nanos.load(Relaxed) as f64 / 1e9,
            prepare_threads: self.prepare_threads.load(Relaxed),
            peers: self.peers.load(Relaxed),
            disk_full: self.disk_full.load(Relaxed),
            durable: self.durable.load(Relaxed),
        }
    }
}
