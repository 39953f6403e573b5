//! The root over leaves that come in path order, in memory that does not grow with their number.
//!
//! For whoever walks a store or a trie file once: the checker, `state root`, proofs. One hash at a time; the trie
//! itself is faster where it is there already.

use crate::path::Path;
use crate::trie::scheme::{NodeHash, bit, interior};

/// The subtries to the left of the last leaf that wait for what is to the right of them. There is one at most at each
/// depth, so at most 256.
#[derive(Debug)]
pub(crate) struct RootStream {
    /// Depth of the subtrie that all leaves are in.
    base: usize,
    last: Option<(Path, NodeHash)>,
    /// Depth at which the last leaf is told from the one before it.
    parted: usize,
    waiting: Vec<(usize, NodeHash)>,
}

impl RootStream {
    /// For leaves whose paths agree in the first `base` bits: their subtrie's hash is wanted.
    pub(crate) fn below(base: usize) -> Self {
        Self {
            base,
            last: None,
            parted: base,
            waiting: Vec::new(),
        }
    }

    /// Takes the next leaf; its path must be above that of the one before.
    pub(crate) fn push(&mut self, path: Path, hash: NodeHash) {
        if let Some((before, leaf)) = self.last.replace((path, hash)) {
            let parted = shared_bits(&before, &path) + 1;
            debug_assert!(before < path && parted > self.base);
            self.rise(&before, leaf, self.parted.max(parted), parted);
            self.parted = parted;
        }
    }

    /// The hash of the subtrie over all leaves.
    pub(crate) fn finish(mut self) -> NodeHash {
        let Some((path, leaf)) = self.last else {
            return NodeHash::EMPTY;
        };
        self.rise(&path, leaf, self.parted, self.base);
        match self.waiting.pop() {
            Some((_, hash)) => hash,
            None => NodeHash::EMPTY,
        }
    }

    /// Joins a node at depth `from` on the way along `path` with its siblings, up to depth `to`, where it waits.
    fn rise(&mut self, path: &Path, mut hash: NodeHash, from: usize, to: usize) {
        for depth in (to + 1..=from).rev() {
            hash = match self.waiting.pop_if(|(waits_at, _)| *waits_at == depth) {
                Some((_, left)) => interior(&left, &hash),
                None if bit(path, depth - 1) => interior(&NodeHash::EMPTY, &hash),
                None => interior(&hash, &NodeHash::EMPTY),
            };
        }
        self.waiting.push((to, hash));
    }
}

/// Leading bits that two paths have in common.
pub(crate) fn shared_bits(left: &Path, right: &Path) -> usize {
    let bytes = left.as_bytes().iter().zip(right.as_bytes());
    let mut bits = 0;
    for (left, right) in bytes {
        let differ = left ^ right;
        bits += differ.leading_zeros() as usize;
        if differ != 0 {
            break;
        }
    }
    bits
}
