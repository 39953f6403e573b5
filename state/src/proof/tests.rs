//! What a prover may try, and what bytes may come.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;

type Registers = BTreeMap<Vec<u8>, Vec<u8>>;

/// The root by the scheme's own words, over (path, leaf hash), in path order.
fn slow_root(leaves: &[(Path, NodeHash)], depth: usize) -> NodeHash {
    match leaves {
        [] => NodeHash::EMPTY,
        [(_, hash)] => *hash,
        _ => {
            let middle = leaves.partition_point(|(path, _)| !scheme::bit(path, depth));
            let (left, right) = leaves.split_at(middle);
            scheme::interior(&slow_root(left, depth + 1), &slow_root(right, depth + 1))
        }
    }
}

fn leaves(registers: &Registers) -> Vec<(Path, NodeHash)> {
    let mut leaves: Vec<_> = registers
        .iter()
        .map(|(key, value)| {
            let path = Path::of(key);
            (path, scheme::leaf(&path, &ValueHash::of(value)))
        })
        .collect();
    leaves.sort();
    leaves
}

/// Root and proof as the store would make them.
fn prove(registers: &Registers, key: &[u8]) -> (NodeHash, RegisterProof) {
    let path = Path::of(key);
    let mut stream = WayStream::new(path);
    for (path, hash) in leaves(registers) {
        stream.push(path, hash);
    }
    let way = stream.finish();
    let value_at = |found: Path| {
        let (_, value) = registers.iter().find(|(key, _)| Path::of(key) == found).unwrap();
        ValueHash::of(value)
    };
    let end = match way.end {
        None => End::Empty,
        Some((found, _)) if found == path => End::Register,
        Some((found, _)) => End::Other {
            path: found,
            value: value_at(found),
        },
    };
    let proof = Proof {
        siblings: way.siblings,
        end,
    };
    let value = registers.get(key).cloned();
    let key = key.to_vec();
    (way.root, RegisterProof { key, value, proof })
}

fn numbered(count: u32) -> Registers {
    (0..count)
        .map(|number| (number.to_be_bytes().to_vec(), vec![number as u8 + 1; 3]))
        .collect()
}

/// A key without a register whose way ends as wanted.
fn absent(registers: &Registers, wanted: impl Fn(&End) -> bool) -> (NodeHash, RegisterProof) {
    (1_000_u32..)
        .map(|number| prove(registers, &number.to_be_bytes()))
        .find(|(_, proof)| wanted(&proof.proof.end))
        .unwrap()
}

#[test]
fn every_register_and_every_absence_is_proven() {
    for count in 0..70 {
        let registers = numbered(count);
        let root = slow_root(&leaves(&registers), 0);
        for number in 0..count + 70 {
            let (found, proof) = prove(&registers, &number.to_be_bytes());
            assert_eq!(found, root, "{number} of {count}");
            assert_eq!(proof.value.is_some(), number < count);
            proof.verify(&root).unwrap();
        }
    }
}

/// Deep ways cannot be had by hashing keys; the stream takes paths.
#[test]
fn paths_that_part_at_the_last_bit_have_256_siblings() {
    let mut paths = [[0xaa; 32]; 3];
    paths[1][31] ^= 1;
    paths[2][31] ^= 2;
    paths.sort();
    let placed: Vec<_> = paths
        .iter()
        .map(|path| (Path::from_bytes(*path), NodeHash::from_bytes(*path)))
        .collect();
    let mut stream = RootStreamOver::new(0);
    for (path, hash) in &placed {
        stream.0.push(*path, *hash);
    }
    assert_eq!(stream.0.finish(), slow_root(&placed, 0));
    for (target, hash) in &placed {
        let mut stream = WayStream::new(*target);
        for (path, hash) in &placed {
            stream.push(*path, *hash);
        }
        let way = stream.finish();
        assert_eq!(way.root, slow_root(&placed, 0));
        assert_eq!(way.end, Some((*target, *hash)));
        assert!(way.siblings.len() >= 255, "{}", way.siblings.len());
        let proof = Proof {
            siblings: way.siblings,
            end: End::Register,
        };
        assert_eq!(Proof::decode(&proof.encode()), Ok(proof));
    }
}

struct RootStreamOver(crate::stream::RootStream);

impl RootStreamOver {
    fn new(base: usize) -> Self {
        Self(crate::stream::RootStream::below(base))
    }
}

#[test]
fn another_value_is_refused() {
    let (root, mut proof) = prove(&numbered(50), &7_u32.to_be_bytes());
    proof.value = Some(vec![7; 3]);
    assert!(matches!(proof.verify(&root), Err(ProofError::OtherRoot { .. })));
}

#[test]
fn another_key_is_refused() {
    let (root, mut proof) = prove(&numbered(50), &7_u32.to_be_bytes());
    proof.key = 8_u32.to_be_bytes().to_vec();
    assert!(matches!(proof.verify(&root), Err(ProofError::OtherRoot { .. })));
}

