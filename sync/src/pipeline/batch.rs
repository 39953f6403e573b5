//! Groups of consecutive blocks: the unit that travels between threads.

use std::sync::Arc;

use cairn_block_log::StoredBlock;

use super::prepare::{PrepareError, PreparedBlock};

/// Most blocks in a batch: one of small blocks still outweighs its queue operations. What they become when they are
/// decoded is bounded by itself; see `memory`.
pub const MAX_BATCH_BLOCKS: usize = 32;

/// Stored bytes from which on a batch is full.
pub const MAX_BATCH_BYTES: usize = 256 << 10;

/// Who sent a block: nobody (a file), or a peer, by the name that the network gives it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Origin {
    /// A block log on this machine.
    BlockLog,
    /// A peer.
    Peer(Arc<str>),
}

/// Consecutive blocks as they were stored or received.
#[derive(Debug)]
pub struct RawBatch {
    /// Blocks with consecutive numbers; not empty.
    pub blocks: Vec<StoredBlock>,
    /// Their sender.
    pub origin: Origin,
    /// Counts the times that the source started again at an earlier block; see the writer.
    pub epoch: u64,
}

/// A batch after the workers, or a part of one that has become large.
#[derive(Debug)]
pub struct PreparedBatch {
    /// The blocks in order, up to the first that could not be prepared.
    pub blocks: Vec<PreparedBlock>,
    /// The first block that could not be prepared, and why.
    pub failure: Option<(u32, PrepareError)>,
    /// Their sender.
    pub origin: Origin,
    /// The raw batch's epoch.
    pub epoch: u64,
    /// How many of the raw batch's blocks were taken for it, with those that were not looked at any more.
    pub raw_blocks: u64,
    /// How many bytes they had.
    pub raw_bytes: u64,
    /// What the blocks take decoded, in bytes.
    pub(super) memory: usize,
    /// No other part of the raw batch comes.
    pub(super) is_last: bool,
}

/// Cuts a stream of blocks of one sender into batches.
#[derive(Debug, Default)]
pub struct BatchBuilder {
    blocks: Vec<StoredBlock>,
    bytes: usize,
}

impl BatchBuilder {
    /// Adds a block; gives the batch's blocks back when it is full.
    pub fn push(&mut self, block: StoredBlock) -> Option<Vec<StoredBlock>> {
        self.bytes += block.bytes.len();
        self.blocks.push(block);
        let full = self.blocks.len() >= MAX_BATCH_BLOCKS || self.bytes >= MAX_BATCH_BYTES;
        full.then(|| self.take()).flatten()
    }

    /// The blocks gathered so far, if there are any.
    pub fn take(&mut self) -> Option<Vec<StoredBlock>> {
        self.bytes = 0;
        let blocks = std::mem::take(&mut self.blocks);
        (!blocks.is_empty()).then_some(blocks)
    }
}
