//! Finds the last whole block of a file whose end may be torn.
//!
//! What a crash does: bytes that were written but not synced may be there or not, page by page and in any order; a
//! page that is not there reads as zeros or as garbage, and the file may be too short or too long. So the end of the
//! file proves little. What is asked for is the *longest prefix of whole blocks*: each one decodes, has the number of
//! its place, names the id of the block before, and holds the transactions that its header commits to.
//!
//! That prefix is found by going forwards from an *anchor*, a block up to which the file was surely on disk:
//!
//! 1. The head of an artifacts file, if it was left by a writer of this crate (which syncs the log before it writes
//!    a record) or was closed cleanly. Everything up to it was synced.
//! 2. Else the start of the file, if all of it is within reach of a crash.
//! 3. Else a block that lies behind that reach, on a chain of trailers that leads from near the end of the file to
//!    its start. The writer never leaves more than [`UNSYNCED_LIMIT`] bytes unsynced, which is what bounds the reach.
//!
//! A fault behind the anchor is not always a torn tail: a log of another chain, a block that was tampered with, or a bad
//! sector looks like one too. Unless the artifacts tell that nothing behind the anchor was ever synced, a fault is
//! therefore only cut off if no two blocks that follow one another are found behind it (`followers`).

mod anchor;
mod followers;
mod scan;
#[cfg(test)]
mod tests;

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cairn_chain::{BlockId, ChainSpec};

pub(crate) use scan::Scanner;

use crate::attributes::OFFSET_MASK;
use crate::check::Expected;
use crate::part::Index;
use crate::{BlockDecoder, BlockFault, Dictionaries, LogError, MAX_STORED_SIZE, Place};

/// Most bytes that a [`BlockLogWriter`](crate::BlockLogWriter) leaves unsynced: it syncs by itself before. Higher, a
/// crash costs more blocks and start-up has more to check; lower, a fast replay waits for the disk more often.
pub const UNSYNCED_LIMIT: u64 = 64 << 20;

/// How far from the end of a file a crash can reach: what was unsynced, and a block on either side of it.
pub(crate) const CRASH_REACH: u64 = UNSYNCED_LIMIT + 2 * MAX_STORED_SIZE as u64;

/// The tail that was cut off a log file, or left out when it was opened.
#[derive(Debug)]
pub struct Cut {
    /// The file.
    pub file: PathBuf,
    /// Offset behind the last whole block.
    pub from: u64,
    /// Length that the file had.
    pub to: u64,
    /// Number of the last whole block of the log; 0 if there is none.
    pub last_whole: u32,
    /// What was found behind it.
    pub fault: BlockFault,
}

impl std::fmt::Display for Cut {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self {
            file,
            from,
            to,
            last_whole,
            fault,
        } = self;
        write!(
            f,
            "{}: {} bytes from offset {from} to {to} are not whole blocks; ",
            file.display(),
            to - from
        )?;
        match last_whole {
            0 => write!(f, "no whole block is before them")?,
            last => write!(f, "the last whole block is {last}")?,
        }
        write!(f, " ({fault})")
    }
}

/// What was found out about a file.
pub(crate) struct Recovered {
    /// Behind the last whole block.
    pub(crate) end: u64,
    /// Number of the first block, if there is one.
    pub(crate) first: Option<u32>,
    pub(crate) count: u32,
    pub(crate) head: Option<BlockId>,
    /// Trailers of the whole blocks, if they were met.
    pub(crate) index: Option<Index>,
    /// What is behind the end, if anything is.
    pub(crate) cut: Option<Cut>,
}

/// A file to look into, and what is known about it.
pub(crate) struct Subject<'a> {
    pub(crate) path: &'a Path,
    pub(crate) file: &'a File,
    pub(crate) len: u64,
    /// Number of its first block, if the file's name tells it.
    pub(crate) first: Option<u32>,
    /// Id of the block before.
    pub(crate) previous: Option<BlockId>,
    pub(crate) chain: &'a ChainSpec,
    pub(crate) dictionaries: &'a Arc<Dictionaries>,
    /// [`CRASH_REACH`], except in tests.
    pub(crate) reach: u64,
}

/// Finds the longest prefix of whole blocks. Changes nothing.
///
/// Fails if the rest is more than a crash can have torn, or has whole blocks in it (see the module's text), unless
/// `anything` may be cut.
pub(crate) fn recover(subject: &Subject<'_>, anything: bool) -> Result<Recovered, LogError> {
    let mut decoder = BlockDecoder::new(subject.dictionaries.clone());
    let anchor = anchor::find(subject, &mut decoder)?;
    let mut scanner = Scanner::new(subject, &mut decoder);
    let mut end = anchor.behind;
    let mut head = anchor.head;
    let mut first = anchor.first;
    let mut trailers = Vec::new();
    let mut fault = None;
    while end < subject.len {
        let expected = match head {
            Some(id) => Expected::after(id),
            None => Expected::first(subject.first, subject.previous),
        };
        match scanner.block_at(end, expected)? {
            Ok(whole) => {
                end = whole.behind;
                first.get_or_insert(whole.id.number());
                head = Some(whole.id);
                trailers.push(whole.attributes.pack());
            }
            Err(found) => {
                fault = Some(found);
                break;
            }
        }
    }
    let added = trailers.len() as u32;
    let mut index = anchor.index;
    index.extend(&trailers);
    let cut = fault.map(|fault| Cut {
        file: subject.path.to_owned(),
        from: end,
        to: subject.len,
        last_whole: head.or(subject.previous).map_or(0, |id| id.number()),
        fault,
    });
    let cut = match cut {
        Some(cut) if !anything => Some(may_be_cut(subject, cut, anchor.torn_behind, head, &mut decoder)?),
        cut => cut,
    };
    Ok(Recovered {
        end,
        first,
        count: anchor.count + added,
        head,
        index: Some(index),
        cut,
    })
}

/// Whether a tail is what a crash leaves.
fn may_be_cut(
    subject: &Subject<'_>,
    cut: Cut,
    torn: bool,
    head: Option<BlockId>,
    decoder: &mut BlockDecoder,
) -> Result<Cut, LogError> {
    let place = |block| Place {
        file: cut.file.clone(),
        offset: cut.from,
        block,
    };
    let next = match head {
        Some(id) => id.number().checked_add(1),
        None => subject.first,
    };
    if cut.to - cut.from > subject.reach {
        return Err(LogError::TooMuchDamage {
            last_whole: head.map(|id| id.number()),
            bytes: cut.to - cut.from,
            limit: subject.reach,
            place: place(next),
            fault: cut.fault,
        });
    }
    if !torn && followers::exist(subject, cut.from, decoder)? {
        return Err(LogError::DamagedInside {
            place: place(next),
            fault: cut.fault,
        });
    }
    Ok(cut)
}

/// Offset in a trailer that was checked before.
fn offset_of(trailer: u64) -> u64 {
    trailer & OFFSET_MASK
}
