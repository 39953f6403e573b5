//! The table of connected peers: connections, status, counters. It is where events come from.
//!
//! A peer is *connecting* until hellos have been exchanged, then *ready*; once it is *leaving* it is not shown any
//! more, and only waits for its connections to close. Events are sent while the table is locked, so that their
//! order is the order of what happened.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError, atomic::Ordering::Relaxed},
    time::{Duration, Instant},
};

use libp2p::{Multiaddr, PeerId, swarm::ConnectionId};
use tokio::sync::broadcast;

use crate::{
    Announce, Direction, GoneReason, NetworkEvent, PeerStatus, PeerSummary, Refusal, stats::PeerStats,
};

/// Events that a slow subscriber may be behind before it loses the oldest.
const EVENT_BACKLOG: usize = 1024;

#[derive(Debug)]
struct Connection {
    id: ConnectionId,
    address: Multiaddr,
    direction: Direction,
}

#[derive(Debug)]
enum Phase {
    Connecting { deadline: Instant },
    Ready { status: PeerStatus, since: Instant },
    Leaving { ready_for: Option<Duration> },
}

#[derive(Debug)]
struct Peer {
    connections: Vec<Connection>,
    phase: Phase,
    round_trip: Option<Duration>,
    /// When its status is to be asked for again.
    refresh_at: Instant,
    stats: Arc<PeerStats>,
}

/// What is left to know when the last connection to a peer has closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Closed {
    /// How long the peer was ready; `None` if it never was.
    pub(crate) ready_for: Option<Duration>,
}

/// What a new connection is to the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Arrival {
    /// The peer dialed.
    Inbound,
    /// This node dialed; `count` connections that it dialed lead to this peer now.
    Outbound { count: usize },
    /// The peer is being disconnected: this connection must be closed too.
    Leaving,
}

#[derive(Debug)]
pub(crate) struct PeerTable {
    peers: Mutex<HashMap<PeerId, Peer>>,
    events: broadcast::Sender<NetworkEvent>,
}

