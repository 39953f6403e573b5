//! A trie out of leaves in order, as a file or a scan of the store has them.

use super::handle::Trie;
use super::leaf::{Leaf, LeafChange, NotAscending};
use crate::path::Path;

/// Leaves that are put in at once: enough to hash side by side on most levels, few enough that what they touch, which
/// is next to each other in the trie and in memory, stays in the processor's cache.
const AT_ONCE: usize = 4_096;

/// Makes a trie of leaves that come in ascending order of their paths. Interior nodes are computed.
#[derive(Debug)]
pub struct TrieBuilder {
    trie: Trie,
    batch: Vec<LeafChange>,
    last: Option<Path>,
}

impl TrieBuilder {
    /// A trie without leaves so far.
    #[must_use]
    pub fn new() -> Self {
        Self {
            trie: Trie::new(),
            batch: Vec::with_capacity(AT_ONCE),
            last: None,
        }
    }

    /// The next leaf.
    ///
    /// # Errors
    ///
    /// When its path is not above the last one's; then it was not taken.
    pub fn push(&mut self, path: Path, leaf: Leaf) -> Result<(), NotAscending> {
        if let Some(before) = self.last
            && before >= path
        {
            return Err(NotAscending { path, before });
        }
        self.last = Some(path);
        self.batch.push(LeafChange {
            path,
            leaf: Some(leaf),
        });
        if self.batch.len() == AT_ONCE {
            self.flush();
        }
        Ok(())
    }

    /// The trie of all leaves.
    #[must_use]
    pub fn finish(mut self) -> Trie {
        self.flush();
        self.trie
    }

    fn flush(&mut self) {
        self.trie.update_ascending(&mut self.batch);
        self.batch.clear();
    }
}

impl Default for TrieBuilder {
    fn default() -> Self {
        Self::new()
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
