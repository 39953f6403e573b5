//! The chain of ids, followed block by block and compared with the checkpoints.

use cairn_chain::BlockId;

use crate::checkpoint::{Checkpoint, Checkpoints};

/// A block's place in the chain, computed from its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    /// Its id.
    pub id: BlockId,
    /// The id that it names as that of the block before.
    pub previous: BlockId,
}

/// Why a block is not the next one of the chain that the checkpoints name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Break {
    /// It names another block as the one before.
    Link {
        /// The id of the block before, computed from its bytes.
        expected: BlockId,
        /// What the block names.
        found: BlockId,
    },
    /// It is not the one that a checkpoint names.
    Checkpoint {
        /// The trusted pair.
        checkpoint: Checkpoint,
        /// The id computed from the block's bytes.
        found: BlockId,
    },
}

/// Follows the blocks of a log in order.
#[derive(Debug)]
pub struct HeaderChain<'a> {
    checkpoints: &'a Checkpoints,
    /// The id that the next block must name; `None`: the block before is not at hand.
    head: Option<BlockId>,
    next: Option<Checkpoint>,
}

impl<'a> HeaderChain<'a> {
    /// Begins with the block after `head`, which is the zero id before block 1. `None`: the block before is not at
    /// hand, and the next one is `first`.
    pub fn new(checkpoints: &'a Checkpoints, first: u32, head: Option<BlockId>) -> Self {
        Self {
            checkpoints,
            head,
            next: checkpoints.next_after(first.saturating_sub(1)),
        }
    }

    /// The last block that was followed.
    pub fn head(&self) -> Option<BlockId> {
        self.head
    }

    /// Follows the next block, whose number is that of its place; gives the checkpoint that it meets.
    ///
    /// # Errors
    /// [`Break`]. After a broken link nothing can be followed; a block that is not the checkpoint's is followed all
    /// the same, so that later checkpoints can tell whether that one is wrong.
    pub fn follow(&mut self, link: Link) -> Result<Option<Checkpoint>, Break> {
        match self.head {
            Some(expected) if expected != link.previous => {
                return Err(Break::Link {
                    expected,
                    found: link.previous,
                });
            }
            _ => self.head = Some(link.id),
        }
        let number = link.id.number();
        let Some(checkpoint) = self.next.filter(|next| next.number == number) else {
            return Ok(None);
        };
        self.next = self.checkpoints.next_after(number);
        if checkpoint.id == link.id {
            Ok(Some(checkpoint))
        } else {
            Err(Break::Checkpoint {
                checkpoint,
                found: link.id,
            })
        }
    }
}
