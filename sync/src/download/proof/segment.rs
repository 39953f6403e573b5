//! The blocks between two trusted ids.

use cairn_chain::BlockId;

use super::dispute::Dispute;
use super::skeleton::Skeleton;
use super::walk::Walk;
use crate::checkpoint::Checkpoint;

/// A block whose id is trusted: this node's head, or a checkpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Trusted {
    pub(super) number: u32,
    /// `None`: nothing is known of it here, and the chain of the checkpoint above says which block it is.
    pub(super) id: Option<BlockId>,
}

impl Trusted {
    /// Whether a chain that has this id at its number is another one.
    pub(super) fn contradicts(&self, found: BlockId) -> bool {
        self.id.is_some_and(|id| id != found)
    }
}

impl From<Checkpoint> for Trusted {
    fn from(Checkpoint { number, id }: Checkpoint) -> Self {
        Self { number, id: Some(id) }
    }
}

/// How far the ids between the two are known.
#[derive(Debug)]
pub(super) enum Knowledge {
    /// The blocks themselves fit the window: ids become known from the top down, as far as the blocks are here.
    /// Descending, from the checkpoint's own.
    Buffered(Vec<BlockId>),
    /// The headers are on their way.
    Walking(Box<Walk>),
    /// All of them, in a file.
    Skeleton(Box<Skeleton>),
    /// The chain of the checkpoint has another block where the lower trusted one should be.
    Broken(BlockId),
}

#[derive(Debug)]
pub(super) struct Segment {
    /// The trusted block below.
    pub(super) below: Trusted,
    /// The checkpoint at its end.
    pub(super) top: Checkpoint,
    pub(super) knowledge: Knowledge,
    /// Somebody contradicts the checkpoint.
    pub(super) dispute: Option<Dispute>,
}

impl Segment {
    pub(super) fn blocks(&self) -> u32 {
        self.top.number - self.below.number
    }

    pub(super) fn holds(&self, number: u32) -> bool {
        (self.below.number + 1..=self.top.number).contains(&number)
    }

    /// Whether every block's id is known, down to the trusted one.
    pub(super) fn is_proven(&self) -> bool {
        match &self.knowledge {
            // One id more than blocks would be that of `below`, which was compared.
            Knowledge::Buffered(ids) => ids.len() > self.blocks() as usize,
            Knowledge::Skeleton(_) => true,
            Knowledge::Walking(_) | Knowledge::Broken(_) => false,
        }
    }
}
