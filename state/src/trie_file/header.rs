//! The header of a trie file.

use super::error::TrieFileError;
use crate::counts::Counts;
use crate::head::Head;

pub(super) const MAGIC: &[u8; 8] = b"cairntri";
/// Bytes of the header with its checksum.
pub(super) const LENGTH: usize = 132;
/// Where the checksum begins.
const CHECKED: usize = 116;
/// Bytes of a checksum. 128 bits of blake3: what nobody alters by accident, and the root decides anyway.
pub(super) const CHECKSUM: usize = 16;

/// What a trie file says of itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TrieFileHeader {
    /// Format version.
    pub version: u32,
    /// The chain's tag, as in [`StoreOptions`](crate::StoreOptions).
    pub chain: [u8; 32],
    /// The block after which the registers are so.
    pub head: Head,
    /// Registers and bytes.
    pub counts: Counts,
    /// The root over them.
    pub root: [u8; 32],
}

impl TrieFileHeader {
    pub(super) fn encode(&self) -> [u8; LENGTH] {
        let mut bytes = [0; LENGTH];
        bytes[..8].copy_from_slice(MAGIC);
        bytes[8..12].copy_from_slice(&self.version.to_le_bytes());
        bytes[12..44].copy_from_slice(&self.chain);
        bytes[44..48].copy_from_slice(&self.head.number.to_le_bytes());
        bytes[48..68].copy_from_slice(&self.head.id);
        bytes[68..76].copy_from_slice(&self.counts.registers.to_le_bytes());
        bytes[76..84].copy_from_slice(&self.counts.bytes.to_le_bytes());
        bytes[84..CHECKED].copy_from_slice(&self.root);
        let sum = checksum(blake3::Hasher::new().update(&bytes[..CHECKED]));
        bytes[CHECKED..].copy_from_slice(&sum);
        bytes
    }

    pub(super) fn decode(bytes: &[u8; LENGTH]) -> Result<Self, TrieFileError> {
        let magic: [u8; 8] = field(bytes, 0);
        if &magic != MAGIC {
            return Err(TrieFileError::Magic { found: magic });
        }
        let version = u32::from_le_bytes(field(bytes, 8));
        if !(1..=2).contains(&version) {
            return Err(TrieFileError::Version { found: version });
        }
        let found = checksum(blake3::Hasher::new().update(&bytes[..CHECKED]));
        let expected = field(bytes, CHECKED);
        if found != expected {
            return Err(TrieFileError::Checksum {
                part: "header",
                offset: 0,
                expected,
                found,
            });
        }
        Ok(Self {
            version,
            chain: field(bytes, 12),
            head: Head {
                number: u32::from_le_bytes(field(bytes, 44)),
                id: field(bytes, 48),
            },
            counts: Counts {
                registers: u64::from_le_bytes(field(bytes, 68)),
                bytes: u64::from_le_bytes(field(bytes, 76)),
            },
            root: field(bytes, 84),
        })
    }
}

/// The first bytes of what a hasher has seen.
pub(super) fn checksum(hasher: &blake3::Hasher) -> [u8; CHECKSUM] {
    let mut sum = [0; CHECKSUM];
    hasher.finalize_xof().fill(&mut sum);
    sum
}

/// The field of `N` bytes at a constant offset.
fn field<const N: usize>(bytes: &[u8; LENGTH], offset: usize) -> [u8; N] {
    let mut field = [0; N];
    field.copy_from_slice(&bytes[offset..offset + N]);
    field
}
