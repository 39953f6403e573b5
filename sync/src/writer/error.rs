//! Why the writer stops.

use cairn_block_log::LogError;
use cairn_chain::BlockId;
use cairn_rules::RuleError;
use cairn_rules::registers::TableError;
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
}

/// The end of a run that could not go on.
#[derive(Debug, Error)]
pub enum WriterError {
    /// A block contradicts a checkpoint. hived's sentence, with the facts.
    #[error(
        "Block did not match checkpoint: checkpoint [{number},{expected}] ({origin}), found block {found}. \
         Block {number} was not applied; the state is whole at block {before}. Either the checkpoint was copied \
         wrongly or the blocks are of another chain: compare the id of block {number} with a node of your own",
        before = number - 1
    )]
    Checkpoint {
        /// Block number.
        number: u32,
        /// The trusted id.
        expected: BlockId,
        /// The id that was computed from the block's bytes.
        found: BlockId,
        /// Where the checkpoint was written.
        origin: String,
    },
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
    /// The block log is behind the state, so that appending would leave a hole.
    #[error(
        "the block log ends at block {log_head}, the state is at block {state_head}: blocks between are missing in \
         the log. Put back the complete block log, or remove the state folder to begin again"
    )]
    LogBehindState {
        /// Last block in the log.
        log_head: u32,
        /// Last block in the state.
        state_head: u32,
    },
}

impl WriterError {
    /// Whether the data is not what a checkpoint says (exit code 3).
    pub fn contradicts_checkpoint(&self) -> bool {
        match self {
            WriterError::Checkpoint { .. } => true,
            WriterError::Block {
                below_checkpoint,
                fault,
                ..
            } => *below_checkpoint && !matches!(fault, BlockFault::Rule(_)),
            WriterError::Log(_) | WriterError::State(_) | WriterError::LogBehindState { .. } => false,
        }
    }
}
