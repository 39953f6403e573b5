//! Payloads of the messages: see the tables in the [module above](super).

use cairn_chain::{BlockId, ChainId};

use super::{BLOCK_HEADER, EndReason, GoodbyeReason, HEADER, Kind, MAX_AGENT, MAX_COUNT, MAX_HEADERS};

/// Longest text of an end or goodbye that is kept, in bytes.
const MAX_TEXT: usize = 200;

/// Why a payload does not mean anything.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WireError {
    /// A kind that does not belong here.
    #[error("message of kind {found:#04x} where {expected} was expected")]
    UnexpectedKind {
        /// What would have been right.
        expected: &'static str,
        /// The kind byte.
        found: u8,
    },
    /// A length above what this kind may have; nothing was read of it.
    #[error("{kind:?} message of {length} bytes, at most {limit} are allowed")]
    TooLong {
        /// Kind of the message.
        kind: Kind,
        /// The length that it claims, in bytes.
        length: u32,
        /// The limit, in bytes.
        limit: usize,
    },
    /// The payload ends before its last field.
    #[error("{kind:?} message of {found} bytes, at least {expected} are needed")]
    TooShort {
        /// Kind of the message.
        kind: Kind,
        /// Bytes needed.
        expected: usize,
        /// Bytes there.
        found: usize,
    },
    /// An agent above its limit.
    #[error("agent of {0} bytes, at most {MAX_AGENT} are allowed")]
    LongAgent(u8),
    /// The head's number is not the one in its id.
    #[error("head number {number}, but its id {id} belongs to number {}", id.number())]
    HeadId {
        /// Number in its own field.
        number: u32,
        /// Id that contradicts it.
        id: BlockId,
    },
    /// The first block is above the head, or only one of the two is 0.
    #[error("serves from block {first}, but its head is {head}")]
    Range {
        /// First block.
        first: u32,
        /// Head.
        head: u32,
    },
    /// The id of block 1 belongs to another number.
    #[error("{0} is given as the id of block 1")]
    FirstBlockId(BlockId),
    /// A block range outside the limits.
    #[error(
        "{count} blocks from {first} in {max_bytes} bytes asked for; 1 to {MAX_COUNT} blocks from 1 on in at \
         least 1 byte can be"
    )]
    Request {
        /// First block.
        first: u32,
        /// How many.
        count: u32,
        /// Byte limit.
        max_bytes: u32,
    },
    /// A header range outside the limits.
    #[error("{count} headers from {first} asked for; 1 to {MAX_HEADERS} headers from 1 on can be")]
    HeadersRequest {
        /// First block.
        first: u32,
        /// How many.
        count: u32,
    },
}

/// One block as it is stored in a block log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WireBlock {
    /// Block number, as the sender claims: the receiver must compare it with the decoded header.
    pub number: u32,
    /// The top 16 bits of hived's trailer: compression flag and dictionary.
    pub attributes: u16,
    /// Stored bytes, 1 to [`MAX_STORED_BLOCK`](super::MAX_STORED_BLOCK).
    pub bytes: Vec<u8>,
}

/// Status of a node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hello {
    /// Chain id.
    pub chain: ChainId,
    /// First block that it can serve; 0 = none.
    pub first: u32,
    /// Number of its last block; 0 = none.
    pub head: u32,
    /// Id of its last block, or zeros.
    pub head_id: BlockId,
    /// Id of block 1, if it knows it.
    pub first_block_id: Option<BlockId>,
    /// Software and version.
    pub agent: String,
}

/// A new head.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Announce {
    /// First block that the sender can serve; 0 = none.
    pub first: u32,
    /// Number of its last block; 0 = none.
    pub head: u32,
    /// Id of its last block, or zeros.
    pub head_id: BlockId,
}

/// A request of consecutive blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RangeRequest {
    /// Number of the first block.
    pub first: u32,
    /// How many, 1 to [`MAX_COUNT`].
    pub count: u32,
    /// Limit on their stored bytes; the last block may pass it.
    pub max_bytes: u32,
}

