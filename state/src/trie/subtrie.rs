//! One of the subtries below the top: an arena of its own, so that several can be changed at once.

use super::arena::{Interiors, Kind, LeafSlot, LeafSlots, Ref};
use super::holds::Holds;
use super::lanes::{Domain, Lanes, WIDTH};
use super::leaf::Leaf;
use super::scheme::{self, NodeHash};
use super::update::Scratch;
use crate::path::Path;

/// The depth of a subtrie's root: the bits of a path that choose the subtrie.
pub(super) const TOP_BITS: usize = 5;

/// Subtries.
pub(super) const SUBTRIES: usize = 1 << TOP_BITS;

/// The subtrie that a path is in.
pub(super) fn subtrie_of(path: &Path) -> usize {
    usize::from(path.as_bytes()[0]) >> (8 - TOP_BITS)
}

/// A reference with the hash of what it refers to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct End {
    pub(super) node: Ref,
    pub(super) hash: NodeHash,
}

impl End {
    pub(super) const EMPTY: Self = Self {
        node: Ref::EMPTY,
        hash: NodeHash::EMPTY,
    };
}

/// A node, and the place that its hash goes to.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Hung {
    pub(super) node: u32,
    pub(super) parent: u32,
    pub(super) side: usize,
}

/// The registers whose paths begin with the same [`TOP_BITS`] bits.
#[derive(Debug)]
pub(super) struct Subtrie {
    pub(super) interiors: Interiors,
    pub(super) leaves: LeafSlots,
    pub(super) holds: Holds,
    pub(super) scratch: Scratch,
}

impl Subtrie {
    /// The node whose left child is the subtrie's root, so that the root hangs somewhere like all others. It is
    /// neither hashed nor held, and there from the first change on.
    pub(super) const ANCHOR: u32 = 0;

    pub(super) const fn new() -> Self {
        Self {
            interiors: Interiors::new(),
            leaves: LeafSlots::new(),
            holds: Holds::new(),
            scratch: Scratch::new(),
        }
    }

    /// The root. It sits at depth [`TOP_BITS`] unless it is a leaf, which the top may lift further.
    pub(super) fn root(&self) -> End {
        if self.interiors.live() == 0 {
            return End::EMPTY;
        }
        self.child(Self::ANCHOR, 0)
    }

    pub(super) fn child(&self, parent: u32, side: usize) -> End {
        End {
            node: self.interiors.child(parent, side),
            hash: NodeHash::from_bytes(self.interiors.hash(parent, side)),
        }
    }

    /// Where the way along a path ends, from a root on, present or held. Hands each sibling beside the way to `see`.
    pub(super) fn walk(&self, root: End, path: &Path, mut see: impl FnMut(NodeHash)) -> Option<(Path, Leaf)> {
        let (mut end, mut depth) = (root, TOP_BITS);
        while let Kind::Interior(node) = end.node.kind() {
            let side = usize::from(scheme::bit(path, depth));
            see(self.child(node, 1 - side).hash);
            end = self.child(node, side);
            depth += 1;
        }
        self.leaf(end)
    }

    /// The leaf behind a reference, if it is one.
    pub(super) fn leaf(&self, end: End) -> Option<(Path, Leaf)> {
        let Kind::Leaf(index) = end.node.kind() else {
            return None;
        };
        let LeafSlot { path, bytes, .. } = *self.leaves.get(index);
        Some((
            path,
            Leaf {
                hash: end.hash,
                bytes,
            },
        ))
    }

    /// Hashes interior nodes, at most [`WIDTH`], into their parents. None of them is another one's parent.
    pub(super) fn hash(&mut self, nodes: &[Hung], lanes: Lanes) {
        let (mut blocks, mut out) = ([&[0; 64]; WIDTH], [[0; 32]; WIDTH]);
        for (block, hung) in blocks.iter_mut().zip(nodes) {
            *block = self.interiors.hashes(hung.node);
        }
        lanes.hash(Domain::Interior, &blocks[..nodes.len()], &mut out[..nodes.len()]);
        for (hash, hung) in out.iter().zip(nodes) {
            self.interiors.set_hash(hung.parent, hung.side, hash);
        }
    }

    /// Lets a hold go.
    pub(super) fn release(&mut self, epoch: u32) {
        self.holds.release(epoch, &mut self.interiors, &mut self.leaves);
    }

    /// Interior nodes and leaves in use, held ones too, and bytes of memory that were asked for.
    pub(super) fn memory(&self) -> (u32, u32, usize) {
        let anchor = u32::from(self.interiors.live() > 0);
        let bytes = self.interiors.bytes() + self.leaves.bytes() + self.holds.bytes() + self.scratch.bytes();
        (self.interiors.live() - anchor, self.leaves.live(), bytes)
    }
}
