//! Why the writer stops.

use std::sync::Arc;

use cairn_block_log::LogError;
use cairn_chain::{BlockId, Time};
use cairn_rules::registers::TableError;
use cairn_rules::{OpenError, RuleError};
use thiserror::Error;

use crate::pipeline::PrepareError;

/// A block that cannot be applied. The state is at the block before.
#[derive(Debug, Error)]
pub enum BlockFault {
    /// It is not whole in itself.
    #[error(transparent)]
    Prepare(#[from] PrepareError),
    /// It does not continue the chain.
    #[error("expected a block whose previous id is {expected}, found one that names {found}")]
    Link {
        /// Id of the head.
        expected: BlockId,
        /// What the block names.
        found: BlockId,
    },
    /// A rule forbids it.
    #[error(transparent)]
    Rule(RuleError),
    /// It was refused before.
    #[error("it was refused before: {0}")]
    Remembered(Arc<str>),
}

impl BlockFault {
    /// Whether the block's bytes are at fault: they are not those of a block that belongs here. If not, a rule forbids
    /// the block, or something is missing on this machine.
    pub fn is_damage(&self) -> bool {
        match self {
            BlockFault::Prepare(PrepareError::Unpack(error)) => error.is_damage(),
            BlockFault::Prepare(
                PrepareError::Decode(_) | PrepareError::Number { .. } | PrepareError::Merkle(_),
            )
            | BlockFault::Link { .. } => true,
            BlockFault::Prepare(PrepareError::Signature(_) | PrepareError::Pack(_))
            | BlockFault::Rule(_)
            | BlockFault::Remembered(_) => false,
        }
    }
}

/// A block that is not the one that a checkpoint names. hived's sentence, with the facts.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("Block did not match checkpoint: checkpoint [{number},{expected}] ({origin}), found block {found}")]
pub struct Contradiction {
    /// Block number.
    pub number: u32,
    /// The trusted id.
    pub expected: BlockId,
    /// The id that was computed from the block's bytes.
    pub found: BlockId,
    /// Where the checkpoint was written.
    pub origin: String,
}

/// The end of a run that could not go on.
#[derive(Debug, Error)]
pub enum WriterError {
    /// A block contradicts a checkpoint.
    #[error(
        "{0}. Block {number} was not applied; the state is whole at block {before}. Either the checkpoint was copied \
         wrongly or the blocks are of another chain: compare the id of block {number} with a node of your own",
        number = .0.number,
        before = .0.number - 1
    )]
    Checkpoint(Contradiction),
    /// A block cannot be applied.
    #[error("block {number}: {fault}")]
    Block {
        /// Block number.
        number: u32,
        /// Whether a checkpoint lies at this block or above it, so that the block contradicts a trusted id.
        below_checkpoint: bool,
        /// Why.
        fault: BlockFault,
    },
    /// The block log cannot be written.
    #[error("block log: {0}")]
    Log(#[from] LogError),
    /// The state cannot be read or written.
    #[error("state: {0}")]
    State(#[from] TableError),
    /// A restore point could not be put in the place of the state.
    #[error("the state cannot go back to its restore point of block {number}: {source}")]
    Restore {
        /// Block of the restore point.
        number: u32,
        /// Why.
        source: OpenError,
    },
    /// Fork database and state do not fit each other: a defect of this program.
    #[error(
        "block {number} can neither be applied nor taken back: the fork database and the state do not fit each other. This is \
         a defect of this program; what is durable is whole, and a start begins there"
    )]
    Forks {
        /// The block.
        number: u32,
    },
    /// Nothing becomes irreversible.
    #[error(
        "{blocks} blocks ({mebibytes} MiB) above the last irreversible block {irreversible} (of {since}) can still be taken \
         back, and no more are held: too few of the scheduled witnesses build on one branch. What is durable is whole. The \
         same blocks end the next start in the same way. To go on, take the newest irreversible block of a node of your \
         own, add it as a checkpoint (--checkpoint), and start again: up to a checkpoint nothing needs to become \
         irreversible by itself, and peers on another chain are left. A checkpoint at {irreversible} or below changes \
         nothing"
    )]
    TooManyReversible {
        /// Reversible blocks.
        blocks: usize,
        /// Their memory.
        mebibytes: usize,
        /// The last irreversible block.
        irreversible: u32,
        /// Its time.
        since: Time,
    },
    /// The block log is behind the state, so that appending would leave a hole.
    #[error(
        "the block log ends at block {log_head}, the state is at block {state_head}, and there is no restore point that the \
         log reaches: the blocks between could not be served to anybody. Nothing was changed. Put the missing files of \
         the block log back; or have `cairn run` fetch the blocks from peers, without --exit-before-sync; or go on without \
         a block log, --block-log-split 0; or make the state again from the blocks that are there, --force-replay"
    )]
    LogBehindState {
        /// Last block in the log.
        log_head: u32,
        /// Last block in the state.
        state_head: u32,
    },
}

impl WriterError {
    /// Whether a disk is full. The log and the state have to be opened again, which finds the last commit.
    pub fn is_disk_full(&self) -> bool {
        match self {
            WriterError::Log(error) => error.is_disk_full(),
            WriterError::State(TableError::State(error)) => error.is_disk_full(),
            _ => false,
        }
    }

    /// Whether the data is not what a checkpoint says (exit code 3).
    pub fn contradicts_checkpoint(&self) -> bool {
        match self {
            WriterError::Checkpoint(_) => true,
            WriterError::Block {
                below_checkpoint,
                fault,
                ..
            } => *below_checkpoint && !matches!(fault, BlockFault::Rule(_) | BlockFault::Remembered(_)),
            WriterError::Log(_)
            | WriterError::State(_)
            | WriterError::Restore { .. }
            | WriterError::Forks { .. }
            | WriterError::TooManyReversible { .. }
            | WriterError::LogBehindState { .. } => false,
        }
    }
}
