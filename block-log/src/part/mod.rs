//! One file of a log: a whole single log, or one part of a split one.
//!
//! What is known after opening is the number of the head block, from its own bytes. Where the other blocks are
//! is found when first asked for: from an artifacts file that fits, else by walking the trailers. An index out of
//! an artifacts file is believed for no block: each one that is read shows its trailer, and when that is another
//! one than the index says, the index is thrown away and built from the log itself.

mod index;
mod open;
mod read;

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use cairn_chain::BlockId;

pub(crate) use index::Index;
pub(crate) use open::{Opened, facts_of, open};
pub(crate) use read::Batch;

use crate::attributes::Attributes;
use crate::{BlockFault, LogError, Place};

/// One log file, readable from any thread.
#[derive(Debug)]
pub(crate) struct Part {
    path: PathBuf,
    file: File,
    first: u32,
    /// Id of the block before the first one, where it is known.
    previous: Option<BlockId>,
    state: RwLock<State>,
}

/// What a writer changes.
#[derive(Debug)]
struct State {
    count: u32,
    /// End of the last whole block with its trailer.
    end: u64,
    /// Built when first needed.
    index: Option<Index>,
}

/// Where a block is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    /// Start and form.
    pub(crate) attributes: Attributes,
    /// End of the stored bytes; the trailer starts here.
    pub(crate) end: u64,
}

impl Part {
    pub(crate) fn new(path: PathBuf, file: File, first: u32, previous: Option<BlockId>) -> Self {
        let state = State {
            count: 0,
            end: 0,
            index: Some(Index::default()),
        };
        Self {
            path,
            file,
            first,
            previous,
            state: RwLock::new(state),
        }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Number of the first block, also when the part is empty.
    pub(crate) fn first(&self) -> u32 {
        self.first
    }

    /// First and last block, unless the part is empty.
    pub(crate) fn range(&self) -> Option<(u32, u32)> {
        let count = self.state().count;
        (count > 0).then(|| (self.first, self.first + (count - 1)))
    }

    /// Bytes of the whole blocks.
    pub(crate) fn end(&self) -> u64 {
        self.state().end
    }

    /// Sets what is in the file; for a writer that has just found out.
    pub(crate) fn set_content(&self, count: u32, end: u64, index: Option<Index>) {
        *self.state_mut() = State { count, end, index };
    }

    /// Makes blocks visible that were written behind the last one.
    pub(crate) fn publish(&self, trailers: &[u64], end: u64) {
        let mut state = self.state_mut();
        state.count += trailers.len() as u32;
        state.end = end;
        // Without an index there is nothing to keep up: it is built from the file when needed.
        if let Some(index) = &mut state.index {
            index.extend(trailers);
        }
    }

    /// Cuts the file behind its first `count` blocks, the last of which ends at `end` with its trailer. Readers
    /// wait meanwhile.
    pub(crate) fn truncate(&self, writable: &File, count: u32, end: u64) -> Result<(), LogError> {
        let mut state = self.state_mut();
        state.count = count;
        state.end = end;
        if let Some(index) = &mut state.index {
            index.truncate(count);
        }
        writable.set_len(end).map_err(LogError::io("cut", &self.path))?;
        writable.sync_all().map_err(LogError::io("sync", &self.path))
    }

    fn place(&self, offset: u64, block: Option<u32>) -> Place {
        Place {
            file: self.path.clone(),
            offset,
            block,
        }
    }

    fn fault(&self, offset: u64, block: Option<u32>, fault: BlockFault) -> LogError {
        LogError::Block {
            place: self.place(offset, block),
            fault,
        }
    }

    fn state(&self) -> RwLockReadGuard<'_, State> {
        // A panic elsewhere cannot leave it half changed: each change is a few assignments.
        self.state.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn state_mut(&self) -> RwLockWriteGuard<'_, State> {
        self.state.write().unwrap_or_else(PoisonError::into_inner)
    }
}
