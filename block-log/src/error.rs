//! What can be wrong with a log, and where.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use cairn_chain::{BlockId, MerkleMismatch, UnpackError};

use crate::{ArtifactsError, AttributesError, DecodeError};

/// A place in a log: enough to find it with a hex viewer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The log file.
    pub file: PathBuf,
    /// Offset in it, in bytes.
    pub offset: u64,
    /// Block number, where it is known.
    pub block: Option<u32>,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(block) = self.block {
            write!(f, "block {block}, ")?;
        }
        write!(f, "offset {} of {}", self.offset, self.file.display())
    }
}

/// What is wrong with one block of a log.
#[derive(Debug, thiserror::Error)]
pub enum BlockFault {
    /// The eight bytes behind the block are not a trailer.
    #[error(transparent)]
    Trailer(#[from] AttributesError),
    /// The trailer's offset gives the block an impossible size.
    #[error(
        "the trailer says that the block starts at {start}, which is no place for a block that ends at {end}"
    )]
    Extent {
        /// Offset in the trailer.
        start: u64,
        /// Where the trailer itself starts.
        end: u64,
    },
    /// The trailer in the log differs from what was found there when the log was indexed.
    #[error("trailer {expected:#018x} expected, {found:#018x} found")]
    TrailerChanged {
        /// The trailer in the index.
        expected: u64,
        /// The trailer in the log.
        found: u64,
    },
    /// No whole block starts here.
    #[error("no whole block with a trailer behind it starts here")]
    NoBlock,
    /// The stored bytes do not unpack.
    #[error(transparent)]
    Decode(#[from] DecodeError),
    /// The raw bytes are not a block.
    #[error("not a block: {0}")]
    Unpack(#[from] UnpackError),
    /// Another block than the one that belongs here.
    #[error("block {expected} expected, block {found} found")]
    Number {
        /// Number by position in the log.
        expected: u32,
        /// Number in the block's header.
        found: u32,
    },
    /// The block does not follow the one before it.
    #[error("previous id {expected} expected (the id of the block before), {found} found")]
    Link {
        /// Id of the block before, computed from its bytes.
        expected: BlockId,
        /// What the header names.
        found: BlockId,
    },
    /// The transactions are not those that the header commits to.
    #[error(transparent)]
    Merkle(#[from] MerkleMismatch),
    /// A field that no real block leaves blank: zeroed bytes decode as an empty block 1.
    #[error("the {field} is blank (zero)")]
    Blank {
        /// Which field of the header.
        field: &'static str,
    },
}

impl BlockFault {
    /// Whether the log is at fault. If not, a dictionary is missing on this machine.
    pub fn is_damage(&self) -> bool {
        !matches!(self, Self::Decode(error) if !error.is_damage())
    }
}

/// Why an operation on a log failed.
#[derive(Debug, thiserror::Error)]
pub enum LogError {
    /// The system refused something.
    #[error("cannot {action} {path}: {source}")]
    Io {
        /// What was tried.
        action: &'static str,
        /// On what.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Nothing there that could be a log.
    #[error(
        "no block log at {path}: a log file is expected, or a folder that holds block_log or block_log_part.NNNN"
    )]
    NotFound {
        /// What was named.
        path: PathBuf,
    },
    /// A folder with two logs.
    #[error(
        "{folder} holds both block_log and block_log_part files; move one of the two away, or name the file"
    )]
    TwoLogs {
        /// The folder.
        folder: PathBuf,
    },
    /// The folder holds a log of the other layout than the one asked for.
    #[error("{folder} already holds {found}, and a log of the other layout cannot be started beside it")]
    OtherLayout {
        /// The folder.
        folder: PathBuf,
        /// File that is there.
        found: String,
    },
    /// A gap in the parts.
    #[error("part {missing:04} of the log in {folder} is missing, although part {next:04} is there")]
    MissingPart {
        /// The folder.
        folder: PathBuf,
        /// Lowest part that is missing.
        missing: u32,
        /// Next part that is there.
        next: u32,
    },
    /// A part does not end where it must.
    #[error(
        "{file} must end with block {expected} for {blocks_per_part} blocks a part, but ends with {found}; \
         is it a log of another chain, or was the part cut?"
    )]
    PartEnd {
        /// The part.
        file: PathBuf,
        /// Blocks in each full part, from the chain specification.
        blocks_per_part: u32,
        /// Number of the block that must be last.
        expected: u32,
        /// Number of the block that is last.
        found: u32,
    },
    /// A block is damaged or is another one than it should be.
    #[error("{place}: {fault}")]
    Block {
        /// Where.
        place: Place,
        /// What is wrong.
        fault: BlockFault,
    },
    /// The log does not end with a whole block, and may not be changed.
    #[error(
        "the log does not end with a whole block ({place}: {fault}). It was opened for reading only and is unchanged. \
         A log that was copied from a running node, or whose node was killed, ends like this: \
         read it up to the last whole block, or open it for writing, which cuts the torn tail"
    )]
    TornTail {
        /// Where.
        place: Place,
        /// What is wrong.
        fault: BlockFault,
    },
    /// More damage than a crash can do.
    #[error(
        "the last whole block before the damage is {last_whole:?}, at most {limit} bytes can be lost in a crash, \
         but {bytes} bytes follow it ({place}: {fault}). Nothing was cut. \
         Replace the file, or cut it on purpose behind a block that you trust"
    )]
    TooMuchDamage {
        /// Number of the last whole block, if there is one.
        last_whole: Option<u32>,
        /// Bytes that would have to be cut.
        bytes: u64,
        /// Most bytes that are cut unasked.
        limit: u64,
        /// Where the damage starts.
        place: Place,
        /// What is wrong there.
        fault: BlockFault,
    },
    /// A bad block with a good one behind it.
    #[error(
        "{place}: {fault}. Blocks that follow it are whole, so this is not the torn tail that a crash leaves, and \
         nothing was cut. Is the log of another chain? Else replace the file, or cut it on purpose before this block"
    )]
    DamagedInside {
        /// Where.
        place: Place,
        /// What is wrong.
        fault: BlockFault,
    },
    /// The artifacts file could not be read or written.
    #[error(transparent)]
    Artifacts(#[from] ArtifactsError),
    /// A block outside the log was asked for.
    #[error("block {block} is not in the log, which {}", range_words(.range))]
    OutOfRange {
        /// The block.
        block: u32,
        /// First and last block of the log, unless it is empty.
        range: Option<(u32, u32)>,
    },
    /// Another block than the next one was appended.
    #[error("block {expected} is next in the log, block {found} was given")]
    NotNext {
        /// The number that is next.
        expected: u32,
        /// The number that was given.
        found: u32,
    },
    /// An empty split log can only start with the first block of a part.
    #[error("an empty log with {blocks_per_part} blocks a part cannot start with block {found}")]
    NotPartStart {
        /// Blocks in each part.
        blocks_per_part: u32,
        /// The number that was given.
        found: u32,
    },
    /// A block of an impossible size was appended.
    #[error("block {block} has {found} stored bytes, {least} to {limit} are possible")]
    Size {
        /// The block.
        block: u32,
        /// Stored bytes.
        found: usize,
        /// Least that a block takes.
        least: u64,
        /// Most that is allowed.
        limit: usize,
    },
    /// Part numbers have four digits.
    #[error("block {block} would be the first of part {part}, and parts have four digits")]
    TooManyParts {
        /// The block.
        block: u32,
        /// The part that cannot be named.
        part: u32,
    },
    /// The file has no room for another offset.
    #[error("{path} is full: {source}")]
    Full {
        /// The log file.
        path: PathBuf,
        /// The offset that does not fit.
        source: AttributesError,
    },
    /// An earlier write failed, so what is on disk is not known.
    #[error("an earlier write to the log failed; open it again, which finds the last whole block")]
    Dead,
}

impl LogError {
    /// Whether something could not be written for want of room: on the disk, or in the user's quota.
    pub fn is_disk_full(&self) -> bool {
        matches!(self, Self::Io { source, .. }
            if matches!(source.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded))
    }

    /// For `map_err` on an operation of the system.
    pub(crate) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io {
            action,
            path: path.to_owned(),
            source,
        }
    }
}

fn range_words(range: &Option<(u32, u32)>) -> String {
    match range {
        Some((first, last)) => format!("holds blocks {first} to {last}"),
        None => "is empty".to_owned(),
    }
}
