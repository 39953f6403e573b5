//! Where the blocks of one log file are: a trailer for each block, in order.
//!
//! The lower blocks' trailers may stay in an artifacts file and be read when needed; the rest is in memory, eight
//! bytes each. Either way it is a claim: who reads a block compares the trailer in the log with it.

use std::ops::Range;

use crate::{Artifacts, ArtifactsError};

/// Trailers of the blocks of one file.
#[derive(Debug, Default)]
pub(crate) struct Index {
    base: Option<Artifacts>,
    /// Records of `base` that are used.
    base_len: u32,
    tail: Vec<u64>,
}

impl Index {
    /// An index in memory.
    pub(crate) fn from_trailers(trailers: Vec<u64>) -> Self {
        Self {
            base: None,
            base_len: 0,
            tail: trailers,
        }
    }

    /// An index that reads the first `len` records of a file.
    pub(crate) fn from_artifacts(artifacts: Artifacts, len: u32) -> Self {
        let len = len.min(artifacts.header().record_count());
        Self {
            base: Some(artifacts),
            base_len: len,
            tail: Vec::new(),
        }
    }

    /// Number of blocks.
    pub(crate) fn len(&self) -> u32 {
        self.base_len + self.tail.len() as u32
    }

    /// Whether any of it rests on an artifacts file.
    pub(crate) fn uses_artifacts(&self) -> bool {
        self.base_len > 0
    }

    /// Trailers by position in the file. The answer may be shorter than the range, but is empty only for an
    /// empty range or one behind the end.
    pub(crate) fn trailers(&self, range: Range<u32>) -> Result<Vec<u64>, ArtifactsError> {
        let mut trailers = Vec::new();
        let mut next = range.start;
        if let Some(base) = self.base.as_ref().filter(|_| next < self.base_len) {
            let records = base.records(next..range.end.min(self.base_len))?;
            next += records.len() as u32;
            trailers.extend(records.iter().map(|record| record.trailer));
        }
        if next >= self.base_len {
            let from = (next - self.base_len) as usize;
            let to = range.end.min(self.len()).saturating_sub(self.base_len) as usize;
            trailers.extend_from_slice(self.tail.get(from..to).unwrap_or_default());
        }
        Ok(trailers)
    }

    /// Adds blocks at the end.
    pub(crate) fn extend(&mut self, trailers: &[u64]) {
        self.tail.extend_from_slice(trailers);
    }

    /// Drops all blocks but the first `len`.
    pub(crate) fn truncate(&mut self, len: u32) {
        self.tail.truncate(len.saturating_sub(self.base_len) as usize);
        self.base_len = self.base_len.min(len);
    }
}
