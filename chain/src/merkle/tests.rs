//! The tree against a slow twin that says the rule once more.

use super::*;

/// The rule word for word: one list for each level, RIPEMD-160 at the end.
fn slow_root(leaves: &[Sha256Digest]) -> MerkleRoot {
    let Some(first) = leaves.first() else {
        return MerkleRoot([0; 20]);
    };
    if leaves.len() == 1 {
        return MerkleRoot(hash::ripemd160(&first.0));
    }
    let next: Vec<Sha256Digest> = leaves
        .chunks(2)
        .map(|pair| match pair {
            [left, right] => Sha256Digest::of(&[left.0, right.0].concat()),
            single => single[0],
        })
        .collect();
    slow_root(&next)
}

#[test]
fn trees_of_all_small_sizes() {
    let leaves: Vec<Sha256Digest> = (0..200u8).map(|number| Sha256Digest::of(&[number])).collect();
    let mut roots = Vec::new();
    for count in 0..=leaves.len() {
        let root = root(&leaves[..count]);
        assert_eq!(root, slow_root(&leaves[..count]), "{count} leaves");
        assert!(!roots.contains(&root), "{count} leaves");
        roots.push(root);
    }
}

/// A leaf without a neighbour is not paired with itself: if it were, doubling the last leaf would not change the root.
#[test]
fn a_doubled_leaf_changes_the_root() {
    let leaves: Vec<Sha256Digest> = (0..3u8).map(|number| Sha256Digest::of(&[number])).collect();
    let doubled = [&leaves[..], &leaves[2..]].concat();
    assert_ne!(root(&leaves), root(&doubled));
}

#[test]
fn only_mainnet_has_exceptions() {
    let (number, root) = HISTORICAL_ROOTS[0];
    assert_eq!(historical_root(ChainKind::Mainnet, number), Some(root));
    assert_eq!(historical_root(ChainKind::Mainnet, number + 1), None);
    for kind in [ChainKind::Mirrornet, ChainKind::Testnet, ChainKind::SteemTestnet] {
        assert_eq!(historical_root(kind, number), None);
    }
    assert_eq!(
        HISTORICAL_ROOTS[7].1.to_string(),
        "0b32538b2d22bd3146d54b6e3cb5ae8b9780e8a5"
    );
}
