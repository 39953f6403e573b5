//! A trie out of leaves in order, as a file or a scan of the store has them.

use super::handle::Trie;
use super::leaf::{Leaf, NotAscending, UpdateStats};
use super::spine::SubtrieBuilder;
use super::subtrie::subtrie_of;
use crate::path::Path;

/// Makes a trie of leaves that come in ascending order of their paths. Interior nodes are computed.
#[derive(Debug, Default)]
pub struct TrieBuilder {
    /// The subtries behind the leaves so far, but for the last one.
    trie: Trie,
    stats: UpdateStats,
    growing: SubtrieBuilder,
    last: Option<Path>,
}

impl TrieBuilder {
    /// A trie without leaves so far.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The next leaf.
    ///
    /// # Errors
    ///
    /// When its path is not above the last one's; then it was not taken.
    pub fn push(&mut self, path: Path, leaf: Leaf) -> Result<(), NotAscending> {
        if let Some(before) = self.last {
            if before >= path {
                return Err(NotAscending { path, before });
            }
            if subtrie_of(&before) != subtrie_of(&path) {
                self.close(before);
            }
        }
        self.last = Some(path);
        self.growing.push(path, leaf);
        Ok(())
    }

    /// The trie of all leaves.
    #[must_use]
    pub fn finish(mut self) -> Trie {
        if let Some(last) = self.last {
            self.close(last);
        }
        self.trie.settle(self.stats);
        self.trie
    }

    /// Nothing follows in the subtrie of this path.
    fn close(&mut self, last: Path) {
        let (subtrie, stats) = std::mem::take(&mut self.growing).finish();
        self.trie.adopt(subtrie_of(&last), subtrie);
        self.stats = self.stats.and(stats);
    }
}

impl Trie {
    /// The trie of these leaves.
    ///
    /// # Errors
    ///
    /// When a path is not above the one before.
    pub fn from_sorted(leaves: impl IntoIterator<Item = (Path, Leaf)>) -> Result<Self, NotAscending> {
        let mut builder = TrieBuilder::new();
        for (path, leaf) in leaves {
            builder.push(path, leaf)?;
        }
        Ok(builder.finish())
    }
}
