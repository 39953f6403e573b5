//! The Merkle tree over a block's transactions.
//!
//! Leaves are the Merkle digests of the transactions. Neighbours are hashed together, level by level; an entry without a
//! neighbour moves up as it is, it is not paired with itself. The root is RIPEMD-160 of the entry that remains, and 20
//! zero bytes for a block without transactions.

use crate::hash;
use crate::ids::{MerkleRoot, Sha256Digest};
use crate::spec::ChainKind;

/// The root over leaves.
#[must_use]
pub fn root(leaves: &[Sha256Digest]) -> MerkleRoot {
    let mut level = leaves.to_vec();
    while level.len() > 1 {
        for pair in 0..level.len() / 2 {
            level[pair] = Sha256Digest(hash::sha256(&[&level[2 * pair].0, &level[2 * pair + 1].0]));
        }
        if level.len() % 2 == 1 {
            let single = level.len() - 1;
            level[single / 2] = level[single];
        }
        level.truncate(level.len().div_ceil(2));
    }
    match level.first() {
        Some(last) => MerkleRoot(hash::ripemd160(&last.0)),
        None => MerkleRoot::ZERO,
    }
}

/// The transactions of a block are not the ones that its header is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("block {block}: its header has the Merkle root {header}, its transactions have {computed}")]
pub struct MerkleMismatch {
    /// Number of the block.
    pub block: u32,
    /// Root in the header.
    pub header: MerkleRoot,
    /// Root over the transactions.
    pub computed: MerkleRoot,
}

/// The eight mainnet blocks whose header holds another root than their transactions have, with the latter. hived makes
/// the same exceptions, in `shared_db_merkle.hpp`.
pub const HISTORICAL_ROOTS: [(u32, MerkleRoot); 8] = [
    (
        3_705_111,
        MerkleRoot(*b"\x0a\x8f\x0f\xd5\x45\x0c\x37\x06\xec\x8b\x8c\xba\xd7\x95\xcd\x0b\x36\x79\xbf\x35"),
    ),
    (
        3_705_120,
        MerkleRoot(*b"\x20\x27\xed\xb7\x2b\x67\x1f\x70\x11\xc8\xcc\x4c\x7a\x8b\x59\xc3\x9b\x30\x50\x93"),
    ),
    (
        3_713_940,
        MerkleRoot(*b"\xbf\x8a\x1d\x51\x69\x27\xc5\x06\xeb\xdb\xb7\xb3\x8b\xef\x2e\x99\x24\x35\x43\x5f"),
    ),
    (
        3_714_132,
        MerkleRoot(*b"\xe8\xb7\x77\x73\xd2\x68\xb7\x2c\x8d\x65\x03\x37\xb8\xcc\xe3\x60\xbb\xe6\x47\x79"),
    ),
    (
        3_714_567,
        MerkleRoot(*b"\x45\xaf\x59\xa8\xc2\xd7\xd4\xa6\x06\x15\x1e\xf5\xda\xe0\x3d\x2d\xfe\x13\xfb\xdd"),
    ),
    (
        3_714_588,
        MerkleRoot(*b"\xe6\x42\x75\x44\x3b\xdc\x82\xf1\x04\xac\x93\x64\x86\xd3\x67\xaf\x8f\x6d\x15\x84"),
    ),
    (
        4_138_790,
        MerkleRoot(*b"\xf6\x5a\x3a\x78\x8a\x2e\xf5\x24\x06\xd8\xba\x57\x05\xd7\x28\x8b\xe2\x28\x40\x3f"),
    ),
    (
        5_435_426,
        MerkleRoot(*b"\x0b\x32\x53\x8b\x2d\x22\xbd\x31\x46\xd5\x4b\x6e\x3c\xb5\xae\x8b\x97\x80\xe8\xa5"),
    ),
];

/// The root that a block's transactions must have although its header says otherwise, if it is one of those blocks.
#[must_use]
pub fn historical_root(kind: ChainKind, block: u32) -> Option<MerkleRoot> {
    if kind != ChainKind::Mainnet {
        return None;
    }
    HISTORICAL_ROOTS
        .iter()
        .find(|(number, _)| *number == block)
        .map(|(_, root)| *root)
}

#[cfg(test)]
mod tests;
