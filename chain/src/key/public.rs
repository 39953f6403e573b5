//! Public keys and their text form.

use std::fmt;
use std::str::FromStr;

use crate::hash;
use crate::pack::{Pack, Packer, Reader, Unpack, UnpackError};

/// What the text of every public key starts with, on all networks of today.
const PREFIX: &str = "STM";

/// A compressed public key: 02 or 03, then the X coordinate. Any 33 bytes can stand in a block; nothing is checked until
/// a key is used.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PublicKey(pub [u8; 33]);

impl PublicKey {
    /// The key that nobody has: 33 zero bytes.
    pub const NULL: Self = Self([0; 33]);

    /// Whether this is the key that nobody has.
    #[must_use]
    pub fn is_null(&self) -> bool {
        *self == Self::NULL
    }

    /// The 33 bytes.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 33] {
        &self.0
    }

    fn checksum(&self) -> [u8; 4] {
        let [a, b, c, d, ..] = hash::ripemd160(&self.0);
        [a, b, c, d]
    }
}

/// The text form: `STM`, then base58 of the key and the first four bytes of its RIPEMD-160.
impl fmt::Display for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut bytes = [0; 37];
        bytes[..33].copy_from_slice(&self.0);
        bytes[33..].copy_from_slice(&self.checksum());
        // 37 bytes are at most 51 digits of base 58.
        let mut digits = [0; 64];
        let length = bs58::encode(bytes)
            .onto(&mut digits[..])
            .map_err(|_| fmt::Error)?;
        let digits = std::str::from_utf8(&digits[..length]).map_err(|_| fmt::Error)?;
        write!(f, "{PREFIX}{digits}")
    }
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Text that is no public key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ParsePublicKeyError {
    /// It starts with something else. `TST` was used by testnets of old releases.
    #[error("a public key starts with STM, found {found:?}")]
    Prefix {
        /// The text.
        found: String,
    },
    /// A character outside the base58 alphabet.
    #[error("the public key {found:?} is not base58 behind its prefix")]
    Base58 {
        /// The text.
        found: String,
    },
    /// Not the length of a key and its checksum.
    #[error("the public key {found:?} holds {length} bytes, a key and its checksum are 37")]
    Length {
        /// The text.
        found: String,
        /// Bytes in it.
        length: usize,
    },
    /// A letter was mistyped: key and checksum do not belong together.
    #[error("the checksum of the public key {found:?} does not match: the text was altered")]
    Checksum {
        /// The text.
        found: String,
    },
}

impl FromStr for PublicKey {
    type Err = ParsePublicKeyError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let found = || text.chars().take(80).collect::<String>();
        let Some(digits) = text.strip_prefix(PREFIX) else {
            return Err(ParsePublicKeyError::Prefix { found: found() });
        };
        // Base58 decoding takes quadratic time; no key is nearly this long.
        if digits.len() > 64 {
            return Err(ParsePublicKeyError::Length {
                found: found(),
                length: digits.len(),
            });
        }
        let Ok(bytes) = bs58::decode(digits).into_vec() else {
            return Err(ParsePublicKeyError::Base58 { found: found() });
        };
        let Ok(bytes) = <[u8; 37]>::try_from(bytes.as_slice()) else {
            return Err(ParsePublicKeyError::Length {
                found: found(),
                length: bytes.len(),
            });
        };
        let mut key = [0; 33];
        key.copy_from_slice(&bytes[..33]);
        let key = Self(key);
        if bytes[33..] != key.checksum() {
            return Err(ParsePublicKeyError::Checksum { found: found() });
        }
        Ok(key)
    }
}

impl<'a> Unpack<'a> for PublicKey {
    const MIN_SIZE: usize = 33;

    fn unpack(reader: &mut Reader<'a>) -> Result<Self, UnpackError> {
        reader.array().map(Self)
    }
}

impl Pack for PublicKey {
    fn pack(&self, packer: &mut Packer) {
        packer.raw(&self.0);
    }
}
