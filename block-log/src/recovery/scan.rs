//! Follows whole blocks forwards.
//!
//! Trailers lead backwards only. Forwards, the length of a block is found in its own bytes: a zstd frame and a packed
//! block both say where they end, and the trailer that must stand there says which of the two it is. So each block has
//! at most two places where its trailer can be, and garbage is not searched byte by byte.

use std::fs::File;
use std::path::Path;

use cairn_chain::{Block, BlockId, ChainSpec, Reader, Unpack};

use super::Subject;
use crate::attributes::{Attributes, TRAILER_LEN};
use crate::check::{Expected, check};
use crate::compression::frame_len;
use crate::pread::read_up_to;
use crate::trailers::{check_trailer, trailer_of};
use crate::{BlockDecoder, BlockFault, Compression, LogError, MAX_STORED_SIZE, Place};

/// A whole block with its trailer, and it decodes and follows the one before.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Whole {
    pub(crate) attributes: Attributes,
    pub(crate) id: BlockId,
    /// Behind the trailer.
    pub(crate) behind: u64,
}

/// Reads a file forwards from block to block.
pub(crate) struct Scanner<'a> {
    path: &'a Path,
    file: &'a File,
    len: u64,
    chain: &'a ChainSpec,
    decoder: &'a mut BlockDecoder,
    window: Vec<u8>,
    window_start: u64,
}

/// So many bytes are looked at from a block's start on.
const REACH: usize = MAX_STORED_SIZE + TRAILER_LEN;
/// Bytes of one read.
const WINDOW: usize = 4 * REACH;

impl<'a> Scanner<'a> {
    pub(crate) fn new(subject: &Subject<'a>, decoder: &'a mut BlockDecoder) -> Self {
        let Subject {
            path,
            file,
            len,
            chain,
            ..
        } = *subject;
        Self {
            path,
            file,
            len,
            chain,
            decoder,
            window: Vec::new(),
            window_start: 0,
        }
    }

    /// The whole block at `start`, or why there is none. Fails when that cannot be told: the file is not readable, or
    /// a dictionary is missing.
    pub(crate) fn block_at(
        &mut self,
        start: u64,
        expected: Expected,
    ) -> Result<Result<Whole, BlockFault>, LogError> {
        self.fill(start)?;
        let bytes = reach(&self.window, self.window_start, start);
        let mut fault = BlockFault::NoBlock;
        for (len, compressed) in [(frame_len(bytes), true), (packed_len(bytes, self.chain), false)] {
            let Some((stored, attributes)) = len.and_then(|len| with_trailer(bytes, start, len)) else {
                continue;
            };
            if compressed != (attributes.compression() != Compression::None) {
                continue;
            }
            let checked = match self.decoder.decode_bytes(attributes.compression(), stored) {
                Ok(raw) => check(raw, expected, self.chain),
                Err(error) => Err(error.into()),
            };
            match checked {
                Ok(block) => {
                    let behind = start + (stored.len() + TRAILER_LEN) as u64;
                    return Ok(Ok(Whole {
                        attributes,
                        id: block.id(),
                        behind,
                    }));
                }
                Err(found) if !found.is_damage() => {
                    let place = Place {
                        file: self.path.to_owned(),
                        offset: start,
                        block: expected.number,
                    };
                    return Err(LogError::Block { place, fault: found });
                }
                Err(found) => fault = found,
            }
        }
        Ok(Err(fault))
    }

    /// Makes sure that the window holds all that may be looked at from `start` on.
    fn fill(&mut self, start: u64) -> Result<(), LogError> {
        let held = self.window_start..self.window_start + self.window.len() as u64;
        if held.contains(&start) && (held.end >= self.len || held.end - start >= REACH as u64) {
            return Ok(());
        }
        let len = self.len.saturating_sub(start).min(WINDOW as u64);
        self.window.resize(len as usize, 0);
        self.window_start = start;
        let filled =
            read_up_to(self.file, &mut self.window, start).map_err(LogError::io("read", self.path))?;
        self.window.truncate(filled);
        Ok(())
    }
}

/// The bytes of the window from `start` on, no more than a block and its trailer can take.
fn reach(window: &[u8], window_start: u64, start: u64) -> &[u8] {
    let from = usize::try_from(start - window_start).unwrap_or(usize::MAX);
    let bytes = window.get(from..).unwrap_or_default();
    &bytes[..bytes.len().min(REACH)]
}

/// Length of the packed block at the start of `bytes`.
fn packed_len(bytes: &[u8], chain: &ChainSpec) -> Option<usize> {
    let bytes = &bytes[..bytes.len().min(MAX_STORED_SIZE)];
    let mut reader = Reader::new(bytes, chain.symbols);
    Block::unpack(&mut reader).ok()?;
    Some(reader.position())
}

/// Splits off `len` stored bytes if a trailer that belongs to them follows.
fn with_trailer(bytes: &[u8], start: u64, len: usize) -> Option<(&[u8], Attributes)> {
    let (stored, rest) = bytes.split_at_checked(len)?;
    let trailer = trailer_of(rest.get(..TRAILER_LEN)?);
    let attributes = check_trailer(trailer, start + len as u64).ok()?;
    (attributes.offset() == start).then_some((stored, attributes))
}
