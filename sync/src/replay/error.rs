//! Why a replay ends before its time.

use std::path::PathBuf;

use cairn_block_log::LogError;
use cairn_chain::BlockId;
use thiserror::Error;

use crate::past::PastCheckpointError;
use crate::preverify::PreverifyError;
use crate::step_back::Disputed;
use crate::writer::{Contradiction, WriterError};

/// Why a replay could not start, or not reach its end.
#[derive(Debug, Error)]
pub enum ReplayError {
    /// The log does not hold the block after the state's head, but later ones.
    #[error(
        "the block log at {path} begins at block {first}, the state needs block {needed} next: \
         give the complete log, or one that continues the state"
    )]
    BeginsLater {
        /// The log.
        path: PathBuf,
        /// Its first block.
        first: u32,
        /// The block that the state needs.
        needed: u32,
    },
    /// State and log belong to different chains.
    #[error(
        "the block log at {path} does not continue this state: block {number} has id {in_log} in the log and \
         {in_state} in the state. Use another folder for this log, or the log that the state was made from; or go back \
         below the fork with `cairn state restore` (--to 0: to the beginning)"
    )]
    OtherChain {
        /// The log.
        path: PathBuf,
        /// The state's head.
        number: u32,
        /// Its id in the log, computed from the bytes.
        in_log: BlockId,
        /// Its id in the state.
        in_state: BlockId,
    },
    /// A checkpoint at or below the state's head contradicts the log.
    #[error(transparent)]
    PastCheckpoint(#[from] PastCheckpointError),
    /// The log's headers are not on the chain of the checkpoints; nothing was applied.
    #[error(transparent)]
    Preverify(#[from] PreverifyError),
    /// A checkpoint was contradicted when blocks below it had been applied, and the state went back.
    #[error(transparent)]
    Disputed(Box<Disputed>),
    /// A checkpoint was contradicted, and the state could not go back.
    #[error(
        "{contradiction}. What was applied since the checkpoint before is not proven, and the state could not be put \
         back: {source}. `cairn state restore` puts it back when the cause is mended"
    )]
    NotBack {
        /// The checkpoint, and the block that the log has instead.
        contradiction: Contradiction,
        /// Why.
        source: Box<WriterError>,
    },
    /// The log cannot be read.
    #[error("{0}")]
    Log(#[from] LogError),
    /// A block of the log cannot be applied.
    #[error(
        "log breaks at {number} ({file}, offset {offset}): {source}. Blocks up to {} are good and applied; \
         `cairn log verify` shows the rest of the log. Get these blocks from elsewhere: bootstrap from peers with \
         `cairn run`, or use another copy of the log and start again: the replay resumes at {number}",
        number - 1
    )]
    Block {
        /// The first block that cannot be applied.
        number: u32,
        /// The file that holds it.
        file: String,
        /// Where its stored bytes begin in that file.
        offset: u64,
        /// Why.
        source: Box<WriterError>,
    },
    /// The writer stopped for another reason.
    #[error(transparent)]
    Writer(Box<WriterError>),
    /// No thread could be started.
    #[error("no thread can be started: {0}")]
    Threads(#[from] std::io::Error),
}

impl ReplayError {
    /// The block of the log that is damaged: it does not decode, is another one, does not link, or its transactions are
    /// not those of its header. All blocks before it are whole.
    pub fn damaged_block(&self) -> Option<u32> {
        match self {
            ReplayError::Block { number, source, .. } => match &**source {
                WriterError::Block { fault, .. } => fault.is_damage().then_some(*number),
                _ => None,
            },
            ReplayError::Preverify(PreverifyError::Broken { number, .. }) => Some(*number),
            ReplayError::Log(LogError::Block { place, fault }) => place.block.filter(|_| fault.is_damage()),
            _ => None,
        }
    }

    /// Whether a disk is full; see [`WriterError::is_disk_full`].
    pub fn is_disk_full(&self) -> bool {
        matches!(self, ReplayError::Block { source, .. } | ReplayError::Writer(source) if source.is_disk_full())
    }

    /// Whether the data is not what a checkpoint says (exit code 3).
    pub fn contradicts_checkpoint(&self) -> bool {
        match self {
            ReplayError::Block { source, .. } | ReplayError::Writer(source) => {
                source.contradicts_checkpoint()
            }
            ReplayError::PastCheckpoint(error) => error.contradicts_checkpoint(),
            ReplayError::Preverify(error) => error.contradicts_checkpoint(),
            ReplayError::Disputed(_) | ReplayError::NotBack { .. } => true,
            _ => false,
        }
    }
}
