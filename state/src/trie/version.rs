//! One version of the trie, for reading: what a trie and its held roots have in common.

use std::sync::Arc;

use super::leaf::Leaf;
use super::leaves::Leaves;
use super::scheme::NodeHash;
use super::top::{Subtries, Top, Way};
use crate::counts::Counts;
use crate::path::Path;

/// The trie as it is, or as it was when it was held.
///
/// [`Trie`](super::Trie) and [`HeldRoot`](super::HeldRoot) deref to it, as a `Vec` does to a slice.
#[derive(Debug)]
pub struct Version {
    pub(super) subtries: Arc<Subtries>,
    pub(super) top: Top,
}

impl Version {
    /// The root.
    #[must_use]
    pub fn root(&self) -> NodeHash {
        self.top.root
    }

    /// How many registers are under it, and the bytes of their keys and values.
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
