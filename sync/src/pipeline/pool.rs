//! The worker threads and the two ends of the pipeline.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};
use std::{io, panic};

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, bounded};
use thiserror::Error;

use super::batch::{PreparedBatch, RawBatch};
use super::prepare::{PrepareContext, Preparer};
use crate::stats::Meter;

/// Batches that may exist at once for each worker: one that it works on, one that waits for it, and
/// two for the writer to have something in hand when a large block holds up the order.
const BATCHES_PER_WORKER: usize = 4;

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

type Ticket = Receiver<PreparedBatch>;

/// The source's end.
#[derive(Clone, Debug)]
pub struct Feed {
    jobs: Sender<(RawBatch, Sender<PreparedBatch>)>,
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
        let (jobs, job_queue) = bounded::<(RawBatch, Sender<PreparedBatch>)>(threads * BATCHES_PER_WORKER);
        let (tickets, ticket_queue) = bounded(threads * BATCHES_PER_WORKER);
        meter.prepare_threads.store(threads as u32, Relaxed);
        // What was under way when an earlier run of this meter ended has gone with it.
        meter.queue_blocks.store(0, Relaxed);
        meter.queue_bytes.store(0, Relaxed);
        let writer_gone = Arc::new(AtomicBool::new(false));
        let workers = (0..threads)
            .map(|index| {
                let (job_queue, meter) = (job_queue.clone(), Arc::clone(meter));
                let writer_gone = Arc::clone(&writer_gone);
                let mut preparer = Preparer::new(context.clone());
                thread::Builder::new()
                    .name(format!("prepare-{index}"))
                    .spawn(move || {
                        for (batch, result) in job_queue {
                            // What waits in the queue may be seconds of work that nobody wants any more.
                            if writer_gone.load(Relaxed) {
                                continue;
                            }
                            let started = Instant::now();
                            let prepared = prepare_batch(&mut preparer, batch);
                            meter
                                .prepare_nanos
                                .fetch_add(started.elapsed().as_nanos() as u64, Relaxed);
                            // The writer may have ended: then nobody waits for the result.
                            let _ = result.send(prepared);
                        }
                    })
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
        let (result, ticket) = bounded(1);
        self.tickets.send(ticket).map_err(|_| FeedClosed)?;
        self.meter.queue_blocks.fetch_add(blocks, Relaxed);
        self.meter.queue_bytes.fetch_add(bytes as u64, Relaxed);
        self.jobs.send((batch, result)).map_err(|_| FeedClosed)
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
        match ticket.recv_deadline(deadline) {
            Ok(batch) => {
                self.forget(&batch);
                Next::Batch(batch)
            }
            Err(RecvTimeoutError::Timeout) => {
                self.pending = Some(ticket);
                Next::Nothing
            }
            Err(RecvTimeoutError::Disconnected) => Next::Ended,
        }
    }

    fn forget(&self, batch: &PreparedBatch) {
        self.meter.queue_blocks.fetch_sub(batch.raw_blocks, Relaxed);
        self.meter.queue_bytes.fetch_sub(batch.raw_bytes, Relaxed);
    }
}

fn prepare_batch(preparer: &mut Preparer, batch: RawBatch) -> PreparedBatch {
    let raw_blocks = batch.blocks.len() as u64;
    let raw_bytes = batch.blocks.iter().map(|block| block.bytes.len() as u64).sum();
    let mut blocks = Vec::with_capacity(batch.blocks.len());
    let mut failure = None;
    for stored in batch.blocks {
        let number = stored.number;
        match preparer.prepare(stored) {
            Ok(prepared) => blocks.push(prepared),
            Err(error) => {
                failure = Some((number, error));
                break;
            }
        }
    }
    PreparedBatch {
        blocks,
        failure,
        origin: batch.origin,
        epoch: batch.epoch,
        raw_blocks,
        raw_bytes,
    }
}
