//! The ring of 65536 block ids that transactions refer to ("transactions as proof of stake").
//!
//! Key: `06`, slot (2, big-endian): the low 16 bits of the block's number. Value: the block's id, 20 bytes. A slot that
//! was never written has no register and counts as zeros.

use cairn_chain::BlockId;

use super::{CorruptValue, Fields, Record, TableId};

/// One slot of the ring.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReferenceBlock(pub BlockId);

impl ReferenceBlock {
    /// The slot in a key, `None` for another table's key.
    #[must_use]
    pub fn slot_of(key: &[u8]) -> Option<u16> {
        match key {
            [table, high, low] if *table == TableId::ReferenceBlock as u8 => {
                Some(u16::from_be_bytes([*high, *low]))
            }
            _ => None,
        }
    }
}

impl Record for ReferenceBlock {
    type Owner<'a> = u16;
    const NAME: &'static str = "reference block";

    fn key(slot: u16, key: &mut Vec<u8>) {
        key.push(TableId::ReferenceBlock as u8);
        key.extend_from_slice(&slot.to_be_bytes());
    }

    fn encode(&self, value: &mut Vec<u8>) {
        value.extend_from_slice(self.0.as_bytes());
    }

    fn decode(fields: &mut Fields<'_>) -> Result<Self, CorruptValue> {
        fields.array().map(|bytes| Self(BlockId(bytes)))
    }
}
