//! A block as it stands in a log.

/// How the bytes of a block are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Compression {
    /// As they are.
    None,
    /// One zstd frame without the magic number.
    Zstd {
        /// Number of the dictionary that the frame needs.
        dictionary: Option<u8>,
    },
}

/// A block as it stands in a log or travels between nodes: its number and its stored bytes.
///
/// The number is where the block was found or asked for; only decoding shows whether the bytes agree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredBlock {
    /// Block number, from 1.
    pub number: u32,
    /// Form of `bytes`.
    pub compression: Compression,
    /// Stored bytes, without the trailer.
    pub bytes: Vec<u8>,
}
