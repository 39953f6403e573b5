//! The block size that the scheduled witnesses vote for.
//!
//! Key: `07`, `04`. Value, 12 bytes: what the last three drawings of the schedule found, the newest first (4 bytes each). It
//! exists where the last schedule that was drawn is known.

use cairn_chain::MAX_BLOCK_SIZE;

use super::{CorruptValue, Fields, GlobalField, Record, TableId};

/// The medians of the scheduled witnesses' votes at the last three drawings of the schedule, in bytes. One that was not
/// found is the largest that a block may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VotedBlockSizes {
    newest_first: [u32; 3],
}

/// No vote can be for more.
const NOT_FOUND: u32 = MAX_BLOCK_SIZE as u32;

impl VotedBlockSizes {
    /// Before the first drawing.
    pub const NONE: Self = Self {
        newest_first: [NOT_FOUND; 3],
    };

    /// With what one more drawing found.
    #[must_use]
    pub fn then(self, found: Option<u32>) -> Self {
        let [newest, second, _] = self.newest_first;
        Self {
            newest_first: [found.unwrap_or(NOT_FOUND), newest, second],
        }
    }

    /// Most bytes that a block may have, as far as can be told.
    ///
    /// A new list's votes come into force with the list, one round after it was drawn since hardfork 26, and where exactly in
    /// between a change is felt is not followed here: the largest of the three is right while the witnesses
    /// do not change their minds, and never too small when they do.
    #[must_use]
    pub fn limit(&self) -> usize {
        self.newest_first.iter().copied().max().unwrap_or(NOT_FOUND) as usize
    }
}

impl Record for VotedBlockSizes {
    type Owner<'a> = ();
    const NAME: &'static str = "voted block sizes";

    fn key((): (), key: &mut Vec<u8>) {
        key.extend_from_slice(&[TableId::Global as u8, GlobalField::VotedBlockSizes as u8]);
    }

    fn encode(&self, value: &mut Vec<u8>) {
        for size in self.newest_first {
            value.extend_from_slice(&size.to_le_bytes());
        }
    }

    fn decode(fields: &mut Fields<'_>) -> Result<Self, CorruptValue> {
        Ok(Self {
            newest_first: [fields.u32()?, fields.u32()?, fields.u32()?],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_is_known_after_three_drawings_and_the_largest_of_them() {
        let mut sizes = VotedBlockSizes::NONE;
        for (found, limit) in [
            (Some(65_536), MAX_BLOCK_SIZE),
            (Some(131_072), MAX_BLOCK_SIZE),
            (Some(65_536), 131_072),
            (Some(65_536), 131_072),
            (Some(65_536), 65_536),
            (Some(70_000), 70_000),
            (None, MAX_BLOCK_SIZE),
        ] {
            sizes = sizes.then(found);
            assert_eq!(sizes.limit(), limit, "{sizes:?}");
        }
    }
}
