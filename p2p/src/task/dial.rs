//! Dialing seeds: from a due seed to an attempt that is under way, or the next address.

use std::{net::IpAddr, sync::Arc, time::Instant};

use libp2p::{
    Multiaddr,
    swarm::{
        ConnectionId, DialError,
        dial_opts::{DialOpts, PeerCondition},
    },
};

use super::{Task, root_text};
use crate::{ResolveError, context::Command, limits::DenyReason, resolve::resolve};

impl Task {
    pub(super) fn dial_seeds(&mut self, now: Instant) {
        let places = self
            .context
            .config
            .connections
            .desired
            .saturating_sub(self.context.peers.count());
        let (peers, bans) = (&self.context.peers, &self.context.bans);
        let due = self.dialer.due(
            now,
            places,
            |peer| peers.is_connected(peer),
            |peer| bans.get(peer).is_some(),
        );
        for (seed, endpoint) in due {
            let context = Arc::clone(&self.context);
            self.exchanges.spawn(async move {
                let addresses = resolve(&endpoint).await;
                let command = Command::Resolved { seed, addresses };
                let _ = context.commands.send(command).await;
            });
        }
    }

    /// Dials a seed's addresses until one attempt is under way.
    pub(super) fn dial(&mut self, seed: usize, mut address: Multiaddr) {
        loop {
            let options = match self.dialer.expected_peer(seed) {
                Some(peer) => DialOpts::peer_id(peer)
                    .condition(PeerCondition::Always)
                    .addresses(vec![address])
                    .allocate_new_port()
                    .build(),
                None => DialOpts::unknown_peer_id()
                    .address(address)
                    // Two nodes that dial each other from their listening ports would make one TCP connection of
                    // which both think that they opened it.
                    .allocate_new_port()
                    .build(),
            };
            let connection = options.connection_id();
            self.dialer.dialing(seed, connection);
            match self.swarm.dial(options) {
                Ok(()) => return,
                Err(error) => match self.dial_failed(connection, &error) {
                    Some((_, next)) => address = next,
                    None => return,
                },
            }
        }
    }

    pub(super) fn dial_failed(
        &mut self,
        connection: ConnectionId,
        error: &DialError,
    ) -> Option<(usize, Multiaddr)> {
        match error {
            // `NoAddresses`: the address is one of those that this node listens on.
            DialError::LocalPeerId { .. } | DialError::NoAddresses => {
                self.dialer.is_this_node(connection);
                None
            }
            error => self.dialer.failed(connection, &dial_error(error), Instant::now()),
        }
    }

    pub(super) fn on_resolved(&mut self, seed: usize, addresses: Result<Vec<IpAddr>, ResolveError>) {
        if self.context.is_closing() {
            return;
        }
        if let Some(address) = self.dialer.resolved(seed, addresses, Instant::now()) {
            self.dial(seed, address);
        }
    }
}

/// libp2p's text for a failed dial is one line per layer; the innermost cause is what an operator can use.
fn dial_error(error: &DialError) -> String {
    match error {
        DialError::Transport(errors) => match errors.last() {
            Some((_, error)) => root_text(error),
            None => error.to_string(),
        },
        DialError::Denied { cause } => match cause.downcast_ref::<DenyReason>() {
            Some(reason) => reason.to_string(),
            None => cause.to_string(),
        },
        DialError::WrongPeerId { obtained, .. } => format!("another node answers there: {obtained}"),
        error => error.to_string(),
    }
}
