//! What the downloader needs of a network. `node` implements it over libp2p, tests over memory.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use cairn_block_log::StoredBlock;
use cairn_chain::BlockId;
use futures::future::BoxFuture;
use futures::stream::{self, BoxStream, StreamExt};
use thiserror::Error;

/// A connected peer of this chain, and the blocks that it says it serves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PeerOffer {
    /// The network's name for it; the same peer keeps its name while it is connected.
    pub peer: Arc<str>,
    /// Its first block; above 1 for a pruned peer.
    pub first: u32,
    /// Its head; 0 when it has no block.
    pub head: u32,
    /// The id of its head, as it says.
    pub head_id: BlockId,
}

impl PeerOffer {
    /// Whether it serves the block with this number.
    pub fn serves(&self, number: u32) -> bool {
        (self.first.max(1)..=self.head).contains(&number)
    }
}

/// A range to ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockRange {
    /// Number of the first block.
    pub first: u32,
    /// How many blocks at most.
    pub count: u32,
    /// The peer ends its answer once it has sent this many bytes.
    pub max_bytes: u64,
}

/// Headers to ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeaderRange {
    /// Number of the first block.
    pub first: u32,
    /// How many blocks, at least one.
    pub count: u32,
}

/// A request that did not give all of its blocks.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum RequestError {
    /// The peer is gone.
    #[error("the connection was lost: {0}")]
    Lost(String),
    /// The peer did not answer in time.
    #[error("no answer for {} s", .0.as_secs())]
    TimedOut(Duration),
    /// The peer broke the protocol.
    #[error("the protocol was broken: {0}")]
    Protocol(String),
    /// The peer said that it cannot serve this now.
    #[error("the peer declined: {0}")]
    Declined(String),
}

/// What a peer did wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Misbehavior {
    /// It sent a block or a header that contradicts what is proven, or a block that the writer refused.
    BadBlock {
        /// Number of the block.
        number: u32,
        /// What is wrong with it.
        reason: String,
    },
    /// It sent blocks that nobody had asked for, or in another order.
    Unasked(String),
    /// It broke the protocol.
    Protocol(String),
    /// It holds the lowest missing block and does not send it.
    Stalled {
        /// That block.
        number: u32,
    },
}

impl fmt::Display for Misbehavior {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Misbehavior::BadBlock { number, reason } => write!(f, "block {number} was refused: {reason}"),
            Misbehavior::Unasked(what) => write!(f, "sent what nobody had asked for: {what}"),
            Misbehavior::Protocol(what) => write!(f, "broke the protocol: {what}"),
            Misbehavior::Stalled { number } => write!(f, "did not send block {number} in time"),
        }
    }
}

/// A network that can name its peers and ask them for blocks.
pub trait BlockNetwork: Send + Sync + fmt::Debug + 'static {
    /// The connected peers of this chain.
    fn peers(&self) -> Vec<PeerOffer>;

    /// Asks `peer` for a range. The blocks come in order; the stream ends when the peer has sent what it
    /// can or must. Dropping the stream gives the request up.
    fn request(&self, peer: &str, range: BlockRange)
    -> BoxStream<'static, Result<StoredBlock, RequestError>>;

    /// Asks `peer` for the signed headers of consecutive blocks: their bytes, ascending, one behind the other.
    fn request_headers(
        &self,
        peer: &str,
        range: HeaderRange,
    ) -> BoxFuture<'static, Result<Vec<u8>, RequestError>>;

    /// Gives something whenever [`peers`](Self::peers) has changed, so that nobody waits for the next look at it. Ends, or
    /// gives nothing, where the network does not know.
    fn changes(&self) -> BoxStream<'static, ()> {
        stream::pending().boxed()
    }

    /// Told that a peer misbehaved; the network decides what it costs.
    fn misbehaved(&self, peer: &str, what: &Misbehavior);
}
