//! Starting a network, and the handle to it.

use std::{future::Future, sync::Arc, time::Duration};

use libp2p::{Multiaddr, PeerId};
use tokio::{
    sync::{broadcast, mpsc},
    task::AbortHandle,
};

use crate::{
    Ban, BlockProvider, GoodbyeReason, HeadersRequest, NetworkConfig, NetworkError, NetworkEvent, PeerStatus,
    PeerSummary, RangeRequest, RangeResponse, RequestError,
    bans::BanList,
    behaviour, client,
    context::{Command, Context},
    headers,
    listen::listen_all,
    task::Task,
};

/// Orders that may wait for the swarm's task.
const COMMAND_BACKLOG: usize = 256;

/// Starts networks.
#[derive(Debug, Clone, Copy)]
pub struct Network;

impl Network {
    /// Listens, starts to dial the seeds, and serves the provider's blocks. Returns when all listening addresses
    /// are open and known. Must be called in a tokio runtime, on which the network then runs until the last
    /// handle is dropped.
    ///
    /// # Errors
    /// No node key, an address that cannot be listened on, or a limit of 0. A seed that cannot be reached is not
    /// an error.
    pub async fn start(
        config: NetworkConfig,
        provider: Arc<dyn BlockProvider>,
    ) -> Result<NetworkHandle, NetworkError> {
        check(&config)?;
        let key = config.identity.load()?;
        let local_peer = key.public().to_peer_id();
        let bans = BanList::load(config.ban_file.clone());
        let mut swarm = behaviour::build(&config, key, bans.clone())?;
        let missed = listen_all(&mut swarm, &config.listen).await?;
        let (commands, orders) = mpsc::channel(COMMAND_BACKLOG);
        let context = Context::new(config, provider, local_peer, bans, commands);
        let context = Arc::new(context);
        tracing::info!(
            target: "p2p",
            "Node id {local_peer}, chain {}, {} seed nodes",
            context.config.chain,
            context.config.seeds.len()
        );
        let task = Task::new(swarm, Arc::clone(&context), orders, missed);
        let task = tokio::spawn(task.run()).abort_handle();
        Ok(NetworkHandle(Arc::new(Inner { context, task })))
    }
}

fn check(config: &NetworkConfig) -> Result<(), NetworkError> {
    let NetworkConfig {
        connections,
        streams,
        timeouts,
        ..
    } = config;
    let least_one = [
        ("connections.maximum", connections.maximum as u64),
        ("connections.per_peer", connections.per_peer as u64),
        ("connections.pending_inbound", connections.pending_inbound as u64),
        (
            "connections.pending_outbound",
            connections.pending_outbound as u64,
        ),
        ("streams.inbound_per_peer", streams.inbound_per_peer as u64),
        ("streams.response_bytes", streams.response_bytes as u64),
        ("streams.chunk_bytes", streams.chunk_bytes as u64),
        ("streams.chunk_blocks", u64::from(streams.chunk_blocks)),
        ("timeouts.slowest", u64::from(timeouts.slowest)),
    ];
    match least_one.into_iter().find(|(_, found)| *found == 0) {
        Some((name, found)) => Err(NetworkError::Config {
            name,
            least: 1,
            found,
        }),
        None => Ok(()),
    }
}

struct Inner {
    context: Arc<Context>,
    task: AbortHandle,
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.context.closing.send_replace(true);
    }
}

/// A running network. Clones are handles to the same one; it shuts down when the last is dropped.
#[derive(Clone)]
pub struct NetworkHandle(Arc<Inner>);

impl std::fmt::Debug for NetworkHandle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("NetworkHandle")
            .field("peer", &self.local_peer())
            .finish_non_exhaustive()
    }
}

impl NetworkHandle {
    fn context(&self) -> &Arc<Context> {
        &self.0.context
    }

    /// This node's id.
    #[must_use]
    pub fn local_peer(&self) -> PeerId {
        self.context().local_peer
    }

    /// The addresses that this node listens on now, with real ports.
    #[must_use]
    pub fn listen_addresses(&self) -> Vec<Multiaddr> {
        self.context().listening()
    }

    /// All ready peers, ordered by id.
    #[must_use]
    pub fn peers(&self) -> Vec<PeerSummary> {
        self.context().peers.summaries()
    }

    /// What a ready peer serves, as far as is known.
    #[must_use]
    pub fn status(&self, peer: &PeerId) -> Option<PeerStatus> {
        self.context().peers.status(peer)
    }

