//! Replay: a block log is read from the state's head on, prevalidated in parallel and applied in order.
//!
//! The log is not trusted: ids are computed from the bytes, each block must name the id of the one
//! before, and every transaction must be under its header's Merkle root, whatever is skipped besides.

mod error;

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;
use std::time::Instant;

use cairn_block_log::{BlockLog, LogError};
use cairn_state::RestorePoints;

pub use error::ReplayError;

use crate::checkpoint::Checkpoints;
use crate::log_ids::{id_if_there, read_id};
use crate::past::check_past;
use crate::pipeline::{
    BatchBuilder, Feed, FeedClosed, Origin, Pipeline, PipelineOptions, PrepareContext, RawBatch,
};
use crate::preverify::{OnProgress, Preverification, Preverified, PreverifyError};
use crate::stats::Meter;
use crate::step_back::{StartPoint, step_back};
use crate::unproven_tail::prepare_for_unproven;
use crate::writer::{ChainWriter, Ended, ProgressStyle, RunOptions, WriterError, WriterLoop};

/// How to replay.
#[derive(Debug)]
pub struct ReplayOptions {
    /// Prevalidation threads.
    pub threads: usize,
    /// The last block to apply; `None`: to the log's end.
    pub last_block: Option<u32>,
    /// Set to end the replay early.
    pub stop: Arc<AtomicBool>,
    /// Where the state is kept as it is at the start, for as long as the replay runs, when what comes is not proven
    /// before it is applied. `None`: nowhere.
    pub start_point: Option<RestorePoints>,
    /// Whether the state is thrown away afterwards: then restore points are kept only if the replay may need them.
    pub scratch: bool,
}

/// Replays `log` onto `chain`. With `preverify`, which is told of the progress, the log's headers are first compared
/// with the checkpoints. What was applied is committed. The writer is given back, unless the state could not be put
/// back to a restore point: then what is durable is whole all the same.
///
/// # Errors
/// [`ReplayError`].
pub fn replay(
    mut chain: ChainWriter,
    log: &BlockLog,
    context: &PrepareContext,
    options: &ReplayOptions,
    meter: &Arc<Meter>,
    preverify: Option<OnProgress<'_>>,
) -> (Option<ChainWriter>, Result<Ended, ReplayError>) {
    match start(&chain, log, options.last_block) {
        Err(error) => return (Some(chain), Err(error)),
        Ok(Some(ended)) => return (Some(chain), Ok(ended)),
        Ok(None) => {}
    }
    let proven = match preverify.map(|progress| prove(&chain, log, options, progress)) {
        None => false,
        Some(Ok(Some(Preverified::Stopped))) => return (Some(chain), Ok(Ended::Stopped)),
        Some(Ok(proven)) => proven.is_some(),
        Some(Err(error)) => return (Some(chain), Err(error.into())),
    };
    if proven && options.scratch {
        chain.make_no_restore_points();
    }
    let start_point = match &options.start_point {
        Some(points) if !proven => StartPoint::keep(points, &chain, log),
        _ => None,
    };
    let last = last_block(log, options.last_block);
    if let Err(error) = prepare_for_unproven(&mut chain, log, last, context.plan.reduced_through) {
        return (Some(chain), Err(ReplayError::Writer(Box::new(error))));
    }
    meter.target.store(last, Relaxed);
    let (base, target) = way_in_bytes(log, chain.head().number + 1, last);
    meter.base_bytes.store(base, Relaxed);
    meter.target_bytes.store(target, Relaxed);
    let (chain, result) = apply_all(chain, log, context, options, meter);
    match result {
        Err(ReplayError::Writer(error)) => match *error {
            WriterError::Checkpoint(contradiction) => {
                step_back(chain, log, contradiction, start_point.as_ref())
            }
            error => (Some(chain), Err(ReplayError::Writer(Box::new(error)))),
        },
        result => (Some(chain), result),
    }
}

