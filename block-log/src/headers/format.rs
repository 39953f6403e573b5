//! The fixed parts of a header file: see the tables in the [module above](super).

use cairn_chain::ChainId;
use sha2::{Digest, Sha256};

/// Blocks in a segment: about 140 KB, small enough to be read and checked for a single header.
pub const SEGMENT_BLOCKS: u32 = 1024;

/// Bytes before the first segment.
pub(super) const FILE_HEAD: usize = 56;

/// Bytes before a segment's headers.
pub(super) const SEGMENT_HEAD: usize = 16;

/// Most bytes of headers in a segment. Real ones are under 150 KB.
pub(super) const SEGMENT_LIMIT: usize = 4 << 20;

const MAGIC: [u8; 8] = *b"cairn-hd";
const VERSION: u32 = 1;

fn checksum(parts: [&[u8]; 2]) -> [u8; 8] {
    let digest: [u8; 32] = Sha256::new()
        .chain_update(parts[0])
        .chain_update(parts[1])
        .finalize()
        .into();
    let mut checksum = [0; 8];
    checksum.copy_from_slice(&digest[..8]);
    checksum
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    let mut number = [0; 4];
    number.copy_from_slice(&bytes[at..at + 4]);
    u32::from_le_bytes(number)
}

/// The head of a file whose first block is `first`.
pub(super) fn pack_file_head(chain: &ChainId, first: u32) -> [u8; FILE_HEAD] {
    let mut head = [0; FILE_HEAD];
    head[..8].copy_from_slice(&MAGIC);
    head[8..12].copy_from_slice(&VERSION.to_le_bytes());
    head[12..44].copy_from_slice(&chain.0);
    head[44..48].copy_from_slice(&first.to_le_bytes());
    let checksum = checksum([&head[..48], &[]]);
    head[48..].copy_from_slice(&checksum);
    head
}

/// Number of the first block, if this is the head of a file of this chain.
pub(super) fn first_in_file_head(head: &[u8; FILE_HEAD], chain: &ChainId) -> Option<u32> {
    let first = u32_at(head, 44);
    (first != 0 && *head == pack_file_head(chain, first)).then_some(first)
}

/// What stands before the headers of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SegmentHead {
    pub(super) first: u32,
    pub(super) length: u32,
    checksum: [u8; 8],
}

impl SegmentHead {
    /// The head for these headers, which are not more than [`SEGMENT_LIMIT`].
    pub(super) fn of(first: u32, headers: &[u8]) -> Self {
        let length = headers.len() as u32;
        Self {
            first,
            length,
            checksum: Self::sum(first, length, headers),
        }
    }

    fn sum(first: u32, length: u32, headers: &[u8]) -> [u8; 8] {
        let mut start = [0; 8];
        start[..4].copy_from_slice(&first.to_le_bytes());
        start[4..].copy_from_slice(&length.to_le_bytes());
        checksum([&start, headers])
    }

    pub(super) fn pack(&self) -> [u8; SEGMENT_HEAD] {
        let mut head = [0; SEGMENT_HEAD];
        head[..4].copy_from_slice(&self.first.to_le_bytes());
        head[4..8].copy_from_slice(&self.length.to_le_bytes());
        head[8..].copy_from_slice(&self.checksum);
        head
    }

    pub(super) fn unpack(bytes: &[u8; SEGMENT_HEAD]) -> Self {
        let mut checksum = [0; 8];
        checksum.copy_from_slice(&bytes[8..]);
        Self {
            first: u32_at(bytes, 0),
            length: u32_at(bytes, 4),
            checksum,
        }
    }

    /// Whether these are the headers that the head was made for.
    pub(super) fn fits(&self, headers: &[u8]) -> bool {
        headers.len() == self.length as usize && self.checksum == Self::sum(self.first, self.length, headers)
    }
}
