//! An older root that stays whole while the trie goes on.

use std::sync::Arc;

use super::leaf::Leaf;
use super::leaves::Leaves;
use super::scheme::NodeHash;
use super::subtrie::SUBTRIES;
use super::top::{Subtries, Top, Way};
use crate::counts::Counts;
use crate::path::Path;

/// The trie as it was when it was [held](super::Trie::hold).
///
/// It can be read in another thread while the trie is updated. Each update copies those nodes on the ways to its
/// changes that a held root still has; they are freed when no root has them any more. It may outlive the trie.
#[derive(Debug)]
pub struct HeldRoot {
    subtries: Arc<Subtries>,
    top: Top,
    /// By subtrie: what the hold is released by.
    epochs: [u32; SUBTRIES],
}

impl HeldRoot {
    /// Nobody may change the subtries meanwhile.
    pub(super) fn take(subtries: &Arc<Subtries>, top: &Top) -> Self {
        Self {
            subtries: Arc::clone(subtries),
            top: top.clone(),
            epochs: std::array::from_fn(|subtrie| subtries.write(subtrie).holds.hold()),
        }
    }

    /// The root.
    #[must_use]
    pub fn root(&self) -> NodeHash {
        self.top.root
    }

    /// How many registers are under it, and their bytes.
    #[must_use]
    pub fn counts(&self) -> Counts {
        self.top.counts
    }

    /// The leaf of a register, if it exists.
    #[must_use]
    pub fn leaf(&self, path: &Path) -> Option<Leaf> {
        self.top.leaf(&self.subtries, path)
    }

    /// What a proof for a register, or for its absence, is made of.
    #[must_use]
    pub fn way(&self, path: &Path) -> Way {
        self.top.way(&self.subtries, path)
    }

    /// All leaves, in ascending order of their paths.
    #[must_use]
    pub fn leaves(&self) -> Leaves<'_> {
        Leaves::new(&self.subtries, &self.top)
    }
}

impl Drop for HeldRoot {
    fn drop(&mut self) {
        for (subtrie, epoch) in self.epochs.into_iter().enumerate() {
            self.subtries.write(subtrie).release(epoch);
        }
    }
}
