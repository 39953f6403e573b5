//! The trie on disk: what is needed to have it back without reading every register.
//!
//! The leaves are written in path order, each with its path, its hash and its size; interior nodes are
//! rebuilt, which costs less than reading them would. Numbers are little-endian.
//!
//! | offset | bytes | header |
//! |---|---|---|
//! | 0 | 8 | `cairntri` |
//! | 8 | 4 | format version, 1 or 2 |
//! | 12 | 32 | chain tag |
//! | 44 | 4 | head: block number |
//! | 48 | 20 | head: block id |
//! | 68 | 8 | registers |
//! | 76 | 8 | bytes of their keys and values |
//! | 84 | 32 | root |
//! | 116 | 16 | the first bytes of blake3 over the 116 bytes before |
//!
//! Behind it stand groups of 4,096 leaves, the last one with what is left; how they look is the version's matter and
//! told in `group.rs`. Nothing follows the last group.
//!
//! A file is written under a temporary name, synced, renamed, and its folder synced: under its own name it is whole.
//! It is believed only when all of this holds; otherwise whoever wants the trie builds it from the registers:
//! - every checksum, the order of the paths, and the counts;
//! - the root over its leaves is the header's, so that the checksums decide nothing by themselves;
//! - chain, head and counts are the store's;
//! - the store's own record of its trie file (see `record.rs`) names this head, this root and the file's seal, which stands for
//!   every byte of it. That record is written when the file is durable.

mod error;
mod group;
mod header;
mod load;
mod reader;
mod record;
#[cfg(test)]
mod tests;
mod writer;

pub use error::TrieFileError;
pub(crate) use group::PlacedLeaf;
pub use header::TrieFileHeader;
pub(crate) use load::{Expected, same_root};
pub use reader::TrieFileReader;
pub(crate) use record::FileRecord;
pub(crate) use record::KEY as RECORD_KEY;
pub(crate) use writer::replace;
pub use writer::{TrieFileVersion, write_leaves};

/// Leaves of a group: the unit that is read, checked and kept in memory at once, 280 KB. Lower, more checksums;
/// higher, more memory for whoever reads a stranger's file.
pub(crate) const GROUP: u64 = 4_096;
