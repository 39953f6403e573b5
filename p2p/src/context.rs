//! What all tasks of one network share.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use futures::channel::oneshot;
use libp2p::{Multiaddr, PeerId, Stream, swarm::ConnectionId};
use tokio::sync::{Semaphore, SemaphorePermit, mpsc, watch};

use crate::{
    BlockProvider, EndReason, GoneReason, Goodbye, GoodbyeReason, Hello, LocalStatus, NetworkConfig,
    OpenError, Refusal, RequestError, ResolveError,
    bans::BanList,
    log_limit::LogLimit,
    peers::PeerTable,
    stats::{PeerStats, Place},
    streams::Opened,
    wire::Pace,
};

/// What the other tasks ask of the one that owns the swarm.
#[derive(Debug)]
pub(crate) enum Command {
    /// Open a stream, on one connection or on any.
    Open {
        peer: PeerId,
        connection: Option<ConnectionId>,
        opened: Opened,
    },
    /// Say goodbye, then close.
    Leave { peer: PeerId, goodbye: Goodbye },
    /// Close all connections to the peer now.
    Close { peer: PeerId },
    /// Announce the head as soon as the interval allows.
    Announce,
    /// A seed's name was looked up.
    Resolved {
        seed: usize,
        addresses: Result<Vec<std::net::IpAddr>, ResolveError>,
    },
}

/// Time that a peer gets to read a goodbye before the connection is closed.
pub(crate) const GOODBYE_GRACE: Duration = Duration::from_millis(300);

pub(crate) struct Context {
    pub(crate) config: NetworkConfig,
    pub(crate) provider: Arc<dyn BlockProvider>,
    pub(crate) local_peer: PeerId,
    pub(crate) peers: PeerTable,
    pub(crate) bans: BanList,
    pub(crate) commands: mpsc::Sender<Command>,
    /// True from the moment the network begins to shut down.
    pub(crate) closing: watch::Sender<bool>,
    /// Places for ranges that are served, to all peers.
    pub(crate) ranges: Arc<Semaphore>,
    pub(crate) listening: Mutex<Vec<Multiaddr>>,
    pub(crate) refusal_log: LogLimit,
    pub(crate) stream_log: LogLimit,
    pub(crate) serve_log: LogLimit,
}

impl Context {
    pub(crate) fn new(
        config: NetworkConfig,
        provider: Arc<dyn BlockProvider>,
        local_peer: PeerId,
        bans: BanList,
        commands: mpsc::Sender<Command>,
    ) -> Self {
        let window = Duration::from_secs(60);
        Self {
            ranges: Arc::new(Semaphore::new(config.streams.ranges_total)),
            config,
            provider,
            local_peer,
            peers: PeerTable::new(),
            bans,
            commands,
            closing: watch::Sender::new(false),
            listening: Mutex::default(),
            refusal_log: LogLimit::new(window, 10),
            stream_log: LogLimit::new(window, 5),
            serve_log: LogLimit::new(window, 5),
        }
    }

    pub(crate) fn is_closing(&self) -> bool {
        *self.closing.borrow()
    }

