//! Ids of blocks that are not to be tried again.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use cairn_chain::BlockId;

/// Ids that are remembered; the oldest are forgotten first. A forgotten one that comes again costs another attempt.
pub const MAX_REFUSED: usize = 4_096;

/// Refused blocks with the reason.
#[derive(Debug, Default)]
pub(super) struct Refused {
    reasons: HashMap<BlockId, Arc<str>>,
    order: VecDeque<BlockId>,
}

impl Refused {
    pub(super) fn reason(&self, id: &BlockId) -> Option<&Arc<str>> {
        self.reasons.get(id)
    }

    pub(super) fn insert(&mut self, id: BlockId, reason: Arc<str>) {
        if self.reasons.insert(id, reason).is_some() {
            return;
        }
        self.order.push_back(id);
        if self.order.len() > MAX_REFUSED
            && let Some(oldest) = self.order.pop_front()
        {
            self.reasons.remove(&oldest);
        }
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.reasons.len()
    }
}
