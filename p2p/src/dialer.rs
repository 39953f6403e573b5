//! Which seed to dial, and when. A state machine without a clock or a network of its own.
//!
//! A seed is looked up, then each of its addresses is tried with each of its transports, one after the other. When
//! all have failed the seed waits: longer after each failure, with some chance in it. A seed whose peer is
//! connected, or banned, or is this node itself, is left alone.

use std::{
    collections::{VecDeque, hash_map::RandomState},
    hash::{BuildHasher, Hasher},
    net::IpAddr,
    time::{Duration, Instant},
};

use libp2p::{Multiaddr, PeerId, swarm::ConnectionId};

use crate::{Endpoint, Redial, ResolveError, endpoint::multiaddr};

/// A connection that lasted this long was a good one: the next failure counts as the first.
const GOOD_CONNECTION: Duration = Duration::from_secs(60);

/// Addresses of one name that are tried.
const MOST_ADDRESSES: usize = 8;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Idle { due: Instant },
    Resolving,
    Dialing { connection: ConnectionId },
    Connected { peer: PeerId },
    ThisNode,
}

#[derive(Debug)]
struct Seed {
    endpoint: Endpoint,
    phase: Phase,
    failures: u32,
    candidates: VecDeque<Multiaddr>,
    /// The peer that answered there last.
    peer: Option<PeerId>,
}

#[derive(Debug)]
pub(crate) struct Dialer {
    redial: Redial,
    seeds: Vec<Seed>,
}

/// A number that differs from call to call; the standard library's hasher keys are seeded by the system.
fn random() -> u64 {
    RandomState::new().build_hasher().finish()
}

/// Wait after the n-th failure in a row, n from 1: doubled each time up to the longest, then three to five quarters
/// of that, as `random` decides.
fn back_off(redial: &Redial, failures: u32, random: u64) -> Duration {
    let doubled = redial
        .first
        .saturating_mul(1 << failures.saturating_sub(1).min(20))
        .min(redial.longest);
    doubled.mul_f64(0.75 + (random % 1024) as f64 / 2048.0)
}

impl Dialer {
    pub(crate) fn new(seeds: &[Endpoint], redial: Redial, now: Instant) -> Self {
        let seeds = seeds.iter().map(|endpoint| Seed {
            endpoint: endpoint.clone(),
            phase: Phase::Idle { due: now },
            failures: 0,
            candidates: VecDeque::new(),
            peer: endpoint.peer,
        });
        Self {
            redial,
            seeds: seeds.collect(),
        }
    }

    /// The seeds whose turn it is, at most as many as there are places; each must then be reported as resolved.
    pub(crate) fn due(
        &mut self,
        now: Instant,
        places: usize,
        is_connected: impl Fn(&PeerId) -> bool,
        is_banned: impl Fn(&PeerId) -> bool,
    ) -> Vec<(usize, Endpoint)> {
        let longest = self.redial.longest;
        let under_way = self
            .seeds
            .iter()
            .filter(|seed| matches!(seed.phase, Phase::Resolving | Phase::Dialing { .. }));
        let mut places = places.saturating_sub(under_way.count());
        let mut due = Vec::new();
        for (index, seed) in self.seeds.iter_mut().enumerate() {
            if places == 0 {
                break;
            }
            if !matches!(seed.phase, Phase::Idle { due } if due <= now) {
                continue;
            }
            match seed.peer {
                Some(peer) if is_connected(&peer) => seed.phase = Phase::Connected { peer },
                Some(peer) if is_banned(&peer) => seed.phase = Phase::Idle { due: now + longest },
                _ => {
                    seed.phase = Phase::Resolving;
                    places -= 1;
                    due.push((index, seed.endpoint.clone()));
                }
            }
        }
        due
    }

    /// The peers behind the seeds when each one that is another node has answered before; `None`: one has not yet, or
    /// there is no seed.
    pub(crate) fn known_peers(&self) -> Option<Vec<PeerId>> {
        let others = self.seeds.iter().filter(|seed| seed.phase != Phase::ThisNode);
        let peers: Vec<PeerId> = others.map(|seed| seed.peer).collect::<Option<_>>()?;
        (!peers.is_empty()).then_some(peers)
    }

