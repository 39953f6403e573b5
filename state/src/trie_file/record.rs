//! What the store itself knows of its trie file.
//!
//! One value in RocksDB's default column family, under the key `trie-file`, written when the file is durable. Layout,
//! 104 bytes, numbers little-endian:
//!
//! | offset | bytes | content |
//! |---|---|---|
//! | 0 | 8 | `cairn-tf` |
//! | 8 | 4 | head: block number |
//! | 12 | 20 | head: block id |
//! | 32 | 32 | root |
//! | 64 | 32 | seal of the file: blake3 over its header and the checksums of its groups |
//! | 96 | 8 | the first bytes of blake3 over the 96 bytes before |
//!
//! It is no part of a commit: a store without it has no trie file that it would believe, and is whole. Programs that
//! do not know it leave it alone, and the head that it names is then another one than the store's.

use crate::head::Head;

/// The key of the record in the default column family.
pub(crate) const KEY: &[u8] = b"trie-file";

const MAGIC: &[u8; 8] = b"cairn-tf";
const LENGTH: usize = 104;

/// See the module.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FileRecord {
    pub(crate) head: Head,
    pub(crate) root: [u8; 32],
    pub(crate) seal: [u8; 32],
}

impl FileRecord {
    pub(crate) fn encode(&self) -> [u8; LENGTH] {
        let mut bytes = [0; LENGTH];
        bytes[..8].copy_from_slice(MAGIC);
        bytes[8..12].copy_from_slice(&self.head.number.to_le_bytes());
        bytes[12..32].copy_from_slice(&self.head.id);
        bytes[32..64].copy_from_slice(&self.root);
        bytes[64..96].copy_from_slice(&self.seal);
        let sum = blake3::hash(&bytes[..96]);
        bytes[96..].copy_from_slice(&sum.as_bytes()[..8]);
        bytes
    }

    /// What bytes say; `None`: nothing that can be used, which is the same as nothing.
    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        let bytes: &[u8; LENGTH] = bytes.try_into().ok()?;
        let (said, sum) = bytes.split_at(96);
        if !said.starts_with(MAGIC) || blake3::hash(said).as_bytes()[..8] != *sum {
            return None;
        }
        let mut record = Self {
            head: Head {
                number: 0,
                id: [0; 20],
            },
            root: [0; 32],
            seal: [0; 32],
        };
        let mut number = [0; 4];
        number.copy_from_slice(&said[8..12]);
        record.head.number = u32::from_le_bytes(number);
        record.head.id.copy_from_slice(&said[12..32]);
        record.root.copy_from_slice(&said[32..64]);
        record.seal.copy_from_slice(&said[64..]);
        Some(record)
    }
}