    pub(crate) fn listening(&self) -> Vec<Multiaddr> {
        self.listening
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// The pace at which messages are read.
    pub(crate) fn reading(&self) -> Pace {
        Pace {
            idle: self.config.timeouts.idle,
            slowest: self.config.timeouts.slowest,
        }
    }

    /// The pace at which messages are written.
    pub(crate) fn writing(&self) -> Pace {
        Pace {
            idle: self.config.timeouts.write,
            slowest: self.config.timeouts.slowest,
        }
    }

    /// This node's hello.
    pub(crate) fn hello(&self) -> Hello {
        let LocalStatus {
            first,
            head,
            head_id,
            first_block_id,
        } = self.provider.status();
        Hello {
            chain: self.config.chain,
            first,
            head,
            head_id,
            first_block_id,
            agent: self.config.agent.clone(),
        }
    }

    /// Whether the sender of a hello is on this node's chain.
    pub(crate) fn judge(&self, hello: &Hello) -> Result<(), Refusal> {
        if hello.chain != self.config.chain {
            return Err(Refusal::WrongChain {
                theirs: hello.chain.to_string(),
                ours: self.config.chain.to_string(),
            });
        }
        match (hello.first_block_id, self.provider.status().first_block_id) {
            (Some(theirs), Some(ours)) if theirs != ours => Err(Refusal::WrongFirstBlock { theirs, ours }),
            _ => Ok(()),
        }
    }

    /// Opens a stream of the sync protocol.
    pub(crate) async fn open(
        &self,
        peer: PeerId,
        connection: Option<ConnectionId>,
    ) -> Result<Stream, RequestError> {
        let (opened, stream) = oneshot::channel();
        let command = Command::Open {
            peer,
            connection,
            opened,
        };
        let opening = async {
            self.commands
                .send(command)
                .await
                .map_err(|_| RequestError::Closing)?;
            match stream.await {
                Ok(stream) => Ok(stream?),
                // Dropped on the way: the connection is gone.
                Err(_) => Err(RequestError::Open(OpenError::NotConnected)),
            }
        };
        // libp2p has the same timeout, but does not start its clock before the connection takes the order.
        tokio::time::timeout(self.config.timeouts.open_stream, opening)
            .await
            .unwrap_or(Err(RequestError::Open(OpenError::Timeout)))
    }

    /// The places that an answer to a request for blocks or headers takes while it is under way.
    ///
    /// # Errors
    /// Why the request is declined.
    pub(crate) fn places(
        &self,
        peer: &PeerId,
        stats: &Arc<PeerStats>,
    ) -> Result<(Place, SemaphorePermit<'_>), EndReason> {
        if self.peers.ready(peer).is_none() {
            return Err(EndReason::HelloFirst);
        }
        if self.is_closing() {
            return Err(EndReason::Closing);
        }
        let place = stats.take_range(self.config.streams.ranges_per_peer);
        let permit = self.ranges.try_acquire().ok();
        place.zip(permit).ok_or(EndReason::Busy)
    }

    /// Logs that this node's own blocks cannot be read; the peer is told that much and no more.
    pub(crate) fn read_failed(&self, peer: PeerId, number: u32, text: &str) -> EndReason {
        if let Some(suppressed) = self.serve_log.admit() {
            tracing::error!(target: "p2p", %peer, "Cannot serve blocks from {number}: {text}{suppressed}");
        }
        EndReason::ReadFailed
    }

    /// Turns a peer away: logs it, bans it for a while if it is on another chain, and closes the connection; with
    /// a goodbye, unless `told` says that it got one already.
    pub(crate) async fn refuse(&self, peer: PeerId, refusal: Refusal, told: bool) {
        if refusal.is_other_chain() {
            self.bans
                .turn_away(peer, self.config.redial.wrong_chain, &refusal.to_string());
        }
        let address = self.peers.address(&peer);
        if !self
            .peers
            .leave(peer, GoneReason::Refused(refusal.clone()), refusal.clone())
        {
            return;
        }
        if let Some(suppressed) = self.refusal_log.admit() {
            let address = address.map(|address| address.to_string()).unwrap_or_default();
            tracing::warn!(target: "p2p", %peer, address, "Refused peer: {refusal}{suppressed}");
        }
        let by_peer = matches!(refusal, Refusal::ByPeer(_));
        let command = if told || by_peer {
            if !by_peer {
                tokio::time::sleep(GOODBYE_GRACE).await;
            }
            Command::Close { peer }
        } else {
            Command::Leave {
                peer,
                goodbye: Goodbye {
                    reason: refusal.goodbye_reason(),
                    text: refusal.to_string(),
                },
            }
        };
        // An error means that the swarm is gone, and the connection with it.
        let _ = self.commands.send(command).await;
    }

    /// Ends a connection on this node's wish. False if there is none.
    pub(crate) async fn disconnect(&self, peer: PeerId, reason: GoodbyeReason, ban: Option<String>) -> bool {
        let (gone, refused) = match &ban {
            Some(text) => (GoneReason::Banned(text.clone()), Refusal::Banned(text.clone())),
            None => (GoneReason::Disconnected(reason), Refusal::Disconnected(reason)),
        };
        if !self.peers.leave(peer, gone, refused) {
            return false;
        }
        let goodbye = Goodbye {
            reason,
            text: ban.unwrap_or_default(),
        };
        let _ = self.commands.send(Command::Leave { peer, goodbye }).await;
        true
    }
}
