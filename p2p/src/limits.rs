//! The book of connections: who has how many, and whether one more is allowed.
//!
//! Without network types other than ids and addresses, so that it can be tested by itself. The
//! [gate](crate::gate) asks it at each stage of a connection. Each connection is entered when its handshake
//! begins and struck out when it fails or closes; what is counted is derived from that one list's changes.

use std::{
    collections::HashMap,
    hash::Hash,
    net::{IpAddr, Ipv4Addr},
};

use libp2p::{PeerId, swarm::ConnectionId};

use crate::ConnectionLimits;

/// Why a connection is not allowed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DenyReason {
    /// Too many connections.
    #[error("{have} connections, the maximum is {limit}")]
    Maximum {
        /// How many there are.
        have: usize,
        /// The limit that applies (inbound connections leave room for dialed ones).
        limit: usize,
    },
    /// Too many connections with one peer.
    #[error("{have} connections with this peer, the maximum is {limit}")]
    PerPeer {
        /// How many there are.
        have: usize,
        /// The limit.
        limit: usize,
    },
    /// Too many connections from one address.
    #[error("{have} connections from this address, the maximum is {limit}")]
    PerAddress {
        /// How many there are.
        have: usize,
        /// The limit.
        limit: usize,
    },
    /// Too many handshakes at a time.
    #[error("{have} connections are being set up, the maximum is {limit}")]
    Pending {
        /// How many there are.
        have: usize,
        /// The limit.
        limit: usize,
    },
    /// The peer is banned.
    #[error("banned: {0}")]
    Banned(String),
}

#[derive(Debug, Clone, Copy)]
struct Slot {
    inbound: bool,
    /// Set when the connection is established.
    peer: Option<PeerId>,
    /// Address group of an inbound connection.
    group: Option<IpAddr>,
}

/// See the module documentation.
#[derive(Debug, Default)]
pub(crate) struct ConnectionBook {
    slots: HashMap<ConnectionId, Slot>,
    /// Established, inbound only.
    inbound: usize,
    /// Established, all.
    established: usize,
    pending_inbound: usize,
    pending_outbound: usize,
    per_peer: HashMap<PeerId, usize>,
    /// Inbound, pending and established.
    per_group: HashMap<IpAddr, usize>,
}

/// Addresses that count as one: an IPv4 address, or the /64 network that a single IPv6 customer owns whole.
/// All of 127.0.0.0/8 is one loopback address.
fn group_of(ip: IpAddr) -> IpAddr {
    let ip = ip.to_canonical();
    match ip {
        _ if ip.is_loopback() => IpAddr::V4(Ipv4Addr::LOCALHOST),
        IpAddr::V4(_) => ip,
        IpAddr::V6(v6) => IpAddr::V6((v6.to_bits() >> 64 << 64).into()),
    }
}

fn less<K: Eq + Hash>(counts: &mut HashMap<K, usize>, key: &K) {
    if let Some(count) = counts.get_mut(key) {
        *count -= 1;
        if *count == 0 {
            counts.remove(key);
        }
    }
}

impl ConnectionBook {
    /// A stranger connects; who it is shows later.
    pub(crate) fn begin_inbound(
        &mut self,
        limits: &ConnectionLimits,
        id: ConnectionId,
        ip: Option<IpAddr>,
    ) -> Result<(), DenyReason> {
        self.check_pending(self.pending_inbound, limits.pending_inbound)?;
        // Refused before the costly handshake if there is no room anyway.
        self.check_maximum(limits, true)?;
        let group = ip.map(group_of);
        if let Some(group) = group {
            let have = self.per_group.get(&group).copied().unwrap_or_default();
            let limit = if group.is_loopback() {
                limits.per_loopback_address
            } else {
                limits.per_address
            };
            if have >= limit {
                return Err(DenyReason::PerAddress { have, limit });
            }
            *self.per_group.entry(group).or_default() += 1;
        }
        self.pending_inbound += 1;
        self.slots.insert(
            id,
            Slot {
                inbound: true,
                peer: None,
                group,
            },
        );
        Ok(())
    }

    /// This node dials.
    pub(crate) fn begin_outbound(
        &mut self,
        limits: &ConnectionLimits,
        id: ConnectionId,
    ) -> Result<(), DenyReason> {
        self.check_pending(self.pending_outbound, limits.pending_outbound)?;
        self.check_maximum(limits, false)?;
        self.pending_outbound += 1;
        self.slots.insert(
            id,
            Slot {
                inbound: false,
                peer: None,
                group: None,
            },
        );
        Ok(())
    }

    /// The handshake is done and the peer is known. On an error the caller strikes the connection out.
    pub(crate) fn establish(
        &mut self,
        limits: &ConnectionLimits,
        id: ConnectionId,
        peer: PeerId,
    ) -> Result<(), DenyReason> {
        let Some(slot) = self.slots.get(&id).copied().filter(|slot| slot.peer.is_none()) else {
            return Ok(());
        };
        self.check_maximum(limits, slot.inbound)?;
        let have = self.per_peer.get(&peer).copied().unwrap_or_default();
        if have >= limits.per_peer {
            return Err(DenyReason::PerPeer {
                have,
                limit: limits.per_peer,
            });
        }
        self.forget_pending(slot.inbound);
        self.established += 1;
        self.inbound += usize::from(slot.inbound);
        *self.per_peer.entry(peer).or_default() += 1;
        self.slots.insert(
            id,
            Slot {
                peer: Some(peer),
                ..slot
            },
        );
        Ok(())
    }

