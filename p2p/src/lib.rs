//! The libp2p network: block transfer between Cairn nodes.
//!
//! [`Network::start`] gives a [`NetworkHandle`]. Peers are dialed from a list of seeds or dial in; those of another
//! chain are refused when they say hello. A ready peer can be asked for ranges of blocks, which travel as they are
//! stored in a block log, and of headers. What is served comes from a [`BlockProvider`].
//!
//! This crate moves bytes and says whose they were. It does not know what a block means: whether the bytes are the
//! block that they claim to be must be checked by the receiver. Everything that a peer can make grow has a limit, in
//! [`NetworkConfig`] or in [`wire`].

#![cfg_attr(test, allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test"))]

mod announcements;
mod bans;
mod behaviour;
mod client;
mod config;
mod context;
mod dialer;
mod endpoint;
mod error;
mod events;
mod gate;
mod headers;
mod identity;
mod limits;
mod listen;
mod log_limit;
mod network;
mod peers;
mod provider;
mod read_ahead;
mod resolve;
mod seeds;
mod server;
mod stats;
mod streams;
mod task;
pub mod wire;

pub use libp2p::{Multiaddr, PeerId};

pub use bans::Ban;
pub use client::RangeResponse;
pub use config::{ConnectionLimits, NetworkConfig, Redial, StreamLimits, Timeouts};
pub use endpoint::{Endpoint, EndpointError, Host, TransportKind};
pub use error::{Fault, NetworkError, RequestError, ResolveError};
pub use events::{Direction, GoneReason, NetworkEvent, PeerStatus, PeerSummary, Refusal};
pub use identity::{Identity, IdentityError};
pub use limits::DenyReason;
pub use network::{Network, NetworkHandle};
pub use provider::{BlockProvider, LocalStatus, ProvideError};
pub use seeds::{RejectedSeed, SeedList};
pub use streams::OpenError;
pub use wire::{
    Announce, EndReason, FrameError, Goodbye, GoodbyeReason, HeadersError, HeadersRequest, Hello,
    MAX_HEADERS, RangeEnd, RangeRequest, Stalled, WireBlock, WireError, WireHeaders,
};
