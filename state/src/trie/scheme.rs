//! What a root commits to, as pure functions: all that another implementation, or a verifier of proofs, has to do.
//!
//! | what | bytes |
//! |---|---|
//! | path of a register | `blake3(key)` |
//! | hash of a value | `blake3(value)`, the plain function, whatever the length |
//! | leaf | `blake3_keyed("cairn register trie v1: leaf    ", path, hash of the value)` |
//! | interior node | `blake3_keyed("cairn register trie v1: interior", left child, right child)` |
//! | empty subtrie | 32 zero bytes, so that is the root of a state without registers |
//!
//! Bit `d` of a path, counted from the most significant bit of its first byte, says at depth `d` whether to go
//! left (0) or right (1); so leaves from left to right are in the order of their paths as bytes. The subtrie below
//! a prefix of bits is, by the number of registers whose paths begin with it:
//!
//! - none: the empty subtrie;
//! - one: that register's leaf, at whatever depth it is alone (a compact leaf);
//! - more: an interior node over the two subtries below the prefix with one bit more. One of them may be empty.
//!
//! # The root is a function of the set of registers, and tells different sets apart
//!
//! It is a function of the set because the rules above speak of nothing else. Conversely, assume that nobody finds
//! two inputs with one blake3, where a key counts as a part of the input (it is the chaining value of the one
//! compression that hashes 64 bytes), nor an input with an all-zero hash. Then a hash in a trie has one meaning:
//!
//! - *A leaf is never read as an interior node*, nor the other way around: the two are hashed under different keys.
//!   A path with a hash of a value that equals two children's hashes, byte for byte, still hashes to something else.
//! - *Neither is the empty subtrie*, whose hash is no known output.
//! - *A leaf binds its register whole*: all 256 bits of its path, not only those above it, and so the key; and the
//!   value. So it matters not to its hash how deep it hangs, and a leaf that is lifted keeps it. A leaf of another
//!   path at the end of the way along a path shows that no register has the path.
//! - Plain hashes, those of keys and values, are under no key and take part in no node except inside a leaf, each
//!   in its own half.
//!
//! From the root down, then, each hash fixes what is below it, and the bits on the way fix where it is.
//!
//! # Why 64 bytes
//!
//! Every input of leaf and interior node is one block of blake3. Sixteen of these are hashed side by side for the
//! price of about three alone, where the processor has the registers for it (`lanes`); an input of a
//! block and a half costs more than two blocks that are hashed so. That is why a value is hashed first.

use crate::hex::Hex;
use crate::path::Path;
use std::fmt;

/// The key that leaves are hashed under.
pub const LEAF_KEY: &[u8; 32] = b"cairn register trie v1: leaf    ";

/// The key that interior nodes are hashed under.
pub const INTERIOR_KEY: &[u8; 32] = b"cairn register trie v1: interior";

/// Bits of a path, and so the depth that no leaf is below.
pub const PATH_BITS: u16 = 256;

/// The hash of a node: of a leaf, of an interior node, or of the empty subtrie. The root is one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeHash([u8; 32]);

impl NodeHash {
    /// The empty subtrie, and the root of a state without registers.
    pub const EMPTY: Self = Self([0; 32]);

    /// The hash with these bytes.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// Its 32 bytes.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Display for NodeHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Hex(&self.0).fmt(f)
    }
}

impl fmt::Debug for NodeHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "NodeHash({self})")
    }
}

/// The hash of a register's value. No node has one; it is half of a leaf's input.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct ValueHash([u8; 32]);

impl ValueHash {
    /// The hash of a value. An empty value has none in a trie: its register is unallocated.
    #[must_use]
    pub fn of(value: &[u8]) -> Self {
        Self(*blake3::hash(value).as_bytes())
    }

    /// The hash with these bytes.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// Its 32 bytes.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Display for ValueHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Hex(&self.0).fmt(f)
    }
}

impl fmt::Debug for ValueHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ValueHash({self})")
    }
}

/// The hash of a register's leaf.
#[must_use]
pub fn leaf(path: &Path, value: &ValueHash) -> NodeHash {
    keyed(LEAF_KEY, path.as_bytes(), &value.0)
}

/// The hash of an interior node.
#[must_use]
pub fn interior(left: &NodeHash, right: &NodeHash) -> NodeHash {
    keyed(INTERIOR_KEY, &left.0, &right.0)
}

/// The root of a trie in which the way along `path` ends in a node with this hash, below these siblings, the one
/// next to the root first; their number is the depth of that node.
///
/// `None` when there are more siblings than a path has bits.
#[must_use]
pub fn root_above(path: &Path, end: NodeHash, siblings: &[NodeHash]) -> Option<NodeHash> {
    if siblings.len() > usize::from(PATH_BITS) {
        return None;
    }
    let above = siblings.iter().enumerate().rev();
    Some(above.fold(end, |hash, (depth, sibling)| {
        if bit(path, depth) {
            interior(sibling, &hash)
        } else {
            interior(&hash, sibling)
        }
    }))
}

/// Whether the way along `path` goes right at this depth, which is below 256.
#[must_use]
pub fn bit(path: &Path, depth: usize) -> bool {
    (path.as_bytes()[depth / 8] >> (7 - depth % 8)) & 1 == 1
}

fn keyed(key: &[u8; 32], left: &[u8; 32], right: &[u8; 32]) -> NodeHash {
    NodeHash(*blake3::keyed_hash(key, &block(left, right)).as_bytes())
}

/// One input: two halves of 32 bytes.
pub(super) fn block(left: &[u8; 32], right: &[u8; 32]) -> [u8; 64] {
    let mut block = [0; 64];
    block[..32].copy_from_slice(left);
    block[32..].copy_from_slice(right);
    block
}
