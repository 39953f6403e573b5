//! What can go wrong for the users of the network.

use std::io;

use crate::{EndReason, FrameError, HeadersError, IdentityError, OpenError, WireError};

/// Why the network did not start.
#[derive(Debug, thiserror::Error)]
pub enum NetworkError {
    /// No node key.
    #[error(transparent)]
    Identity(#[from] IdentityError),
    /// The encryption layer could not be set up.
    #[error("cannot set up the transport: {0}")]
    Transport(String),
    /// An address to listen on cannot be used.
    #[error("cannot listen on {endpoint}: {source}")]
    Listen {
        /// The endpoint as configured.
        endpoint: String,
        /// What the system said.
        source: io::Error,
    },
    /// The name of an address to listen on cannot be resolved.
    #[error("cannot listen on {endpoint}: {source}")]
    Resolve {
        /// The endpoint as configured.
        endpoint: String,
        /// Why.
        source: ResolveError,
    },
    /// A limit that leaves the network nothing to do.
    #[error("{name} must be at least {least}, it is {found}")]
    Config {
        /// The setting.
        name: &'static str,
        /// Its smallest value.
        least: u64,
        /// The value given.
        found: u64,
    },
}

/// Why a name has no address.
#[derive(Debug, thiserror::Error)]
pub enum ResolveError {
    /// The resolver says so.
    #[error("{0}")]
    Failed(#[from] io::Error),
    /// The resolver did not answer.
    #[error("no answer from the name server within {0} s")]
    Timeout(u64),
    /// The name exists and has no address.
    #[error("the name has no address")]
    Empty,
}

/// Why a request of blocks or of a status failed.
#[derive(Debug, thiserror::Error)]
pub enum RequestError {
    /// The numbers of the request are outside the limits of the protocol; nothing was sent.
    #[error(transparent)]
    Invalid(WireError),
    /// The peer is not connected, or no hellos have been exchanged, or it is being disconnected.
    #[error("the peer is not ready")]
    NotReady,
    /// The network of this node is shutting down.
    #[error("the network is shutting down")]
    Closing,
    /// No stream to the peer.
    #[error("no stream to the peer: {0}")]
    Open(#[from] OpenError),
    /// The answer broke off, or made no sense, or came too slowly.
    #[error(transparent)]
    Frame(#[from] FrameError),
    /// The peer ended the answer before everything was sent, and said why.
    #[error("the peer ended the answer before block {next}: {reason}{}", parenthesis(.text))]
    Ended {
        /// Its reason.
        reason: EndReason,
        /// The first block that it did not send (counted here, not what the peer said).
        next: u32,
        /// Its text for people.
        text: String,
    },
    /// A block that was not asked for, or not now.
    #[error("block {found} came where block {expected} was due")]
    UnexpectedBlock {
        /// The number that was due.
        expected: u32,
        /// The number that came.
        found: u32,
    },
    /// More blocks than were asked for.
    #[error("more than the {count} blocks asked for")]
    TooManyBlocks {
        /// Blocks asked for.
        count: u32,
    },
    /// Another block after the byte limit was reached.
    #[error("another block after {received} bytes, the limit was {limit}")]
    TooManyBytes {
        /// Stored bytes received before it.
        received: u64,
        /// The limit of the request.
        limit: u32,
    },
    /// The peer says that the answer is complete, and it is not.
    #[error("the answer ended with `{reason}` before block {next}, which was due")]
    FalseEnd {
        /// Its reason.
        reason: EndReason,
        /// The first block that it did not send.
        next: u32,
    },
    /// The answer holds something else than the headers asked for.
    #[error(transparent)]
    Headers(#[from] HeadersError),
    /// The answer to a hello was a goodbye, or does not fit this chain.
    #[error("the peer was turned away: {0}")]
    Refused(crate::Refusal),
}

fn parenthesis(text: &str) -> String {
    match text {
        "" => String::new(),
        text => format!(" ({text})"),
    }
}

/// Whose doing a failed request was: what a score or a decision to ask elsewhere starts from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// This node's: wrong arguments, or shutting down.
    Own,
    /// Nobody's: the connection is gone.
    Connection,
    /// The peer says that it cannot serve this now; polite, and worth another try elsewhere.
    Declined,
    /// The peer is too slow.
    Stalled,
    /// The peer broke the protocol.
    Misbehaved,
}

impl RequestError {
    /// See [`Fault`].
    #[must_use]
    pub fn fault(&self) -> Fault {
        match self {
            Self::Invalid(_) | Self::Closing => Fault::Own,
            Self::NotReady
            | Self::Open(OpenError::NotConnected | OpenError::Io(_))
            | Self::Frame(FrameError::Closed | FrameError::Truncated { .. } | FrameError::Io(_)) => {
                Fault::Connection
            }
            Self::Open(OpenError::Timeout) | Self::Frame(FrameError::Stalled { .. }) => Fault::Stalled,
            Self::Ended { .. } | Self::Refused(_) | Self::Open(OpenError::Unsupported) => Fault::Declined,
            Self::Frame(FrameError::Wire(_))
            | Self::Headers(_)
            | Self::UnexpectedBlock { .. }
            | Self::TooManyBlocks { .. }
            | Self::TooManyBytes { .. }
            | Self::FalseEnd { .. } => Fault::Misbehaved,
        }
    }
}
