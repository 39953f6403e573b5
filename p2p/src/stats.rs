//! Counters of one peer: bytes, speed, open streams.

use std::{
    collections::VecDeque,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};

/// Length of the window over which the speed is taken, in seconds.
const WINDOW: u64 = 10;

/// Shared by the tasks that serve the peer or read from it.
#[derive(Debug)]
pub(crate) struct PeerStats {
    since: Instant,
    pub(crate) received: AtomicU64,
    pub(crate) sent: AtomicU64,
    /// An announcement or status exchange is under way: the next one waits for its turn.
    pub(crate) updating: AtomicBool,
    inbound_streams: AtomicUsize,
    ranges: AtomicUsize,
    /// Bytes received per second since `since`, newest last, at most [`WINDOW`] entries.
    seconds: Mutex<VecDeque<(u64, u64)>>,
}

impl PeerStats {
    pub(crate) fn new() -> Self {
        Self {
            since: Instant::now(),
            received: AtomicU64::new(0),
            sent: AtomicU64::new(0),
            updating: AtomicBool::new(false),
            inbound_streams: AtomicUsize::new(0),
            ranges: AtomicUsize::new(0),
            seconds: Mutex::new(VecDeque::new()),
        }
    }

    pub(crate) fn age(&self) -> Duration {
        self.since.elapsed()
    }

    /// Counts received block bytes.
    pub(crate) fn add_received(&self, bytes: usize) {
        self.received.fetch_add(bytes as u64, Relaxed);
        let now = self.since.elapsed().as_secs();
        let mut seconds = self.seconds.lock().unwrap_or_else(PoisonError::into_inner);
        match seconds.back_mut() {
            Some((second, sum)) if *second == now => *sum += bytes as u64,
            _ => {
                if seconds.len() as u64 >= WINDOW {
                    seconds.pop_front();
                }
                seconds.push_back((now, bytes as u64));
            }
        }
    }

    /// Received block bytes per second over the last [`WINDOW`] seconds, or since the peer connected.
    pub(crate) fn rate(&self) -> u64 {
        let age = self.since.elapsed();
        let now = age.as_secs();
        let seconds = self.seconds.lock().unwrap_or_else(PoisonError::into_inner);
        let sum: u64 = seconds
            .iter()
            .filter(|(second, _)| second + WINDOW > now)
            .map(|(_, sum)| sum)
            .sum();
        let window = age.as_secs_f64().clamp(0.1, WINDOW as f64);
        (sum as f64 / window) as u64
    }

    /// Takes one of `limit` places for an inbound stream.
    pub(crate) fn take_stream(self: &Arc<Self>, limit: usize) -> Option<Place> {
        Place::take(self, |stats| &stats.inbound_streams, limit)
    }

    /// Takes one of `limit` places for a range that is served.
    pub(crate) fn take_range(self: &Arc<Self>, limit: usize) -> Option<Place> {
        Place::take(self, |stats| &stats.ranges, limit)
    }
}

/// A place in a limited number; free again when it is dropped.
#[derive(Debug)]
pub(crate) struct Place {
    stats: Arc<PeerStats>,
    counter: fn(&PeerStats) -> &AtomicUsize,
}

impl Place {
    fn take(stats: &Arc<PeerStats>, counter: fn(&PeerStats) -> &AtomicUsize, limit: usize) -> Option<Self> {
        counter(stats)
            .fetch_update(Relaxed, Relaxed, |have| (have < limit).then_some(have + 1))
            .ok()?;
        Some(Self {
            stats: Arc::clone(stats),
            counter,
        })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        (self.counter)(&self.stats).fetch_sub(1, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_limited_and_come_back() {
        let stats = Arc::new(PeerStats::new());
        let first = stats.take_stream(2);
        let second = stats.take_stream(2);
        assert!(first.is_some() && second.is_some() && stats.take_stream(2).is_none());
        assert!(stats.take_range(1).is_some());
        drop(first);
        assert!(stats.take_stream(2).is_some());
    }

    #[test]
    fn the_rate_covers_the_last_seconds_only() {
        let mut stats = PeerStats::new();
        stats.since -= Duration::from_secs(100);
        stats.seconds.lock().unwrap().push_back((50, 1_000_000));
        stats.add_received(5_000);
        stats.add_received(5_000);
        assert_eq!(stats.rate(), 1_000);
    }
}
