//! Blocks whose parent is not here.

use std::collections::{HashMap, HashSet, VecDeque};

use cairn_chain::BlockId;

use super::database::ForkBlock;

/// Blocks that may wait for their parent. A branch of this length can be received backwards.
pub const MAX_UNLINKED_BLOCKS: usize = 1_024;
/// Bytes that they may have.
pub const MAX_UNLINKED_BYTES: usize = 64 << 20;

/// See the module. The ones that have waited longest make room.
#[derive(Debug)]
pub(super) struct Unlinked<B> {
    by_parent: HashMap<BlockId, Vec<B>>,
    ids: HashSet<BlockId>,
    /// Id and parent, in the order of arrival; those that have left are passed over.
    order: VecDeque<(BlockId, BlockId)>,
    bytes: usize,
}

impl<B> Default for Unlinked<B> {
    fn default() -> Self {
        Self {
            by_parent: HashMap::new(),
            ids: HashSet::new(),
            order: VecDeque::new(),
            bytes: 0,
        }
    }
}

impl<B: ForkBlock> Unlinked<B> {
    pub(super) fn contains(&self, id: &BlockId) -> bool {
        self.ids.contains(id)
    }

    pub(super) fn len(&self) -> usize {
        self.ids.len()
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(super) fn insert(&mut self, block: B) {
        let (id, parent) = (block.id(), block.previous());
        self.bytes += block.bytes();
        self.ids.insert(id);
        self.order.push_back((id, parent));
        self.by_parent.entry(parent).or_default().push(block);
        while self.ids.len() > MAX_UNLINKED_BLOCKS || self.bytes > MAX_UNLINKED_BYTES {
            let Some((id, parent)) = self.order.pop_front() else {
                break;
            };
            self.remove(&id, &parent);
        }
    }

    /// Takes the blocks out that have this parent, in the order of their arrival.
    pub(super) fn take_children(&mut self, parent: &BlockId) -> Vec<B> {
        let children = self.by_parent.remove(parent).unwrap_or_default();
        for child in &children {
            self.ids.remove(&child.id());
            self.bytes -= child.bytes();
        }
        self.tidy();
        children
    }

    /// Drops the blocks up to this number.
    pub(super) fn drop_through(&mut self, number: u32) {
        let old: Vec<(BlockId, BlockId)> = self
            .order
            .iter()
            .filter(|(id, _)| id.number() <= number && self.ids.contains(id))
            .copied()
            .collect();
        for (id, parent) in old {
            self.remove(&id, &parent);
        }
        self.tidy();
    }

    fn remove(&mut self, id: &BlockId, parent: &BlockId) {
        if !self.ids.remove(id) {
            return;
        }
        let Some(siblings) = self.by_parent.get_mut(parent) else {
            return;
        };
        if let Some(at) = siblings.iter().position(|block| block.id() == *id) {
            self.bytes -= siblings.remove(at).bytes();
        }
        if siblings.is_empty() {
            self.by_parent.remove(parent);
        }
    }

    /// Keeps the list of arrivals from growing with what has left.
    fn tidy(&mut self) {
        if self.order.len() > 2 * self.ids.len() + 64 {
            let ids = &self.ids;
            self.order.retain(|(id, _)| ids.contains(id));
        }
    }
}
