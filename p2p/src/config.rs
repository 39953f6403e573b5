//! Everything that can be set, with its default and the reason for it.

use std::{path::PathBuf, time::Duration};

use cairn_chain::ChainId;

use crate::{Endpoint, Identity};

/// Settings of a [`Network`](crate::Network).
#[derive(Debug, Clone)]
pub struct NetworkConfig {
    /// The chain; nodes of others are refused.
    pub chain: ChainId,
    /// Where to listen; empty = dial only. `host:port` listens on TCP and on QUIC at the same port, port 0 lets
    /// the system choose.
    pub listen: Vec<Endpoint>,
    /// Nodes to dial: see [`SeedList`](crate::SeedList).
    pub seeds: Vec<Endpoint>,
    /// The node's key.
    pub identity: Identity,
    /// Where the list of banned peers is kept; `None` = in memory only.
    pub ban_file: Option<PathBuf>,
    /// Name and version of the software, shown to peers; at most 64 bytes are sent.
    pub agent: String,
    /// Limits on connections.
    pub connections: ConnectionLimits,
    /// Limits on streams and answers.
    pub streams: StreamLimits,
    /// How long to wait for what.
    pub timeouts: Timeouts,
    /// When to dial again.
    pub redial: Redial,
    /// Average time between two announcements of a new head; 1 s: a live chain makes a block every 3 s, and while
    /// syncing one message a second costs nothing.
    pub announce_interval: Duration,
    /// New heads that are announced at once after a quiet time; 8. A node at the head has one every 3 s, and what
    /// comes between them (a late block, a switch to another fork) must not wait for its turn.
    pub announce_burst: u32,
    /// How often a peer's status is asked for even if it announces nothing; 30 s.
    pub status_interval: Duration,
}

impl NetworkConfig {
    /// The defaults on this chain: no listening address, no seeds, a throw-away key.
    #[must_use]
    pub fn new(chain: ChainId) -> Self {
        Self {
            chain,
            listen: Vec::new(),
            seeds: Vec::new(),
            identity: Identity::Ephemeral,
            ban_file: None,
            agent: concat!("cairn/", env!("CARGO_PKG_VERSION")).to_owned(),
            connections: ConnectionLimits::default(),
            streams: StreamLimits::default(),
            timeouts: Timeouts::default(),
            redial: Redial::default(),
            announce_interval: Duration::from_secs(1),
            announce_burst: 8,
            status_interval: Duration::from_secs(30),
        }
    }
}

/// Limits on connections. Each number counts established connections of both directions, unless it says otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConnectionLimits {
    /// Seeds are dialed while there are fewer peers than this; 20 as in hived.
    pub desired: usize,
    /// In total; 200 as in hived. Half of `desired` (at most a quarter of this) is kept free for dialed
    /// connections, so that strangers who dial in cannot take every place.
    pub maximum: usize,
    /// With one node id; 2, because two nodes that dial each other at the same time get two connections.
    pub per_peer: usize,
    /// Inbound from one IPv4 address or one IPv6 /64 network; 8: several nodes behind one router, not a crowd.
    pub per_address: usize,
    /// Inbound from loopback addresses, where one machine may run a test network; 64.
    pub per_loopback_address: usize,
    /// Inbound connections whose encryption handshake is under way; 32.
    pub pending_inbound: usize,
    /// Dials under way; 16.
    pub pending_outbound: usize,
}

impl Default for ConnectionLimits {
    fn default() -> Self {
        Self {
            desired: 20,
            maximum: 200,
            per_peer: 2,
            per_address: 8,
            per_loopback_address: 64,
            pending_inbound: 32,
            pending_outbound: 16,
        }
    }
}

impl ConnectionLimits {
    /// How many inbound connections there may be.
    #[must_use]
    pub fn maximum_inbound(&self) -> usize {
        self.maximum - (self.desired / 2).min(self.maximum / 4)
    }
}

/// Limits on streams, and on what is answered.
///
/// Memory for serving is at most `ranges_total * 2 * (chunk_bytes + one block)`: one chunk is being written
/// while the next one is read. With the defaults that is 32 * 2 * 0.5 MiB = 32 MiB for ordinary blocks and
/// 160 MiB if every block has the longest size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StreamLimits {
    /// Streams of one peer that are open at the same time, of any request; more are reset. 24.
    pub inbound_per_peer: usize,
    /// Block ranges being served to one peer; more are answered `busy`. 8.
    pub ranges_per_peer: usize,
    /// Block ranges being served to all peers; more are answered `busy`. 32.
    pub ranges_total: usize,
    /// Most bytes of blocks in one answer, whatever was asked for; 32 MiB.
    pub response_bytes: usize,
    /// Stored bytes that are read from the provider at once (the last block may pass it); 512 KiB.
    pub chunk_bytes: usize,
    /// Blocks that are read from the provider at once; 2048, so that the smallest blocks do not cost one call
    /// each.
    pub chunk_blocks: u32,
}

impl Default for StreamLimits {
    fn default() -> Self {
        Self {
            inbound_per_peer: 24,
            ranges_per_peer: 8,
            ranges_total: 32,
            response_bytes: 32 << 20,
            chunk_bytes: 512 << 10,
            chunk_blocks: 2048,
        }
    }
}

/// How long to wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeouts {
    /// For a connection with its encryption handshake; 10 s.
    pub connect: Duration,
    /// For a stream to be opened and the protocol to be agreed on; 10 s.
    pub open_stream: Duration,
    /// For the hello of a peer after the connection stands; 10 s, then it is closed.
    pub hello: Duration,
    /// For the next bytes of a message; 10 s.
    pub idle: Duration,
    /// For a peer to take bytes that are sent to it; 60 s, because a peer whose writer is busy stops reading for
    /// a while, and that is what back-pressure means.
    pub write: Duration,
    /// Slowest transfer of one message that is borne with, in bytes per second; 4 KiB/s: a 2 MiB block may take
    /// nine minutes, a drip of single bytes may not.
    pub slowest: u32,
    /// Between pings; 15 s.
    pub ping_interval: Duration,
    /// For the answer to a ping; 20 s. A second failure in a row closes the connection; libp2p gives that second
    /// attempt 10 s, so that a dead peer is noticed within 45 s with these defaults.
    pub ping: Duration,
    /// For the whole shutdown; 3 s.
    pub shutdown: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            open_stream: Duration::from_secs(10),
            hello: Duration::from_secs(10),
            idle: Duration::from_secs(10),
            write: Duration::from_secs(60),
            slowest: 4 << 10,
            ping_interval: Duration::from_secs(15),
            ping: Duration::from_secs(20),
            shutdown: Duration::from_secs(3),
        }
    }
}

/// When a seed is dialed again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Redial {
    /// After the first failure; 1 s. Each further failure doubles it; a quarter more or less is drawn by lot, so
    /// that nodes which lost the same seed do not come back together.
    pub first: Duration,
    /// Longest wait; 30 s, hived's `peer_connection_retry_timeout`.
    pub longest: Duration,
    /// After the peer turned out to be on another chain: 10 minutes, also for its own attempts to connect.
    pub wrong_chain: Duration,
}

impl Default for Redial {
    fn default() -> Self {
        Self {
            first: Duration::from_secs(1),
            longest: Duration::from_secs(30),
            wrong_chain: Duration::from_secs(600),
        }
    }
}
