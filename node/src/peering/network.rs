//! The network as the sync sees it.

use std::sync::Arc;
use std::time::Duration;

use cairn_block_log::StoredBlock;
use cairn_p2p::{Fault, GoodbyeReason, NetworkHandle, PeerId};
use cairn_sync::download::{BlockNetwork, BlockRange, HeaderRange, Misbehavior, PeerOffer, RequestError};
use futures::future::{self, BoxFuture, FutureExt};
use futures::stream::{self, BoxStream, StreamExt};
use tokio::runtime::Handle;
use tokio::sync::broadcast::error::RecvError;

use super::from_wire;

/// How long a peer is refused that sent a block which is not what it must be. Long enough not to meet it again in
/// this sync at once, short enough that a node which mended its log is not lost.
const BAD_BLOCK_BAN: Duration = Duration::from_secs(600);
/// How long for breaking the protocol.
const PROTOCOL_BAN: Duration = Duration::from_secs(120);
/// Shown when a request could not be sent for want of time.
const IDLE_LIMIT: Duration = Duration::from_secs(10);

/// Peers of a running network.
#[derive(Debug)]
pub struct PeerNetwork {
    handle: NetworkHandle,
    runtime: Handle,
}

impl PeerNetwork {
    /// Wraps a running network.
    pub fn new(handle: NetworkHandle, runtime: Handle) -> Self {
        Self { handle, runtime }
    }
}

impl BlockNetwork for PeerNetwork {
    fn peers(&self) -> Vec<PeerOffer> {
        let offer = |peer: cairn_p2p::PeerSummary| PeerOffer {
            peer: Arc::from(peer.id.to_string()),
            first: peer.first,
            head: peer.head,
            head_id: peer.head_id,
        };
        self.handle.peers().into_iter().map(offer).collect()
    }

    fn request(
        &self,
        peer: &str,
        range: BlockRange,
    ) -> BoxStream<'static, Result<StoredBlock, RequestError>> {
        let Ok(peer) = peer.parse::<PeerId>() else {
            return stream::iter([Err(RequestError::Lost("not a peer id".into()))]).boxed();
        };
        let bytes = usize::try_from(range.max_bytes).unwrap_or(usize::MAX);
        self.handle
            .request_range(peer, range.first, range.count, bytes)
            .map(|answer| match answer {
                Ok(block) => from_wire(block).map_err(|error| RequestError::Protocol(error.to_string())),
                Err(error) => Err(translate(&error)),
            })
            .boxed()
    }

    fn request_headers(
        &self,
        peer: &str,
        range: HeaderRange,
    ) -> BoxFuture<'static, Result<Vec<u8>, RequestError>> {
        let Ok(peer) = peer.parse::<PeerId>() else {
            return future::ready(Err(RequestError::Lost("not a peer id".into()))).boxed();
        };
        let answer = self.handle.request_headers(peer, range.first, range.count);
        async move { answer.await.map_err(|error| translate(&error)) }.boxed()
    }

    fn changes(&self) -> BoxStream<'static, ()> {
        let events = self.handle.subscribe();
        stream::unfold(events, |mut events| async move {
            match events.recv().await {
                Ok(_) | Err(RecvError::Lagged(_)) => Some(((), events)),
                Err(RecvError::Closed) => None,
            }
        })
        .boxed()
    }

    fn misbehaved(&self, peer: &str, what: &Misbehavior) {
        let Ok(peer) = peer.parse::<PeerId>() else { return };
        let (ban, reason) = match what {
            Misbehavior::BadBlock { .. } => (BAD_BLOCK_BAN, what.to_string()),
            Misbehavior::Unasked(_) | Misbehavior::Protocol(_) => (PROTOCOL_BAN, what.to_string()),
            // A slow peer is no enemy: the scheduler lets it rest.
            Misbehavior::Stalled { .. } => return,
        };
        let handle = self.handle.clone();
        self.runtime.spawn(async move {
            handle.ban(peer, ban, reason).await;
            handle.disconnect(peer, GoodbyeReason::Banned).await;
        });
    }
}

fn translate(error: &cairn_p2p::RequestError) -> RequestError {
    match error.fault() {
        Fault::Own | Fault::Connection => RequestError::Lost(error.to_string()),
        Fault::Declined => RequestError::Declined(error.to_string()),
        Fault::Stalled => RequestError::TimedOut(IDLE_LIMIT),
        Fault::Misbehaved => RequestError::Protocol(error.to_string()),
    }
}
