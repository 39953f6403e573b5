//! Account names and other texts of fixed room.

use std::fmt;

use crate::pack::{Pack, Packer, Reader, Unpack, UnpackError};

/// A short text in `N` bytes, padded with zeros. Compared as bytes, which is the order that hived sorts names by.
///
/// Packed like a string. hived keeps it in a field of `N` bytes, so that longer input is cut there, and a zero byte
/// ends it; no such value is known in real data.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FixedText<const N: usize>([u8; N]);

/// Name of an account, at most 16 bytes.
pub type AccountName = FixedText<16>;

/// Id of a `custom_json` or `custom_binary` operation, at most 32 bytes.
pub type CustomId = FixedText<32>;

impl<const N: usize> FixedText<N> {
    /// The empty text.
    pub const EMPTY: Self = Self([0; N]);

    /// Takes a text as hived does: cut to `N` bytes, and at the first zero byte.
    #[must_use]
    pub const fn new(bytes: &[u8]) -> Self {
        let mut text = [0; N];
        let mut index = 0;
        while index < N && index < bytes.len() && bytes[index] != 0 {
            text[index] = bytes[index];
            index += 1;
        }
        Self(text)
    }

    /// The text without its padding.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        let end = self.0.iter().position(|byte| *byte == 0).unwrap_or(N);
        &self.0[..end]
    }

    /// All `N` bytes, padding included.
    #[must_use]
    pub const fn padded(&self) -> &[u8; N] {
        &self.0
    }

    /// Whether there is no text.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.0[0] == 0
    }
}

impl AccountName {
    /// Whether this is a well-formed account name: 3 to 16 bytes; labels separated by dots; each label at least three
    /// characters long, starting with a letter a to z, ending with a letter or digit, with letters, digits and hyphens
    /// between.
    #[must_use]
    pub fn is_valid(&self) -> bool {
        let is_end = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
        self.as_bytes()
            .split(|byte| *byte == b'.')
            .all(|label| match label {
                [first, inner @ .., last] => {
                    first.is_ascii_lowercase()
                        && !inner.is_empty()
                        && inner.iter().all(|byte| is_end(byte) || *byte == b'-')
                        && is_end(last)
                }
                _ => false,
            })
    }
}

impl<const N: usize> Default for FixedText<N> {
    fn default() -> Self {
        Self::EMPTY
    }
}

impl<const N: usize> From<&str> for FixedText<N> {
    fn from(text: &str) -> Self {
        Self::new(text.as_bytes())
    }
}

impl<const N: usize> fmt::Display for FixedText<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&String::from_utf8_lossy(self.as_bytes()))
    }
}

impl<const N: usize> fmt::Debug for FixedText<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", String::from_utf8_lossy(self.as_bytes()))
    }
}

impl<'a, const N: usize> Unpack<'a> for FixedText<N> {
    const MIN_SIZE: usize = 1;

    fn unpack(reader: &mut Reader<'a>) -> Result<Self, UnpackError> {
        let bytes = reader.length_prefixed()?;
        let text = Self::new(bytes);
        if text.as_bytes().len() != bytes.len() {
            reader.note_inexact();
        }
        Ok(text)
    }
}

impl<const N: usize> Pack for FixedText<N> {
    fn pack(&self, packer: &mut Packer) {
        packer.length_prefixed(self.as_bytes());
    }
}

#[cfg(test)]
mod tests;
