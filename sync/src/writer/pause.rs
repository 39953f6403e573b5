//! A pause until there is room on a disk: what the statistics and the operator see of it.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use crate::room::Shortage;
use crate::stats::{Meter, Phase};

/// Time between two lines about a pause that goes on: often enough to be found, rare enough not to fill a disk.
const REMINDER: Duration = Duration::from_secs(60);

/// A pause for want of room; the writer's time counts as waiting for the disk.
#[derive(Debug)]
pub struct Pause {
    meter: Arc<Meter>,
    started: Instant,
    reminded: Cell<Instant>,
}

impl Pause {
    /// Says why, where and what to do.
    pub fn begin(meter: &Arc<Meter>, shortage: &Shortage) -> Self {
        meter.disk_full.store(true, Relaxed);
        meter.clock.enter(Phase::WaitingForLocks);
        tracing::warn!(
            target: "writer",
            "disk full: paused at block {}, {shortage}. Free some space or enlarge the file system: the node goes on by \
             itself. Blocks up to {} are durable and are served meanwhile",
            meter.head.number(),
            meter.durable.load(Relaxed)
        );
        let now = Instant::now();
        Self {
            meter: Arc::clone(meter),
            started: now,
            reminded: Cell::new(now),
        }
    }

    /// Says it again now and then.
    pub fn remind(&self, shortage: &Shortage) {
        if self.reminded.get().elapsed() >= REMINDER {
            self.reminded.set(Instant::now());
            tracing::warn!(
                target: "writer",
                "disk full: still paused after {} s, {shortage}",
                self.started.elapsed().as_secs()
            );
        }
    }

    /// Ends the pause; says so when it ends well.
    pub fn end(self, room: bool) {
        if room {
            tracing::info!(
                target: "writer",
                "disk full no more: going on after {:.1} s",
                self.started.elapsed().as_secs_f64()
            );
        }
    }
}

impl Drop for Pause {
    fn drop(&mut self) {
        self.meter.disk_full.store(false, Relaxed);
        self.meter.clock.enter(Phase::ProcessingBlocks);
    }
}