    /// Events from now on. A subscriber that falls more than 1024 events behind loses the oldest and is told so
    /// (`RecvError::Lagged`); it should then look at [`peers`](Self::peers).
    #[must_use]
    pub fn subscribe(&self) -> broadcast::Receiver<NetworkEvent> {
        self.context().peers.subscribe()
    }

    /// Asks a ready peer for `count` blocks from `first` on (1 to 4096), in at most `max_bytes` stored bytes and
    /// one block. The request is sent when the response is polled; dropping it cancels it. A peer serves a few
    /// requests at the same time ([`StreamLimits::ranges_per_peer`](crate::StreamLimits), 8 by default) and
    /// declines more as busy.
    pub fn request_range(&self, peer: PeerId, first: u32, count: u32, max_bytes: usize) -> RangeResponse {
        let request = RangeRequest {
            first,
            count,
            max_bytes: u32::try_from(max_bytes).unwrap_or(u32::MAX),
        };
        client::request_range(Arc::clone(self.context()), peer, request)
    }

    /// Asks a ready peer for the signed headers of `count` blocks from `first` on (1 to
    /// [`MAX_HEADERS`](crate::MAX_HEADERS)). What comes is at least one and at most `count` whole headers with the
    /// numbers asked for, one behind the other; whether they are the chain's is the caller's to prove.
    /// The request is sent when the future is polled; dropping it cancels it. It takes the same places at the peer as
    /// a request for blocks.
    ///
    /// # Errors
    /// [`RequestError`].
    pub fn request_headers(
        &self,
        peer: PeerId,
        first: u32,
        count: u32,
    ) -> impl Future<Output = Result<Vec<u8>, RequestError>> + Send + 'static + use<> {
        headers::request(Arc::clone(self.context()), peer, HeadersRequest { first, count })
    }

    /// Exchanges hellos with a ready peer, so that both know the other's present status.
    ///
    /// # Errors
    /// [`RequestError`]; a peer that turns out to be on another chain is turned away.
    pub async fn refresh_status(&self, peer: PeerId) -> Result<PeerStatus, RequestError> {
        client::refresh(self.context(), peer).await
    }

    /// Tells the network that the provider's head has changed. It looks by itself every 20 ms; this is for impatient
    /// callers, and costs nothing when it is called for each block.
    pub fn announce(&self) {
        // A full queue means that the task is about to look anyway.
        let _ = self.context().commands.try_send(Command::Announce);
    }

    /// Refuses a peer for a time, and disconnects it if it is connected: for `base` at its first offence, and for twice
    /// as long at each further one, up to a day. Offences are forgotten two days after the last ban has ended. The list is
    /// kept in [`NetworkConfig::ban_file`].
    pub async fn ban(&self, peer: PeerId, base: Duration, reason: impl Into<String> + Send) {
        let reason = reason.into();
        let (ban, held) = self.context().bans.ban(peer, base, &reason);
        if held {
            // What it had sent before it was banned: there may be thousands of blocks.
            tracing::debug!(target: "p2p", %peer, "Peer is banned already: {reason}");
        } else {
            tracing::warn!(
                target: "p2p",
                %peer,
                "Banned peer for {} s (offence {}): {reason}",
                ban.remaining.as_secs_f64().ceil(),
                ban.offences
            );
        }
        let saving = tokio::spawn(self.context().bans.clone().save_for_certain());
        self.context()
            .disconnect(peer, GoodbyeReason::Banned, Some(reason))
            .await;
        // An error means that the runtime is going down: then the shutdown saves.
        let _ = saving.await;
    }

    /// Lifts a ban and forgets the peer's offences; false if no ban held. Blocks for as long as it takes to write the list.
    pub fn unban(&self, peer: &PeerId) -> bool {
        let lifted = self.context().bans.unban(peer);
        self.context().bans.save();
        lifted
    }

    /// All bans that hold now, also those of peers of other chains.
    #[must_use]
    pub fn bans(&self) -> Vec<Ban> {
        self.context().bans.all()
    }

    /// Disconnects a peer and tells it why; false if it is not connected. A seed is dialed again after a while.
    pub async fn disconnect(&self, peer: PeerId, reason: GoodbyeReason) -> bool {
        self.context().disconnect(peer, reason, None).await
    }

    /// Says goodbye to all peers and stops. Done at the latest one second after
    /// [`Timeouts::shutdown`](crate::Timeouts::shutdown).
    pub async fn shutdown(&self) {
        self.context().closing.send_replace(true);
        self.context().bans.save();
        let limit = self.context().config.timeouts.shutdown + Duration::from_secs(1);
        // Closed when the task, which receives them, is gone.
        if tokio::time::timeout(limit, self.context().commands.closed())
            .await
            .is_err()
        {
            self.0.task.abort();
        }
    }
}
