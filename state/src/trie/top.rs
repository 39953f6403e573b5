//! The top of the trie: what is above the subtries, and reading from there.

use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use super::arena::{Kind, Ref};
use super::leaf::Leaf;
use super::scheme::{self, NodeHash};
use super::subtrie::{End, SUBTRIES, Subtrie, TOP_BITS, subtrie_of};
use crate::counts::Counts;
use crate::path::Path;

/// The subtries, shared by a trie and its held roots. A lock is taken for one subtrie at a time and a bounded
/// number of steps: whoever reads a held root makes an update wait for that long at most.
#[derive(Debug)]
pub(super) struct Subtries([RwLock<Subtrie>; SUBTRIES]);

impl Subtries {
    pub(super) fn new() -> Self {
        Self([const { RwLock::new(Subtrie::new()) }; SUBTRIES])
    }

    // Only an update that panicked leaves a lock poisoned. It changed the present and nothing that is held, and
    // whoever has the trie learns of the panic by the panic.
    pub(super) fn read(&self, subtrie: usize) -> RwLockReadGuard<'_, Subtrie> {
        self.0[subtrie].read().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn write(&self, subtrie: usize) -> RwLockWriteGuard<'_, Subtrie> {
        self.0[subtrie].write().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One version of the trie: its root and where its subtries' roots are.
#[derive(Clone, Debug)]
pub(super) struct Top {
    pub(super) ends: [End; SUBTRIES],
    pub(super) root: NodeHash,
    pub(super) counts: Counts,
}

impl Top {
    pub(super) fn empty() -> Self {
        Self {
            ends: [End::EMPTY; SUBTRIES],
            root: NodeHash::EMPTY,
            counts: Counts::default(),
        }
    }

    /// The leaf at a path.
    pub(super) fn leaf(&self, subtries: &Subtries, path: &Path) -> Option<Leaf> {
        let at = subtrie_of(path);
        let (found, leaf) = subtries.read(at).walk(self.ends[at], path, |_| ())?;
        (found == *path).then_some(leaf)
    }

    /// The way along a path.
    pub(super) fn way(&self, subtries: &Subtries, path: &Path) -> Way {
        let mut siblings = Vec::new();
        let mut ends = &self.ends[..];
        for depth in 0..TOP_BITS {
            // A single leaf, or nothing, sits higher than the subtrie that it is in.
            let whole = fold(ends);
            if !matches!(whole.node.kind(), Kind::Interior(_)) {
                let at = self.ends.iter().position(|end| *end == whole).unwrap_or(0);
                return Way {
                    siblings,
                    end: subtries.read(at).leaf(whole),
                };
            }
            let (left, right) = ends.split_at(ends.len() / 2);
            let (on, beside) = if scheme::bit(path, depth) {
                (right, left)
            } else {
                (left, right)
            };
            siblings.push(fold(beside).hash);
            ends = on;
        }
        let at = subtrie_of(path);
        let end = subtries
            .read(at)
            .walk(self.ends[at], path, |sibling| siblings.push(sibling));
        Way { siblings, end }
    }
}

/// The subtrie over these, whose number is a power of two. The reference of an interior node is no reference to one,
/// but says that it is one.
pub(super) fn fold(ends: &[End]) -> End {
    let [end] = ends else {
        let (left, right) = ends.split_at(ends.len() / 2);
        let (left, right) = (fold(left), fold(right));
        return match (left.node.kind(), right.node.kind()) {
            (Kind::Empty, Kind::Empty | Kind::Leaf(_)) => right,
            (Kind::Leaf(_), Kind::Empty) => left,
            _ => End {
                node: Ref::interior(0),
                hash: scheme::interior(&left.hash, &right.hash),
            },
        };
    };
    *end
}

/// What a proof is made of: the siblings beside the way along a path, and where it ends.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Way {
    /// The hashes of the siblings, the one next to the root first; as many as the depth of the end.
    pub siblings: Vec<NodeHash>,
    /// The leaf at the end, with its path: the path looked for if the register exists, else another one's that
    /// shares its first bits. `None` when the way ends in an empty subtrie.
    pub end: Option<(Path, Leaf)>,
}

impl Way {
    /// The hash of what the way ends in.
    #[must_use]
    pub fn end_hash(&self) -> NodeHash {
        self.end.map_or(NodeHash::EMPTY, |(_, leaf)| leaf.hash)
    }
}
