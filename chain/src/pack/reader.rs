//! Reading packed bytes without copying them.

use super::{Unpack, UnpackError, UnpackErrorKind};
use crate::asset::{SymbolCounts, Symbols};

/// A position in packed bytes, and what was met on the way there.
#[derive(Debug, Clone)]
pub struct Reader<'a> {
    bytes: &'a [u8],
    position: usize,
    symbols: Symbols,
    met: SymbolCounts,
    exact: bool,
}

impl<'a> Reader<'a> {
    /// Starts at the first byte. `symbols` says which spelling of legacy asset symbols the network uses.
    #[must_use]
    pub fn new(bytes: &'a [u8], symbols: Symbols) -> Self {
        Self {
            bytes,
            position: 0,
            symbols,
            met: SymbolCounts::default(),
            exact: true,
        }
    }

    /// Offset of the next byte.
    #[must_use]
    pub fn position(&self) -> usize {
        self.position
    }

    /// Bytes that are left.
    #[must_use]
    pub fn remaining(&self) -> usize {
        self.bytes.len() - self.position
    }

    /// The network's spelling of legacy asset symbols.
    #[must_use]
    pub fn symbols(&self) -> Symbols {
        self.symbols
    }

    /// Asset symbols met since the last [`Self::take_symbol_counts`].
    pub(crate) fn met_mut(&mut self) -> &mut SymbolCounts {
        &mut self.met
    }

    /// Hands out the symbol counts and starts them again at zero.
    pub(crate) fn take_symbol_counts(&mut self) -> SymbolCounts {
        std::mem::take(&mut self.met)
    }

    /// Notes that the value just read will not pack to the bytes that it was read from.
    pub(crate) fn note_inexact(&mut self) {
        self.exact = false;
    }

    /// Whether nothing was noted since the last call.
    pub(crate) fn take_exact(&mut self) -> bool {
        std::mem::replace(&mut self.exact, true)
    }

    /// The bytes from `start` up to the present position.
    pub(crate) fn since(&self, start: usize) -> &'a [u8] {
        &self.bytes[start..self.position]
    }

    /// An error at the present position.
    #[must_use]
    pub fn error(&self, kind: UnpackErrorKind) -> UnpackError {
        UnpackError {
            offset: self.position,
            kind,
        }
    }

    fn end(&self, needed: usize) -> UnpackError {
        self.error(UnpackErrorKind::UnexpectedEnd {
            needed,
            remaining: self.remaining(),
        })
    }

    /// The next `count` bytes.
    ///
    /// # Errors
    ///
    /// [`UnpackErrorKind::UnexpectedEnd`] if there are fewer.
    pub fn take(&mut self, count: usize) -> Result<&'a [u8], UnpackError> {
        let Some((taken, _)) = self.bytes[self.position..].split_at_checked(count) else {
            return Err(self.end(count));
        };
        self.position += count;
        Ok(taken)
    }

    /// The next `N` bytes as an array.
    ///
    /// # Errors
    ///
    /// [`UnpackErrorKind::UnexpectedEnd`] if there are fewer.
    pub fn array<const N: usize>(&mut self) -> Result<[u8; N], UnpackError> {
        let Some(taken) = self.bytes[self.position..].first_chunk::<N>() else {
            return Err(self.end(N));
        };
        self.position += N;
        Ok(*taken)
    }

    /// The next `N` bytes without moving on, if there are that many.
    pub(crate) fn peek<const N: usize>(&self) -> Option<&'a [u8; N]> {
        self.bytes[self.position..].first_chunk::<N>()
    }

    /// A varint: seven bits a byte, low group first, the top bit set on all bytes but the last.
    ///
    /// As in hived, the fifth byte is the last one whatever its top bit says, bits above the 32nd are dropped, and
    /// the form need not be the shortest.
    ///
    /// # Errors
    ///
    /// [`UnpackErrorKind::UnexpectedEnd`] if the bytes end before the varint does.
    pub fn varint(&mut self) -> Result<u32, UnpackError> {
        let mut value = 0u64;
        for group in 0..5 {
            let [byte] = self.array::<1>()?;
            value |= u64::from(byte & 0x7f) << (7 * group);
            // The shortest form has no group of zeros at its end, and its fifth byte holds four bits.
            let is_last = byte & 0x80 == 0;
            if (is_last && byte == 0 && group > 0) || (group == 4 && byte > 0x0f) {
                self.note_inexact();
            }
            if is_last {
                break;
            }
        }
        Ok((value & u64::from(u32::MAX)) as u32)
    }

    /// Bytes behind their own length.
    ///
    /// # Errors
    ///
    /// [`UnpackErrorKind::UnexpectedEnd`] if fewer are left than the length says.
    pub fn length_prefixed(&mut self) -> Result<&'a [u8], UnpackError> {
        let length = self.varint()?;
        self.take(length as usize)
    }

    /// A list: its count, then the elements.
    pub(crate) fn list<T: Unpack<'a>>(&mut self) -> Result<Vec<T>, UnpackError> {
        let start = self.position;
        let count = self.varint()?;
        // An element of no bytes would let a count stand for nothing; no type of the format is one.
        let element_size = T::MIN_SIZE.max(1);
        if count as usize > self.remaining() / element_size {
            let kind = UnpackErrorKind::CountTooLarge {
                count,
                element_size,
                remaining: self.remaining(),
            };
            return Err(UnpackError { offset: start, kind });
        }
        let reserved = (count as usize).min(MAX_RESERVATION / size_of::<T>().max(1));
        let mut elements = Vec::with_capacity(reserved);
        for _ in 0..count {
            elements.push(T::unpack(self)?);
        }
        Ok(elements)
    }

    /// Makes sure that nothing is left.
    ///
    /// # Errors
    ///
    /// [`UnpackErrorKind::TrailingBytes`] if something is.
    pub fn finish(&self) -> Result<(), UnpackError> {
        match self.remaining() {
            0 => Ok(()),
            count => Err(self.error(UnpackErrorKind::TrailingBytes { count })),
        }
    }
}

/// Memory reserved for a list before its elements were seen, in bytes. Small elements in memory can be several times
/// their packed size, and an operation is a hundred times the smallest packed one, so that a count alone must not buy
/// its memory. 64 KiB hold the operations of an ordinary transaction and the transactions of an ordinary block.
const MAX_RESERVATION: usize = 64 * 1024;
