//! The scheduler as the driver, the feeder and the writer share it.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use cairn_chain::BlockId;
use tokio::sync::Notify;

use super::proof::Verdict;
use super::scheduler::Scheduler;
use super::window::ReadyBlocks;

/// Blocks that the writer could not use and the driver has not looked at yet; what is more is forgotten, and comes
/// to light when it is missed.
const MOST_UNUSED: usize = 4096;

/// A block that was fed and is not in the fork database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Unused {
    /// Who sent it.
    pub(super) peer: Arc<str>,
    /// Its number.
    pub(super) number: u32,
    /// Its id, if it could be decoded.
    pub(super) id: Option<BlockId>,
    /// Its parent, if that is not here.
    pub(super) missing: Option<BlockId>,
    /// It broke a rule.
    pub(super) refused: bool,
    /// Its time has not come.
    pub(super) early: bool,
}

#[derive(Debug)]
pub(super) struct Shared {
    scheduler: Mutex<Scheduler>,
    ready: Condvar,
    /// Wakes the driver: there is room in the window, or a range is wanted again.
    pub(super) changed: Notify,
    /// Set when nothing is wanted any more.
    pub(super) ended: AtomicBool,
    /// Why, if it is for the operator to go on.
    verdict: Mutex<Option<Verdict>>,
    unused: Mutex<Vec<Unused>>,
}

impl Shared {
    pub(super) fn new(scheduler: Scheduler) -> Self {
        Self {
            scheduler: Mutex::new(scheduler),
            ready: Condvar::new(),
            changed: Notify::new(),
            ended: AtomicBool::new(false),
            verdict: Mutex::new(None),
            unused: Mutex::default(),
        }
    }

    /// The writer could not use a block.
    pub(super) fn note_unused(&self, unused: Unused) {
        let mut list = self.unused.lock().unwrap_or_else(PoisonError::into_inner);
        if list.len() < MOST_UNUSED {
            list.push(unused);
        }
        drop(list);
        self.changed.notify_one();
    }

    /// What the writer could not use since the last call.
    pub(super) fn take_unused(&self) -> Vec<Unused> {
        std::mem::take(&mut self.unused.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Scheduler> {
        self.scheduler.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Wakes the feeder if the next block is there.
    pub(super) fn notify_ready(&self) {
        self.ready.notify_one();
    }

    /// The next blocks in order; `None` when nothing came for a while.
    pub(super) fn wait_ready(&self, max: usize, wait: Duration) -> Option<ReadyBlocks> {
        let guard = self.lock();
        let (mut scheduler, _) = self
            .ready
            .wait_timeout_while(guard, wait, |scheduler| {
                !scheduler.next_is_ready() && !self.ended.load(Relaxed)
            })
            .unwrap_or_else(PoisonError::into_inner);
        let blocks = scheduler.take_ready(max);
        if scheduler.has_room_for_more() {
            self.changed.notify_one();
        }
        blocks
    }

    /// Ends the sync once what has left the window is applied.
    pub(super) fn end_with(&self, verdict: Verdict) {
        *self.verdict.lock().unwrap_or_else(PoisonError::into_inner) = Some(verdict);
        self.end();
    }

    pub(super) fn take_verdict(&self) -> Option<Verdict> {
        self.verdict.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    pub(super) fn end(&self) {
        self.ended.store(true, Relaxed);
        self.ready.notify_all();
        self.changed.notify_one();
    }
}