/// The end of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RangeEnd {
    /// Why it ended.
    pub reason: EndReason,
    /// First block that was not sent; 0 if the server did not say.
    pub next: u32,
    /// Text for people, without control characters; often empty.
    pub text: String,
}

/// The last message on a connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Goodbye {
    /// Why it closes.
    pub reason: GoodbyeReason,
    /// Text for people, without control characters; often empty.
    pub text: String,
}

/// Reads fixed-size fields from the front of a payload whose length was checked.
pub(super) struct Fields<'a> {
    kind: Kind,
    all: &'a [u8],
    rest: &'a [u8],
}

impl<'a> Fields<'a> {
    pub(super) fn new(kind: Kind, payload: &'a [u8]) -> Self {
        Self {
            kind,
            all: payload,
            rest: payload,
        }
    }

    fn take(&mut self, length: usize) -> Result<&'a [u8], WireError> {
        let Some((field, rest)) = self.rest.split_at_checked(length) else {
            return Err(WireError::TooShort {
                kind: self.kind,
                expected: self.all.len() - self.rest.len() + length,
                found: self.all.len(),
            });
        };
        self.rest = rest;
        Ok(field)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], WireError> {
        let mut array = [0; N];
        array.copy_from_slice(self.take(N)?);
        Ok(array)
    }

    fn u8(&mut self) -> Result<u8, WireError> {
        Ok(self.array::<1>()?[0])
    }

    pub(super) fn u32(&mut self) -> Result<u32, WireError> {
        Ok(u32::from_le_bytes(self.array()?))
    }
}

/// Appends a message; the payload is what `fill` appends.
pub(super) fn message(out: &mut Vec<u8>, kind: Kind, fill: impl FnOnce(&mut Vec<u8>)) {
    out.push(kind as u8);
    let length_at = out.len();
    out.extend([0; HEADER - 1]);
    fill(out);
    let length = u32::try_from(out.len() - length_at - (HEADER - 1)).unwrap_or(u32::MAX);
    out[length_at..length_at + 4].copy_from_slice(&length.to_le_bytes());
}

/// Makes a text from a peer fit for a log line: bounded, valid, without control characters.
fn printable(bytes: &[u8], longest: usize) -> String {
    let bytes = &bytes[..bytes.len().min(longest)];
    String::from_utf8_lossy(bytes)
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect::<String>()
        .trim()
        .to_owned()
}

/// Cuts a text at a character boundary.
fn cut(text: &str, longest: usize) -> &str {
    let end = (0..=longest.min(text.len()))
        .rev()
        .find(|end| text.is_char_boundary(*end));
    &text[..end.unwrap_or_default()]
}

/// First block and head must both be there or both be 0, in order, and the id must carry the head's number.
fn check_range(first: u32, head: u32, head_id: BlockId) -> Result<(), WireError> {
    if first > head || (first == 0) != (head == 0) {
        return Err(WireError::Range { first, head });
    }
    if head_id.number() != head || (head == 0 && head_id != BlockId::ZERO) {
        return Err(WireError::HeadId {
            number: head,
            id: head_id,
        });
    }
    Ok(())
}

impl Hello {
    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        message(out, Kind::Hello, |out| {
            out.extend(self.chain.0);
            out.extend(self.first.to_le_bytes());
            out.extend(self.head.to_le_bytes());
            out.extend(self.head_id.0);
            out.extend(self.first_block_id.unwrap_or(BlockId::ZERO).0);
            let agent = cut(&self.agent, MAX_AGENT).as_bytes();
            out.push(u8::try_from(agent.len()).unwrap_or_default());
            out.extend(agent);
        });
    }

    pub(crate) fn decode(payload: &[u8]) -> Result<Self, WireError> {
        let mut fields = Fields::new(Kind::Hello, payload);
        let chain = ChainId(fields.array()?);
        let first = fields.u32()?;
        let head = fields.u32()?;
        let head_id = BlockId(fields.array()?);
        let first_block_id = BlockId(fields.array()?);
        let length = fields.u8()?;
        if usize::from(length) > MAX_AGENT {
            return Err(WireError::LongAgent(length));
        }
        let agent = printable(fields.take(usize::from(length))?, MAX_AGENT);
        check_range(first, head, head_id)?;
        let first_block_id = (first_block_id != BlockId::ZERO).then_some(first_block_id);
        match first_block_id {
            Some(id) if id.number() != 1 => Err(WireError::FirstBlockId(id)),
            _ => Ok(Self {
                chain,
                first,
                head,
                head_id,
                first_block_id,
                agent,
            }),
        }
    }
}

