//! Reading a log from a block on, in order.

use std::path::PathBuf;
use std::sync::Arc;

use crate::part::{Batch, Part};
use crate::{BlockLog, LogError, StoredBlock};

/// Blocks of a log in order. After an error it ends.
///
/// Reads up to 4 MiB at once; how far to go is known from the index, which each block's trailer is compared with.
#[derive(Debug)]
pub struct Sequential {
    log: BlockLog,
    next: u32,
    part: Option<Arc<Part>>,
    batch: Batch,
    /// Next block of `batch`.
    position: usize,
    ended: bool,
}

impl Sequential {
    pub(crate) fn new(log: BlockLog, from: u32) -> Self {
        Self {
            log,
            next: from,
            part: None,
            batch: Batch::default(),
            position: 0,
            ended: false,
        }
    }

    /// Number of the block that comes next.
    pub fn next_number(&self) -> u32 {
        self.next
    }

    /// File and offset of the block that comes next, if it was read already.
    pub fn next_place(&self) -> Option<(PathBuf, u64)> {
        let span = self.batch.spans.get(self.position)?;
        Some((self.part.as_ref()?.path().to_owned(), span.attributes.offset()))
    }

    /// Reads on unless a block is at hand; false at the end of the log.
    fn fill(&mut self) -> Result<bool, LogError> {
        if self.position < self.batch.spans.len() {
            return Ok(true);
        }
        let head = self.log.head_number();
        if head.is_none_or(|head| self.next > head) {
            return Ok(false);
        }
        let part = self.log.part_of(self.next)?;
        self.batch = part.batch(self.next, self.log.dictionaries())?;
        self.part = Some(part);
        self.position = 0;
        Ok(true)
    }
}

impl Iterator for Sequential {
    type Item = Result<StoredBlock, LogError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        match self.fill() {
            Ok(true) => {}
            Ok(false) => return None,
            Err(error) => {
                self.ended = true;
                return Some(Err(error));
            }
        }
        let span = self.batch.spans[self.position];
        let block = StoredBlock {
            number: self.next,
            compression: span.attributes.compression(),
            bytes: self.batch.stored(&span).to_vec(),
        };
        self.position += 1;
        match self.next.checked_add(1) {
            Some(next) => self.next = next,
            None => self.ended = true,
        }
        Some(Ok(block))
    }
}
