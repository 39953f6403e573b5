//! A sync as a whole: driver, feeder, pipeline and writer.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;
use std::time::Duration;

use thiserror::Error;

use super::blame::Blame;
use super::driver::Driver;
use super::feeder::{feed_branches, feed_in_order};
use super::follow::{Follow, Known, Means};
use super::network::BlockNetwork;
use super::proof::{ProofOptions, Verdict};
use super::scheduler::{Scheduler, SchedulerOptions};
use super::shared::Shared;
use crate::pipeline::{Pipeline, PipelineOptions, PrepareContext};
use crate::stats::Meter;
use crate::writer::{
    ChainWriter, Ended, LogGap, ProgressStyle, RunOptions, SystemClock, WriterError, WriterLoop,
};

/// Batches of the peers' branches that wait for the pipeline; each has at most 256 KiB and a block.
const BRANCH_BATCHES: usize = 8;

/// What to do when all peers contradict a checkpoint.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnMismatch {
    /// End the sync.
    #[default]
    Exit,
    /// Keep asking: a peer that agrees may come.
    Wait,
}

/// How to sync.
#[derive(Debug)]
pub struct SyncOptions {
    /// Prevalidation threads.
    pub threads: usize,
    /// Window and timeouts; holds the last block that is wanted.
    pub scheduler: SchedulerOptions,
    /// Folder for what the downloader notes for itself: the skeletons of the proof.
    pub folder: PathBuf,
    /// How long other peers may take to be found and asked when one contradicts a checkpoint.
    pub patience: Duration,
    /// What happens when they all do.
    pub on_mismatch: OnMismatch,
    /// Set to end the sync.
    pub stop: Arc<AtomicBool>,
}

