//! What a block changed, so that it can be put back.
//!
//! The first change of a register in a block moves its prior record into the journal; later changes of the same
//! block do not. Accepting the block drops the list, undoing it moves the records back, newest first. Nothing is
//! copied either way, and an accepted block costs one list entry for each register that it changed.

use crate::cache::SlotNumber;
use crate::record::Record;

/// A register before the block's first change of it. Its slot is dirty as long as the journal holds it, so it is
/// not evicted.
#[derive(Debug)]
pub(crate) struct Prior {
    pub(crate) slot: SlotNumber,
    pub(crate) was_dirty: bool,
    pub(crate) record: Record,
}

/// The journal of at most one open block.
#[derive(Debug, Default)]
pub(crate) struct Journal {
    open: bool,
    /// The open or last block, counted from 1 so that a slot's mark of 0 means none.
    block: u32,
    priors: Vec<Prior>,
}

impl Journal {
    pub(crate) fn is_open(&self) -> bool {
        self.open
    }

    /// Opens a block. True when the numbers of blocks begin anew, so that the marks in the slots mean nothing.
    #[must_use]
    pub(crate) fn begin(&mut self) -> bool {
        debug_assert!(!self.open && self.priors.is_empty());
        self.open = true;
        let (next, wrapped) = self.block.overflowing_add(1);
        self.block = next.max(1);
        wrapped
    }

    /// The mark for a slot whose prior record has to be moved here, or `None` when it has been or no block is open.
    pub(crate) fn wants(&self, journaled_in: u32) -> Option<u32> {
        (self.open && journaled_in != self.block).then_some(self.block)
    }

    pub(crate) fn push(&mut self, prior: Prior) {
        self.priors.push(prior);
    }

    pub(crate) fn accept(&mut self) {
        self.open = false;
        self.priors.clear();
    }

    /// Accepts the block and gives its prior records, oldest first, to be kept.
    pub(crate) fn accept_and_take(&mut self) -> Vec<Prior> {
        self.open = false;
        std::mem::take(&mut self.priors)
    }

    /// Closes the block and gives its prior records, newest first.
    pub(crate) fn undo(&mut self) -> impl Iterator<Item = Prior> {
        self.open = false;
        self.priors.drain(..).rev()
    }

    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.priors.len()
    }

    /// Makes the next block's number the last one, for tests of what follows.
    #[cfg(test)]
    pub(crate) fn skip_to_last_number(&mut self) {
        self.block = u32::MAX - 1;
    }
}
