//! The trailer behind each block: eight bytes that say where the block starts and how it is stored.
//!
//! An unsigned 64-bit number, little-endian:
//!
//! | bits  | meaning |
//! |-------|---------|
//! | 0-47  | offset in this file of the first stored byte of the block |
//! | 48-55 | dictionary number when bit 56 is set, else 0 |
//! | 56    | compressed with a dictionary |
//! | 57-62 | unused, 0 |
//! | 63    | 1 = zstd, 0 = stored as is |
//!
//! A trailer that breaks one of these rules is refused: no program writes one, so it is damage.

use crate::stored_block::Compression;

/// Bytes of a trailer.
pub const TRAILER_LEN: usize = 8;

const OFFSET_BITS: u32 = 48;
pub(crate) const OFFSET_MASK: u64 = (1 << OFFSET_BITS) - 1;
const DICTIONARY_SHIFT: u32 = 48;
const HAS_DICTIONARY: u64 = 1 << 56;
const UNUSED: u64 = 0x3f << 57;
const ZSTD: u64 = 1 << 63;

/// What a trailer says: start offset and form of its block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attributes {
    offset: u64,
    compression: Compression,
}

/// Why eight bytes are not a trailer, or a block cannot have one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AttributesError {
    /// Bits 57 to 62 must be 0.
    #[error("trailer {0:#018x} has unused bits set")]
    UnusedBits(u64),
    /// A dictionary flag or number on a block that is stored as is, or a number without the flag.
    #[error("trailer {0:#018x} names a dictionary for a block that has none")]
    StrayDictionary(u64),
    /// The offset field has 48 bits.
    #[error("offset {0} does not fit the 48 bits of a trailer")]
    OffsetTooLarge(u64),
}

impl Attributes {
    /// A trailer for a block that starts at `offset`.
    ///
    /// # Errors
    /// If the offset needs more than 48 bits.
    pub fn new(offset: u64, compression: Compression) -> Result<Self, AttributesError> {
        if offset > OFFSET_MASK {
            return Err(AttributesError::OffsetTooLarge(offset));
        }
        Ok(Self { offset, compression })
    }

    /// Offset in the file of the block's first stored byte.
    pub fn offset(self) -> u64 {
        self.offset
    }

    /// How the block is stored.
    pub fn compression(self) -> Compression {
        self.compression
    }

    /// The number whose little-endian bytes are the trailer.
    pub fn pack(self) -> u64 {
        let flags = match self.compression {
            Compression::None => 0,
            Compression::Zstd { dictionary: None } => ZSTD,
            Compression::Zstd {
                dictionary: Some(number),
            } => ZSTD | HAS_DICTIONARY | (u64::from(number) << DICTIONARY_SHIFT),
        };
        self.offset | flags
    }

    /// Reads a trailer.
    ///
    /// # Errors
    /// If a rule of the module's table is broken.
    pub fn unpack(trailer: u64) -> Result<Self, AttributesError> {
        if trailer & UNUSED != 0 {
            return Err(AttributesError::UnusedBits(trailer));
        }
        let number = (trailer >> DICTIONARY_SHIFT) as u8;
        let dictionary = if trailer & HAS_DICTIONARY != 0 {
            Some(number)
        } else if number != 0 {
            return Err(AttributesError::StrayDictionary(trailer));
        } else {
            None
        };
        let compression = if trailer & ZSTD != 0 {
            Compression::Zstd { dictionary }
        } else if dictionary.is_some() {
            return Err(AttributesError::StrayDictionary(trailer));
        } else {
            Compression::None
        };
        Ok(Self {
            offset: trailer & OFFSET_MASK,
            compression,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn layout_is_pinned() {
        let cases = [
            (0, Compression::None, 0),
            (
                0x5c,
                Compression::Zstd { dictionary: Some(0) },
                0x8100_0000_0000_005c,
            ),
            (
                0x17cc,
                Compression::Zstd { dictionary: Some(1) },
                0x8101_0000_0000_17cc,
            ),
            (
                OFFSET_MASK,
                Compression::Zstd { dictionary: None },
                0x8000_ffff_ffff_ffff,
            ),
        ];
        for (offset, compression, packed) in cases {
            let attributes = Attributes::new(offset, compression).unwrap();
            assert_eq!(attributes.pack(), packed);
            assert_eq!(Attributes::unpack(packed), Ok(attributes));
        }
    }

    #[test]
    fn broken_rules_are_refused() {
        for bit in 57..63 {
            let trailer = ZSTD | (1 << bit);
            assert_eq!(
                Attributes::unpack(trailer),
                Err(AttributesError::UnusedBits(trailer))
            );
        }
        for trailer in [HAS_DICTIONARY, ZSTD | (3 << DICTIONARY_SHIFT), 1 << 48] {
            assert_eq!(
                Attributes::unpack(trailer),
                Err(AttributesError::StrayDictionary(trailer))
            );
        }
        let offset = OFFSET_MASK + 1;
        assert_eq!(
            Attributes::new(offset, Compression::None),
            Err(AttributesError::OffsetTooLarge(offset))
        );
    }

    proptest! {
        #[test]
        fn whatever_unpacks_packs_to_the_same_number(trailer: u64) {
            if let Ok(attributes) = Attributes::unpack(trailer) {
                prop_assert_eq!(attributes.pack(), trailer);
            }
        }
    }
}
