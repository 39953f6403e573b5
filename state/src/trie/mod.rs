//! The register trie: one root hash for a whole state.
//!
//! A binary sparse Merkle trie over the paths of the registers, held in memory. It keeps paths, hashes and sizes,
//! not values. [`scheme`] says what a root is, on one page; the rest of this module is how it is computed fast.
//!
//! # Interface
//!
//! ```text
//! scheme::{NodeHash, ValueHash, leaf(), interior(), root_above(), bit()}  the commitment scheme, pure functions
//!
//! struct Leaf { hash: NodeHash, bytes: NonZeroU32 }          bytes: of key and value together
//! struct LeafChange { path: Path, leaf: Option<Leaf> }       None: the register is removed
//!
//! LeafBatch::new(), clear()                                  collects changes, hashes leaves many at once
//!     .set(path, key_bytes: usize, value: &[u8])
//!     .remove(path)
//!     .changes(&mut self) -> &mut [LeafChange]
//!
//! Trie::new(), set_threads(n), set_lanes(Lanes)
//!     .update(&mut self, &[LeafChange]) -> Result<UpdateStats, DuplicatePath>    any order; each path once
//!     .exchange(&mut self, &mut [LeafChange]) -> Result<UpdateStats, DuplicatePath>
//!                  the same; the slice then holds, in path order, what was there before: exchanging it again is undo
//!     .root(&self) -> NodeHash
//!     .counts(&self) -> Counts
//!     .leaf(&self, &Path) -> Option<Leaf>
//!     .way(&self, &Path) -> Way { siblings: Vec<NodeHash>, end: Option<(Path, Leaf)> }    for proofs: the siblings
//!                  from the root down; end None: empty subtrie; the leaf's path may be another one: absence
//!     .leaves(&self) -> impl Iterator<Item = (Path, Leaf)>                 ascending paths
//!     .memory(&self) -> TrieMemory { interior, leaves, bytes }
//!     .hold(&self) -> HeldRoot                          Send + Sync; root, counts, leaf, way, leaves as above; the
//!                  trie goes on; drop it to let go
//! Trie::from_sorted(impl IntoIterator<Item = (Path, Leaf)>) -> Result<Trie, NotAscending>
//! TrieBuilder::new(), push(path, leaf) -> Result<(), NotAscending>, finish() -> Trie
//!
//! struct UpdateStats { registers: i64, bytes: i64, lowest_height: u16 }    height: 256 at the root, 0 below the last bit
//! ```

pub mod scheme;

#[cfg(test)]
mod tests;

pub use scheme::{NodeHash, ValueHash};
