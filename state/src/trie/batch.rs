//! Collecting changes, and hashing their leaves many at once.

use super::lanes::{Domain, Lanes, WIDTH};
use super::leaf::{Leaf, LeafChange, size};
use super::scheme::{self, NodeHash, ValueHash};
use crate::path::Path;

/// Changes for [`Trie::update`](super::Trie::update). It keeps its room from one batch to the next.
///
/// Changing a register twice is found by the update; it is the caller that knows which change is the last.
#[derive(Debug, Default)]
pub struct LeafBatch {
    /// From `hashed` on, `hash` is still that of the value.
    changes: Vec<LeafChange>,
    hashed: usize,
    lanes: Lanes,
}

impl LeafBatch {
    /// A batch without changes.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Says how leaves are hashed; at first many at once.
    pub fn set_lanes(&mut self, lanes: Lanes) {
        self.lanes = lanes;
    }

    /// Drops the changes and keeps their room.
    pub fn clear(&mut self) {
        self.changes.clear();
        self.hashed = 0;
    }

    /// Sets a register, or removes it when the value is empty. `key_bytes` is the length of its key.
    pub fn set(&mut self, path: Path, key_bytes: usize, value: &[u8]) {
        let leaf = size(key_bytes, value).map(|bytes| Leaf {
            hash: NodeHash::from_bytes(*ValueHash::of(value).as_bytes()),
            bytes,
        });
        self.changes.push(LeafChange { path, leaf });
    }

    /// Removes a register.
    pub fn remove(&mut self, path: Path) {
        self.changes.push(LeafChange { path, leaf: None });
    }

    /// How many changes there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.changes.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    /// The changes, their leaves hashed.
    pub fn changes(&mut self) -> &mut [LeafChange] {
        let fresh = &mut self.changes[self.hashed..];
        for some in fresh.chunks_mut(self.lanes.width()) {
            let (mut inputs, mut hashes) = ([[0; 64]; WIDTH], [[0; 32]; WIDTH]);
            let mut filled = 0;
            for change in some.iter() {
                if let Some(leaf) = change.leaf {
                    inputs[filled] = scheme::block(change.path.as_bytes(), leaf.hash.as_bytes());
                    filled += 1;
                }
            }
            let blocks: [&[u8; 64]; WIDTH] = std::array::from_fn(|at| &inputs[at]);
            self.lanes
                .hash(Domain::Leaf, &blocks[..filled], &mut hashes[..filled]);
            let leaves = some.iter_mut().filter_map(|change| change.leaf.as_mut());
            for (leaf, hash) in leaves.zip(hashes) {
                leaf.hash = NodeHash::from_bytes(hash);
            }
        }
        self.hashed = self.changes.len();
        &mut self.changes
    }
}
