//! Hashes that name things: blocks, transactions, Merkle roots, chains.
//!
//! Each is a type of its own around its bytes, so that one cannot be passed for another.

use std::fmt;
use std::str::FromStr;

use crate::hash;
use crate::pack::{Pack, Packer, Reader, Unpack, UnpackError};

/// Text that is not the hexadecimal form of a hash.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ParseHexError {
    /// Too short or too long.
    #[error("{expected} hexadecimal digits expected, {found} characters found")]
    Length {
        /// Digits that the hash has.
        expected: usize,
        /// Bytes of the text.
        found: usize,
    },
    /// A character that is not a hexadecimal digit.
    #[error("hexadecimal digit expected, {found:?} found at position {position}")]
    Digit {
        /// The character.
        found: char,
        /// Its position in the text, from 0.
        position: usize,
    },
}

fn parse_hex<const N: usize>(text: &str) -> Result<[u8; N], ParseHexError> {
    let mut bytes = [0; N];
    match hex::decode_to_slice(text, &mut bytes) {
        Ok(()) => Ok(bytes),
        Err(hex::FromHexError::InvalidHexCharacter { index, .. }) => {
            // The position counts bytes; a multi-byte character is shown whole where it starts.
            let found = text
                .char_indices()
                .take_while(|(start, _)| *start <= index)
                .last();
            let (position, found) = found.unwrap_or_default();
            Err(ParseHexError::Digit { found, position })
        }
        Err(_) => Err(ParseHexError::Length {
            expected: 2 * N,
            found: text.len(),
        }),
    }
}

macro_rules! hash_types {
    ($($(#[$meta:meta])* $name:ident($size:literal);)*) => {$(
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub [u8; $size]);

        impl $name {
            /// All bytes zero.
            pub const ZERO: Self = Self([0; $size]);

            /// The bytes.
            #[must_use]
            pub const fn as_bytes(&self) -> &[u8; $size] {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let mut digits = [0; 2 * $size];
                hex::encode_to_slice(self.0, &mut digits).map_err(|_| fmt::Error)?;
                f.pad(std::str::from_utf8(&digits).map_err(|_| fmt::Error)?)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($name), "({})"), self)
            }
        }

        impl FromStr for $name {
            type Err = ParseHexError;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                parse_hex(text).map(Self)
            }
        }

        impl<'a> Unpack<'a> for $name {
            const MIN_SIZE: usize = $size;

            fn unpack(reader: &mut Reader<'a>) -> Result<Self, UnpackError> {
                reader.array().map(Self)
            }
        }

        impl Pack for $name {
            fn pack(&self, packer: &mut Packer) {
                packer.raw(&self.0);
            }
        }
    )*};
}

hash_types! {
    /// Id of a block: SHA-224 of its signed header cut to 20 bytes, the first four replaced by the block's number.
    BlockId(20);
    /// Id of a transaction: the first 20 bytes of its digest.
    TransactionId(20);
    /// Root over the transactions of a block, as its header holds it.
    MerkleRoot(20);
    /// A SHA-256 digest: what is signed, and the leaves and nodes of the Merkle tree.
    Sha256Digest(32);
    /// Name of a chain; goes into what a transaction's signatures sign.
    ChainId(32);
}

impl BlockId {
    /// The block's number, which the id carries in its first four bytes, big-endian.
    #[must_use]
    pub const fn number(&self) -> u32 {
        let [a, b, c, d, ..] = self.0;
        u32::from_be_bytes([a, b, c, d])
    }

    /// Bytes 4 to 7 as a little-endian number: what a transaction gives as `ref_block_prefix`.
    #[must_use]
    pub const fn reference_prefix(&self) -> u32 {
        let [_, _, _, _, a, b, c, d, ..] = self.0;
        u32::from_le_bytes([a, b, c, d])
    }
}

impl Sha256Digest {
    /// SHA-256 of some bytes.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        Self(hash::sha256(&[bytes]))
    }
}

#[cfg(test)]
mod tests;