impl Announce {
    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        message(out, Kind::Announce, |out| {
            out.extend(self.first.to_le_bytes());
            out.extend(self.head.to_le_bytes());
            out.extend(self.head_id.0);
        });
    }

    pub(crate) fn decode(payload: &[u8]) -> Result<Self, WireError> {
        let mut fields = Fields::new(Kind::Announce, payload);
        let announce = Self {
            first: fields.u32()?,
            head: fields.u32()?,
            head_id: BlockId(fields.array()?),
        };
        check_range(announce.first, announce.head, announce.head_id)?;
        Ok(announce)
    }
}

impl RangeRequest {
    /// Whether the numbers are inside the limits of the protocol.
    pub(crate) fn check(&self) -> Result<(), WireError> {
        let Self {
            first,
            count,
            max_bytes,
        } = *self;
        // The last number asked for must be a block number too.
        let fits = first.checked_add(count).is_some();
        if first == 0 || count == 0 || count > MAX_COUNT || max_bytes == 0 || !fits {
            return Err(WireError::Request {
                first,
                count,
                max_bytes,
            });
        }
        Ok(())
    }

    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        message(out, Kind::GetBlocks, |out| {
            out.extend(self.first.to_le_bytes());
            out.extend(self.count.to_le_bytes());
            out.extend(self.max_bytes.to_le_bytes());
        });
    }

    pub(crate) fn decode(payload: &[u8]) -> Result<Self, WireError> {
        let mut fields = Fields::new(Kind::GetBlocks, payload);
        let request = Self {
            first: fields.u32()?,
            count: fields.u32()?,
            max_bytes: fields.u32()?,
        };
        request.check()?;
        Ok(request)
    }
}

impl WireBlock {
    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        message(out, Kind::Block, |out| {
            out.extend(self.number.to_le_bytes());
            out.extend(self.attributes.to_le_bytes());
            out.extend_from_slice(&self.bytes);
        });
    }

    /// From the bytes before the stored block, and the stored block.
    pub(super) fn from_parts(front: [u8; BLOCK_HEADER], bytes: Vec<u8>) -> Self {
        let [n0, n1, n2, n3, a0, a1] = front;
        Self {
            number: u32::from_le_bytes([n0, n1, n2, n3]),
            attributes: u16::from_le_bytes([a0, a1]),
            bytes,
        }
    }
}

impl RangeEnd {
    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        message(out, Kind::End, |out| {
            out.push(self.reason.code());
            out.extend(self.next.to_le_bytes());
            out.extend(cut(&self.text, MAX_TEXT).as_bytes());
        });
    }

    /// Never fails: see the module documentation.
    pub(crate) fn decode(payload: &[u8]) -> Self {
        let mut fields = Fields::new(Kind::End, payload);
        let reason = fields.u8().map_or(EndReason::Unreadable, EndReason::from_code);
        let next = fields.u32().unwrap_or_default();
        Self {
            reason,
            next,
            text: printable(fields.rest, MAX_TEXT),
        }
    }
}

impl Goodbye {
    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        message(out, Kind::Goodbye, |out| {
            out.push(self.reason.code());
            out.extend(cut(&self.text, MAX_TEXT).as_bytes());
        });
    }

    /// Never fails: see the module documentation.
    pub(crate) fn decode(payload: &[u8]) -> Self {
        let mut fields = Fields::new(Kind::Goodbye, payload);
        let reason = fields
            .u8()
            .map_or(GoodbyeReason::Unreadable, GoodbyeReason::from_code);
        Self {
            reason,
            text: printable(fields.rest, MAX_TEXT),
        }
    }
}
