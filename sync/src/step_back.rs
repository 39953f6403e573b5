//! Going back when a checkpoint is contradicted by a log whose blocks were applied before they were proven.

use std::path::PathBuf;

use cairn_block_log::{BlockLog, Place};
use cairn_state::{RestorePoint, RestorePoints};
use thiserror::Error;

use crate::log_ids::{id_if_there, place_of};
use crate::replay::ReplayError;
use crate::writer::{ChainWriter, Contradiction, Ended, WriterError};

/// A checkpoint that a log contradicts, after blocks of the log that nothing else vouches for were applied. The
/// state was put back.
#[derive(Debug, Error)]
#[error(
    "{contradiction} (offset {} of {}). Blocks {first}..{} of {} are not on the chain of this checkpoint; the state is \
     back at block {back_at}{}. Either the checkpoint was copied wrongly or the log is of another chain: compare the id \
     of block {} with a node of your own",
    place.offset, place.file.display(), contradiction.number, path.display(), self.also_unproven(), contradiction.number
)]
pub struct Disputed {
    /// The checkpoint, and the block that the log has instead.
    pub contradiction: Contradiction,
    /// Where that block is.
    pub place: Place,
    /// First block that no checkpoint vouches for.
    pub first: u32,
    /// The log.
    pub path: PathBuf,
    /// The block that the state belongs to now.
    pub back_at: u32,
}

impl Disputed {
    fn also_unproven(&self) -> String {
        if self.back_at < self.first {
            return String::new();
        }
        format!(
            ", where this run began; blocks {}..{} had been applied before it and are not proven either",
            self.first, self.back_at
        )
    }
}

/// The state as it is when a replay of unproven blocks begins; removed when the value is dropped.
#[derive(Debug)]
pub(crate) struct StartPoint {
    points: RestorePoints,
    point: RestorePoint,
}

impl StartPoint {
    /// Keeps it, if a checkpoint in the log could be contradicted. That it cannot be kept is a warning.
    pub(crate) fn keep(points: &RestorePoints, chain: &ChainWriter, log: &BlockLog) -> Option<Self> {
        let ahead = chain.checkpoints().next_after(chain.head().number)?;
        if log.head_number().is_none_or(|head| head < ahead.number) {
            return None;
        }
        match points.keep(chain.state().registers().store()) {
            Ok(point) => Some(Self {
                points: points.clone(),
                point,
            }),
            Err(error) => {
                tracing::warn!(
                    target: "restore_point",
                    "the state of block {} cannot be kept in {}: {error}. If the log contradicts a checkpoint before the \
                     first one is reached, the state stays with the blocks that were applied until then",
                    chain.head().number,
                    points.dir().display()
                );
                None
            }
        }
    }
}

impl Drop for StartPoint {
    fn drop(&mut self) {
        // What stays is removed at the next start.
        if let Err(error) = self.points.remove_all() {
            tracing::debug!(target: "restore_point", "{error}");
        }
    }
}

/// Puts the state back to the newest restore point whose block is proven, else to where this run began.
pub(crate) fn step_back(
    chain: ChainWriter,
    log: &BlockLog,
    contradiction: Contradiction,
    start: Option<&StartPoint>,
) -> (Option<ChainWriter>, Result<Ended, ReplayError>) {
    let number = contradiction.number;
    // All checkpoints below were reached by this run, or compared with the log at its start.
    let proven = chain
        .checkpoints()
        .iter()
        .rev()
        .find(|checkpoint| checkpoint.number < number)
        .map_or(0, |checkpoint| checkpoint.number);
    let Some(target) = target(&chain, log, proven, start.map(|start| &start.point)) else {
        let error = WriterError::Checkpoint(contradiction);
        return (Some(chain), Err(ReplayError::Writer(Box::new(error))));
    };
    let disputed = Disputed {
        place: place_of(log, number),
        first: proven + 1,
        path: log.path().to_owned(),
        back_at: target.number(),
        contradiction,
    };
    if target.number() == chain.head().number {
        return (Some(chain), Err(ReplayError::Disputed(Box::new(disputed))));
    }
    match chain.restore(&target) {
        Ok(chain) => (Some(chain), Err(ReplayError::Disputed(Box::new(disputed)))),
        Err(error) => (
            None,
            Err(ReplayError::NotBack {
                contradiction: disputed.contradiction,
                source: Box::new(error),
            }),
        ),
    }
}

/// The newest of the restore points on the log's chain and, if it is proven or there is no other, the start.
fn target(
    chain: &ChainWriter,
    log: &BlockLog,
    proven: u32,
    start: Option<&RestorePoint>,
) -> Option<RestorePoint> {
    let kept = match chain.restore_points().map(RestorePoints::list) {
        Some(Ok(points)) => points,
        Some(Err(error)) => {
            tracing::warn!(target: "restore_point", "{error}");
            Vec::new()
        }
        None => Vec::new(),
    };
    let newest = kept.into_iter().rev().find(|point| {
        point.head.is_some_and(|head| {
            head.number <= proven && id_if_there(log, head.number).is_some_and(|id| id.0 == head.id)
        })
    });
    match (newest, start) {
        (Some(point), Some(start)) if start.number() <= proven && start.number() > point.number() => {
            Some(start.clone())
        }
        (Some(point), _) => Some(point),
        (None, start) => start.cloned(),
    }
}
