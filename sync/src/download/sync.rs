//! A sync as a whole: driver, feeder, pipeline and writer.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread;

use thiserror::Error;

use super::driver::Driver;
use super::feeder::feed_in_order;
use super::network::BlockNetwork;
use super::scheduler::{Scheduler, SchedulerOptions};
use super::shared::{Blame, Shared};
use crate::pipeline::{Pipeline, PipelineOptions, PrepareContext};
use crate::stats::Meter;
use crate::writer::{ChainWriter, Ended, ProgressStyle, RunOptions, WriterError, WriterLoop};

/// How to sync.
#[derive(Debug)]
pub struct SyncOptions {
    /// Prevalidation threads.
    pub threads: usize,
    /// Window and timeouts; holds the last block that is wanted.
    pub scheduler: SchedulerOptions,
    /// Set to end the sync.
    pub stop: Arc<AtomicBool>,
}

/// Why a sync ended before its time.
#[derive(Debug, Error)]
pub enum SyncError {
    /// The writer could not go on.
    #[error(transparent)]
    Writer(#[from] WriterError),
    /// No thread could be started.
    #[error("no thread can be started: {0}")]
    Threads(#[from] std::io::Error),
}

impl SyncError {
    /// Whether the data is not what a checkpoint says (exit code 3).
    pub fn contradicts_checkpoint(&self) -> bool {
        matches!(self, SyncError::Writer(error) if error.contradicts_checkpoint())
    }
}

/// Fetches blocks from the state's head on and applies them, until the last wanted block is applied or
/// somebody asks for the end. The writer is given back whatever happened; what was applied is committed.
///
/// Blocks the calling thread; the driver runs on `runtime`.
///
/// # Errors
/// [`SyncError`].
pub fn sync(
    chain: ChainWriter,
    network: &Arc<dyn BlockNetwork>,
    context: &PrepareContext,
    options: SyncOptions,
    meter: &Arc<Meter>,
    runtime: &tokio::runtime::Handle,
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
    let shared = Arc::new(Shared::new(Scheduler::new(
        chain.head().number + 1,
        options.scheduler,
    )));
    let driver = Driver::new(Arc::clone(network), Arc::clone(&shared), Arc::clone(meter));
    let driver = runtime.spawn(driver.run());
    let run = RunOptions {
        last_block: options.scheduler.last_block,
        stop: options.stop,
        progress: ProgressStyle::Sync,
    };
    let blame = Blame::new(Arc::clone(&shared), Arc::clone(network));
    let writer = WriterLoop::new(chain, prepared, blame, Arc::clone(meter), run);
    let (chain, ended) = thread::scope(|scope| {
        let feeder = scope.spawn(|| {
            feed_in_order(&shared, &feed);
            drop(feed);
        });
        let writer = scope.spawn(|| writer.run());
        let written = join(writer);
        shared.end();
        join(feeder);
        written
    });
    pipeline.join();
    // The driver ends by itself at the flag; a panic in it has been printed by then.
    let _ = runtime.block_on(driver);
    (chain, ended.map_err(SyncError::from))
}

fn join<T>(thread: thread::ScopedJoinHandle<'_, T>) -> T {
    thread
        .join()
        .unwrap_or_else(|payload| std::panic::resume_unwind(payload))
}
