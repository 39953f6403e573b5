//! The register trie: one root hash for a whole state.
//!
//! A binary sparse Merkle trie over the paths of the registers, held in memory. It keeps paths, hashes and sizes,
//! not values. [`scheme`] says what a root is, on one page; the rest of this module is how it is computed fast.
//!
//! - [`LeafBatch`] collects changes of registers and hashes their leaves.
//! - [`Trie`] takes them in, and has the root. [`Trie::exchange`] leaves in the batch what undoes it.
//! - [`HeldRoot`] is an older root that stays whole while the trie goes on, for another thread to read.
//! - [`Version`] is what can be read of either.
//! - [`Way`] is what proofs are made of, [`Leaves`] all leaves in order, [`TrieBuilder`] makes a trie of them.
//!
//! # How it is fast
//!
//! - The trie is split by the first bits of the paths into subtries with memory of their own, which threads can
//!   change side by side. What one subtrie touches in a batch also stays in a core's cache from the way down, when
//!   it is read, to the way up, when it is hashed.
//! - Nodes are in arrays, by 32-bit index (`arena`). Both children's hashes are one line of the cache.
//! - A batch is sorted once and goes down breadth first; dirty nodes are hashed level by level, sixteen at a time
//!   (`update`, `lanes`).
//! - Leaves that come in order make a trie node by node, each once, without any going down (`spine`).
//! - Nodes are changed in place. Those that a held root has too are copied before (`holds`).
//! - Nothing is allocated by an update that adds nothing, once batches of its size have been made.

mod arena;
mod batch;
mod build;
mod handle;
mod hold;
mod holds;
mod lanes;
mod leaf;
mod leaves;
pub mod scheme;
mod sorted;
mod spine;
mod subtrie;
mod top;
mod update;
mod version;

#[cfg(test)]
mod tests;

pub use batch::LeafBatch;
pub use build::TrieBuilder;
pub use handle::{Trie, TrieMemory};
pub use hold::HeldRoot;
pub use lanes::Lanes;
pub use leaf::{DuplicatePath, Leaf, LeafChange, NotAscending, UpdateStats};
pub use leaves::Leaves;
pub use scheme::{NodeHash, ValueHash};
pub use top::Way;
pub use version::Version;
