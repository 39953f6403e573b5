//! One register as the store keeps it.
//!
//! Layout of the value in RocksDB, whose key is the register's [path](crate::Path):
//!
//! | bytes | content |
//! |---|---|
//! | 1 or 2 | length of the register's key, unsigned LEB128, shortest form |
//! | that many | the register's key |
//! | the rest, at least 1 | the register's value |
//!
//! The key is kept because a path cannot be turned back into it. The working set holds registers in the same
//! form, so that a commit copies them and builds nothing.

/// The longest key of a register, in bytes. Two LEB128 bytes would allow 16,383; Hive's longest names (an account
/// and a permlink of 255 bytes) need under 300.
pub const MAX_KEY_BYTES: usize = 4_096;

/// The longest value of a register, in bytes: 16 MiB, eight times Hive's largest block. It bounds what a damaged
/// or hostile store can make a reader allocate for one register.
pub const MAX_VALUE_BYTES: usize = 16 * 1024 * 1024;

/// Why the bytes stored for a register are not a register.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum RecordError {
    /// The length of the key is missing, cut off, not in its shortest form or above [`MAX_KEY_BYTES`].
    #[error("the length of the key is malformed or above {MAX_KEY_BYTES}")]
    KeyLength,
    /// The key is longer than what follows.
    #[error("a key of {expected} bytes is announced, {found} bytes follow")]
    KeyCut {
        /// The length that the record gives for its key.
        expected: usize,
        /// The bytes that follow.
        found: usize,
    },
    /// There is no value after the key: such a register should not be stored.
    #[error("the value is empty")]
    EmptyValue,
    /// The value is longer than [`MAX_VALUE_BYTES`].
    #[error("the value has {found} bytes, more than {MAX_VALUE_BYTES}")]
    ValueTooLong {
        /// The length of the value.
        found: usize,
    },
    /// The key is not the one whose path led here.
    #[error("the record is of another key")]
    OtherKey,
}

/// Splits a stored record into key and value.
pub(crate) fn split(stored: &[u8]) -> Result<(&[u8], &[u8]), RecordError> {
    let (key_length, prefix) = match *stored {
        [first, ..] if first < 0x80 => (usize::from(first), 1),
        [first, second, ..] if (1..0x80).contains(&second) => {
            (usize::from(first & 0x7f) | usize::from(second) << 7, 2)
        }
        _ => return Err(RecordError::KeyLength),
    };
    if key_length > MAX_KEY_BYTES {
        return Err(RecordError::KeyLength);
    }
    let rest = &stored[prefix..];
    let Some((key, value)) = rest.split_at_checked(key_length) else {
        return Err(RecordError::KeyCut {
            expected: key_length,
            found: rest.len(),
        });
    };
    match value.len() {
        0 => Err(RecordError::EmptyValue),
        length if length > MAX_VALUE_BYTES => Err(RecordError::ValueTooLong { found: length }),
        _ => Ok((key, value)),
    }
}

/// A register in the form in which it is stored, or the knowledge that it does not exist.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Record {
    /// The stored form; empty for a register that does not exist, which allocates nothing.
    bytes: Box<[u8]>,
    /// Where the value begins in `bytes`.
    value_at: u32,
}

impl Record {
    /// A record of a key and a value; an empty value gives the record of a register that does not exist.
    /// The caller has checked both lengths.
    pub(crate) fn new(key: &[u8], value: &[u8]) -> Self {
        debug_assert!(key.len() <= MAX_KEY_BYTES && value.len() <= MAX_VALUE_BYTES);
        if value.is_empty() {
            return Self::default();
        }
        let prefix = if key.len() < 0x80 { 1 } else { 2 };
        let value_at = prefix + key.len();
        let mut bytes = Vec::with_capacity(value_at + value.len());
        if prefix == 1 {
            bytes.push(key.len() as u8);
        } else {
            bytes.extend([key.len() as u8 | 0x80, (key.len() >> 7) as u8]);
        }
        bytes.extend_from_slice(key);
        bytes.extend_from_slice(value);
        Self {
            bytes: bytes.into_boxed_slice(),
            value_at: value_at as u32,
        }
    }

