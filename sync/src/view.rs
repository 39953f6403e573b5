//! What the writer lets others see.

use std::sync::{Arc, Mutex, PoisonError};

use cairn_rules::Head;

use crate::pipeline::PreparedBlock;

/// Heads at one moment.
#[derive(Clone, Debug, Default)]
pub struct Heads {
    /// Last applied block; `None` before the first.
    pub head: Option<Head>,
    /// Last block that cannot be taken back.
    pub irreversible: Option<Head>,
    /// Last block that is durable in the state and, if there is one, in the block log.
    pub durable: Option<Head>,
    /// The applied blocks above the last irreversible one. The head is the last of them.
    pub reversible: ReversibleBlocks,
}

/// Consecutive applied blocks that could still be taken back, ascending. A snapshot: it stays as it is while the
/// writer goes on.
#[derive(Clone, Debug, Default)]
pub struct ReversibleBlocks(Arc<Vec<Arc<PreparedBlock>>>);

impl ReversibleBlocks {
    pub(crate) fn new(blocks: Vec<Arc<PreparedBlock>>) -> Self {
        debug_assert!(
            blocks
                .windows(2)
                .all(|pair| pair[1].block.block().header.previous == pair[0].block.id())
        );
        Self(Arc::new(blocks))
    }

    /// The number of the first one.
    pub fn first_number(&self) -> Option<u32> {
        self.0.first().map(|block| block.block.number())
    }

    /// The block with this number.
    pub fn get(&self, number: u32) -> Option<&Arc<PreparedBlock>> {
        let at = number.checked_sub(self.first_number()?)?;
        self.0.get(at as usize)
    }

    /// All of them, ascending.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<PreparedBlock>> {
        self.0.iter()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether the head is irreversible.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// The published heads. The writer replaces them once a batch and once a commit.
#[derive(Debug, Default)]
pub struct ChainView {
    heads: Mutex<Heads>,
}

impl ChainView {
    /// The heads now.
    pub fn heads(&self) -> Heads {
        self.heads.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// A state that was opened: everything is durable.
    pub(crate) fn begin_at(&self, head: Head) {
        self.publish(|heads| {
            *heads = Heads {
                head: Some(head),
                irreversible: Some(head),
                durable: Some(head),
                reversible: ReversibleBlocks::default(),
            };
        });
    }

    pub(crate) fn publish(&self, change: impl FnOnce(&mut Heads)) {
        change(&mut self.heads.lock().unwrap_or_else(PoisonError::into_inner));
    }
}
