//! What can be wrong with a state, and what to do about it.

use crate::counts::Counts;
use crate::error::StateError;
use crate::hex::Hex;
use crate::path::Path;
use crate::record::RecordError;
use crate::trie::NodeHash;
use crate::trie_file::TrieFileError;

/// Something that is wrong with a state.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// A key in the registers' column family is not a path.
    #[error("a register is stored under {length} bytes instead of a path of 32")]
    NoPath {
        /// The key's length.
        length: usize,
    },
    /// A stored register is not one.
    #[error("the register at path {path} is malformed: {source}")]
    Record {
        /// Its path.
        path: Path,
        /// What is wrong.
        source: RecordError,
    },
    /// A register is not where its key says.
    #[error("the register at path {path} has a key whose path is {own}")]
    Misplaced {
        /// Where it is stored.
        path: Path,
        /// Where it belongs.
        own: Path,
    },
    /// Reading ended before the end.
    #[error("the registers cannot be read further, {}: {source}", Behind(behind))]
    Unreadable {
        /// The last register that could be read.
        behind: Option<Path>,
        /// What RocksDB says.
        source: StateError,
    },
    /// There are not as many registers or bytes as the state says.
    #[error("there are {} registers of {} bytes, the state says {} of {}", found.registers, found.bytes, expected.registers, expected.bytes)]
    Counts {
        /// What it says.
        expected: Counts,
        /// What there is.
        found: Counts,
    },
    /// The registers do not have the root that the state had at this block.
    #[error("the registers have root {found}, at this block it was {}", Hex(expected))]
    Root {
        /// The root when the trie file was written.
        expected: [u8; 32],
        /// The root now.
        found: NodeHash,
    },
    /// The trie file is damaged.
    #[error("the trie file is damaged: {0}")]
    TrieFile(TrieFileError),
    /// A register is not in the trie file.
    #[error("the register at path {path} is not in the trie file of this block")]
    NotInFile {
        /// Its path.
        path: Path,
    },
    /// A register that the trie file has is not in the state.
    #[error("the trie file of this block has a register at path {path}, the state has none")]
    NotInStore {
        /// Its path.
        path: Path,
    },
    /// A register is another one in the trie file.
    #[error("the register at path {path} differs from the trie file of this block: key and value {}, {} bytes against {}", Differ(*same_hash), found, expected)]
    Differs {
        /// Its path.
        path: Path,
        /// Bytes in the file.
        expected: u32,
        /// Bytes in the state.
        found: u32,
        /// Whether the hashes agree.
        same_hash: bool,
    },
}

impl Fault {
    /// Whether the registers themselves are damaged, and not only what is made from them.
    #[must_use]
    pub const fn is_of_registers(&self) -> bool {
        !matches!(self, Self::TrieFile(_))
    }
}

struct Behind<'a>(&'a Option<Path>);

impl std::fmt::Display for Behind<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0 {
            Some(path) => write!(f, "behind path {path}"),
            None => f.write_str("from the first one on"),
        }
    }
}

struct Differ(bool);

impl std::fmt::Display for Differ {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if self.0 {
            "have the same hash"
        } else {
            "have another hash"
        })
    }
}
