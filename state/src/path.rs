//! The path of a register: where it sits in the store, and later in the trie.

use std::fmt;
use std::hash::{BuildHasher, RandomState};

use crate::hex::Hex;

/// blake3 of a register's key. The store keeps registers in the order of their paths, compared as bytes.
///
/// Paths of different keys are taken to differ: nobody is known to be able to find two keys with one blake3.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Path([u8; 32]);

impl Path {
    /// The path of a key.
    #[must_use]
    pub fn of(key: &[u8]) -> Self {
        Self(*blake3::hash(key).as_bytes())
    }

    /// The path with these bytes.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The 32 bytes of the path.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// The first eight bytes as a number that orders as the path does, as far as it goes.
    pub(crate) fn prefix(&self) -> u64 {
        self.word(0).swap_bytes()
    }

    fn word(&self, index: usize) -> u64 {
        let mut word = [0; 8];
        word.copy_from_slice(&self.0[index * 8..index * 8 + 8]);
        u64::from_le_bytes(word)
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Hex(&self.0).fmt(f)
    }
}

impl fmt::Debug for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Path({self})")
    }
}

/// Hashes paths for hash tables.
///
/// A path is uniform already, but whoever chooses keys can search for ones whose paths agree in the few bits that
/// pick a bucket. One multiplication by secrets of this process spoils that and costs about a nanosecond.
pub(crate) struct PathHasher {
    secrets: [u64; 2],
}

impl PathHasher {
    pub(crate) fn new() -> Self {
        let random = RandomState::new();
        Self {
            secrets: [random.hash_one(0), random.hash_one(1)],
        }
    }

    pub(crate) fn hash(&self, path: &Path) -> u64 {
        let product = u128::from(path.word(0) ^ self.secrets[0]) * u128::from(path.word(1) ^ self.secrets[1]);
        let [low, high] = [product as u64, (product >> 64) as u64];
        low ^ high
    }
}
