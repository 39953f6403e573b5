//! What is remembered of banned peers. No clock of its own.

use std::{
    collections::HashMap,
    time::{Duration, SystemTime},
};

use libp2p::PeerId;

/// Longest ban that repeated offences lead to, unless the first one was longer.
const LONGEST: Duration = Duration::from_secs(86_400);

/// After a ban has ended, the time of good behavior after which its peer starts afresh.
pub(super) const FORGET_AFTER: Duration = Duration::from_secs(2 * 86_400);

/// Most peers that are remembered. The ids are made by whoever connects, so their number must have a limit; the
/// entries that end first go first.
pub(super) const MOST_ENTRIES: usize = 4096;

/// Longest reason that is kept, in bytes.
const LONGEST_REASON: usize = 300;

/// A century is as good as for ever, and cannot overflow.
const FOR_EVER: Duration = Duration::from_secs(100 * 365 * 86_400);

/// What is remembered of one peer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entry {
    /// When the ban ends or ended.
    pub(super) until: SystemTime,
    /// How long it was when it was spoken.
    pub(super) length: Duration,
    /// Offences that are remembered; 0 if it was turned away without one.
    pub(super) offences: u32,
    /// Why.
    pub(super) reason: String,
}

impl Entry {
    /// Time left.
    pub(super) fn remaining(&self, now: SystemTime) -> Duration {
        self.until
            .duration_since(now)
            .unwrap_or_default()
            .min(self.length)
    }

    pub(super) fn holds(&self, now: SystemTime) -> bool {
        !self.remaining(now).is_zero()
    }

    /// Whether it still matters.
    fn remembered(&self, now: SystemTime) -> bool {
        let kept = if self.offences == 0 {
            Duration::ZERO
        } else {
            FORGET_AFTER
        };
        self.until.checked_add(kept).is_some_and(|end| end > now)
    }
}

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Record(HashMap<PeerId, Entry>);

impl Record {
    /// Bans for `base`, or for twice as long as the last time if the peer's last offence is not forgotten. While a
    /// ban holds the peer cannot offend again: another call is about the same offence: it changes nothing unless it asks for more.
    pub(super) fn ban(&mut self, peer: PeerId, base: Duration, reason: &str, now: SystemTime) -> Entry {
        let known = self.0.get(&peer).filter(|entry| entry.remembered(now));
        let before = known.map_or(0, |entry| entry.offences);
        let same = known.is_some_and(|entry| entry.holds(now) && entry.offences > 0);
        let offences = if same { before } else { before.saturating_add(1) };
        let doubled = 2_u32.checked_pow(offences.saturating_sub(1)).unwrap_or(u32::MAX);
        let length = base.saturating_mul(doubled).min(LONGEST.max(base)).min(FOR_EVER);
        if let Some(entry) = known.filter(|entry| same && entry.length >= length) {
            return entry.clone();
        }
        self.keep_longer(peer, length, offences, reason, now)
    }

    pub(super) fn turn_away(&mut self, peer: PeerId, length: Duration, reason: &str, now: SystemTime) {
        let known = self.0.get(&peer).filter(|entry| entry.remembered(now));
        let offences = known.map_or(0, |entry| entry.offences);
        self.keep_longer(peer, length.min(FOR_EVER), offences, reason, now);
    }

    fn keep_longer(
        &mut self,
        peer: PeerId,
        length: Duration,
        offences: u32,
        reason: &str,
        now: SystemTime,
    ) -> Entry {
        self.make_room(&peer, now);
        let entry = Entry {
            until: now.checked_add(length).unwrap_or(now),
            length,
            offences,
            reason: reason
                .chars()
                .filter(|c| !c.is_control())
                .scan(0, |bytes, c| {
                    *bytes += c.len_utf8();
                    (*bytes <= LONGEST_REASON).then_some(c)
                })
                .collect(),
        };
        let kept = self.0.entry(peer).or_insert_with(|| entry.clone());
        if kept.remaining(now) < length {
            *kept = entry;
        } else {
            kept.offences = offences;
        }
        kept.clone()
    }

    /// Takes over an entry from a file; one that does not matter any more is left out.
    pub(super) fn insert(&mut self, peer: PeerId, entry: Entry, now: SystemTime) {
        // A clock that ran ahead when the ban was spoken: it ends no later than it would have from now on.
        let latest = now.checked_add(entry.length).unwrap_or(now);
        let until = entry.until.min(latest);
        let entry = Entry { until, ..entry };
        if entry.remembered(now) {
            self.make_room(&peer, now);
            self.0.insert(peer, entry);
        }
    }

    /// Removes a peer; false if no ban held.
    pub(super) fn lift(&mut self, peer: &PeerId, now: SystemTime) -> bool {
        self.0.remove(peer).is_some_and(|entry| entry.holds(now))
    }

    pub(super) fn get(&self, peer: &PeerId) -> Option<&Entry> {
        self.0.get(peer)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&PeerId, &Entry)> {
        self.0.iter()
    }

    /// Throws out what is forgotten.
    pub(super) fn sweep(&mut self, now: SystemTime) {
        self.0.retain(|_, entry| entry.remembered(now));
    }

    /// Makes sure that one more entry fits.
    fn make_room(&mut self, peer: &PeerId, now: SystemTime) {
        if self.0.len() < MOST_ENTRIES || self.0.contains_key(peer) {
            return;
        }
        self.sweep(now);
        if self.0.len() < MOST_ENTRIES {
            return;
        }
        let mut ends: Vec<SystemTime> = self.0.values().map(|entry| entry.until).collect();
        // An eighth at once, so that a flood does not sort the list for each entry.
        let (_, end, _) = ends.select_nth_unstable(MOST_ENTRIES / 8);
        let end = *end;
        let mut surplus = MOST_ENTRIES / 8 + 1;
        self.0.retain(|_, entry| {
            let goes = surplus > 0 && entry.until <= end;
            surplus -= usize::from(goes);
            !goes
        });
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }
}
