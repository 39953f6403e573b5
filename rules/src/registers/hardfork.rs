//! The hardfork that witnesses have agreed on.
//!
//! Key: `07`, `01`. Value, 8 bytes: version of the next hardfork (4), its time (4). No register if there is no
//! agreement. The last hardfork that took effect is in [`super::Globals`].

use cairn_chain::{Time, Version};

use super::{CorruptValue, Fields, GlobalField, Record, TableId};

/// The next hardfork: enough of the scheduled witnesses vote for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HardforkState {
    /// Its version, release part 0.
    pub next_version: Version,
    /// It takes effect at the end of the first block whose time is not earlier.
    pub next_time: Time,
}

impl Record for HardforkState {
    type Owner<'a> = ();
    const NAME: &'static str = "next hardfork";

    fn key((): (), key: &mut Vec<u8>) {
        key.extend_from_slice(&[TableId::Global as u8, GlobalField::Hardforks as u8]);
    }

    fn encode(&self, value: &mut Vec<u8>) {
        value.extend_from_slice(&self.next_version.0.to_le_bytes());
        value.extend_from_slice(&self.next_time.0.to_le_bytes());
    }

    fn decode(fields: &mut Fields<'_>) -> Result<Self, CorruptValue> {
        Ok(Self {
            next_version: Version(fields.u32()?),
            next_time: fields.time()?,
        })
    }
}
