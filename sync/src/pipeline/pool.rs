//! The worker threads and the two ends of the pipeline.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};
use std::{io, panic};

use crossbeam_channel::{Receiver, RecvTimeoutError, SendTimeoutError, Sender, bounded};
use thiserror::Error;

use super::batch::{PreparedBatch, RawBatch};
use super::memory::{MAX_PART, Waiting};
use super::prepare::{PrepareContext, Preparer};
use crate::stats::Meter;

/// Batches that may exist at once for each worker: one that it works on, one that waits for it, and
/// two for the writer to have something in hand when a large block holds up the order.
const BATCHES_PER_WORKER: usize = 4;

/// How late a worker may notice that the writer has ended.
const IDLE: Duration = Duration::from_millis(100);

/// Size of the pipeline.
#[derive(Clone, Copy, Debug)]
pub struct PipelineOptions {
    /// Worker threads; at least one is started.
    pub threads: usize,
}

/// The writer or all workers are gone; nothing more is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("the writer has ended")]
pub struct FeedClosed;

/// A batch's place in the order.
#[derive(Debug)]
struct Ticket {
    parts: Receiver<PreparedBatch>,
    /// The writer waits for this one.
    wanted: Arc<AtomicBool>,
}

/// A batch for a worker.
#[derive(Debug)]
struct Job {
    batch: RawBatch,
    parts: Sender<PreparedBatch>,
    wanted: Arc<AtomicBool>,
}

/// The source's end.
#[derive(Clone, Debug)]
pub struct Feed {
    jobs: Sender<Job>,
    tickets: Sender<Ticket>,
    writer_gone: Arc<AtomicBool>,
    meter: Arc<Meter>,
}

/// The writer's end.
#[derive(Debug)]
pub struct Prepared {
    tickets: Receiver<Ticket>,
    pending: Option<Ticket>,
    writer_gone: Arc<AtomicBool>,
    waiting: Arc<Waiting>,
    meter: Arc<Meter>,
}

/// The running workers. They end when the feed and all batches are gone.
#[derive(Debug)]
pub struct Pipeline {
    workers: Vec<JoinHandle<()>>,
}

impl Pipeline {
    /// Starts the workers.
    ///
    /// # Errors
    /// When the system gives no more threads.
    pub fn start(
        context: &PrepareContext,
        options: PipelineOptions,
        meter: &Arc<Meter>,
    ) -> io::Result<(Self, Feed, Prepared)> {
        let threads = options.threads.max(1);
        let (jobs, job_queue) = bounded::<Job>(threads * BATCHES_PER_WORKER);
        let (tickets, ticket_queue) = bounded(threads * BATCHES_PER_WORKER);
        meter.prepare_threads.store(threads as u32, Relaxed);
        // What was under way when an earlier run of this meter ended has gone with it.
        meter.queue_blocks.store(0, Relaxed);
        meter.queue_bytes.store(0, Relaxed);
        let writer_gone = Arc::new(AtomicBool::new(false));
        let waiting = Arc::new(Waiting::default());
        let workers = (0..threads)
            .map(|index| {
                let job_queue = job_queue.clone();
                let mut worker = Worker {
                    preparer: Preparer::new(context.clone()),
                    writer_gone: Arc::clone(&writer_gone),
                    waiting: Arc::clone(&waiting),
                    meter: Arc::clone(meter),
                };
                thread::Builder::new()
                    .name(format!("prepare-{index}"))
                    .spawn(move || job_queue.into_iter().for_each(|job| worker.work(job)))
            })
            .collect::<io::Result<Vec<_>>>()?;
        let feed = Feed {
            jobs,
            tickets,
            writer_gone: Arc::clone(&writer_gone),
            meter: Arc::clone(meter),
        };
        let prepared = Prepared {
            tickets: ticket_queue,
            pending: None,
            writer_gone,
            waiting,
            meter: Arc::clone(meter),
        };
        Ok((Self { workers }, feed, prepared))
    }

    /// Waits for the workers to end. Call it after the feed and the prepared end are dropped.
    ///
    /// # Panics
    /// Repeats the panic of a worker, which is a defect of this program.
    pub fn join(self) {
        for worker in self.workers {
            if let Err(payload) = worker.join() {
                panic::resume_unwind(payload);
            }
        }
    }
}

impl Feed {
    /// Hands over a batch; blocks while the pipeline is full.
    ///
    /// # Errors
    /// [`FeedClosed`] when the writer has ended.
    pub fn push(&self, batch: RawBatch) -> Result<(), FeedClosed> {
        let blocks = batch.blocks.len() as u64;
        let bytes: usize = batch.blocks.iter().map(|block| block.bytes.len()).sum();
        let (sender, parts) = bounded(1);
        let wanted = Arc::new(AtomicBool::new(false));
        let ticket = Ticket {
            parts,
            wanted: Arc::clone(&wanted),
        };
        self.tickets.send(ticket).map_err(|_| FeedClosed)?;
        self.meter.queue_blocks.fetch_add(blocks, Relaxed);
        self.meter.queue_bytes.fetch_add(bytes as u64, Relaxed);
        let job = Job {
            batch,
            parts: sender,
            wanted,
        };
        self.jobs.send(job).map_err(|_| FeedClosed)
    }