/// Compares the headers with the checkpoints. `None`: no checkpoint lies ahead in the log.
fn prove(
    chain: &ChainWriter,
    log: &BlockLog,
    options: &ReplayOptions,
    progress: OnProgress<'_>,
) -> Result<Option<Preverified>, PreverifyError> {
    let pass = Preverification {
        log,
        checkpoints: chain.checkpoints(),
        head: chain.head().id,
        threads: NonZeroUsize::new(options.threads).unwrap_or(NonZeroUsize::MIN),
    };
    let Some((first, last)) = pass.range(options.last_block) else {
        return Ok(None);
    };
    let path = log.path().display();
    tracing::info!(
        target: "replay",
        "Verifying the headers of blocks {first} to {last} of {path} against the checkpoints before anything is applied"
    );
    let started = Instant::now();
    let outcome = pass.run((first, last), &options.stop, progress)?;
    if outcome != Preverified::Stopped {
        let seconds = started.elapsed().as_secs_f64();
        let rate = f64::from(last - first + 1) / seconds.max(1e-9);
        tracing::info!(
            target: "replay",
            "Headers of blocks {first} to {last} are on the chain of the checkpoints ({seconds:.3} s, {rate:.0} blocks/s)"
        );
    }
    Ok(Some(outcome))
}

fn apply_all(
    chain: ChainWriter,
    log: &BlockLog,
    context: &PrepareContext,
    options: &ReplayOptions,
    meter: &Arc<Meter>,
) -> (ChainWriter, Result<Ended, ReplayError>) {
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
    let (first, last) = (chain.head().number + 1, last_block(log, options.last_block));
    let run = RunOptions {
        last_block: Some(last),
        stop: Arc::clone(&options.stop),
        progress: ProgressStyle::Replay { last },
    };
    let writer = WriterLoop::new(chain, prepared, (), Arc::clone(meter), run);
    let (chain, ended, read) = thread::scope(|scope| {
        let reader = scope.spawn(move || {
            // The feed ends with this thread: then the workers and the writer know that no more will come.
            let feed = feed;
            read_ahead(log, first, last, &feed)
        });
        let writer = scope.spawn(|| writer.run());
        let (chain, ended) = join(writer);
        (chain, ended, join(reader))
    });
    pipeline.join();
    let result = match (ended, read) {
        (Err(error), _) => Err(place(log, error)),
        (Ok(_), Err(error)) => Err(error.into()),
        (Ok(ended), Ok(())) => Ok(ended),
    };
    (chain, result)
}

/// Checks that the log continues the state. `Some`: there is nothing to do.
fn start(
    chain: &ChainWriter,
    log: &BlockLog,
    wanted_last: Option<u32>,
) -> Result<Option<Ended>, ReplayError> {
    let head = chain.head();
    check_past(chain.checkpoints(), head.number, |number| {
        id_if_there(log, number)
    })?;
    let needed = head.number + 1;
    let log_first = log.first_number().unwrap_or(1);
    let log_head = log.head_number().unwrap_or(0);
    if log_first > needed {
        return Err(ReplayError::BeginsLater {
            path: log.path().to_owned(),
            first: log_first,
            needed,
        });
    }
    if (log_first..=log_head).contains(&head.number) {
        let in_log = read_id(log, head.number)?;
        if in_log != head.id {
            let (path, number) = (log.path().to_owned(), head.number);
            return Err(ReplayError::OtherChain {
                path,
                number,
                in_log,
                in_state: head.id,
            });
        }
    }
    let last = last_block(log, wanted_last);
    if last < needed {
        let path = log.path().display();
        tracing::info!(target: "replay", "Nothing to replay: state at block {}, {path} ends at {log_head}", head.number);
        let ended = if wanted_last.is_some_and(|last| head.number >= last) {
            Ended::ReachedLastBlock
        } else {
            Ended::SourceEnded
        };
        return Ok(Some(ended));
    }
    if head.number > 0 {
        tracing::info!(
            target: "replay",
            "Resume of replaying. Last applied block: {}; resuming at {needed} from block log {}, {} blocks ahead",
            head.number,
            log.path().display(),
            log_head.saturating_sub(head.number)
        );
    }
    Ok(None)
}

