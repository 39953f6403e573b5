//! Where nodes live: arrays that grow by chunks, addressed by 32-bit indices.
//!
//! An interior node is spread over three arrays. The hashes of its two children are one cache line, which is also
//! the input of its own hash; so an update of one child never reads the other one's node. References are apart from
//! them, because going down needs nothing else: eight pairs fill a line. A node's own hash is in its parent.

use std::num::NonZeroU32;

use crate::path::Path;

/// Elements in a chunk. Growing by a chunk costs the same at any size, where a `Vec` that doubles would copy all it
/// has in the middle of a batch. A quarter of a chunk a subtrie is wasted on average by two such arrays.
const CHUNK: usize = 512;

/// An array that grows without moving what it has.
#[derive(Debug)]
struct Chunked<T> {
    chunks: Vec<Box<[T; CHUNK]>>,
    len: u32,
}

impl<T: Copy> Chunked<T> {
    const fn new() -> Self {
        Self {
            chunks: Vec::new(),
            len: 0,
        }
    }

    #[inline]
    fn get(&self, index: u32) -> &T {
        &self.chunks[index as usize / CHUNK][index as usize % CHUNK]
    }

    #[inline]
    fn get_mut(&mut self, index: u32) -> &mut T {
        &mut self.chunks[index as usize / CHUNK][index as usize % CHUNK]
    }

    fn push(&mut self, value: T) -> u32 {
        let index = self.len;
        // Memory is at its end long before: these would be 300 GB in one of the subtries.
        assert!(
            index < Ref::MOST,
            "a subtrie has room for 2^31 - 1 nodes of a kind"
        );
        if index as usize == self.chunks.len() * CHUNK {
            let chunk = vec![value; CHUNK].into_boxed_slice().try_into();
            self.chunks.extend(chunk.ok());
        }
        self.len += 1;
        *self.get_mut(index) = value;
        index
    }

    fn bytes(&self) -> usize {
        self.chunks.len() * size_of::<[T; CHUNK]>() + self.chunks.capacity() * size_of::<usize>()
    }
}

/// A reference to a subtrie: to none, to an interior node, or to a leaf.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Ref(u32);

/// What a [`Ref`] refers to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    Empty,
    Interior(u32),
    Leaf(u32),
}

impl Ref {
    pub(super) const EMPTY: Self = Self(u32::MAX);
    const LEAF: u32 = 1 << 31;
    /// The bound of indices: with the leaf's bit none of them is [`Self::EMPTY`].
    const MOST: u32 = Self::LEAF - 1;

    pub(super) const fn interior(index: u32) -> Self {
        Self(index)
    }

    pub(super) const fn leaf(index: u32) -> Self {
        Self(index | Self::LEAF)
    }

    #[inline]
    pub(super) const fn kind(self) -> Kind {
        if self.0 & Self::LEAF == 0 {
            Kind::Interior(self.0)
        } else if self.0 == u32::MAX {
            Kind::Empty
        } else {
            Kind::Leaf(self.0 & !Self::LEAF)
        }
    }
}

/// Indices that can be given out again, as a chain through the slots themselves, so that it takes no room.
#[derive(Debug)]
struct Free {
    head: u32,
    count: u32,
}

impl Free {
    const NONE: u32 = u32::MAX;

    const fn new() -> Self {
        Self {
            head: Self::NONE,
            count: 0,
        }
    }
}

/// Interior nodes.
#[derive(Debug)]
pub(super) struct Interiors {
    hashes: Chunked<[u8; 64]>,
    children: Chunked<[Ref; 2]>,
    /// The epoch in which the node was made; see [`holds`](super::holds).
    born: Chunked<u32>,
    free: Free,
}

impl Interiors {
    pub(super) const fn new() -> Self {
        Self {
            hashes: Chunked::new(),
            children: Chunked::new(),
            born: Chunked::new(),
            free: Free::new(),
        }
    }

