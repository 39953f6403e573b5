//! The sync protocol, byte by byte.
//!
//! Protocol name: `/cairn/<first 8 hex digits of the chain id>/sync/1`, negotiated by multistream-select on a
//! libp2p connection (TCP+Noise+Yamux or QUIC). Each stream carries one exchange: the side that opens it sends
//! one *request* message, the other side answers on the same stream and closes it. Numbers are little-endian.
//!
//! # Message
//!
//! | offset | size | field |
//! |---|---|---|
//! | 0 | 1 | kind |
//! | 1 | 4 | length of the payload, u32 |
//! | 5 | length | payload |
//!
//! | kind | name | direction | answered by | longest payload |
//! |---|---|---|---|---|
//! | `01` | hello | request, answer | hello or goodbye | 1024 |
//! | `02` | get blocks | request | blocks, then end | 1024 |
//! | `03` | announce | request | nothing | 1024 |
//! | `04` | goodbye | request, answer | nothing | 1024 |
//! | `05` | get headers | request | headers or end | 1024 |
//! | `10` | block | answer | | 6 + [`MAX_STORED_BLOCK`] |
//! | `11` | end | answer | | 1024 |
//! | `12` | headers | answer | | 4 + [`MAX_HEADERS_BYTES`] |
//!
//! `06` to `0f` are kept for later requests: a server that does not know one answers *end* with reason
//! *bad request*. A longer payload than the table allows is refused before anything is allocated for it. Bytes
//! behind the last field of hello, get blocks, get headers and announce are ignored, so that a later version can add fields.
//!
//! # Hello (`01`)
//!
//! Who the sender is and what it can serve. The dialing side opens the first one as soon as the connection
//! stands; either side may send another later to get a fresh answer. No other request is served before.
//!
//! | offset | size | field |
//! |---|---|---|
//! | 0 | 32 | chain id |
//! | 32 | 4 | first block that the sender can serve, u32; 0 = none |
//! | 36 | 4 | number of its last block, u32; 0 = none |
//! | 40 | 20 | id of its last block (the number is repeated in the first four bytes, big-endian); zeros = none |
//! | 60 | 20 | id of block 1, or zeros if the sender does not know it |
//! | 80 | 1 | length of the agent, at most 64 |
//! | 81 | n | agent: name and version of the software, UTF-8 |
//!
//! The receiver answers with its own hello, or, if the chain id differs or both know block 1 and disagree about
//! it, with goodbye and the reason, and both sides close the connection.
//!
//! # Get blocks (`02`)
//!
//! | offset | size | field |
//! |---|---|---|
//! | 0 | 4 | number of the first block, u32, not 0 |
//! | 4 | 4 | how many, u32, 1 to [`MAX_COUNT`] |
//! | 8 | 4 | limit on the stored bytes of all blocks together, u32, not 0 |
//!
//! The answer: *block* messages with consecutive numbers from the first on, then *end*. The server stops after
//! the block with which the limit is reached, so that the answer holds at most the limit plus one block and at
//! least one block if it has the first. It may stop sooner for a limit of its own.
//!
//! # Block (`10`)
//!
//! | offset | size | field |
//! |---|---|---|
//! | 0 | 4 | block number, u32 |
//! | 4 | 2 | attributes, u16: the top 16 bits of hived's block log trailer: bit 15 zstd, bit 8 with a dictionary, bits 0-7 its number |
//! | 6 | n | the block as stored in the log, at least 1 byte |
//!
//! # End (`11`)
//!
//! | offset | size | field |
//! |---|---|---|
//! | 0 | 1 | reason, see [`EndReason`] |
//! | 1 | 4 | number of the first block that was not sent, u32 |
//! | 5 | n | optional text for people, UTF-8 |
//!
//! # Get headers (`05`)
//!
//! | offset | size | field |
//! |---|---|---|
//! | 0 | 4 | number of the first block, u32, not 0 |
//! | 4 | 4 | how many, u32, 1 to [`MAX_HEADERS`] |
//!
//! The answer is one message: *headers*, which may hold fewer than asked for but at least the first, or *end* with
//! the reason if there is none.
//!
//! # Headers (`12`)
//!
//! | offset | size | field |
//! |---|---|---|
//! | 0 | 4 | number of the first block, u32: the one asked for |
//! | 4 | n | signed headers of consecutive blocks, as they stand at the start of the blocks: id of the block before, time, witness, Merkle root, extensions, signature; at most [`MAX_HEADERS_BYTES`] |
//!
//! Headers tell their own length, and a header's number is one more than that of the id in it; an answer with
//! anything else in it, or with more headers than were asked for, breaks the protocol.
//!
//! # Announce (`03`)
//!
//! | offset | size | field |
//! |---|---|---|
//! | 0 | 4 | first block that the sender can serve |
//! | 4 | 4 | number of its last block |
//! | 8 | 20 | id of its last block |
//!
//! # Goodbye (`04`)
//!
//! | offset | size | field |
//! |---|---|---|
//! | 0 | 1 | reason, see [`GoodbyeReason`] |
//! | 1 | n | optional text for people, UTF-8 |
//!
//! End and goodbye are decoded with tolerance: an unknown reason is kept as its number, a message without a
//! readable one is still an end. What closes an exchange must not fail because of how it was said.

