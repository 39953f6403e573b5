//! One subtrie out of leaves in ascending order of their paths.
//!
//! Two neighbors part at some depth, and the interior node there is on the ways to both. So when the next leaf comes,
//! the depth at which the last one hangs is known, and all nodes below the place where the two part are complete. What
//! is not complete is the *spine*: the nodes on the way to the last leaf. Each node is made once, when the way of a leaf
//! first needs it, and is never looked for.
//!
//! Complete nodes are collected by depth, and hashed when there are many: the deepest first, many at once.

use super::arena::{LeafSlot, Ref};
use super::lanes::{Lanes, WIDTH};
use super::leaf::{Leaf, UpdateStats};
use super::scheme;
use super::subtrie::{Hung, Subtrie, TOP_BITS};
use crate::path::Path;
use crate::stream::shared_bits;

/// Complete nodes that are hashed together: enough to fill the lanes at most depths, few enough that they are still in
/// a core's cache.
const AT_ONCE: usize = 2_048;

/// The depth of the anchor, which the root of a subtrie hangs from.
const ANCHOR_DEPTH: usize = TOP_BITS - 1;

/// A subtrie that grows to the right.
#[derive(Debug)]
pub(super) struct SubtrieBuilder {
    subtrie: Subtrie,
    /// From the anchor down, one node at each depth; the deepest is where the last leaf parts from the one before it.
    spine: Vec<u32>,
    /// The last leaf. It hangs nowhere yet.
    last: Option<(Path, Leaf)>,
    /// Complete nodes to be hashed, by depth from [`TOP_BITS`] on, and how many.
    complete: Vec<Vec<Hung>>,
    count: usize,
    stats: UpdateStats,
    lanes: Lanes,
}

impl SubtrieBuilder {
    /// The next leaf; its path is above the last one's and begins with the same [`TOP_BITS`] bits.
    pub(super) fn push(&mut self, path: Path, leaf: Leaf) {
        self.stats.resize(0, leaf.bytes.get());
        if let Some((before, leaf)) = self.last.replace((path, leaf)) {
            let parted = shared_bits(&before, &path);
            self.grow(&before, parted);
            self.hang(&before, leaf);
            self.complete_below(&before, parted);
            if self.count >= AT_ONCE {
                self.hash();
            }
        }
    }

    /// The subtrie of all leaves, of which there is at least one.
    pub(super) fn finish(mut self) -> (Subtrie, UpdateStats) {
        if let Some((path, leaf)) = self.last.take() {
            self.hang(&path, leaf);
            self.complete_below(&path, ANCHOR_DEPTH);
            self.hash();
        }
        (self.subtrie, self.stats)
    }

    fn depth(&self) -> usize {
        ANCHOR_DEPTH + self.spine.len() - 1
    }

    fn deepest(&self) -> u32 {
        self.spine[self.spine.len() - 1]
    }

    /// Lets the spine reach down to a depth along the way to the last leaf.
    fn grow(&mut self, path: &Path, depth: usize) {
        while self.depth() < depth {
            let node = self.subtrie.interiors.add([Ref::EMPTY; 2], [0; 64], 0);
            let side = side(path, self.depth());
            let parent = self.deepest();
            self.subtrie
                .interiors
                .set_child(parent, side, Ref::interior(node));
            self.spine.push(node);
        }
    }

    /// Hangs the last leaf from the deepest node.
    fn hang(&mut self, path: &Path, leaf: Leaf) {
        let slot = self.subtrie.leaves.add(LeafSlot {
            path: *path,
            bytes: leaf.bytes,
            born: 0,
        });
        let (parent, side) = (self.deepest(), side(path, self.depth()));
        self.subtrie.interiors.set_child(parent, side, Ref::leaf(slot));
        self.subtrie
            .interiors
            .set_hash(parent, side, leaf.hash.as_bytes());
    }

    /// The nodes on the spine that are deeper than this have got all that they will.
    fn complete_below(&mut self, path: &Path, depth: usize) {
        while self.depth() > depth
            && let Some(node) = self.spine.pop()
        {
            let above = self.depth();
            let hung = Hung {
                node,
                parent: self.deepest(),
                side: side(path, above),
            };
            let at = above + 1 - TOP_BITS;
            if self.complete.len() <= at {
                self.complete.resize_with(at + 1, Vec::new);
            }
            self.complete[at].push(hung);
            self.count += 1;
        }
    }

    fn hash(&mut self) {
        for nodes in self.complete.iter_mut().rev() {
            for some in nodes.chunks(WIDTH) {
                self.subtrie.hash(some, self.lanes);
            }
            nodes.clear();
        }
        self.count = 0;
    }
}

impl Default for SubtrieBuilder {
    fn default() -> Self {
        let mut subtrie = Subtrie::new();
        let anchor = subtrie.interiors.add([Ref::EMPTY; 2], [0; 64], 0);
        debug_assert_eq!(anchor, Subtrie::ANCHOR);
        Self {
            subtrie,
            spine: vec![anchor],
            last: None,
            complete: Vec::new(),
            count: 0,
            stats: UpdateStats::NONE,
            lanes: Lanes::many(),
        }
    }
}

/// The side on which the way along a path leaves a node on it at this depth.
fn side(path: &Path, depth: usize) -> usize {
    match depth {
        // The root is the anchor's left child.
        ANCHOR_DEPTH => 0,
        _ => usize::from(scheme::bit(path, depth)),
    }
}