    /// Whether the writer has ended, so that nobody will take another batch.
    pub fn is_closed(&self) -> bool {
        self.writer_gone.load(Relaxed)
    }
}

impl Drop for Prepared {
    fn drop(&mut self) {
        self.writer_gone.store(true, Relaxed);
    }
}

/// What the writer finds when it asks for work.
#[derive(Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "there is one at a time, and it is moved once"
)]
pub enum Next {
    /// A batch.
    Batch(PreparedBatch),
    /// Nothing for now.
    Nothing,
    /// The source has ended, or a worker died with its batch.
    Ended,
}

impl Prepared {
    /// The next batch in order; waits at most until `deadline`.
    pub fn next(&mut self, wait: Duration) -> Next {
        let deadline = Instant::now() + wait;
        let ticket = match self.pending.take() {
            Some(ticket) => ticket,
            None => match self.tickets.recv_deadline(deadline) {
                Ok(ticket) => ticket,
                Err(RecvTimeoutError::Timeout) => return Next::Nothing,
                Err(RecvTimeoutError::Disconnected) => return Next::Ended,
            },
        };
        ticket.wanted.store(true, Relaxed);
        match ticket.parts.recv_deadline(deadline) {
            Ok(batch) => {
                self.forget(&batch);
                if !batch.is_last {
                    self.pending = Some(ticket);
                }
                Next::Batch(batch)
            }
            Err(RecvTimeoutError::Timeout) => {
                self.pending = Some(ticket);
                Next::Nothing
            }
            Err(RecvTimeoutError::Disconnected) => Next::Ended,
        }
    }

    /// Decoded bytes that wait.
    #[cfg(test)]
    pub(super) fn waiting_bytes(&self) -> usize {
        self.waiting.bytes()
    }

    fn forget(&self, batch: &PreparedBatch) {
        self.meter.queue_blocks.fetch_sub(batch.raw_blocks, Relaxed);
        self.meter.queue_bytes.fetch_sub(batch.raw_bytes, Relaxed);
        self.waiting.remove(batch.memory);
    }
}

struct Worker {
    preparer: Preparer,
    writer_gone: Arc<AtomicBool>,
    waiting: Arc<Waiting>,
    meter: Arc<Meter>,
}

impl Worker {
    /// Prepares a batch, in parts if it becomes large. What nobody wants any more, because the writer has ended, is left:
    /// it may be seconds of work.
    fn work(&mut self, job: Job) {
        let RawBatch {
            blocks,
            origin,
            epoch,
        } = job.batch;
        let empty = || PreparedBatch {
            blocks: Vec::new(),
            failure: None,
            origin: origin.clone(),
            epoch,
            raw_blocks: 0,
            raw_bytes: 0,
            memory: 0,
            is_last: false,
        };
        let mut part = empty();
        part.blocks.reserve_exact(blocks.len());
        for stored in blocks {
            if self.writer_gone.load(Relaxed) {
                return;
            }
            if part.memory >= MAX_PART && !self.hand_over(&job.parts, std::mem::replace(&mut part, empty())) {
                return;
            }
            part.raw_blocks += 1;
            part.raw_bytes += stored.bytes.len() as u64;
            if part.failure.is_some() {
                continue;
            }
            let go_on = || job.wanted.load(Relaxed) || self.writer_gone.load(Relaxed);
            self.waiting.wait(go_on);
            let (number, started) = (stored.number, Instant::now());
            match self.preparer.prepare(stored) {
                Ok(prepared) => {
                    let memory = prepared.memory();
                    self.waiting.add(memory);
                    part.memory += memory;
                    part.blocks.push(prepared);
                }
                Err(error) => part.failure = Some((number, error)),
            }
            self.meter
                .prepare_nanos
                .fetch_add(started.elapsed().as_nanos() as u64, Relaxed);
        }
        part.is_last = true;
        self.hand_over(&job.parts, part);
    }

    /// Waits until the writer has taken the part before. False: the writer has ended, and nobody waits for this one.
    fn hand_over(&self, parts: &Sender<PreparedBatch>, mut part: PreparedBatch) -> bool {
        loop {
            match parts.send_timeout(part, IDLE) {
                Ok(()) => return true,
                Err(SendTimeoutError::Disconnected(_)) => return false,
                Err(SendTimeoutError::Timeout(_)) if self.writer_gone.load(Relaxed) => return false,
                Err(SendTimeoutError::Timeout(back)) => part = back,
            }
        }
    }
}
