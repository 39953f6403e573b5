//! What libp2p reports: connections, streams, pings, who the peer says it is.

use std::{
    sync::{Arc, PoisonError},
    time::{Duration, Instant},
};

use libp2p::{
    Multiaddr, PeerId,
    core::ConnectedPoint,
    identify, ping,
    swarm::{ConnectionId, ListenError, SwarmEvent},
};

use super::{Task, root_text};
use crate::{
    Direction, GoneReason, GoodbyeReason, Refusal, RequestError,
    behaviour::{BehaviourEvent, identified_chain},
    client,
    context::Context,
    limits::DenyReason,
    peers::Arrival,
    server,
    streams::Inbound,
    wire::{chain_digits, digits_in, protocol_name},
};

impl Task {
    pub(super) fn on_swarm(&mut self, event: SwarmEvent<BehaviourEvent>) {
        match event {
            SwarmEvent::Behaviour(event) => self.on_behaviour(event),
            SwarmEvent::ConnectionEstablished {
                peer_id,
                connection_id,
                endpoint,
                ..
            } => self.on_connected(peer_id, connection_id, endpoint),
            SwarmEvent::ConnectionClosed {
                peer_id,
                connection_id,
                cause,
                ..
            } => {
                let cause = cause.map_or_else(|| "without an error".to_owned(), |cause| root_text(&cause));
                if let Some(closed) = self.context.peers.closed(&peer_id, connection_id, &cause) {
                    tracing::debug!(target: "p2p", peer = %peer_id, "Disconnected: {cause}");
                    self.dialer
                        .disconnected(&peer_id, closed.ready_for, Instant::now());
                }
            }
            SwarmEvent::OutgoingConnectionError {
                connection_id, error, ..
            } => {
                if let Some((seed, next)) = self.dial_failed(connection_id, &error) {
                    self.dial(seed, next);
                }
            }
            SwarmEvent::IncomingConnectionError {
                send_back_addr,
                error,
                ..
            } => self.on_incoming_error(&send_back_addr, &error),
            SwarmEvent::NewListenAddr { address, .. } => {
                tracing::info!(target: "p2p", "Listening on {address}");
                self.listening(|addresses| addresses.push(address));
            }
            SwarmEvent::ExpiredListenAddr { address, .. } => {
                self.listening(|addresses| addresses.retain(|known| *known != address));
            }
            SwarmEvent::ListenerClosed {
                addresses, reason, ..
            } => {
                if let Err(error) = reason {
                    tracing::error!(target: "p2p", "No longer listening on {addresses:?}: {error}");
                }
                self.listening(|known| known.retain(|address| !addresses.contains(address)));
            }
            SwarmEvent::ListenerError { error, .. } => {
                if let Some(suppressed) = self.context.stream_log.admit() {
                    tracing::warn!(target: "p2p", "Cannot accept a connection: {error}{suppressed}");
                }
            }
            _ => {}
        }
    }

    fn listening(&self, change: impl FnOnce(&mut Vec<Multiaddr>)) {
        let mut addresses = self
            .context
            .listening
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        change(&mut addresses);
    }

    fn on_connected(&mut self, peer: PeerId, connection: ConnectionId, endpoint: ConnectedPoint) {
        let (direction, address) = match endpoint {
            ConnectedPoint::Dialer { address, .. } => (Direction::Outbound, address),
            ConnectedPoint::Listener { send_back_addr, .. } => (Direction::Inbound, send_back_addr),
        };
        tracing::debug!(target: "p2p", %peer, %address, ?direction, "Connected");
        let hello = self.context.config.timeouts.hello;
        let arrival = self
            .context
            .peers
            .connected(peer, connection, address, direction, hello);
        self.dialer.connected(connection, peer);
        let unwanted = match arrival {
            // It came back before its old connections were closed: let it try once more.
            Arrival::Leaving => true,
            // Two seeds are the same node. Both connections are this node's, so it alone decides which one goes.
            Arrival::Outbound { count } => count > 1,
            Arrival::Inbound => false,
        };
        if unwanted || self.context.is_closing() {
            self.swarm.close_connection(connection);
            return;
        }
        if direction == Direction::Inbound {
            // The dialing side speaks first.
            return;
        }
        let context = Arc::clone(&self.context);
        self.exchanges
            .spawn(async move { say_hello(&context, peer, connection).await });
    }