/// Why a sync ended before its time.
#[derive(Debug, Error)]
pub enum SyncError {
    /// The writer could not go on.
    #[error(transparent)]
    Writer(#[from] WriterError),
    /// A checkpoint and the peers' chain do not go together.
    #[error("{0}")]
    Checkpoint(Verdict),
    /// No thread could be started.
    #[error("no thread can be started: {0}")]
    Threads(#[from] std::io::Error),
}

impl SyncError {
    /// Whether a disk is full; see [`WriterError::is_disk_full`].
    pub fn is_disk_full(&self) -> bool {
        matches!(self, SyncError::Writer(error) if error.is_disk_full())
    }

    /// Whether the data is not what a checkpoint says (exit code 3).
    pub fn contradicts_checkpoint(&self) -> bool {
        match self {
            SyncError::Writer(error) => error.contradicts_checkpoint(),
            SyncError::Checkpoint(_) => true,
            SyncError::Threads(_) => false,
        }
    }
}

/// Fetches blocks from the state's head on and applies them, until the last wanted block is applied or
/// somebody asks for the end. The writer is given back whatever happened; what cannot be taken back is committed.
///
/// Blocks the calling thread; the driver runs on `runtime`.
///
/// # Errors
/// [`SyncError`].
pub fn sync(
    mut chain: ChainWriter,
    network: &Arc<dyn BlockNetwork>,
    context: &PrepareContext,
    options: SyncOptions,
    meter: &Arc<Meter>,
    runtime: &tokio::runtime::Handle,
) -> (ChainWriter, Result<Ended, SyncError>) {
    chain.follow_forks(Box::new(SystemClock));
    let begin = |options, proof| Scheduler::new(options, proof);
    run(chain, network, context, options, meter, runtime, begin)
}

/// Fetches the blocks of a gap below the state's head and puts them into the block log, without applying them: they are
/// proven by the head's id. Ends as [`sync`] does, with [`Ended::ReachedLastBlock`] when the gap is closed.
///
/// # Errors
/// [`SyncError`]; [`Verdict::TwoChains`] when the block before the gap is not on the state's chain.
pub fn fill_log(
    mut chain: ChainWriter,
    gap: &LogGap,
    network: &Arc<dyn BlockNetwork>,
    context: &PrepareContext,
    mut options: SyncOptions,
    meter: &Arc<Meter>,
    runtime: &tokio::runtime::Handle,
) -> (ChainWriter, Result<Ended, SyncError>) {
    chain.begin_filling(gap);
    options.scheduler.last_block = Some(gap.last.number());
    let begin = |options, proof| {
        let scheduler = Scheduler::new(options, proof);
        match gap.below {
            Some(_) => scheduler,
            None => scheduler.with_unknown_start(),
        }
    };
    let (mut chain, ended) = run(chain, network, context, options, meter, runtime, begin);
    chain.end_filling();
    (chain, ended)
}

fn run(
    chain: ChainWriter,
    network: &Arc<dyn BlockNetwork>,
    context: &PrepareContext,
    options: SyncOptions,
    meter: &Arc<Meter>,
    runtime: &tokio::runtime::Handle,
    begin: impl FnOnce(SchedulerOptions, ProofOptions) -> Scheduler,
) -> (ChainWriter, Result<Ended, SyncError>) {
    let parts = Pipeline::start(
        context,
        PipelineOptions {
            threads: options.threads,
        },
        meter,
    );
    let (pipeline, feed, prepared) = match parts {
        Ok(parts) => parts,
        Err(error) => return (chain, Err(error.into())),
    };
    // A replay before may have known its way in bytes; of the peers' blocks nobody does.
    meter.target_bytes.store(0, Relaxed);
    let (head, checkpoints) = (chain.head(), chain.checkpoints().clone());
    let proven_through = checkpoints.last_number();
    let proof = ProofOptions {
        checkpoints: checkpoints.clone(),
        head: (head.number, head.id),
        folder: options.folder,
        patience: options.patience,
        wait_on_mismatch: options.on_mismatch == OnMismatch::Wait,
    };
    let shared = Arc::new(Shared::new(begin(options.scheduler, proof)));
    let (branches, branch_queue) = tokio::sync::mpsc::channel(BRANCH_BATCHES);
    let view = Arc::clone(chain.view());
    let follow = Follow::new(Means {
        network: Arc::clone(network),
        dictionaries: Arc::clone(&context.dictionaries),
        meter: Arc::clone(meter),
        queue: branches,
        known: Known::new(Arc::clone(&view) as _),
    });
    let driver = Driver::new(
        Arc::clone(network),
        Arc::clone(&shared),
        Arc::clone(meter),
        Arc::clone(&context.dictionaries),
        checkpoints,
        follow,
    );
    let driver = runtime.spawn(driver.run());
    let run = RunOptions {
        last_block: options.scheduler.last_block,
        stop: options.stop,
        progress: ProgressStyle::Sync,
    };
    let blame = Blame::new(Arc::clone(&shared), Arc::clone(network), view, proven_through);
    let writer = WriterLoop::new(chain, prepared, blame, Arc::clone(meter), run);
    let (chain, ended) = thread::scope(|scope| {
        // Also when the writer panics, or else the scope would wait for feeders that nobody tells to end.
        let end = EndSource(&shared);
        let branch_feed = feed.clone();
        let feeder = scope.spawn(|| {
            feed_in_order(&shared, &feed);
            drop(feed);
        });
        let branch_feeder = scope.spawn(|| {
            feed_branches(&shared, branch_queue, &branch_feed);
            drop(branch_feed);
        });
        let writer = scope.spawn(|| writer.run());
        let written = join(writer);
        drop(end);
        join(feeder);
        join(branch_feeder);
        written
    });
    pipeline.join();
    // It ends by itself at the flag. A panic in it, which is a defect of this program, has set the flag.
    if let Err(error) = runtime.block_on(driver)
        && error.is_panic()
    {
        std::panic::resume_unwind(error.into_panic());
    }
    let ended = match (ended, shared.take_verdict()) {
        (Ok(_), Some(verdict)) => Err(SyncError::Checkpoint(verdict)),
        (ended, _) => ended.map_err(SyncError::from),
    };
    (chain, ended)
}

/// Ends the source when the writer has ended, however it did.
struct EndSource<'a>(&'a Shared);

impl Drop for EndSource<'_> {
    fn drop(&mut self) {
        self.0.end();
    }
}

fn join<T>(thread: thread::ScopedJoinHandle<'_, T>) -> T {
    thread
        .join()
        .unwrap_or_else(|payload| std::panic::resume_unwind(payload))
}
