//! What becomes due at a time, one queue a kind.

use crate::time_queue::TimeQueue;

/// The queues. Their numbers are part of the registers' keys.
#[derive(Debug, Clone)]
pub(crate) struct Queues {
    /// Recovery requests expire.
    pub(crate) recovery_requests: TimeQueue,
    /// The oldest entry of an account's owner history is dropped.
    pub(crate) owner_history: TimeQueue,
    /// Changes of recovery accounts take effect.
    pub(crate) recovery_changes: TimeQueue,
    /// Declining of voting rights takes effect.
    pub(crate) declined_voting: TimeQueue,
    /// Governance votes expire.
    pub(crate) governance: TimeQueue,
}

impl Queues {
    pub(crate) const fn new() -> Self {
        Self {
            recovery_requests: TimeQueue::new(1),
            owner_history: TimeQueue::new(2),
            recovery_changes: TimeQueue::new(3),
            declined_voting: TimeQueue::new(4),
            governance: TimeQueue::new(5),
        }
    }

    /// Forgets what is remembered of the registers.
    pub(crate) fn forget(&mut self) {
        *self = Self::new();
    }
}
