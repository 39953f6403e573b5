use crate::path::Path;
use crate::trie::scheme::{self, NodeHash, ValueHash};

fn value(byte: u8) -> ValueHash {
    ValueHash::of(&[byte])
}

#[test]
fn the_same_64_bytes_are_another_hash_as_a_leaf_than_as_an_interior_node() {
    let (left, right) = ([3; 32], [5; 32]);
    let leaf = scheme::leaf(&Path::from_bytes(left), &ValueHash::from_bytes(right));
    let interior = scheme::interior(&NodeHash::from_bytes(left), &NodeHash::from_bytes(right));
    assert_ne!(leaf, interior);
    let plain = *blake3::hash(&scheme::block(&left, &right)).as_bytes();
    assert_ne!(leaf.as_bytes(), &plain);
    assert_ne!(interior.as_bytes(), &plain);
}

#[test]
fn an_interior_node_tells_left_from_right() {
    let (a, b) = (NodeHash::from_bytes([1; 32]), NodeHash::EMPTY);
    assert_ne!(scheme::interior(&a, &b), scheme::interior(&b, &a));
}

/// Pins the scheme: whoever changes a byte of it changes every root, and has to say so here.
#[test]
fn known_hashes() {
    let path = Path::of(b"account/alice");
    let leaf = scheme::leaf(&path, &ValueHash::of(b"posting authority"));
    assert_eq!(
        leaf.to_string(),
        "44de6fd9c5491228f615c4364612f792adb80adb18673211ba2c2ffae2541773"
    );
    assert_eq!(
        scheme::interior(&leaf, &NodeHash::EMPTY).to_string(),
        "5ff848f0a085fe5c0b7dc0e8b8606a616fb37e9650fe23d05cec972873eab178"
    );
    assert_eq!(NodeHash::EMPTY.to_string(), "0".repeat(64));
}

#[test]
fn siblings_are_folded_from_the_deepest_to_the_root() {
    let path = Path::from_bytes({
        let mut bytes = [0; 32];
        bytes[0] = 0b1010_0000;
        bytes
    });
    assert_eq!(
        [0, 1, 2, 3].map(|depth| scheme::bit(&path, depth)),
        [true, false, true, false]
    );
    let end = scheme::leaf(&path, &value(1));
    let siblings = [[7; 32], [8; 32], [9; 32]].map(NodeHash::from_bytes);
    let deepest = scheme::interior(&siblings[2], &end);
    let middle = scheme::interior(&deepest, &siblings[1]);
    let root = scheme::interior(&siblings[0], &middle);
    assert_eq!(scheme::root_above(&path, end, &siblings), Some(root));
    assert_eq!(scheme::root_above(&path, end, &[]), Some(end));
    assert!(scheme::root_above(&path, end, &[NodeHash::EMPTY; 256]).is_some());
    assert_eq!(scheme::root_above(&path, end, &[NodeHash::EMPTY; 257]), None);
}
