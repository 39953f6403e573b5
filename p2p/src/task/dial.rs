//! Dialing seeds: from a due seed to an attempt that is under way, or the next address.

use std::{
    net::IpAddr,
    sync::Arc,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use cairn_chain::Time;
use libp2p::{
    Multiaddr,
    swarm::{
        ConnectionId, DialError,
        dial_opts::{DialOpts, PeerCondition},
    },
};

use super::{Task, root_text};
use crate::{Ban, ResolveError, context::Command, limits::DenyReason, resolve::resolve};

/// Time between two lines about banned seeds. A ban lasts ten minutes or more.
const BANNED_SEEDS_AGAIN: Duration = Duration::from_secs(120);

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

    /// Without a peer, and with all seeds banned, nothing will happen for a long time: that is said, with the remedy.
    pub(super) fn warn_of_banned_seeds(&mut self, now: Instant) {
        let rests = self
            .told_banned_seeds
            .is_some_and(|told| now.saturating_duration_since(told) < BANNED_SEEDS_AGAIN);
        if rests || self.context.peers.count() > 0 {
            return;
        }
        let Some(peers) = self.dialer.known_peers() else {
            return;
        };
        let bans: Option<Vec<Ban>> = peers.iter().map(|peer| self.context.bans.get(peer)).collect();
        let Some(first) = bans.and_then(|bans| bans.into_iter().min_by_key(|ban| ban.remaining)) else {
            return;
        };
        self.told_banned_seeds = Some(now);
        let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let end = Time(u32::try_from((since_1970 + first.remaining).as_secs()).unwrap_or(u32::MAX));
        let list = self.context.config.ban_file.as_deref();
        let list = list.map_or_else(|| "the ban list".to_owned(), |path| path.display().to_string());
        tracing::warn!(
            target: "p2p",
            "all seed nodes ({}) are banned and no other peer is connected. The first ban ends at {end} UTC ({}). To go on \
             sooner, name another seed (p2p-seed-node), or stop the node and remove the entry from {list}",
            peers.len(),
            first.reason
        );
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
