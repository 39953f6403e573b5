//! The scheduler as the driver, the feeder and the writer share it.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;

use super::network::{BlockNetwork, Misbehavior};
use super::proof::Verdict;
use super::scheduler::Scheduler;
use super::window::ReadyBlocks;
use crate::pipeline::Origin;
use crate::writer::{BlockFault, Rejected, Rejection};

/// Peers that must have sent a block which passes every check of its own, but does not link or breaks a rule,
/// before the fault is taken to be on this side.
const AGREEING_PEERS: usize = 3;

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
}

impl Shared {
    pub(super) fn new(scheduler: Scheduler) -> Self {
        Self {
            scheduler: Mutex::new(scheduler),
            ready: Condvar::new(),
            changed: Notify::new(),
            ended: AtomicBool::new(false),
            verdict: Mutex::new(None),
        }
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
        drop(scheduler);
        if blocks.is_some() {
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

/// The writer's way to say that a block was refused.
#[derive(Debug)]
pub(super) struct Blame {
    shared: Arc<Shared>,
    network: Arc<dyn BlockNetwork>,
    /// Blocks up to this one were proven before they reached the writer.
    proven_through: u32,
    disputed: u32,
    disputing: BTreeSet<Arc<str>>,
}

impl Blame {
    pub(super) fn new(shared: Arc<Shared>, network: Arc<dyn BlockNetwork>, proven_through: u32) -> Self {
        Self {
            shared,
            network,
            proven_through,
            disputed: 0,
            disputing: BTreeSet::new(),
        }
    }
}

impl Rejected for Blame {
    fn rejected(&mut self, rejection: &Rejection<'_>) -> bool {
        let Rejection {
            number,
            origin: Origin::Peer(peer),
            fault,
        } = rejection
        else {
            return false;
        };
        let reason = fault.to_string();
        if *number <= self.proven_through && !matches!(fault, BlockFault::Prepare(_)) {
            tracing::error!(
                target: "sync",
                "block {number} is the one that the checkpoint vouches for, and cannot be applied: {reason}. The fault \
                 is this node's (its state or its rules), no peer is blamed"
            );
            return false;
        }
        tracing::warn!(target: "sync", "block {number} from {peer} was refused: {reason}");
        if !matches!(fault, BlockFault::Prepare(_)) {
            // The block is whole; if several peers have the same one, the fault may be ours.
            if self.disputed != *number {
                self.disputed = *number;
                self.disputing.clear();
            }
            self.disputing.insert(Arc::clone(peer));
            if self.disputing.len() >= AGREEING_PEERS {
                tracing::error!(
                    target: "sync",
                    "{AGREEING_PEERS} peers agree on a block {number} that this node refuses; no peer is blamed"
                );
                return false;
            }
        }
        self.network.misbehaved(
            peer,
            &Misbehavior::BadBlock {
                number: *number,
                reason,
            },
        );
        self.shared.lock().rewind(*number, peer);
        self.shared.changed.notify_one();
        true
    }
}
