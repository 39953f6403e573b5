//! Walks a log file backwards from trailer to trailer, which is the only direction that its format has.
//!
//! The file is read in windows of 1 MiB, so that thousands of small blocks cost one read. Each step checks that
//! the block between a trailer's offset and the trailer is neither empty nor larger than a block may be, so a walk
//! over any bytes whatever ends, and after at most one step for each [`MIN_STORED_SIZE`] bytes.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use crate::attributes::{Attributes, TRAILER_LEN};
use crate::{BlockFault, MAX_STORED_SIZE};

/// No block is stored in fewer bytes: the previous id and the signature alone hold more that does not compress.
pub(crate) const MIN_STORED_SIZE: u64 = 16;

const WINDOW: u64 = 1 << 20;

/// Why a walk stopped before the start of the file.
#[derive(Debug)]
pub(crate) enum WalkError {
    Io(io::Error),
    /// Something at this offset is not the end of a block.
    Fault(u64, BlockFault),
}

/// One block on the way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step {
    /// Where it starts, and how it is stored.
    pub(crate) attributes: Attributes,
    /// Where its stored bytes end and its trailer starts.
    pub(crate) end: u64,
}

impl Step {
    /// The stored bytes. Their number was checked against the limit when the trailer was.
    pub(crate) fn read(&self, file: &File) -> io::Result<Vec<u8>> {
        let start = self.attributes.offset();
        let mut stored = vec![0; (self.end - start) as usize];
        file.read_exact_at(&mut stored, start)?;
        Ok(stored)
    }
}

/// Reads trailers of a file, near one another towards its start.
pub(crate) struct Trailers<'a> {
    file: &'a File,
    window: Vec<u8>,
    window_start: u64,
}

impl<'a> Trailers<'a> {
    pub(crate) fn new(file: &'a File) -> Self {
        Self {
            file,
            window: Vec::new(),
            window_start: 0,
        }
    }

    /// The block whose trailer ends at `end`.
    pub(crate) fn block_before(&mut self, end: u64) -> Result<Step, WalkError> {
        let Some(at) = end.checked_sub(TRAILER_LEN as u64) else {
            return Err(WalkError::Fault(0, BlockFault::Extent { start: 0, end: 0 }));
        };
        let trailer = self.at(at).map_err(WalkError::Io)?;
        let attributes = check_trailer(trailer, at).map_err(|fault| WalkError::Fault(at, fault))?;
        Ok(Step { attributes, end: at })
    }

    fn at(&mut self, at: u64) -> io::Result<u64> {
        let end = at + TRAILER_LEN as u64;
        let held = self.window_start..=self.window_start + self.window.len() as u64;
        if !held.contains(&at) || !held.contains(&end) {
            let start = end.saturating_sub(WINDOW);
            self.window.resize((end - start) as usize, 0);
            self.window_start = start;
            if let Err(error) = self.file.read_exact_at(&mut self.window, start) {
                self.window.clear();
                return Err(error);
            }
        }
        let from = (at - self.window_start) as usize;
        Ok(trailer_of(&self.window[from..from + TRAILER_LEN]))
    }
}

/// A walk from `end` down to the start of the file.
pub(crate) struct TrailerWalk<'a> {
    trailers: Trailers<'a>,
    end: u64,
}

impl<'a> TrailerWalk<'a> {
    /// Starts behind the last trailer.
    pub(crate) fn new(file: &'a File, end: u64) -> Self {
        Self {
            trailers: Trailers::new(file),
            end,
        }
    }

    /// The next block towards the start, or `None` at the start of the file.
    pub(crate) fn step_back(&mut self) -> Result<Option<Step>, WalkError> {
        if self.end == 0 {
            return Ok(None);
        }
        let step = self.trailers.block_before(self.end)?;
        self.end = step.attributes.offset();
        Ok(Some(step))
    }
}

/// The number in eight bytes; missing ones count as zero.
pub(crate) fn trailer_of(bytes: &[u8]) -> u64 {
    let mut trailer = [0; TRAILER_LEN];
    for (to, from) in trailer.iter_mut().zip(bytes) {
        *to = *from;
    }
    u64::from_le_bytes(trailer)
}

/// Checks a trailer that stands at `at`: its own rules, and the size that it gives its block.
pub(crate) fn check_trailer(trailer: u64, at: u64) -> Result<Attributes, BlockFault> {
    let attributes = Attributes::unpack(trailer)?;
    let start = attributes.offset();
    match at.checked_sub(start) {
        Some(size) if (MIN_STORED_SIZE..=MAX_STORED_SIZE as u64).contains(&size) => Ok(attributes),
        _ => Err(BlockFault::Extent { start, end: at }),
    }
}

/// So many blocks more than expected are collected, so that the first one too many can be named.
const SURPLUS: usize = 1000;

/// All trailers of the file's first `end` bytes in order, or where the walk broke. About `expected` is their number;
/// far more are refused, since memory is taken for each.
pub(crate) fn collect(file: &File, end: u64, expected: u32) -> Result<Vec<u64>, WalkError> {
    // Any file of this length has room for so many blocks at most, whatever number its head block claims.
    let room = end / (MIN_STORED_SIZE + TRAILER_LEN as u64);
    let mut trailers = Vec::with_capacity(room.min(u64::from(expected)) as usize);
    let mut walk = TrailerWalk::new(file, end);
    while let Some(step) = walk.step_back()? {
        if trailers.len() >= expected as usize + SURPLUS {
            return Err(WalkError::Fault(step.end, BlockFault::NoBlock));
        }
        trailers.push(step.attributes.pack());
    }
    trailers.reverse();
    Ok(trailers)
}
