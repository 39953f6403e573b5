//! Headers without their blocks: read from a log, and kept in a file of their own.
//!
//! To serve headers from a log means to read and unpack whole blocks for the hundred bytes at the start of each. A
//! [`HeaderFile`] holds copies of them, so that it is done once. It is an index of the log and never evidence:
//! whoever receives headers proves them by their hashes. It may be deleted at any time.
//!
//! # Format
//!
//! Numbers are little-endian.
//!
//! | offset | size | field |
//! |---|---|---|
//! | 0 | 8 | `cairn-hd` |
//! | 8 | 4 | format version, 1 |
//! | 12 | 32 | chain id |
//! | 44 | 4 | number of the first block, u32 |
//! | 48 | 8 | the first bytes of the SHA-256 of what is before |
//!
//! Behind it segments, each with the headers of [`SEGMENT_BLOCKS`] consecutive blocks:
//!
//! | offset | size | field |
//! |---|---|---|
//! | 0 | 4 | number of the first block, u32 |
//! | 4 | 4 | bytes of headers, u32 |
//! | 8 | 8 | the first bytes of the SHA-256 of the eight bytes before and the headers |
//! | 16 | n | signed headers, one behind the other, as they stand at the start of the blocks |
//!
//! Only whole segments are in the file; the blocks behind them are read from the log. Where the segments are is found
//! at open, by hopping from head to head. A segment is checked when it is read; one that is not what it was when it
//! was written is cut off with all behind it, and they are built again.

mod error;
mod file;
mod format;
mod from_log;
mod segment;

pub use error::HeaderFileError;
pub use file::{HeaderFile, Headers};
pub use format::SEGMENT_BLOCKS;
pub use from_log::{LogHeaders, TakenHeader};
