//! Peers that are refused for a time. In memory; a ban ends by itself.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use libp2p::PeerId;

/// Expired entries are thrown out when the list has grown to this many.
const SWEEP_AT: usize = 1024;

/// Why a peer is refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ban {
    /// The peer.
    pub peer: PeerId,
    /// Time left.
    pub remaining: Duration,
    /// In words, for the log and the status page.
    pub reason: String,
}

#[derive(Debug)]
struct Entry {
    until: Instant,
    reason: String,
}

/// The list, shared by the handle and the gate that connections pass.
#[derive(Debug, Clone, Default)]
pub(crate) struct BanList(Arc<Mutex<HashMap<PeerId, Entry>>>);

impl BanList {
    fn lock(&self) -> MutexGuard<'_, HashMap<PeerId, Entry>> {
        // A panic elsewhere cannot leave a half-changed map.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Bans a peer from now on; a longer ban that is already there stays.
    pub(crate) fn ban(&self, peer: PeerId, duration: Duration, reason: String) {
        let now = Instant::now();
        // A century is as good as for ever, and cannot overflow.
        let until = now + duration.min(Duration::from_secs(100 * 365 * 86_400));
        let mut entries = self.lock();
        if entries.len() >= SWEEP_AT {
            entries.retain(|_, entry| entry.until > now);
        }
        match entries.get_mut(&peer) {
            Some(entry) if entry.until >= until => {}
            _ => {
                entries.insert(peer, Entry { until, reason });
            }
        }
    }

    pub(crate) fn unban(&self, peer: &PeerId) -> bool {
        self.lock().remove(peer).is_some()
    }

    /// The ban that holds for this peer now.
    pub(crate) fn get(&self, peer: &PeerId) -> Option<Ban> {
        let mut entries = self.lock();
        let entry = entries.get(peer)?;
        let remaining = entry.until.saturating_duration_since(Instant::now());
        if remaining.is_zero() {
            entries.remove(peer);
            return None;
        }
        Some(Ban {
            peer: *peer,
            remaining,
            reason: entry.reason.clone(),
        })
    }

    /// All bans that hold now.
    pub(crate) fn all(&self) -> Vec<Ban> {
        let now = Instant::now();
        self.lock()
            .iter()
            .filter(|(_, entry)| entry.until > now)
            .map(|(peer, entry)| Ban {
                peer: *peer,
                remaining: entry.until - now,
                reason: entry.reason.clone(),
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bans_end_and_the_longer_one_holds() {
        let bans = BanList::default();
        let peer = PeerId::random();
        assert_eq!(bans.get(&peer), None);
        bans.ban(peer, Duration::from_secs(60), "first".into());
        bans.ban(peer, Duration::from_secs(1), "second".into());
        assert_eq!(bans.get(&peer).unwrap().reason, "first");
        assert_eq!(bans.all().len(), 1);
        assert!(bans.unban(&peer));
        bans.ban(peer, Duration::ZERO, "over".into());
        assert_eq!(bans.get(&peer), None);
        assert!(bans.all().is_empty());
        bans.ban(peer, Duration::MAX, "for ever".into());
        assert!(bans.get(&peer).is_some());
    }

    #[test]
    fn the_list_does_not_grow_with_expired_bans() {
        let bans = BanList::default();
        for _ in 0..3 * SWEEP_AT {
            bans.ban(PeerId::random(), Duration::ZERO, String::new());
        }
        assert!(bans.lock().len() <= SWEEP_AT);
    }
}
