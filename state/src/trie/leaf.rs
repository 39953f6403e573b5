//! Leaves as they go in and out, and changes of them.

use std::num::NonZeroU32;

use super::scheme::{self, NodeHash, ValueHash};
use crate::path::Path;

/// What the trie keeps of a register beside its path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Leaf {
    /// The leaf's hash, as [`scheme::leaf`] makes it.
    pub hash: NodeHash,
    /// Bytes of the register's key and value together. They are in no hash; the trie sums them up.
    pub bytes: NonZeroU32,
}

impl Leaf {
    /// The leaf of a register; `None` when the value is empty, for then it does not exist.
    ///
    /// Sizes from 4 GiB on, far above what a store accepts, count as the largest one.
    #[must_use]
    pub fn of(path: &Path, key_bytes: usize, value: &[u8]) -> Option<Self> {
        let bytes = size(key_bytes, value)?;
        let hash = scheme::leaf(path, &ValueHash::of(value));
        Some(Self { hash, bytes })
    }
}

/// Bytes of key and value, or `None` for an empty value.
pub(super) fn size(key_bytes: usize, value: &[u8]) -> Option<NonZeroU32> {
    if value.is_empty() {
        return None;
    }
    let bytes = u32::try_from(key_bytes.saturating_add(value.len())).unwrap_or(u32::MAX);
    NonZeroU32::new(bytes)
}

/// The change of one register: to this leaf, or to none.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LeafChange {
    /// The register's path.
    pub path: Path,
    /// Its new leaf; `None` removes it, if it is there.
    pub leaf: Option<Leaf>,
}

/// What an update did.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct UpdateStats {
    /// Registers that were added, less those that were removed.
    pub registers: i64,
    /// Bytes of keys and values that were added, less those that were removed.
    pub bytes: i64,
    /// The height of the lowest place that a change was made at or looked for: 256 at the root, one less with each
    /// bit of the path below it. 256 too when there were no changes.
    pub lowest_height: u16,
}

impl UpdateStats {
    /// Both together.
    pub(super) fn and(self, other: Self) -> Self {
        Self {
            registers: self.registers + other.registers,
            bytes: self.bytes + other.bytes,
            lowest_height: self.lowest_height.min(other.lowest_height),
        }
    }
}

/// Two changes of one batch are of the same register, so that the batch does not say which one holds. Nothing was
/// changed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("a batch of changes holds the register {path} twice; expected each register once")]
pub struct DuplicatePath {
    /// The path of both.
    pub path: Path,
}

/// Leaves that should come in ascending order of their paths did not.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("the register {path} follows {before}; expected ascending paths, each once")]
pub struct NotAscending {
    /// The path that came.
    pub path: Path,
    /// The one before it.
    pub before: Path,
}
