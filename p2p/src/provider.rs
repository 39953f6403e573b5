//! What the network asks of the node: its status and its stored blocks.

use std::sync::Arc;

use cairn_chain::BlockId;

use crate::WireBlock;

/// What this node can serve.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LocalStatus {
    /// First block that can be served; 0 = none.
    pub first: u32,
    /// Last block; 0 = none.
    pub head: u32,
    /// Id of the last block; [`BlockId::ZERO`] if there is none.
    pub head_id: BlockId,
    /// Id of block 1, if it is known: two nodes that know different ones are on different chains.
    pub first_block_id: Option<BlockId>,
}

impl LocalStatus {
    /// A node without blocks.
    pub const EMPTY: Self = Self {
        first: 0,
        head: 0,
        head_id: BlockId::ZERO,
        first_block_id: None,
    };
}

/// Why a range could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ProvideError {
    /// The first block asked for is not there (above the head, or pruned).
    #[error("block {0} is not here")]
    NoSuchBlock(u32),
    /// The node has no time for it now.
    #[error("busy")]
    Busy,
    /// The log could not be read. The peer is told that much and no more; the text goes to this node's log.
    #[error("block {number} cannot be read: {source}")]
    Read {
        /// The block.
        number: u32,
        /// Why.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

/// The node's blocks, as the network sees them. Called from several threads at once.
pub trait BlockProvider: Send + Sync {
    /// What can be served now. Called often and from async code: it must not block (read a published value).
    fn status(&self) -> LocalStatus;

    /// The blocks as they are now, for an answer that is put together of several reads: a node that goes over to another
    /// fork in between must not send blocks of both. `None`: the blocks never change, they only become more. Called from
    /// async code: it must not block.
    fn frozen(&self) -> Option<Arc<dyn BlockProvider>> {
        None
    }

    /// Reads consecutive blocks from `first` on, at least one and at most `max_count`, and stops after the one
    /// with which `max_bytes` of stored bytes are reached. Called where blocking is allowed. It may return fewer
    /// blocks than there are; the network asks again for the rest.
    ///
    /// # Errors
    /// [`ProvideError::NoSuchBlock`] if there is no block `first`; the others as they say.
    fn read_range(
        &self,
        first: u32,
        max_count: u32,
        max_bytes: usize,
    ) -> Result<Vec<WireBlock>, ProvideError>;

    /// Reads the signed headers of consecutive blocks from `first` on, as they stand at the start of the blocks, one
    /// behind the other: at least one, at most `max_count`, in at most `max_bytes`. Called where blocking is allowed.
    /// It may return fewer headers than there are.
    ///
    /// # Errors
    /// As [`read_range`](Self::read_range).
    fn read_headers(&self, first: u32, max_count: u32, max_bytes: usize) -> Result<Vec<u8>, ProvideError>;

    /// A peer has banned this node: what it was sent may have been wrong. Called from async code: it must not block.
    fn turned_away(&self) {}
}
