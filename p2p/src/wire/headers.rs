//! Header ranges: the request, the answer, and what an answer must look like before anybody looks at the chain.

use cairn_chain::SignedHeader;

use super::message::{Fields, message};
use super::{HEADERS_HEADER, Kind, MAX_HEADERS, MAX_HEADERS_BYTES, WireError};

/// A request of consecutive headers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HeadersRequest {
    /// Number of the first block.
    pub first: u32,
    /// How many, 1 to [`MAX_HEADERS`].
    pub count: u32,
}

/// Signed headers of consecutive blocks, one behind the other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WireHeaders {
    /// Number of the first, as the sender claims.
    pub first: u32,
    /// The headers' bytes, 1 to [`MAX_HEADERS_BYTES`].
    pub bytes: Vec<u8>,
}

/// Why bytes are not the headers of a range.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HeadersError {
    /// No header starts there.
    #[error("no header of block {number} at byte {offset} of {length}: {reason}")]
    NotAHeader {
        /// The block that is due.
        number: u32,
        /// Where it should start.
        offset: usize,
        /// Bytes in all.
        length: usize,
        /// What the decoder says.
        reason: String,
    },
    /// A header of another block.
    #[error("the header of block {found} stands where that of block {expected} is due")]
    Number {
        /// The number that is due.
        expected: u32,
        /// The number that follows from the header.
        found: u32,
    },
    /// More headers than were asked for.
    #[error("more than the {count} headers asked for")]
    TooMany {
        /// Headers asked for.
        count: u32,
    },
}

/// Counts the headers of blocks `first` and on; at most `count` may be there, and nothing between or behind them.
///
/// Whether they link to each other is not looked at: that takes hashing, and is the receiver's to prove.
///
/// # Errors
/// [`HeadersError`].
pub(crate) fn count_headers(bytes: &[u8], first: u32, count: u32) -> Result<u32, HeadersError> {
    let (mut offset, mut found) = (0, 0);
    while offset < bytes.len() {
        if found == count {
            return Err(HeadersError::TooMany { count });
        }
        let number = first.wrapping_add(found);
        let (header, length) =
            SignedHeader::unpack_prefix(&bytes[offset..]).map_err(|error| HeadersError::NotAHeader {
                number,
                offset,
                length: bytes.len(),
                reason: error.to_string(),
            })?;
        if header.number() != number {
            return Err(HeadersError::Number {
                expected: number,
                found: header.number(),
            });
        }
        offset += length;
        found += 1;
    }
    Ok(found)
}

impl HeadersRequest {
    /// Whether the numbers are inside the limits of the protocol.
    pub(crate) fn check(&self) -> Result<(), WireError> {
        let Self { first, count } = *self;
        // The last number asked for must be a block number too.
        let fits = first.checked_add(count).is_some();
        if first == 0 || count == 0 || count > MAX_HEADERS || !fits {
            return Err(WireError::HeadersRequest { first, count });
        }
        Ok(())
    }

    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        message(out, Kind::GetHeaders, |out| {
            out.extend(self.first.to_le_bytes());
            out.extend(self.count.to_le_bytes());
        });
    }

    pub(crate) fn decode(payload: &[u8]) -> Result<Self, WireError> {
        let mut fields = Fields::new(Kind::GetHeaders, payload);
        let request = Self {
            first: fields.u32()?,
            count: fields.u32()?,
        };
        request.check()?;
        Ok(request)
    }
}

impl WireHeaders {
    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        message(out, Kind::Headers, |out| {
            out.extend(self.first.to_le_bytes());
            out.extend_from_slice(&self.bytes);
        });
    }

    /// Takes the payload's buffer over.
    pub(crate) fn decode(mut payload: Vec<u8>) -> Result<Self, WireError> {
        let first = Fields::new(Kind::Headers, &payload).u32()?;
        match payload.len() - HEADERS_HEADER {
            0 => Err(WireError::TooShort {
                kind: Kind::Headers,
                expected: HEADERS_HEADER + 1,
                found: payload.len(),
            }),
            length if length > MAX_HEADERS_BYTES => Err(WireError::TooLong {
                kind: Kind::Headers,
                length: u32::try_from(payload.len()).unwrap_or(u32::MAX),
                limit: HEADERS_HEADER + MAX_HEADERS_BYTES,
            }),
            _ => {
                payload.drain(..HEADERS_HEADER);
                Ok(Self {
                    first,
                    bytes: payload,
                })
            }
        }
    }
}