#[test]
fn another_root_is_refused() {
    let (_, proof) = prove(&numbered(50), &7_u32.to_be_bytes());
    let (other, _) = prove(&numbered(51), &7_u32.to_be_bytes());
    assert!(matches!(proof.verify(&other), Err(ProofError::OtherRoot { .. })));
}

/// Everything that a prover has at hand to deny a register: its own leaf, its sibling, a shorter way, an empty end.
#[test]
fn a_register_that_exists_cannot_be_denied() {
    let registers = numbered(50);
    for number in 0..50_u32 {
        let (root, honest) = prove(&registers, &number.to_be_bytes());
        let path = Path::of(&honest.key);
        let deny = |proof: Proof| verify(&root, &honest.key, None, &proof);
        assert_eq!(deny(honest.proof.clone()), Err(ProofError::ShowsPresence));
        let value = ValueHash::of(honest.value.as_ref().unwrap());
        let mut own = honest.proof.clone();
        own.end = End::Other { path, value };
        assert_eq!(deny(own), Err(ProofError::ExistsHere));
        for depth in 0..=honest.proof.siblings.len() {
            let siblings = honest.proof.siblings[..depth].to_vec();
            let empty = Proof {
                siblings: siblings.clone(),
                end: End::Empty,
            };
            assert!(deny(empty).is_err(), "{number} at {depth}");
            for (key, value) in &registers {
                let end = End::Other {
                    path: Path::of(key),
                    value: ValueHash::of(value),
                };
                let siblings = siblings.clone();
                assert!(
                    deny(Proof { siblings, end }).is_err(),
                    "{number} at {depth} by {key:?}"
                );
            }
        }
    }
}

#[test]
fn a_register_that_does_not_exist_cannot_be_shown() {
    let registers = numbered(50);
    let (root, proof) = absent(&registers, |end| matches!(end, End::Other { .. }));
    let End::Other { path, .. } = proof.proof.end else {
        unreachable!()
    };
    let (_, value) = registers.iter().find(|(key, _)| Path::of(key) == path).unwrap();
    // The other register's value under this key, on the same way.
    let claim = Proof {
        end: End::Register,
        ..proof.proof.clone()
    };
    assert!(verify(&root, &proof.key, Some(value), &claim).is_err());
    assert_eq!(
        verify(&root, &proof.key, Some(value), &proof.proof),
        Err(ProofError::ShowsAbsence)
    );
    assert_eq!(
        verify(&root, &proof.key, Some(b""), &claim),
        Err(ProofError::EmptyValue)
    );
}

#[test]
fn an_interior_node_cannot_be_passed_off_as_a_leaf() {
    // The children of a node as path and value hash of a leaf: the same 64 bytes, under another key.
    let registers = numbered(50);
    let leaves = leaves(&registers);
    let root = slow_root(&leaves, 0);
    let middle = leaves.partition_point(|(path, _)| !scheme::bit(path, 0));
    let children = [&leaves[..middle], &leaves[middle..]].map(|half| slow_root(half, 1));
    assert_eq!(scheme::interior(&children[0], &children[1]), root);
    let proof = Proof {
        siblings: Vec::new(),
        end: End::Other {
            path: Path::from_bytes(*children[0].as_bytes()),
            value: ValueHash::from_bytes(*children[1].as_bytes()),
        },
    };
    let denied = verify(&root, &7_u32.to_be_bytes(), None, &proof);
    assert!(matches!(denied, Err(ProofError::OtherRoot { .. })), "{denied:?}");
}

#[test]
fn a_way_that_is_cut_short_or_made_longer_is_refused() {
    let (root, honest) = prove(&numbered(50), &7_u32.to_be_bytes());
    let with = |change: fn(&mut Vec<NodeHash>)| {
        let mut proof = honest.clone();
        change(&mut proof.proof.siblings);
        proof.verify(&root)
    };
    let other_root = |found| matches!(found, Err(ProofError::OtherRoot { .. }));
    assert!(other_root(with(|siblings| _ = siblings.pop())));
    assert!(other_root(with(|siblings| _ = siblings.remove(0))));
    assert!(other_root(with(|siblings| siblings.push(NodeHash::EMPTY))));
    assert!(other_root(with(|siblings| siblings.insert(0, NodeHash::EMPTY))));
    assert!(other_root(with(|siblings| siblings.reverse())));
    let deep = with(|siblings| siblings.resize(257, NodeHash::EMPTY));
    assert_eq!(
        deep,
        Err(ProofError::TooDeep {
            found: 257,
            most: 256
        })
    );
}

#[test]
fn absence_by_a_leaf_that_is_not_on_the_way_is_refused() {
    let registers = numbered(50);
    let (root, mut proof) = absent(&registers, |end| matches!(end, End::Other { .. }));
    let depth = proof.proof.siblings.len();
    let elsewhere = registers
        .iter()
        .find(|(key, _)| shared_bits(&Path::of(key), &Path::of(&proof.key)) < depth)
        .unwrap();
    proof.proof.end = End::Other {
        path: Path::of(elsewhere.0),
        value: ValueHash::of(elsewhere.1),
    };
    assert!(matches!(proof.verify(&root), Err(ProofError::OffTheWay { .. })));
}