    /// The connection failed or closed. Unknown ones (denied at the door) are ignored.
    pub(crate) fn remove(&mut self, id: ConnectionId) {
        let Some(slot) = self.slots.remove(&id) else {
            return;
        };
        if let Some(group) = slot.group {
            less(&mut self.per_group, &group);
        }
        match slot.peer {
            None => self.forget_pending(slot.inbound),
            Some(peer) => {
                less(&mut self.per_peer, &peer);
                self.established -= 1;
                self.inbound -= usize::from(slot.inbound);
            }
        }
    }

    fn forget_pending(&mut self, inbound: bool) {
        if inbound {
            self.pending_inbound -= 1;
        } else {
            self.pending_outbound -= 1;
        }
    }

    fn check_pending(&self, have: usize, limit: usize) -> Result<(), DenyReason> {
        if have >= limit {
            return Err(DenyReason::Pending { have, limit });
        }
        Ok(())
    }

    fn check_maximum(&self, limits: &ConnectionLimits, inbound: bool) -> Result<(), DenyReason> {
        if self.established >= limits.maximum {
            return Err(DenyReason::Maximum {
                have: self.established,
                limit: limits.maximum,
            });
        }
        let limit = limits.maximum_inbound();
        if inbound && self.inbound >= limit {
            return Err(DenyReason::Maximum {
                have: self.inbound,
                limit,
            });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ip(text: &str) -> Option<IpAddr> {
        Some(text.parse().unwrap())
    }

    fn id(number: usize) -> ConnectionId {
        ConnectionId::new_unchecked(number)
    }

    #[test]
    fn address_groups() {
        for (text, group) in [
            ("1.2.3.4", "1.2.3.4"),
            ("::ffff:1.2.3.4", "1.2.3.4"),
            ("127.0.0.9", "127.0.0.1"),
            ("::1", "127.0.0.1"),
            ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::"),
        ] {
            assert_eq!(Some(group_of(ip(text).unwrap())), ip(group), "{text}");
        }
    }

    #[test]
    fn each_limit_denies_and_frees() {
        let limits = ConnectionLimits {
            desired: 2,
            maximum: 5,
            per_peer: 2,
            per_address: 3,
            per_loopback_address: 1,
            pending_inbound: 2,
            pending_outbound: 1,
        };
        assert_eq!(limits.maximum_inbound(), 4);
        let mut book = ConnectionBook::default();
        let peer = PeerId::random();
        // Pending, both directions.
        book.begin_inbound(&limits, id(1), ip("1.1.1.1")).unwrap();
        book.begin_inbound(&limits, id(2), ip("1.1.1.1")).unwrap();
        assert!(matches!(
            book.begin_inbound(&limits, id(3), ip("2.2.2.2")),
            Err(DenyReason::Pending { have: 2, limit: 2 })
        ));
        book.begin_outbound(&limits, id(4)).unwrap();
        assert!(matches!(
            book.begin_outbound(&limits, id(5)),
            Err(DenyReason::Pending { .. })
        ));
        // Established: per peer.
        book.establish(&limits, id(1), peer).unwrap();
        book.establish(&limits, id(2), peer).unwrap();
        assert!(matches!(
            book.establish(&limits, id(4), peer),
            Err(DenyReason::PerPeer { have: 2, limit: 2 })
        ));
        book.remove(id(4));
        // Per address, loopback apart.
        book.begin_inbound(&limits, id(6), ip("1.1.1.1")).unwrap();
        assert!(matches!(
            book.begin_inbound(&limits, id(7), ip("1.1.1.1")),
            Err(DenyReason::PerAddress { have: 3, limit: 3 })
        ));
        book.begin_inbound(&limits, id(8), ip("127.0.0.1")).unwrap();
        book.establish(&limits, id(6), PeerId::random()).unwrap();
        assert!(matches!(
            book.begin_inbound(&limits, id(9), ip("127.0.0.2")),
            Err(DenyReason::PerAddress { have: 1, limit: 1 })
        ));
        // Inbound connections leave a place for dialed ones.
        book.establish(&limits, id(8), PeerId::random()).unwrap();
        assert!(matches!(
            book.begin_inbound(&limits, id(10), ip("3.3.3.3")),
            Err(DenyReason::Maximum { have: 4, limit: 4 })
        ));
        book.begin_outbound(&limits, id(11)).unwrap();
        book.establish(&limits, id(11), PeerId::random()).unwrap();
        assert!(matches!(
            book.begin_outbound(&limits, id(12)),
            Err(DenyReason::Maximum { have: 5, limit: 5 })
        ));
        // All freed, unknown ids ignored.
        for number in 0..20 {
            book.remove(id(number));
        }
        assert!(book.slots.is_empty() && book.per_peer.is_empty() && book.per_group.is_empty());
        assert_eq!(
            (
                book.established,
                book.inbound,
                book.pending_inbound,
                book.pending_outbound
            ),
            (0, 0, 0, 0)
        );
    }
}