    fn on_incoming_error(&self, address: &Multiaddr, error: &ListenError) {
        let ListenError::Denied { cause } = error else {
            tracing::debug!(target: "p2p", %address, "Incoming connection failed: {error}");
            return;
        };
        let Some(reason) = cause.downcast_ref::<DenyReason>() else {
            return;
        };
        // A banned peer that knocks again is no news.
        if matches!(reason, DenyReason::Banned(_)) {
            tracing::debug!(target: "p2p", %address, "Refused connection: {reason}");
        } else if let Some(suppressed) = self.context.refusal_log.admit() {
            tracing::warn!(target: "p2p", %address, "Refused connection: {reason}{suppressed}");
        }
    }

    fn on_behaviour(&mut self, event: BehaviourEvent) {
        match event {
            BehaviourEvent::Streams(Inbound { peer, stream }) => {
                self.exchanges
                    .spawn(server::serve(Arc::clone(&self.context), peer, stream));
            }
            BehaviourEvent::Ping(ping::Event { peer, result, .. }) => self.on_ping(peer, &result),
            BehaviourEvent::Identify(identify::Event::Received { peer_id, info, .. }) => {
                self.on_identified(peer_id, &info);
            }
            BehaviourEvent::Identify(_) => {}
            BehaviourEvent::Gate(never) => match never {},
        }
    }

    /// libp2p keeps the first failure in a row to itself: one that is reported is the second.
    fn on_ping(&mut self, peer: PeerId, result: &Result<Duration, ping::Failure>) {
        match result {
            Ok(round_trip) => self.context.peers.pinged(&peer, *round_trip),
            Err(ping::Failure::Unsupported) => {}
            Err(_) => {
                tracing::info!(target: "p2p", %peer, "Peer does not answer, closing the connection");
                self.context.peers.leave(
                    peer,
                    GoneReason::NoAnswer,
                    Refusal::Disconnected(GoodbyeReason::Unneeded),
                );
                // An error means that it is not connected any more.
                let _ = self.swarm.disconnect_peer_id(peer);
            }
        }
    }

    /// A peer that does not speak this chain's protocol is turned away as soon as it says what it speaks.
    fn on_identified(&mut self, peer: PeerId, info: &identify::Info) {
        let chain = &self.context.config.chain;
        let ours = protocol_name(chain);
        if info.protocols.contains(&ours) || self.context.peers.stats(&peer).is_none() {
            return;
        }
        let digits = chain_digits(chain);
        let foreign = info
            .protocols
            .iter()
            .filter_map(digits_in)
            .find(|theirs| *theirs != digits);
        let refusal = match (identified_chain(&info.protocol_version), foreign) {
            (Some(theirs), _) if theirs != chain.to_string() => Refusal::WrongChain {
                theirs: theirs.to_owned(),
                ours: chain.to_string(),
            },
            (_, Some(theirs)) => Refusal::WrongChain {
                theirs: theirs.chars().take(8).collect(),
                ours: digits,
            },
            _ => Refusal::OtherProtocol {
                agent: info
                    .agent_version
                    .chars()
                    .filter(|c| !c.is_control())
                    .take(64)
                    .collect(),
            },
        };
        // It could not understand a goodbye.
        self.refuse(peer, refusal, true);
    }
}

/// The first exchange on a connection that this node opened.
async fn say_hello(context: &Context, peer: PeerId, connection: ConnectionId) {
    match client::exchange_hello(context, peer, Some(connection)).await {
        Ok(status) => {
            context.peers.hello(peer, status, context.config.status_interval);
        }
        Err(RequestError::Refused(refusal)) => context.refuse(peer, refusal, false).await,
        Err(RequestError::Frame(error)) => {
            context
                .refuse(peer, Refusal::BadHello(error.to_string()), false)
                .await;
        }
        // Another protocol: identify tells which. Or the connection is gone, or the deadline for hellos ends it.
        Err(error) => tracing::debug!(target: "p2p", %peer, "No hello: {error}"),
    }
}