    /// The seed's name was looked up. Gives the address to dial first.
    pub(crate) fn resolved(
        &mut self,
        index: usize,
        addresses: Result<Vec<IpAddr>, ResolveError>,
        now: Instant,
    ) -> Option<Multiaddr> {
        let seed = &mut self.seeds[index];
        match addresses {
            Ok(addresses) => {
                seed.candidates = addresses
                    .iter()
                    .take(MOST_ADDRESSES)
                    .flat_map(|ip| {
                        let Endpoint { port, .. } = seed.endpoint;
                        let transports = seed.endpoint.transports().iter();
                        transports.map(move |transport| multiaddr(*ip, port, *transport))
                    })
                    .collect();
                seed.candidates.pop_front()
            }
            Err(error) => {
                self.wait(index, now, &format!("cannot be resolved: {error}"));
                None
            }
        }
    }

    /// The id that must answer there, if the operator gave one.
    pub(crate) fn expected_peer(&self, index: usize) -> Option<PeerId> {
        self.seeds[index].endpoint.peer
    }

    pub(crate) fn dialing(&mut self, index: usize, connection: ConnectionId) {
        self.seeds[index].phase = Phase::Dialing { connection };
    }

    fn dialed_by(&self, connection: ConnectionId) -> Option<usize> {
        let phase = Phase::Dialing { connection };
        self.seeds.iter().position(|seed| seed.phase == phase)
    }

    /// A dial failed. Gives the seed and the next address to try; if there is none the seed waits.
    pub(crate) fn failed(
        &mut self,
        connection: ConnectionId,
        error: &str,
        now: Instant,
    ) -> Option<(usize, Multiaddr)> {
        let index = self.dialed_by(connection)?;
        match self.seeds[index].candidates.pop_front() {
            Some(address) => Some((index, address)),
            None => {
                self.wait(index, now, &format!("cannot be reached: {error}"));
                None
            }
        }
    }

    /// The seed turned out to be this node.
    pub(crate) fn is_this_node(&mut self, connection: ConnectionId) {
        if let Some(index) = self.dialed_by(connection) {
            let seed = &mut self.seeds[index];
            tracing::info!(target: "p2p", "Seed node {} is this node", seed.endpoint);
            seed.phase = Phase::ThisNode;
        }
    }

    /// A connection stands; true if a seed was dialed for it.
    pub(crate) fn connected(&mut self, connection: ConnectionId, peer: PeerId) -> bool {
        let Some(index) = self.dialed_by(connection) else {
            return false;
        };
        let seed = &mut self.seeds[index];
        seed.phase = Phase::Connected { peer };
        seed.peer = Some(peer);
        seed.candidates.clear();
        true
    }

    /// The last connection to a peer closed, after it was ready for so long (`None`: never).
    pub(crate) fn disconnected(&mut self, peer: &PeerId, ready_for: Option<Duration>, now: Instant) {
        for index in 0..self.seeds.len() {
            if self.seeds[index].phase != (Phase::Connected { peer: *peer }) {
                continue;
            }
            let seed = &mut self.seeds[index];
            if ready_for.is_some_and(|time| time >= GOOD_CONNECTION) {
                seed.failures = 0;
            }
            seed.failures += 1;
            seed.phase = Phase::Idle {
                due: now + back_off(&self.redial, seed.failures, random()),
            };
        }
    }

