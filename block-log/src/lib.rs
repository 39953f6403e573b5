//! hived's block log files: single and split, artifacts, zstd with dictionaries; read, append, repair.
//!
//! A log is the irreversible blocks of a chain in order. Each is stored as is or as one zstd frame, followed by eight
//! bytes ([`Attributes`]) that say where it starts and how it is stored; so a log file leads from its end to its
//! start, and a block's place is found through an index. A log is one file, or parts of a fixed number of blocks.
//!
//! - [`BlockLog`] reads a log that somebody else may have written: any block by number, or all in order. It trusts
//!   nothing but the file itself; an artifacts file beside it is an index and no more.
//! - [`BlockLogWriter`] appends to a log in a folder of one's own, and cuts what a crash has torn when it opens one.
//! - [`BlockDecoder`] and [`BlockEncoder`] turn stored bytes into a block's raw bytes and back.
//! - [`HeaderFile`] keeps copies of a log's headers, so that they can be served without reading blocks.
//! - [`verify`] finds the first block that is not what it must be, and [`uncompressed_sha256`] is hived's checksum
//!   over a log.

#![cfg_attr(
    test,
    allow(clippy::unwrap_used, reason = "a test that cannot go on shall stop")
)]

mod artifacts;
mod attributes;
mod check;
mod checksum;
mod compression;
mod error;
mod facts;
mod headers;
mod layout;
mod part;
mod pread;
mod reader;
mod recovery;
mod sequential;
mod stored_block;
mod trailers;
mod verify;
mod writer;

pub use artifacts::{
    Artifacts, ArtifactsError, ArtifactsHeader, ArtifactsVersion, HEADER_LEN_1_0, HEADER_LEN_1_1,
    HeaderError, RECORD_LEN, Record,
};
pub use attributes::{Attributes, AttributesError, TRAILER_LEN};
pub use checksum::uncompressed_sha256;
pub use compression::{
    BlockDecoder, BlockEncoder, DEFAULT_LEVEL, DecodeError, Dictionaries, Dictionary, DictionaryError,
    EncodeError,
};
pub use error::{BlockFault, LogError, Place};
pub use headers::{HeaderFile, HeaderFileError, Headers, LogHeaders, SEGMENT_BLOCKS, TakenHeader};
pub use layout::Layout;
pub use reader::{BlockLog, PartInfo};
pub use recovery::{Cut, UNSYNCED_LIMIT};
pub use sequential::Sequential;
pub use stored_block::{Compression, StoredBlock};
pub use verify::{Verified, Verifier, verify};
pub use writer::{BlockLogWriter, CutPolicy, Repair, SetAside, WriterOptions};

pub(crate) use artifacts::artifacts_path;

/// Most raw bytes that a block may have: hived's hard limit.
pub const MAX_RAW_SIZE: usize = cairn_chain::MAX_BLOCK_SIZE;

/// Most stored bytes that a block may have, the same number: hived refuses a log whose head block is stored in more.
pub const MAX_STORED_SIZE: usize = MAX_RAW_SIZE;
