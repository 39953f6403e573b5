//! Proofs: that a register has a value, or does not exist, in the state with a root.
//!
//! A proof is what the way along the register's path ends in and the hashes of the siblings beside that way. Whoever
//! knows the root needs nothing else, no database and no trie: [`verify`] is a function of its arguments. What a root
//! commits to, and why a proof cannot lie about it, is told in [`scheme`].
//!
//! Proofs come from strangers. Reading one allocates no more than its own length, and each proof has one encoding:
//! bytes that are not what [`Proof::encode`] or [`RegisterProof::encode`] would write are refused.
//!
//! ```
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let dir = tempfile::tempdir()?;
//! # use cairn_state::{Head, Registers, Store, StoreOptions};
//! # let mut registers = Registers::new(Store::open(dir.path(), &StoreOptions::new([7; 32]))?)?;
//! registers.set(b"account/alice", b"posting authority")?;
//! registers.set(b"account/bob", b"active authority")?;
//! registers.commit(Head { number: 1, id: [1; 20] })?;
//! let (root, proof) = registers.store().prove(b"account/alice")?;
//! let bytes = proof.encode();
//!
//! // Elsewhere, with the root from somebody trusted and the bytes from anybody:
//! let proof = cairn_state::proof::RegisterProof::decode(&bytes)?;
//! proof.verify(&root)?;
//! assert_eq!(proof.value.as_deref(), Some(&b"posting authority"[..]));
//! # Ok(())
//! # }
//! ```

mod build;
mod bytes;
mod error;
mod register;
#[cfg(test)]
mod tests;

use crate::path::Path;
use crate::stream::shared_bits;
use crate::trie::scheme::{self, NodeHash, PATH_BITS, ValueHash};

pub(crate) use build::{FoundWay, WayStream};
pub use error::{ProofBytesError, ProofError};
pub use register::RegisterProof;

/// What the way along a register's path ends in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// The register's own leaf: it exists.
    Register,
    /// The empty subtrie: it does not exist.
    Empty,
    /// Another register's leaf, alone in its subtrie: the one that is asked for does not exist.
    Other {
        /// Its path.
        path: Path,
        /// The hash of its value.
        value: ValueHash,
    },
}

/// A proof about one register.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proof {
    /// The hashes beside the way, the one next to the root first; at most 256.
    pub siblings: Vec<NodeHash>,
    /// What the way ends in.
    pub end: End,
}

/// Whether a register has a value (`Some`), or does not exist (`None`), in the state with a root.
///
/// # Errors
/// [`ProofError`]: the proof does not show that, which does not mean that the contrary is true.
pub fn verify(root: &NodeHash, key: &[u8], value: Option<&[u8]>, proof: &Proof) -> Result<(), ProofError> {
    let path = Path::of(key);
    let depth = proof.siblings.len();
    let end = match (value, proof.end) {
        (Some([]), _) => return Err(ProofError::EmptyValue),
        (Some(value), End::Register) => scheme::leaf(&path, &ValueHash::of(value)),
        (None, End::Empty) => NodeHash::EMPTY,
        (None, End::Other { path: other, value }) => {
            if other == path {
                return Err(ProofError::ExistsHere);
            }
            let shared = shared_bits(&path, &other);
            if shared < depth {
                return Err(ProofError::OffTheWay { depth, shared });
            }
            scheme::leaf(&other, &value)
        }
        (Some(_), _) => return Err(ProofError::ShowsAbsence),
        (None, End::Register) => return Err(ProofError::ShowsPresence),
    };
    let found = scheme::root_above(&path, end, &proof.siblings).ok_or(ProofError::TooDeep {
        found: depth,
        most: PATH_BITS,
    })?;
    if found == *root {
        Ok(())
    } else {
        Err(ProofError::OtherRoot {
            expected: *root,
            found,
        })
    }
}
