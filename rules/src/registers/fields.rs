//! Reading the fields of a register's value, one after the other.

use cairn_chain::{AccountName, PublicKey, Time};

/// Bytes that are no value of their kind of register.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum CorruptValue {
    /// The value ends too early.
    #[error("{needed} more bytes expected at offset {offset}, {remaining} found")]
    Short {
        /// Where.
        offset: usize,
        /// Bytes that the next field takes.
        needed: usize,
        /// Bytes that are left.
        remaining: usize,
    },
    /// Bytes behind the value.
    #[error("end expected at offset {offset}, {remaining} more bytes found")]
    Trailing {
        /// Where the value ends.
        offset: usize,
        /// Bytes behind it.
        remaining: usize,
    },
    /// A number that the field cannot have.
    #[error("{expected} expected before offset {offset}, {found} found")]
    Number {
        /// What can stand there.
        expected: &'static str,
        /// What stands there.
        found: u64,
        /// End of the field.
        offset: usize,
    },
}

/// A position in a register's value.
#[derive(Debug, Clone)]
pub struct Fields<'a> {
    bytes: &'a [u8],
    offset: usize,
}

impl<'a> Fields<'a> {
    /// Starts at the first byte.
    #[must_use]
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, offset: 0 }
    }

    /// Bytes that are left.
    #[must_use]
    pub fn remaining(&self) -> usize {
        self.bytes.len() - self.offset
    }

    /// The next `count` bytes.
    ///
    /// # Errors
    ///
    /// [`CorruptValue::Short`] if there are fewer.
    pub fn take(&mut self, count: usize) -> Result<&'a [u8], CorruptValue> {
        let remaining = self.remaining();
        let short = CorruptValue::Short {
            offset: self.offset,
            needed: count,
            remaining,
        };
        let (taken, _) = self.bytes[self.offset..].split_at_checked(count).ok_or(short)?;
        self.offset += count;
        Ok(taken)
    }

    /// The next `N` bytes.
    ///
    /// # Errors
    ///
    /// [`CorruptValue::Short`] if there are fewer; so for all methods below.
    pub fn array<const N: usize>(&mut self) -> Result<[u8; N], CorruptValue> {
        let offset = self.offset;
        let taken = self.take(N)?;
        taken.try_into().map_err(|_| CorruptValue::Short {
            offset,
            needed: N,
            remaining: taken.len(),
        })
    }

    /// All bytes that are left.
    pub fn rest(&mut self) -> &'a [u8] {
        let rest = &self.bytes[self.offset..];
        self.offset = self.bytes.len();
        rest
    }

    /// Checks that nothing is left.
    ///
    /// # Errors
    ///
    /// [`CorruptValue::Trailing`].
    pub fn end(&self) -> Result<(), CorruptValue> {
        match self.remaining() {
            0 => Ok(()),
            remaining => Err(CorruptValue::Trailing {
                offset: self.offset,
                remaining,
            }),
        }
    }

    /// An error about the number that was read last.
    #[must_use]
    pub fn bad_number(&self, expected: &'static str, found: u64) -> CorruptValue {
        CorruptValue::Number {
            expected,
            found,
            offset: self.offset,
        }
    }

    /// One byte.
    pub fn u8(&mut self) -> Result<u8, CorruptValue> {
        self.array::<1>().map(|[byte]| byte)
    }

    /// Two bytes.
    pub fn u16(&mut self) -> Result<u16, CorruptValue> {
        self.array().map(u16::from_le_bytes)
    }

    /// Four bytes.
    pub fn u32(&mut self) -> Result<u32, CorruptValue> {
        self.array().map(u32::from_le_bytes)
    }

    /// Eight bytes.
    pub fn u64(&mut self) -> Result<u64, CorruptValue> {
        self.array().map(u64::from_le_bytes)
    }

    /// Eight bytes, signed.
    pub fn i64(&mut self) -> Result<i64, CorruptValue> {
        self.array().map(i64::from_le_bytes)
    }

    /// Seconds since 1970, four bytes.
    pub fn time(&mut self) -> Result<Time, CorruptValue> {
        self.u32().map(Time)
    }

    /// A name of 16 zero-padded bytes.
    pub fn name(&mut self) -> Result<AccountName, CorruptValue> {
        let offset = self.offset;
        let bytes = self.array::<16>()?;
        let name = AccountName::new(&bytes);
        // Only one encoding of a name: nothing behind its first zero byte.
        if name.padded() == &bytes {
            Ok(name)
        } else {
            Err(CorruptValue::Number {
                expected: "zero padding",
                found: 0,
                offset,
            })
        }
    }

    /// A public key, 33 bytes.
    pub fn public_key(&mut self) -> Result<PublicKey, CorruptValue> {
        self.array().map(PublicKey)
    }

    /// A count of elements of at least `size` bytes each, checked against the bytes that are left (u32).
    pub fn count(&mut self, size: usize) -> Result<usize, CorruptValue> {
        let count = self.u32()?;
        let fits = self.remaining() / size;
        usize::try_from(count)
            .ok()
            .filter(|count| *count <= fits)
            .ok_or_else(|| self.bad_number("a count that fits", u64::from(count)))
    }
}