    /// A new node over these children.
    pub(super) fn add(&mut self, children: [Ref; 2], hashes: [u8; 64], born: u32) -> u32 {
        if self.free.head == Free::NONE {
            self.children.push(children);
            self.born.push(born);
            return self.hashes.push(hashes);
        }
        let index = self.free.head;
        self.free.head = self.children.get(index)[0].0;
        self.free.count -= 1;
        *self.children.get_mut(index) = children;
        *self.born.get_mut(index) = born;
        *self.hashes.get_mut(index) = hashes;
        index
    }

    /// Gives up a node that nothing refers to any more.
    pub(super) fn remove(&mut self, index: u32) {
        *self.children.get_mut(index) = [Ref(self.free.head); 2];
        self.free.head = index;
        self.free.count += 1;
    }

    #[inline]
    pub(super) fn children(&self, index: u32) -> [Ref; 2] {
        *self.children.get(index)
    }

    #[inline]
    pub(super) fn child(&self, index: u32, side: usize) -> Ref {
        self.children.get(index)[side]
    }

    #[inline]
    pub(super) fn set_child(&mut self, index: u32, side: usize, child: Ref) {
        self.children.get_mut(index)[side] = child;
    }

    /// The hashes of both children, left first: the input of the node's own hash.
    #[inline]
    pub(super) fn hashes(&self, index: u32) -> &[u8; 64] {
        self.hashes.get(index)
    }

    #[inline]
    pub(super) fn hash(&self, index: u32, side: usize) -> [u8; 32] {
        let mut hash = [0; 32];
        hash.copy_from_slice(&self.hashes.get(index)[side * 32..side * 32 + 32]);
        hash
    }

    #[inline]
    pub(super) fn set_hash(&mut self, index: u32, side: usize, hash: &[u8; 32]) {
        self.hashes.get_mut(index)[side * 32..side * 32 + 32].copy_from_slice(hash);
    }

    #[inline]
    pub(super) fn born(&self, index: u32) -> u32 {
        *self.born.get(index)
    }

    /// Nodes that are in use.
    pub(super) fn live(&self) -> u32 {
        self.hashes.len - self.free.count
    }

    pub(super) fn bytes(&self) -> usize {
        self.hashes.bytes() + self.children.bytes() + self.born.bytes()
    }
}

/// A leaf in the arena. Its hash is in its parent.
#[derive(Clone, Copy, Debug)]
pub(super) struct LeafSlot {
    pub(super) path: Path,
    /// Of the register's key and value.
    pub(super) bytes: NonZeroU32,
    pub(super) born: u32,
}

/// Leaves.
#[derive(Debug)]
pub(super) struct LeafSlots {
    slots: Chunked<LeafSlot>,
    free: Free,
}

impl LeafSlots {
    pub(super) const fn new() -> Self {
        Self {
            slots: Chunked::new(),
            free: Free::new(),
        }
    }

    pub(super) fn add(&mut self, slot: LeafSlot) -> u32 {
        if self.free.head == Free::NONE {
            return self.slots.push(slot);
        }
        let index = self.free.head;
        self.free.head = self.slots.get(index).born;
        self.free.count -= 1;
        *self.slots.get_mut(index) = slot;
        index
    }

    /// Gives up a leaf that nothing refers to any more.
    pub(super) fn remove(&mut self, index: u32) {
        self.slots.get_mut(index).born = self.free.head;
        self.free.head = index;
        self.free.count += 1;
    }

    #[inline]
    pub(super) fn get(&self, index: u32) -> &LeafSlot {
        self.slots.get(index)
    }

    pub(super) fn set_bytes(&mut self, index: u32, bytes: NonZeroU32) {
        self.slots.get_mut(index).bytes = bytes;
    }

    /// Leaves that are in use.
    pub(super) fn live(&self) -> u32 {
        self.slots.len - self.free.count
    }

    pub(super) fn bytes(&self) -> usize {
        self.slots.bytes()
    }
}