mod frame;
mod headers;
mod message;
mod reason;

pub use frame::{FrameError, Stalled};
pub use headers::{HeadersError, HeadersRequest, WireHeaders};
pub use message::{Announce, Goodbye, Hello, RangeEnd, RangeRequest, WireBlock, WireError};
pub use reason::{EndReason, GoodbyeReason};

pub(crate) use frame::{Frame, Pace, read_block, read_frame, read_header, read_payload, write_all};
pub(crate) use headers::count_headers;

use cairn_chain::ChainId;
use libp2p::StreamProtocol;

/// Longest stored block, in bytes: hived's limit of 2 MiB for a block, and room for the case that zstd makes it
/// longer (at most 1/256 of its length and a few bytes: hived stores a block compressed even then).
pub const MAX_STORED_BLOCK: usize = (2 << 20) + (16 << 10);

/// Most blocks that one request may ask for.
pub const MAX_COUNT: u32 = 4096;

/// Most headers that one request may ask for. A header takes 112 to 145 bytes in practice, so that they are under
/// 300 KiB.
pub const MAX_HEADERS: u32 = 2048;

/// Most bytes of headers in one answer: 512 for each of [`MAX_HEADERS`], three times what they really take. Also the
/// most that a peer can make this node allocate for one answer.
pub const MAX_HEADERS_BYTES: usize = 1 << 20;

/// Longest payload of every message but blocks and headers, in bytes.
pub const MAX_SMALL_PAYLOAD: usize = 1024;

/// Longest agent, in bytes.
pub const MAX_AGENT: usize = 64;

/// Bytes before a payload: kind and length.
pub const HEADER: usize = 5;

/// Bytes of a headers message before the first header: its number.
pub const HEADERS_HEADER: usize = 4;

/// Bytes of a block message before the stored block: number and attributes.
pub const BLOCK_HEADER: usize = 6;

/// The kind byte of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// Status of the sender.
    Hello = 0x01,
    /// Request of a range of blocks.
    GetBlocks = 0x02,
    /// New head of the sender.
    Announce = 0x03,
    /// The sender closes the connection.
    Goodbye = 0x04,
    /// Request of a range of headers.
    GetHeaders = 0x05,
    /// One stored block.
    Block = 0x10,
    /// End of an answer.
    End = 0x11,
    /// Signed headers.
    Headers = 0x12,
}

impl Kind {
    pub(crate) fn from_byte(byte: u8) -> Option<Self> {
        [
            Self::Hello,
            Self::GetBlocks,
            Self::Announce,
            Self::Goodbye,
            Self::GetHeaders,
            Self::Block,
            Self::End,
            Self::Headers,
        ]
        .into_iter()
        .find(|kind| *kind as u8 == byte)
    }

    /// Longest payload that is read for this kind.
    #[must_use]
    pub fn max_payload(self) -> usize {
        match self {
            Self::Block => BLOCK_HEADER + MAX_STORED_BLOCK,
            Self::Headers => HEADERS_HEADER + MAX_HEADERS_BYTES,
            _ => MAX_SMALL_PAYLOAD,
        }
    }
}

/// What a node of another chain shows in its protocol name: `/cairn/` and these digits.
pub(crate) fn chain_digits(chain: &ChainId) -> String {
    chain.to_string()[..8].to_owned()
}

/// The name of the sync protocol on this chain.
#[must_use]
pub fn protocol_name(chain: &ChainId) -> StreamProtocol {
    let name = format!("/cairn/{}/sync/1", chain_digits(chain));
    // UNWRAP (expect): the only demand on a protocol name is a leading slash.
    #[expect(clippy::expect_used, reason = "the name starts with a slash")]
    StreamProtocol::try_from_owned(name).expect("a protocol name starts with a slash")
}

/// The chain digits in a protocol name of Cairn's sync protocol, whatever its chain and version.
pub(crate) fn digits_in(protocol: &StreamProtocol) -> Option<&str> {
    let (digits, rest) = protocol.as_ref().strip_prefix("/cairn/")?.split_once('/')?;
    rest.starts_with("sync/").then_some(digits)
}

#[cfg(test)]
mod tests;