/// The format, pinned: when this fails, the version has to change.
#[test]
fn version_1_has_these_bytes() {
    let proof = RegisterProof {
        key: b"ab".to_vec(),
        value: Some(b"xyz".to_vec()),
        proof: Proof {
            siblings: vec![
                NodeHash::from_bytes([1; 32]),
                NodeHash::EMPTY,
                NodeHash::from_bytes([3; 32]),
            ],
            end: End::Register,
        },
    };
    let mut expected = b"cairn-pf\x02\0ab\x01\x03\0\0\0xyz\x01\0\x03\0\x05".to_vec();
    expected.extend([[1; 32], [3; 32]].concat());
    assert_eq!(proof.encode(), expected);
    assert_eq!(RegisterProof::decode(&expected), Ok(proof));
    let absent = Proof {
        siblings: Vec::new(),
        end: End::Other {
            path: Path::from_bytes([7; 32]),
            value: ValueHash::from_bytes([8; 32]),
        },
    };
    let mut expected = b"\x01\x02\0\0".to_vec();
    expected.extend([[7; 32], [8; 32]].concat());
    assert_eq!(absent.encode(), expected);
}

#[test]
fn each_fault_of_the_bytes_has_its_error() {
    let (_, proof) = prove(&numbered(50), &7_u32.to_be_bytes());
    let good = proof.proof.encode();
    let with = |at: usize, byte: u8| {
        let mut bytes = good.clone();
        bytes[at] = byte;
        Proof::decode(&bytes)
    };
    assert_eq!(with(0, 2), Err(ProofBytesError::Version { offset: 0, found: 2 }));
    assert_eq!(
        with(1, 3),
        Err(ProofBytesError::Field {
            field: "kind of end",
            offset: 1,
            found: 3,
            most: 2
        })
    );
    assert_eq!(
        with(3, 2),
        Err(ProofBytesError::Field {
            field: "depth",
            offset: 2,
            found: 512 + proof.proof.siblings.len() as u64,
            most: 256
        })
    );
    let mut long = good.clone();
    long.push(0);
    assert_eq!(
        Proof::decode(&long),
        Err(ProofBytesError::Long {
            offset: good.len(),
            found: 1
        })
    );
    assert!(matches!(
        Proof::decode(&good[..good.len() - 1]),
        Err(ProofBytesError::Short {
            expected: 32,
            found: 31,
            ..
        })
    ));
    let statement = proof.encode();
    assert_eq!(
        RegisterProof::decode(&statement[1..]),
        Err(ProofBytesError::Magic)
    );
    let mut zeroed = good.clone();
    let first = good.len() - 32;
    zeroed[first..].fill(0);
    assert_eq!(
        Proof::decode(&zeroed),
        Err(ProofBytesError::Spelling {
            field: "sibling",
            offset: first
        })
    );
}

fn small_registers() -> impl Strategy<Value = Registers> {
    prop::collection::btree_map(
        prop::collection::vec(any::<u8>(), 0..4),
        prop::collection::vec(any::<u8>(), 1..5),
        0..40,
    )
}

proptest! {
    #[test]
    fn any_bytes_are_read_without_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        if let Ok(proof) = Proof::decode(&bytes) {
            prop_assert_eq!(proof.encode(), bytes.clone(), "a proof has one encoding");
        }
        let _ = RegisterProof::decode(&bytes);
        let mut statement = b"cairn-pf".to_vec();
        statement.extend(&bytes);
        if let Ok(proof) = RegisterProof::decode(&statement) {
            prop_assert_eq!(proof.encode(), statement);
        }
    }

    #[test]
    fn a_proof_with_any_bit_altered_is_refused(
        registers in small_registers(), key in prop::collection::vec(any::<u8>(), 0..4), known: prop::sample::Index,
        ask_known: bool,
    ) {
        let key = match registers.keys().nth(known.index(registers.len().max(1))) {
            Some(known) if ask_known => known.clone(),
            _ => key,
        };
        let (root, proof) = prove(&registers, &key);
        prop_assert_eq!(root, slow_root(&leaves(&registers), 0));
        prop_assert_eq!(proof.verify(&root), Ok(()));
        let bytes = proof.encode();
        prop_assert_eq!(RegisterProof::decode(&bytes), Ok(proof));
        for bit in 0..bytes.len() * 8 {
            let mut altered = bytes.clone();
            altered[bit / 8] ^= 1 << (bit % 8);
            if let Ok(altered) = RegisterProof::decode(&altered) && altered.verify(&root).is_ok() {
                // Only what is true can still be shown: the absence of another register in an empty subtrie.
                prop_assert_eq!(registers.get(&altered.key), altered.value.as_ref(), "bit {} of {:?}", bit, altered);
            }
        }
        for length in 0..bytes.len() {
            prop_assert!(RegisterProof::decode(&bytes[..length]).is_err());
        }
    }
}
