//! What is remembered of each peer: its speed and how it disappointed.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Weight of the newest measurement in a peer's speed.
const NEWEST: f64 = 0.3;

/// Rest after a first failure; doubles with every further one, up to [`LONGEST_REST`].
const REST: Duration = Duration::from_secs(1);
const LONGEST_REST: Duration = Duration::from_secs(64);

/// Peers that are remembered although they are gone.
const REMEMBERED: usize = 512;

#[derive(Clone, Debug, Default)]
pub(super) struct PeerRecord {
    /// Bytes a second while a request ran; `None` before the first measurement.
    speed: Option<f64>,
    failures: u32,
    rests_until: Option<Instant>,
    /// Requests under way.
    pub(super) in_flight: usize,
}

/// All peers that are connected, or were when something was still under way with them.
#[derive(Clone, Debug, Default)]
pub(super) struct PeerBook {
    records: HashMap<Arc<str>, PeerRecord>,
}

impl PeerBook {
    pub(super) fn get_mut(&mut self, peer: &Arc<str>) -> &mut PeerRecord {
        self.records.entry(Arc::clone(peer)).or_default()
    }

    pub(super) fn get(&self, peer: &str) -> Option<&PeerRecord> {
        self.records.get(peer)
    }

    /// Bytes a second; more than any while it is not known, so that it becomes known.
    pub(super) fn speed(&self, peer: &str) -> f64 {
        self.get(peer).and_then(PeerRecord::speed).unwrap_or(f64::MAX)
    }

    /// Forgets peers that are gone, once there are many: one that comes back is not to be taken for a new one.
    pub(super) fn retain(&mut self, connected: impl Fn(&str) -> bool) {
        if self.records.len() <= REMEMBERED {
            return;
        }
        self.records
            .retain(|peer, record| record.in_flight > 0 || connected(peer));
    }
}

impl PeerRecord {
    pub(super) fn speed(&self) -> Option<f64> {
        self.speed
    }

    pub(super) fn rests(&self, now: Instant) -> bool {
        self.rests_until.is_some_and(|until| now < until)
    }

    /// A request gave `bytes` in `elapsed`.
    pub(super) fn delivered(&mut self, bytes: u64, elapsed: Duration) {
        let measured = bytes as f64 / elapsed.as_secs_f64().max(1e-3);
        self.speed = Some(self.speed.map_or(measured, |old| old + NEWEST * (measured - old)));
        self.failures = 0;
        self.rests_until = None;
    }

    /// A request failed or stalled: the peer rests, so that others are asked first.
    pub(super) fn disappointed(&mut self, now: Instant) {
        let rest = REST * 2u32.saturating_pow(self.failures.min(6));
        self.failures = self.failures.saturating_add(1);
        self.rests_until = Some(now + rest.min(LONGEST_REST));
        self.speed = self.speed.map(|speed| speed / 2.0);
    }
}