    /// The record stored for a key.
    pub(crate) fn from_stored(key: &[u8], stored: &[u8]) -> Result<Self, RecordError> {
        let (found, value) = split(stored)?;
        if found != key {
            return Err(RecordError::OtherKey);
        }
        Ok(Self {
            bytes: stored.into(),
            value_at: (stored.len() - value.len()) as u32,
        })
    }

    /// Whether the register exists.
    pub(crate) fn exists(&self) -> bool {
        !self.bytes.is_empty()
    }

    /// The value, empty when the register does not exist.
    pub(crate) fn value(&self) -> &[u8] {
        &self.bytes[self.value_at as usize..]
    }

    /// The bytes to store.
    pub(crate) fn stored(&self) -> &[u8] {
        &self.bytes
    }

    /// Brings the record into the processor's cache, as far as it is not longer than a few lines. The result means nothing.
    pub(crate) fn touch(&self) -> u8 {
        let ends = self.bytes.first().zip(self.bytes.last());
        ends.map_or(0, |(first, last)| first ^ last)
    }

    /// Bytes of key and value together, 0 when the register does not exist.
    pub(crate) fn size(&self) -> usize {
        // The length prefix has one byte for keys below 128 bytes, else two: see `new`.
        self.bytes.len()
            - if self.value_at <= 0x80 {
                self.exists() as usize
            } else {
                2
            }
    }

    /// Writes another value of the same length over the value, without an allocation. False, and nothing is done,
    /// when the lengths differ.
    pub(crate) fn overwrite(&mut self, value: &[u8]) -> bool {
        if !self.exists() || self.value().len() != value.len() {
            return false;
        }
        self.bytes[self.value_at as usize..].copy_from_slice(value);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_layout_is_length_key_value() {
        assert_eq!(Record::new(b"ab", b"xyz").stored(), b"\x02abxyz");
        assert_eq!(Record::new(b"", b"v").stored(), b"\x00v");
        assert_eq!(Record::new(b"ab", b"").stored(), b"");
        let long = Record::new(&[b'k'; 300], b"v");
        assert_eq!(&long.stored()[..2], &[0xac, 0x02], "300 = 2 * 128 + 44");
        assert_eq!(long.stored().len(), 303);
    }

    #[test]
    fn sizes_leave_the_length_prefix_out() {
        for key_length in [0, 1, 126, 127, 128, 129, MAX_KEY_BYTES] {
            assert_eq!(
                Record::new(&vec![1; key_length], b"value").size(),
                key_length + 5,
                "{key_length}"
            );
        }
        assert_eq!(Record::new(b"key", b"").size(), 0);
    }

    #[test]
    fn each_malformed_record_has_its_reason() {
        let reason = |bytes: &[u8]| split(bytes).unwrap_err();
        assert_eq!(reason(b""), RecordError::KeyLength);
        assert_eq!(reason(b"\x80"), RecordError::KeyLength);
        assert_eq!(
            reason(b"\x81\x00av"),
            RecordError::KeyLength,
            "not the shortest form of 1"
        );
        assert_eq!(reason(b"\x80\x80\x01"), RecordError::KeyLength);
        assert_eq!(
            reason(b"\xff\x7f"),
            RecordError::KeyLength,
            "16,383 is above the limit"
        );
        assert_eq!(
            reason(b"\x05abcd"),
            RecordError::KeyCut {
                expected: 5,
                found: 4
            }
        );
        assert_eq!(reason(b"\x04abcd"), RecordError::EmptyValue);
        assert_eq!(Record::from_stored(b"ab", b"\x02acv"), Err(RecordError::OtherKey));
    }

    proptest! {
        #[test]
        fn what_is_stored_comes_back(
            key in prop::collection::vec(any::<u8>(), 0..300),
            value in prop::collection::vec(any::<u8>(), 1..300),
        ) {
            let record = Record::new(&key, &value);
            prop_assert_eq!(split(record.stored()), Ok((&key[..], &value[..])));
            prop_assert_eq!(Record::from_stored(&key, record.stored()), Ok(record));
        }

        #[test]
        fn any_bytes_are_read_without_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            if let Ok((key, value)) = split(&bytes) {
                let again = Record::new(key, value);
                prop_assert_eq!(again.stored(), &bytes[..], "a register has one stored form");
            }
        }
    }
}
