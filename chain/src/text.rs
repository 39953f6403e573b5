//! Byte strings that are borrowed from the block.

use std::borrow::Cow;
use std::fmt;

use crate::pack::{Pack, Packer, Reader, Unpack, UnpackError};

/// A text field: bytes that are UTF-8 by convention only. Nothing in the format demands it, and history holds text
/// that is not.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Text<'a>(pub &'a [u8]);

/// A binary field. Laid out like a text; shown as hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Bytes<'a>(pub &'a [u8]);

macro_rules! borrowed {
    ($($name:ident),*) => {$(
        impl<'a> $name<'a> {
            /// The bytes.
            #[must_use]
            pub const fn as_bytes(&self) -> &'a [u8] {
                self.0
            }

            /// Length in bytes.
            #[must_use]
            pub const fn len(&self) -> usize {
                self.0.len()
            }

            /// Whether there are no bytes.
            #[must_use]
            pub const fn is_empty(&self) -> bool {
                self.0.is_empty()
            }
        }

        impl<'a> From<&'a [u8]> for $name<'a> {
            fn from(bytes: &'a [u8]) -> Self {
                Self(bytes)
            }
        }

        impl<'a> Unpack<'a> for $name<'a> {
            const MIN_SIZE: usize = 1;

            fn unpack(reader: &mut Reader<'a>) -> Result<Self, UnpackError> {
                reader.length_prefixed().map(Self)
            }
        }

        impl Pack for $name<'_> {
            fn pack(&self, packer: &mut Packer) {
                packer.length_prefixed(self.0);
            }
        }
    )*};
}

borrowed!(Text, Bytes);

impl<'a> Text<'a> {
    /// The text, if it is UTF-8.
    #[must_use]
    pub fn as_str(&self) -> Option<&'a str> {
        std::str::from_utf8(self.0).ok()
    }

    /// The text, with U+FFFD where the bytes are not UTF-8.
    #[must_use]
    pub fn to_string_lossy(&self) -> Cow<'a, str> {
        String::from_utf8_lossy(self.0)
    }
}

impl<'a> From<&'a str> for Text<'a> {
    fn from(text: &'a str) -> Self {
        Self(text.as_bytes())
    }
}

impl fmt::Display for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.to_string_lossy())
    }
}

impl fmt::Debug for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.to_string_lossy())
    }
}

impl fmt::Display for Bytes<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&hex::encode(self.0))
    }
}

impl fmt::Debug for Bytes<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Bytes({self})")
    }
}
