//! What the writer lets others see.

use std::sync::{Mutex, PoisonError};

use cairn_rules::Head;

/// Heads at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Heads {
    /// Last applied block; `None` before the first.
    pub head: Option<Head>,
    /// Last block that is durable in the state and, if there is one, in the block log.
    pub durable: Option<Head>,
}

/// The published heads. The writer replaces them once a batch and once a commit.
#[derive(Debug, Default)]
pub struct ChainView {
    heads: Mutex<Heads>,
}

impl ChainView {
    /// The heads now.
    pub fn heads(&self) -> Heads {
        *self.heads.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn publish(&self, change: impl FnOnce(&mut Heads)) {
        change(&mut self.heads.lock().unwrap_or_else(PoisonError::into_inner));
    }
}
