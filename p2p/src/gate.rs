//! The door: a libp2p behaviour without a protocol that lets connections in or refuses them.

use std::{
    convert::Infallible,
    task::{Context, Poll},
};

use libp2p::{
    Multiaddr, PeerId,
    core::{Endpoint, transport::PortUse},
    swarm::{
        ConnectionClosed, ConnectionDenied, ConnectionId, DialFailure, FromSwarm, ListenFailure,
        NetworkBehaviour, THandler, THandlerInEvent, THandlerOutEvent, ToSwarm, dummy,
    },
};

use crate::{
    ConnectionLimits,
    bans::BanList,
    endpoint::ip_of,
    limits::{ConnectionBook, DenyReason},
};

/// See the module documentation. It must be the first behaviour, so that the others do no work for a refused
/// connection.
pub(crate) struct Gate {
    limits: ConnectionLimits,
    bans: BanList,
    book: ConnectionBook,
}

impl Gate {
    pub(crate) fn new(limits: ConnectionLimits, bans: BanList) -> Self {
        Self {
            limits,
            bans,
            book: ConnectionBook::default(),
        }
    }

    fn establish(&mut self, id: ConnectionId, peer: PeerId) -> Result<THandler<Self>, ConnectionDenied> {
        if let Some(ban) = self.bans.get(&peer) {
            return Err(ConnectionDenied::new(DenyReason::Banned(ban.reason)));
        }
        match self.book.establish(&self.limits, id, peer) {
            Ok(()) => Ok(dummy::ConnectionHandler),
            Err(reason) => Err(ConnectionDenied::new(reason)),
        }
    }
}

impl NetworkBehaviour for Gate {
    type ConnectionHandler = dummy::ConnectionHandler;
    type ToSwarm = Infallible;

    fn handle_pending_inbound_connection(
        &mut self,
        id: ConnectionId,
        _: &Multiaddr,
        remote: &Multiaddr,
    ) -> Result<(), ConnectionDenied> {
        self.book
            .begin_inbound(&self.limits, id, ip_of(remote))
            .map_err(ConnectionDenied::new)
    }

    fn handle_established_inbound_connection(
        &mut self,
        id: ConnectionId,
        peer: PeerId,
        _: &Multiaddr,
        _: &Multiaddr,
    ) -> Result<THandler<Self>, ConnectionDenied> {
        self.establish(id, peer)
    }

    fn handle_pending_outbound_connection(
        &mut self,
        id: ConnectionId,
        peer: Option<PeerId>,
        _: &[Multiaddr],
        _: Endpoint,
    ) -> Result<Vec<Multiaddr>, ConnectionDenied> {
        if let Some(ban) = peer.and_then(|peer| self.bans.get(&peer)) {
            return Err(ConnectionDenied::new(DenyReason::Banned(ban.reason)));
        }
        match self.book.begin_outbound(&self.limits, id) {
            Ok(()) => Ok(Vec::new()),
            Err(reason) => Err(ConnectionDenied::new(reason)),
        }
    }

    fn handle_established_outbound_connection(
        &mut self,
        id: ConnectionId,
        peer: PeerId,
        _: &Multiaddr,
        _: Endpoint,
        _: PortUse,
    ) -> Result<THandler<Self>, ConnectionDenied> {
        self.establish(id, peer)
    }

    fn on_swarm_event(&mut self, event: FromSwarm<'_>) {
        match event {
            FromSwarm::ConnectionClosed(ConnectionClosed { connection_id, .. })
            | FromSwarm::DialFailure(DialFailure { connection_id, .. })
            | FromSwarm::ListenFailure(ListenFailure { connection_id, .. }) => {
                self.book.remove(connection_id);
            }
            _ => {}
        }
    }

    fn on_connection_handler_event(&mut self, _: PeerId, _: ConnectionId, event: THandlerOutEvent<Self>) {
        match event {}
    }

    fn poll(&mut self, _: &mut Context<'_>) -> Poll<ToSwarm<Self::ToSwarm, THandlerInEvent<Self>>> {
        Poll::Pending
    }
}