impl PeerTable {
    pub(crate) fn new() -> Self {
        Self {
            peers: Mutex::default(),
            events: broadcast::channel(EVENT_BACKLOG).0,
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<PeerId, Peer>> {
        self.peers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn emit(&self, event: NetworkEvent) {
        // An error means that nobody listens.
        let _ = self.events.send(event);
    }

    pub(crate) fn subscribe(&self) -> broadcast::Receiver<NetworkEvent> {
        self.events.subscribe()
    }

    /// A connection stands.
    pub(crate) fn connected(
        &self,
        peer: PeerId,
        id: ConnectionId,
        address: Multiaddr,
        direction: Direction,
        hello_within: Duration,
    ) -> Arrival {
        let mut peers = self.lock();
        let now = Instant::now();
        let entry = peers.entry(peer).or_insert_with(|| Peer {
            connections: Vec::new(),
            phase: Phase::Connecting {
                deadline: now + hello_within,
            },
            round_trip: None,
            refresh_at: now,
            stats: Arc::new(PeerStats::new()),
        });
        entry.connections.push(Connection {
            id,
            address,
            direction,
        });
        match (&entry.phase, direction) {
            (Phase::Leaving { .. }, _) => Arrival::Leaving,
            (_, Direction::Inbound) => Arrival::Inbound,
            (_, Direction::Outbound) => {
                let outbound = |connection: &&Connection| connection.direction == Direction::Outbound;
                Arrival::Outbound {
                    count: entry.connections.iter().filter(outbound).count(),
                }
            }
        }
    }

    /// A connection closed; `Some` when it was the last one to this peer.
    pub(crate) fn closed(&self, peer: &PeerId, id: ConnectionId, cause: &str) -> Option<Closed> {
        let mut peers = self.lock();
        let entry = peers.get_mut(peer)?;
        entry.connections.retain(|connection| connection.id != id);
        if !entry.connections.is_empty() {
            return None;
        }
        let entry = peers.remove(peer)?;
        let ready_for = match entry.phase {
            Phase::Connecting { .. } => None,
            Phase::Leaving { ready_for } => ready_for,
            Phase::Ready { since, .. } => {
                self.emit(NetworkEvent::PeerGone {
                    peer: *peer,
                    reason: GoneReason::Closed(cause.to_owned()),
                });
                Some(since.elapsed())
            }
        };
        Some(Closed { ready_for })
    }

    /// The peer said hello. `None` if it is not connected or is leaving, else whether it became ready by this.
    pub(crate) fn hello(&self, peer: PeerId, status: PeerStatus, refresh_in: Duration) -> Option<bool> {
        let mut peers = self.lock();
        let entry = peers.get_mut(&peer)?;
        let now = Instant::now();
        entry.refresh_at = now + refresh_in;
        match &mut entry.phase {
            Phase::Leaving { .. } => None,
            Phase::Connecting { .. } => {
                entry.phase = Phase::Ready {
                    status: status.clone(),
                    since: now,
                };
                self.emit(NetworkEvent::PeerReady { peer, status });
                Some(true)
            }
            Phase::Ready { status: known, .. } => {
                if *known != status {
                    known.clone_from(&status);
                    self.emit(NetworkEvent::StatusChanged { peer, status });
                }
                Some(false)
            }
        }
    }

    /// The peer announced a head. False if it is not ready.
    pub(crate) fn announced(&self, peer: PeerId, announce: Announce) -> bool {
        let mut peers = self.lock();
        let Some(Peer {
            phase: Phase::Ready { status, .. },
            ..
        }) = peers.get_mut(&peer)
        else {
            return false;
        };
        let Announce { first, head, head_id } = announce;
        if (status.first, status.head, status.head_id) != (first, head, head_id) {
            (status.first, status.head, status.head_id) = (first, head, head_id);
            self.emit(NetworkEvent::StatusChanged {
                peer,
                status: status.clone(),
            });
        }
        true
    }

    /// Starts the end of a peer that is ready or connecting: it is not shown any more, and the event is sent.
    /// False if it is not connected or is leaving already.
    pub(crate) fn leave(&self, peer: PeerId, gone: GoneReason, refused: Refusal) -> bool {
        let mut peers = self.lock();
        let Some(entry) = peers.get_mut(&peer) else {
            return false;
        };
        let ready_for = match &entry.phase {
            Phase::Leaving { .. } => return false,
            Phase::Connecting { .. } => None,
            Phase::Ready { since, .. } => Some(since.elapsed()),
        };
        entry.phase = Phase::Leaving { ready_for };
        self.emit(if ready_for.is_some() {
            NetworkEvent::PeerGone { peer, reason: gone }
        } else {
            NetworkEvent::PeerRefused {
                peer,
                reason: refused,
            }
        });
        true
    }

    /// Counters of a connected peer that is not leaving.
    pub(crate) fn stats(&self, peer: &PeerId) -> Option<Arc<PeerStats>> {
        match self.lock().get(peer)? {
            Peer {
                phase: Phase::Leaving { .. },
                ..
            } => None,
            entry => Some(Arc::clone(&entry.stats)),
        }
    }

    /// Counters of a ready peer.
    pub(crate) fn ready(&self, peer: &PeerId) -> Option<Arc<PeerStats>> {
        match self.lock().get(peer)? {
            Peer {
                phase: Phase::Ready { .. },
                stats,
                ..
            } => Some(Arc::clone(stats)),
            _ => None,
        }
    }

    pub(crate) fn status(&self, peer: &PeerId) -> Option<PeerStatus> {
        match &self.lock().get(peer)?.phase {
            Phase::Ready { status, .. } => Some(status.clone()),
            _ => None,
        }
    }

    /// The address of a connected peer, for log lines.
    pub(crate) fn address(&self, peer: &PeerId) -> Option<Multiaddr> {
        let peers = self.lock();
        Some(peers.get(peer)?.connections.first()?.address.clone())
    }

    pub(crate) fn is_connected(&self, peer: &PeerId) -> bool {
        self.lock().contains_key(peer)
    }

    /// Peers that are connected and not leaving.
    pub(crate) fn count(&self) -> usize {
        let peers = self.lock();
        let staying = |peer: &&Peer| !matches!(peer.phase, Phase::Leaving { .. });
        peers.values().filter(staying).count()
    }

    /// All connected peers, in every phase.
    pub(crate) fn connected_peers(&self) -> Vec<PeerId> {
        self.lock().keys().copied().collect()
    }

    pub(crate) fn ready_peers(&self) -> Vec<(PeerId, Arc<PeerStats>)> {
        self.lock()
            .iter()
            .filter(|(_, peer)| matches!(peer.phase, Phase::Ready { .. }))
            .map(|(id, peer)| (*id, Arc::clone(&peer.stats)))
            .collect()
    }

    /// Peers that have not said hello in time.
    pub(crate) fn without_hello(&self, now: Instant) -> Vec<PeerId> {
        self.lock()
            .iter()
            .filter(|(_, peer)| matches!(peer.phase, Phase::Connecting { deadline } if deadline <= now))
            .map(|(id, _)| *id)
            .collect()
    }

    /// Ready peers whose status is to be asked for; each is due again after `again_in`.
    pub(crate) fn to_refresh(&self, now: Instant, again_in: Duration) -> Vec<(PeerId, Arc<PeerStats>)> {
        self.lock()
            .iter_mut()
            .filter(|(_, peer)| matches!(peer.phase, Phase::Ready { .. }) && peer.refresh_at <= now)
            .map(|(id, peer)| {
                peer.refresh_at = now + again_in;
                (*id, Arc::clone(&peer.stats))
            })
            .collect()
    }

    /// A ping was answered.
    pub(crate) fn pinged(&self, peer: &PeerId, round_trip: Duration) {
        if let Some(entry) = self.lock().get_mut(peer) {
            entry.round_trip = Some(round_trip);
        }
    }

    /// Ready peers, for people and for the downloader.
    pub(crate) fn summaries(&self) -> Vec<PeerSummary> {
        let peers = self.lock();
        let mut summaries: Vec<_> = peers
            .iter()
            .filter_map(|(id, peer)| {
                let Phase::Ready { status, .. } = &peer.phase else {
                    return None;
                };
                let connection = peer.connections.first()?;
                Some(PeerSummary {
                    id: *id,
                    address: connection.address.clone(),
                    direction: connection.direction,
                    agent: status.agent.clone(),
                    first: status.first,
                    head: status.head,
                    head_id: status.head_id,
                    rate: peer.stats.rate(),
                    received: peer.stats.received.load(Relaxed),
                    sent: peer.stats.sent.load(Relaxed),
                    connected: peer.stats.age(),
                    round_trip: peer.round_trip,
                })
            })
            .collect();
        summaries.sort_by_key(|summary| summary.id);
        summaries
    }
}
