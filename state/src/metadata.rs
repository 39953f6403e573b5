//! The record that says what a store is and how far it is.
//!
//! It is one value in RocksDB's default column family, under the key `state`, and every commit writes it in the
//! same batch as the registers. Layout, 85 bytes, numbers little-endian:
//!
//! | offset | bytes | content |
//! |---|---|---|
//! | 0 | 8 | `cairn-st` |
//! | 8 | 4 | format version |
//! | 12 | 32 | chain tag |
//! | 44 | 1 | 1 when there is a head, 0 before the first commit |
//! | 45 | 4 | head: block number |
//! | 49 | 20 | head: block id |
//! | 69 | 8 | registers |
//! | 77 | 8 | bytes of their keys and values |
//!
//! The first two fields stay where they are in every version, so that an older program can tell a newer store.

use crate::counts::Counts;
use crate::head::Head;

/// The version of the store's format that this crate reads and writes.
///
/// - 1: registers under their paths (see `record.rs`), local index under plain keys, this record.
pub const FORMAT_VERSION: u32 = 1;

/// The key of the record in the default column family.
pub(crate) const KEY: &[u8] = b"state";

const MAGIC: &[u8; 8] = b"cairn-st";
const LENGTH: usize = 85;

/// Why the bytes of the metadata record cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum MetadataError {
    /// There is no metadata record although there are registers or other records.
    #[error("the metadata record is missing")]
    Missing,
    /// The record does not begin as it must.
    #[error("the metadata record does not begin with `cairn-st` and a version")]
    Magic,
    /// Format version 0 has never existed.
    #[error("the metadata record gives format version 0")]
    Version,
    /// The record has another length than its version's.
    #[error("the metadata record has {found} bytes instead of {LENGTH}")]
    Length {
        /// The length found.
        found: usize,
    },
    /// The byte that says whether there is a head is neither 0 nor 1.
    #[error("the metadata record has {found} where 0 or 1 says whether there is a head")]
    HeadFlag {
        /// The byte found.
        found: u8,
    },
}

/// What the record says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Metadata {
    pub(crate) chain: [u8; 32],
    pub(crate) head: Option<Head>,
    pub(crate) counts: Counts,
}

/// A record that was read: its content, or its version alone when that is newer than this crate's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Decoded {
    Known(Metadata),
    Newer(u32),
}

impl Metadata {
    pub(crate) fn new(chain: [u8; 32]) -> Self {
        Self {
            chain,
            head: None,
            counts: Counts::default(),
        }
    }

    pub(crate) fn encode(&self) -> [u8; LENGTH] {
        let mut bytes = [0; LENGTH];
        bytes[..8].copy_from_slice(MAGIC);
        bytes[8..12].copy_from_slice(&FORMAT_VERSION.to_le_bytes());
        bytes[12..44].copy_from_slice(&self.chain);
        if let Some(head) = self.head {
            bytes[44] = 1;
            bytes[45..49].copy_from_slice(&head.number.to_le_bytes());
            bytes[49..69].copy_from_slice(&head.id);
        }
        bytes[69..77].copy_from_slice(&self.counts.registers.to_le_bytes());
        bytes[77..85].copy_from_slice(&self.counts.bytes.to_le_bytes());
        bytes
    }

    pub(crate) fn decode(bytes: &[u8]) -> Result<Decoded, MetadataError> {
        let rest = bytes.strip_prefix(MAGIC).ok_or(MetadataError::Magic)?;
        let (version, _) = rest.split_first_chunk::<4>().ok_or(MetadataError::Magic)?;
        match u32::from_le_bytes(*version) {
            0 => return Err(MetadataError::Version),
            FORMAT_VERSION => {}
            newer => return Ok(Decoded::Newer(newer)),
        }
        let bytes: &[u8; LENGTH] = bytes
            .try_into()
            .map_err(|_| MetadataError::Length { found: bytes.len() })?;
        let head = match bytes[44] {
            0 => None,
            1 => Some(Head {
                number: u32::from_le_bytes(field(bytes, 45)),
                id: field(bytes, 49),
            }),
            found => return Err(MetadataError::HeadFlag { found }),
        };
        let counts = Counts {
            registers: u64::from_le_bytes(field(bytes, 69)),
            bytes: u64::from_le_bytes(field(bytes, 77)),
        };
        Ok(Decoded::Known(Self {
            chain: field(bytes, 12),
            head,
            counts,
        }))
    }
}

/// The field of `N` bytes at a constant offset of the record.
fn field<const N: usize>(bytes: &[u8; LENGTH], offset: usize) -> [u8; N] {
    let mut field = [0; N];
    field.copy_from_slice(&bytes[offset..offset + N]);
    field
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn sample() -> Metadata {
        Metadata {
            chain: [0xc1; 32],
            head: Some(Head {
                number: 0x0102_0304,
                id: [0x1d; 20],
            }),
            counts: Counts {
                registers: 5,
                bytes: 600,
            },
        }
    }

    /// The format of version 1, pinned: when this fails, the version has to change.
    #[test]
    fn version_1_has_these_bytes() {
        let mut expected = b"cairn-st\x01\0\0\0".to_vec();
        expected.extend([0xc1; 32]);
        expected.extend([1, 4, 3, 2, 1]);
        expected.extend([0x1d; 20]);
        expected.extend([5, 0, 0, 0, 0, 0, 0, 0]);
        expected.extend([0x58, 2, 0, 0, 0, 0, 0, 0]);
        assert_eq!(sample().encode().to_vec(), expected);
        assert_eq!(Metadata::decode(&expected), Ok(Decoded::Known(sample())));
    }

    #[test]
    fn each_fault_has_its_error() {
        let good = sample().encode();
        assert_eq!(Metadata::decode(b""), Err(MetadataError::Magic));
        assert_eq!(Metadata::decode(&good[..11]), Err(MetadataError::Magic));
        assert_eq!(
            Metadata::decode(&good[..84]),
            Err(MetadataError::Length { found: 84 })
        );
        let with = |offset: usize, byte: u8| {
            let mut bytes = good;
            bytes[offset] = byte;
            Metadata::decode(&bytes)
        };
        assert_eq!(with(0, b'C'), Err(MetadataError::Magic));
        assert_eq!(with(8, 0), Err(MetadataError::Version));
        assert_eq!(with(8, 2), Ok(Decoded::Newer(2)));
        assert_eq!(with(44, 2), Err(MetadataError::HeadFlag { found: 2 }));
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_without_a_panic(mut bytes in prop::collection::vec(any::<u8>(), 0..100)) {
            let _ = Metadata::decode(&bytes);
            let valid = sample().encode();
            for (byte, good) in bytes.iter_mut().zip(&valid[..12]) {
                *byte = *good;
            }
            let _ = Metadata::decode(&bytes);
        }

        #[test]
        fn what_is_stored_comes_back(
            chain: [u8; 32], head in any::<Option<(u32, [u8; 20])>>(), registers: u64, bytes: u64,
        ) {
            let head = head.map(|(number, id)| Head { number, id });
            let metadata = Metadata { chain, head, counts: Counts { registers, bytes } };
            prop_assert_eq!(Metadata::decode(&metadata.encode()), Ok(Decoded::Known(metadata)));
        }
    }
}