    /// One warning for the first failure; the others only at debug level.
    fn wait(&mut self, index: usize, now: Instant, problem: &str) {
        let seed = &mut self.seeds[index];
        seed.failures += 1;
        let delay = back_off(&self.redial, seed.failures, random());
        seed.phase = Phase::Idle { due: now + delay };
        let Seed {
            endpoint, failures, ..
        } = seed;
        if *failures == 1 {
            tracing::warn!(target: "p2p", "Seed node {endpoint} {problem}; it will be tried again");
        } else {
            tracing::debug!(target: "p2p", "Seed node {endpoint} {problem} ({failures} failures)");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const REDIAL: Redial = Redial {
        first: Duration::from_secs(1),
        longest: Duration::from_secs(30),
        wrong_chain: Duration::from_secs(600),
    };

    fn connection(number: usize) -> ConnectionId {
        ConnectionId::new_unchecked(number)
    }

    fn dialer(seeds: &[&str], now: Instant) -> Dialer {
        let seeds: Vec<Endpoint> = seeds.iter().map(|seed| seed.parse().unwrap()).collect();
        Dialer::new(&seeds, REDIAL, now)
    }

    #[test]
    fn waits_double_up_to_the_longest() {
        for (failures, seconds) in [(1, 1.0), (2, 2.0), (5, 16.0), (6, 30.0), (60, 30.0)] {
            assert_eq!(back_off(&REDIAL, failures, 0).as_secs_f64(), seconds * 0.75);
            let most = back_off(&REDIAL, failures, 1023).as_secs_f64();
            assert!(most > seconds * 1.24 && most < seconds * 1.25);
        }
        assert_ne!(random(), random());
    }

    #[test]
    fn every_address_is_tried_before_the_seed_waits() {
        let now = Instant::now();
        let mut dialer = dialer(&["a.b:7"], now);
        let due = dialer.due(now, 5, |_| false, |_| false);
        assert_eq!(due.len(), 1);
        // Not twice at the same time.
        assert!(dialer.due(now, 5, |_| false, |_| false).is_empty());
        let ips = ["1.1.1.1", "::2"].map(|ip| ip.parse().unwrap()).to_vec();
        let mut next = dialer.resolved(0, Ok(ips), now);
        let mut tried = Vec::new();
        while let Some(address) = next {
            dialer.dialing(0, connection(tried.len()));
            next = dialer
                .failed(connection(tried.len()), "refused", now)
                .map(|(_, address)| address);
            tried.push(address.to_string());
        }
        assert_eq!(
            tried,
            [
                "/ip4/1.1.1.1/tcp/7",
                "/ip4/1.1.1.1/udp/7/quic-v1",
                "/ip6/::2/tcp/7",
                "/ip6/::2/udp/7/quic-v1"
            ]
        );
        assert!(dialer.due(now, 5, |_| false, |_| false).is_empty());
        let later = now + Duration::from_secs(2);
        assert_eq!(dialer.due(later, 5, |_| false, |_| false).len(), 1);
    }

    #[test]
    fn places_bans_and_connected_peers_hold_a_seed_back() {
        let now = Instant::now();
        let mut dialer = dialer(&["a.b:1", "a.b:2", "a.b:3"], now);
        assert_eq!(dialer.due(now, 2, |_| false, |_| false).len(), 2);
        assert!(dialer.due(now, 2, |_| false, |_| false).is_empty());
        // Seed 0 answers, stays for a while, and goes.
        let peer = PeerId::random();
        dialer.resolved(0, Ok(vec!["1.1.1.1".parse().unwrap()]), now);
        dialer.dialing(0, connection(1));
        assert!(dialer.connected(connection(1), peer));
        assert!(!dialer.connected(connection(9), peer));
        dialer.disconnected(&peer, Some(GOOD_CONNECTION), now);
        assert_eq!(dialer.seeds[0].failures, 1);
        let later = now + Duration::from_secs(5);
        // Only seed 0 and the untouched seed 2 could be dialed; seed 0's peer is banned.
        let due = dialer.due(later, 9, |_| false, |banned| *banned == peer);
        assert_eq!(due.iter().map(|(seed, _)| *seed).collect::<Vec<_>>(), [2]);
        // It connected by itself meanwhile.
        let later = later + REDIAL.longest;
        assert!(
            dialer
                .due(later, 9, |connected| *connected == peer, |_| false)
                .is_empty()
        );
        assert_eq!(dialer.seeds[0].phase, Phase::Connected { peer });
        assert_eq!(dialer.known_peers(), None, "two seeds have not answered yet");
        // A failure to resolve makes it wait.
        dialer.resolved(1, Err(ResolveError::Empty), later);
        assert!(matches!(dialer.seeds[1].phase, Phase::Idle { due } if due > later));
        // This node itself is never dialed again.
        dialer.dialing(2, connection(3));
        dialer.is_this_node(connection(3));
        let much_later = later + Duration::from_secs(10_000);
        assert_eq!(dialer.due(much_later, 9, |_| true, |_| false).len(), 1);
    }
}
