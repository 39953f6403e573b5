//! Why a trie file is not believed.

use std::io;

use crate::counts::Counts;
use crate::head::Head;
use crate::hex::Hex;
use crate::path::Path;

/// Why a trie file is not believed. Offsets are in bytes from the start of the file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TrieFileError {
    /// There is none.
    #[error("there is none")]
    Missing,
    /// The system refused something.
    #[error("{action} failed at offset {offset}: {source}")]
    Io {
        /// What was tried.
        action: &'static str,
        /// Where.
        offset: u64,
        /// What the system said.
        source: io::Error,
    },
    /// The file does not begin as one.
    #[error(
        "it begins with {} where `cairntri` was expected: it is no trie file",
        Hex(found)
    )]
    Magic {
        /// The bytes found.
        found: [u8; 8],
    },
    /// A version that this program does not know.
    #[error("it has format version {found}, this program knows 1 and 2")]
    Version {
        /// The version found.
        found: u32,
    },
    /// Fewer bytes than there have to be.
    #[error("it is torn: {expected} bytes were expected at offset {offset}, {found} are there")]
    Torn {
        /// Where they were expected.
        offset: u64,
        /// How many.
        expected: u64,
        /// How many there are.
        found: u64,
    },
    /// Bytes behind the end.
    #[error("it goes on behind its end at offset {offset}")]
    Longer {
        /// Where it should end.
        offset: u64,
    },
    /// What the header or a group says of itself is not what it is.
    #[error(
        "the {part} at offset {offset} is altered: it has checksum {}, {} was expected",
        Hex(found),
        Hex(expected)
    )]
    Checksum {
        /// `header` or `group`.
        part: &'static str,
        /// Where it begins.
        offset: u64,
        /// The checksum that is stored.
        expected: [u8; 16],
        /// The checksum of what is there.
        found: [u8; 16],
    },
    /// A group cannot be so long or so short.
    #[error("the group at offset {offset} gives itself {found} bytes, {least} to {most} were expected")]
    GroupLength {
        /// Where it begins.
        offset: u64,
        /// What it says.
        found: u64,
        /// The fewest that it can have.
        least: u64,
        /// The most that it can have.
        most: u64,
    },
    /// A leaf that is none.
    #[error("the group at offset {offset} is malformed in leaf {leaf}: {reason}")]
    Leaf {
        /// Where the group begins.
        offset: u64,
        /// The leaf's place in it, from 0.
        leaf: usize,
        /// What is wrong.
        reason: &'static str,
    },
    /// The paths do not ascend.
    #[error("the group at offset {offset} has path {found} in leaf {leaf}, not above {previous} before it")]
    Order {
        /// Where the group begins.
        offset: u64,
        /// The leaf's place in it, from 0.
        leaf: usize,
        /// The path before.
        previous: Path,
        /// The path found.
        found: Path,
    },
    /// The sizes of the leaves do not sum up to what the header says.
    #[error("its leaves hold {found} bytes, its header says {expected}")]
    Bytes {
        /// What the header says.
        expected: u64,
        /// The sum.
        found: u64,
    },
    /// The root over the leaves is not the header's.
    #[error(
        "the root over its leaves is {}, its header says {}",
        Hex(found),
        Hex(expected)
    )]
    Root {
        /// What the header says.
        expected: [u8; 32],
        /// What the leaves give.
        found: [u8; 32],
    },
    /// It belongs to another chain.
    #[error("it is of chain {}, the state of {}", Hex(found), Hex(expected))]
    OtherChain {
        /// The state's tag.
        expected: [u8; 32],
        /// The file's.
        found: [u8; 32],
    },
    /// It belongs to another block.
    #[error("it is of block {found}, the state of {}", Of(expected))]
    OtherBlock {
        /// The state's head.
        expected: Option<Head>,
        /// The file's.
        found: Head,
    },
    /// It has not as many registers or bytes as the state.
    #[error("it has {} registers of {} bytes, the state has {} of {}", found.registers, found.bytes, expected.registers, expected.bytes)]
    OtherCounts {
        /// The state's.
        expected: Counts,
        /// The file's.
        found: Counts,
    },
    /// The store has no record of this file: another process wrote it, or it is another store's.
    #[error("the state knows of {}, not of root {} at block {}", Known(expected), Hex(&found.1), found.0)]
    Unrecorded {
        /// Head and root of the file that the store knows of.
        expected: Option<(Head, [u8; 32])>,
        /// This file's.
        found: (Head, [u8; 32]),
    },
    /// It is not the file that the store knows of, although it says so.
    #[error(
        "it is not the file that the state knows of: its seal is {}, {} was expected",
        Hex(found),
        Hex(expected)
    )]
    Seal {
        /// The seal in the store's record.
        expected: [u8; 32],
        /// The file's.
        found: [u8; 32],
    },
}

impl TrieFileError {
    /// Whether the file is only not this state's, and not damaged: that is usual after a kill, a restore or an update.
    #[must_use]
    pub const fn is_of_another_state(&self) -> bool {
        matches!(
            self,
            Self::Missing
                | Self::Version { .. }
                | Self::OtherChain { .. }
                | Self::OtherBlock { .. }
                | Self::OtherCounts { .. }
                | Self::Unrecorded { .. }
        )
    }
}

struct Of<'a>(&'a Option<Head>);

impl std::fmt::Display for Of<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0 {
            Some(head) => head.fmt(f),
            None => f.write_str("no block"),
        }
    }
}

struct Known<'a>(&'a Option<(Head, [u8; 32])>);

impl std::fmt::Display for Known<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0 {
            Some((head, root)) => write!(f, "a trie file with root {} at block {head}", Hex(root)),
            None => f.write_str("no trie file"),
        }
    }
}
