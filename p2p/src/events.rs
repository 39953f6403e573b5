//! What the network tells its users.

use std::time::Duration;

use cairn_chain::BlockId;
use libp2p::{Multiaddr, PeerId};

use crate::{Goodbye, GoodbyeReason, Hello};

/// What a ready peer can serve.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PeerStatus {
    /// First block that it can serve; 0 = none.
    pub first: u32,
    /// Its last block; 0 = none.
    pub head: u32,
    /// Id of its last block, or zeros.
    pub head_id: BlockId,
    /// Id of block 1, if it knows it.
    pub first_block_id: Option<BlockId>,
    /// Its software, as it says.
    pub agent: String,
}

impl From<Hello> for PeerStatus {
    fn from(hello: Hello) -> Self {
        Self {
            first: hello.first,
            head: hello.head,
            head_id: hello.head_id,
            first_block_id: hello.first_block_id,
            agent: hello.agent,
        }
    }
}

impl PeerStatus {
    /// Whether the peer says that it has this block.
    #[must_use]
    pub fn serves(&self, number: u32) -> bool {
        number != 0 && (self.first..=self.head).contains(&number)
    }
}

/// Who opened a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// The peer dialed this node.
    Inbound,
    /// This node dialed the peer.
    Outbound,
}

/// A ready peer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PeerSummary {
    /// Its id.
    pub id: PeerId,
    /// Its address on the oldest connection.
    pub address: Multiaddr,
    /// Who opened that connection.
    pub direction: Direction,
    /// Its software, as it says.
    pub agent: String,
    /// First block that it can serve; 0 = none.
    pub first: u32,
    /// Its last block; 0 = none.
    pub head: u32,
    /// Id of its last block.
    pub head_id: BlockId,
    /// Bytes of stored blocks and headers received from it per second, over the last 10 seconds.
    pub rate: u64,
    /// Bytes of stored blocks and headers received from it since it connected.
    pub received: u64,
    /// Bytes of stored blocks and headers sent to it since it connected.
    pub sent: u64,
    /// Time since it connected.
    pub connected: Duration,
    /// Round-trip time of the last ping.
    pub round_trip: Option<Duration>,
}

/// Something happened to a peer. `PeerGone` follows each `PeerReady` once; `StatusChanged` lies between.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NetworkEvent {
    /// A peer of this chain can be asked for blocks.
    PeerReady {
        /// The peer.
        peer: PeerId,
        /// What it serves.
        status: PeerStatus,
    },
    /// A peer announced a new head, or its status was asked for and has changed.
    StatusChanged {
        /// The peer.
        peer: PeerId,
        /// What it serves now.
        status: PeerStatus,
    },
    /// A peer that was ready is not connected any more, or is about to be disconnected.
    PeerGone {
        /// The peer.
        peer: PeerId,
        /// Why.
        reason: GoneReason,
    },
    /// A peer was turned away before it was ready.
    PeerRefused {
        /// The peer.
        peer: PeerId,
        /// Why.
        reason: Refusal,
    },
}

/// Why a peer that was ready is gone.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GoneReason {
    /// The connection was closed by the other side or broke, without a goodbye.
    #[error("connection closed: {0}")]
    Closed(String),
    /// The peer closed it and said why.
    #[error("the peer closed the connection: {}", said(.0))]
    Goodbye(Goodbye),
    /// The peer did not answer two pings in a row.
    #[error("no answer to two pings")]
    NoAnswer,
    /// This node closed it.
    #[error("closed by this node: {0}")]
    Disconnected(GoodbyeReason),
    /// This node banned it.
    #[error("banned by this node: {0}")]
    Banned(String),
    /// A later hello showed another chain.
    #[error("{0}")]
    Refused(Refusal),
}

/// Why a peer was turned away.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// It is on another chain.
    #[error("it is on chain {theirs}, this node is on chain {ours}")]
    WrongChain {
        /// Its chain id, or the first 8 digits of it.
        theirs: String,
        /// The chain id of this node.
        ours: String,
    },
    /// Same chain id, but a different block 1: another test network under the same name.
    #[error("same chain id, but its block 1 is {theirs} and this node's is {ours}")]
    WrongFirstBlock {
        /// Its block 1.
        theirs: BlockId,
        /// This node's block 1.
        ours: BlockId,
    },
    /// It does not speak the sync protocol in this version.
    #[error("it does not speak the sync protocol of this version (agent `{agent}`)")]
    OtherProtocol {
        /// Its software, as it says.
        agent: String,
    },
    /// It turned this node away.
    #[error("it refuses this node: {}", said(.0))]
    ByPeer(Goodbye),
    /// Its hello made no sense or did not come.
    #[error("its hello cannot be used: {0}")]
    BadHello(String),
    /// It opened a connection and said nothing.
    #[error("no hello within {} s", .0.as_secs())]
    NoHello(Duration),
    /// It is banned (the ban came while it was connecting).
    #[error("banned by this node: {0}")]
    Banned(String),
    /// This node closed the connection before the peer was ready.
    #[error("closed by this node: {0}")]
    Disconnected(GoodbyeReason),
}

impl Refusal {
    /// Whether the peer follows another chain, so that there is no use in trying again soon.
    #[must_use]
    pub fn is_other_chain(&self) -> bool {
        match self {
            Self::WrongChain { .. } | Self::WrongFirstBlock { .. } => true,
            Self::ByPeer(goodbye) => matches!(
                goodbye.reason,
                GoodbyeReason::WrongChain | GoodbyeReason::WrongFirstBlock
            ),
            _ => false,
        }
    }

    /// What the peer is told.
    #[must_use]
    pub fn goodbye_reason(&self) -> GoodbyeReason {
        match self {
            Self::WrongChain { .. } | Self::OtherProtocol { .. } => GoodbyeReason::WrongChain,
            Self::WrongFirstBlock { .. } => GoodbyeReason::WrongFirstBlock,
            Self::BadHello(_) => GoodbyeReason::Misbehaved,
            Self::ByPeer(_) | Self::NoHello(_) => GoodbyeReason::Unneeded,
            Self::Banned(_) => GoodbyeReason::Banned,
            Self::Disconnected(reason) => *reason,
        }
    }
}

/// A goodbye as a log line shows it (case S16: a closing message without a readable reason is still one).
fn said(goodbye: &Goodbye) -> String {
    match (&goodbye.reason, goodbye.text.as_str()) {
        (GoodbyeReason::Unreadable, _) => "closed without readable reason".to_owned(),
        (reason, "") => reason.to_string(),
        (reason, text) => format!("{reason} ({text})"),
    }
}
