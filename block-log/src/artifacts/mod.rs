//! hived's artifacts file: an index beside a log file, named `<log file>.artifacts`.
//!
//! Header, little-endian:
//!
//! | offset | size | field |
//! |--------|------|-------|
//! | 0      | 4    | number of the last block that has a record |
//! | 4      | 41   | git revision of the writer, ASCII, filled up with zeros |
//! | 45     | 1    | format, major: 1 |
//! | 46     | 1    | format, minor: 0 or 1 |
//! | 47     | 1    | 1 while open for writing, 0 after a clean close |
//! | 48     | 4    | version 1.1: number of the first block that has a record |
//! | 52     | 4    | version 1.1: where generating it was interrupted (records below are zero), 0 when complete |
//!
//! Then 24 bytes for each block from the first of the log file on: the trailer of the block, then bytes 4 to 19 of
//! its id (the first four are its number). Version 1.0 lacks the last two fields of the header and starts at block 1.
//!
//! The file says where a block is, and nothing else is taken from it: everything read through it is compared with
//! the trailers in the log itself, and ids are computed from the blocks' bytes.

mod file;
mod header;
mod writer;

pub(crate) use file::artifacts_path;
pub use file::{Artifacts, ArtifactsError, RECORD_LEN, Record};
pub use header::{ArtifactsHeader, ArtifactsVersion, HEADER_LEN_1_0, HEADER_LEN_1_1, HeaderError};
pub(crate) use writer::{ArtifactsWriter, remove_unfinished};