/// Bytes of the log before block `first`, and up to block `last`. Within the part of the last block, blocks are taken to
/// be of one size: to know better, that part's index would have to be made now.
fn way_in_bytes(log: &BlockLog, first: u32, last: u32) -> (u64, u64) {
    let (mut base, mut target) = (0, 0);
    for part in log.parts() {
        let share = |through: u32| {
            let blocks = u64::from(through - part.first + 1);
            part.bytes / u64::from(part.last - part.first + 1).max(1) * blocks
        };
        if part.last < first {
            base += part.bytes;
        } else if part.first < first {
            base += log
                .offset_of(first)
                .map_or_else(|_| share(first - 1), |(_, offset)| offset);
        }
        if part.last <= last {
            target += part.bytes;
        } else if part.first <= last {
            target += share(last);
        }
    }
    (base, target.max(base))
}

fn last_block(log: &BlockLog, wanted: Option<u32>) -> u32 {
    let head = log.head_number().unwrap_or(0);
    wanted.map_or(head, |wanted| wanted.min(head))
}

fn read_ahead(log: &BlockLog, first: u32, last: u32, feed: &Feed) -> Result<(), LogError> {
    let push = |blocks| {
        feed.push(RawBatch {
            blocks,
            origin: Origin::BlockLog,
            epoch: 0,
        })
    };
    let mut batch = BatchBuilder::default();
    for stored in log.sequential(first) {
        let stored = match stored {
            Ok(stored) => stored,
            Err(error) => {
                // What was read before is good and still goes to the writer.
                let _ = batch.take().map(push);
                return Err(error);
            }
        };
        let number = stored.number;
        if let Some(Err(FeedClosed)) = batch.push(stored).map(push) {
            return Ok(()); // The writer has ended and knows why.
        }
        if number >= last {
            break;
        }
    }
    let _ = batch.take().map(push);
    Ok(())
}

/// Adds file and offset to an error about a block.
fn place(log: &BlockLog, error: WriterError) -> ReplayError {
    let WriterError::Block { number, .. } = error else {
        return ReplayError::Writer(error.into());
    };
    match log.offset_of(number) {
        Ok((file, offset)) => ReplayError::Block {
            number,
            file: file.display().to_string(),
            offset,
            source: error.into(),
        },
        Err(_) => ReplayError::Writer(error.into()),
    }
}

fn join<T>(thread: thread::ScopedJoinHandle<'_, T>) -> T {
    thread
        .join()
        .unwrap_or_else(|payload| std::panic::resume_unwind(payload))
}

/// Says which rules are in force, and why, before the first block is applied.
pub fn announce_modes(checkpoints: &Checkpoints, reduced_through: u32, first: u32) {
    if let Some(last) = checkpoints.last() {
        tracing::info!(
            target: "test_checkpoint",
            "Checkpoints enabled, blocks will be subject to reduced validation until final checkpoint [{},{}]",
            last.number,
            last.id
        );
    }
    if reduced_through == u32::MAX {
        tracing::info!(
            target: "validation",
            "Reduced validation on from block {first} on: there is no checkpoint, and validate-during-replay is not \
             set. Ids, hash chain and Merkle roots are checked; signatures and authorities are not"
        );
    } else if first <= reduced_through {
        tracing::info!(
            target: "validation",
            "Reduced validation on from block {first} to {reduced_through}, the last checkpoint; full validation \
             from block {} on",
            u64::from(reduced_through) + 1
        );
    } else {
        tracing::info!(target: "validation", "Full validation from block {first} on");
    }
}
