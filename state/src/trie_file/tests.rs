use std::num::NonZeroU32;

use proptest::prelude::*;

use super::*;
use crate::counts::Counts;
use crate::head::Head;
use crate::path::Path;
use crate::stream::RootStream;
use crate::trie::{Leaf, NodeHash};

const HEAD: Head = Head {
    number: 77,
    id: [0x1d; 20],
};
const CHAIN: [u8; 32] = [0xc1; 32];

fn leaves(count: u64) -> Vec<PlacedLeaf> {
    let mut leaves: Vec<_> = (0..count)
        .map(|number| {
            let path = Path::of(&number.to_le_bytes());
            let value = vec![number as u8; 1 + number as usize % 200];
            (path, Leaf::of(&path, 8, &value).unwrap())
        })
        .collect();
    leaves.sort_by_key(|(path, _)| *path);
    leaves
}

fn header(leaves: &[PlacedLeaf]) -> TrieFileHeader {
    let mut stream = RootStream::below(0);
    leaves
        .iter()
        .for_each(|(path, leaf)| stream.push(*path, leaf.hash));
    let bytes = leaves.iter().map(|(_, leaf)| u64::from(leaf.bytes.get())).sum();
    let registers = leaves.len() as u64;
    TrieFileHeader {
        version: 2,
        chain: CHAIN,
        head: HEAD,
        counts: Counts { registers, bytes },
        root: *stream.finish().as_bytes(),
    }
}

fn encode(leaves: &[PlacedLeaf], version: TrieFileVersion) -> Vec<u8> {
    let mut bytes = Vec::new();
    write_leaves(&mut bytes, &header(leaves), version, leaves.iter().copied()).unwrap();
    bytes
}

/// What a file must be to be believed, when it is this one.
fn expected(bytes: &[u8]) -> Expected {
    let mut reader = TrieFileReader::new(bytes).unwrap();
    let mut leaves = Vec::new();
    while reader.next_group(&mut leaves).unwrap() {}
    let header = *reader.header();
    Expected {
        chain: header.chain,
        head: Some(header.head),
        counts: header.counts,
        record: Some(FileRecord {
            head: header.head,
            root: header.root,
            seal: reader.seal(),
        }),
    }
}

fn decode(bytes: &[u8]) -> Result<Vec<PlacedLeaf>, TrieFileError> {
    let mut reader = TrieFileReader::new(bytes)?;
    let mut leaves = Vec::new();
    while reader.next_group(&mut leaves)? {}
    Ok(leaves)
}

#[test]
fn both_versions_give_the_leaves_back() {
    for version in [TrieFileVersion::One, TrieFileVersion::Two] {
        for count in [0, 1, 2, 300, GROUP, GROUP + 1, 2 * GROUP + 5] {
            let leaves = leaves(count);
            let bytes = encode(&leaves, version);
            let reader = TrieFileReader::new(&bytes[..]).unwrap();
            assert_eq!(reader.header().version, version.number());
            assert_eq!(decode(&bytes).unwrap(), leaves, "{version:?} {count}");
        }
    }
}

#[test]
fn version_2_is_shorter() {
    // As in a large state, where the paths of a group have their first bytes in common.
    let mut leaves = leaves(GROUP);
    for (path, _) in &mut leaves {
        let mut bytes = *path.as_bytes();
        bytes[..2].fill(7);
        *path = Path::from_bytes(bytes);
    }
    leaves.sort_by_key(|(path, _)| *path);
    let [plain, cut] =
        [TrieFileVersion::One, TrieFileVersion::Two].map(|version| encode(&leaves, version).len());
    assert!(cut + 4 * leaves.len() < plain, "{cut} {plain}");
    assert_eq!(decode(&encode(&leaves, TrieFileVersion::Two)).unwrap(), leaves);
}

/// The file in `tests/data` was written by the code when version 1 was the only one.
#[test]
fn the_kept_file_of_version_1_is_read() {
    let kept = include_bytes!("../../tests/data/trie-version-1");
    assert_eq!(decode(kept).unwrap(), leaves(300));
    let header = *TrieFileReader::new(&kept[..]).unwrap().header();
    assert_eq!(
        header,
        TrieFileHeader {
            version: 1,
            ..self::header(&leaves(300))
        }
    );
    assert_eq!(
        encode(&leaves(300), TrieFileVersion::One),
        kept,
        "and would be written so again"
    );
}

/// Version 2, pinned: when this fails, the version has to change.
#[test]
fn version_2_has_these_bytes() {
    let leaf = |hash: u8, bytes: u32| Leaf {
        hash: NodeHash::from_bytes([hash; 32]),
        bytes: NonZeroU32::new(bytes).unwrap(),
    };
    let path = |first: u8, second: u8| {
        let mut bytes = [9; 32];
        (bytes[0], bytes[1]) = (first, second);
        Path::from_bytes(bytes)
    };
    let leaves = [(path(7, 1), leaf(1, 5)), (path(7, 2), leaf(2, 300))];
    let bytes = encode(&leaves, TrieFileVersion::Two);
    let mut expected = b"cairntri\x02\0\0\0".to_vec();
    expected.extend([0xc1; 32]);
    expected.extend([77, 0, 0, 0]);
    expected.extend([0x1d; 20]);
    expected.extend([2, 0, 0, 0, 0, 0, 0, 0]);
    expected.extend([0x31, 1, 0, 0, 0, 0, 0, 0]);
    expected.extend(header(&leaves).root);
    let header_sum = blake3::hash(&expected).as_bytes()[..16].to_vec();
    expected.extend(&header_sum);
    let mut group = [131_u8, 0, 0, 0, 1, 7].to_vec();
    group.extend([&[1][..], &[9; 30], &[1; 32], &[5]].concat());
    group.extend([&[2][..], &[9; 30], &[2; 32], &[0xac, 2]].concat());
    let sum = blake3::hash(&[&header_sum[..], &[0; 8], &group].concat());
    expected.extend(&group);
    expected.extend(&sum.as_bytes()[..16]);
    assert_eq!(bytes, expected);
}

#[test]
fn each_damage_has_its_error() {
    let leaves = leaves(GROUP + 10);
    for version in [TrieFileVersion::One, TrieFileVersion::Two] {
        let good = encode(&leaves, version);
        let with = |at: usize, byte: u8| {
            let mut bytes = good.clone();
            bytes[at] = byte;
            decode(&bytes).unwrap_err()
        };
        assert!(matches!(with(0, b'C'), TrieFileError::Magic { .. }));
        assert!(matches!(with(8, 3), TrieFileError::Version { found: 3 }));
        assert!(matches!(
            with(84, !good[84]),
            TrieFileError::Checksum {
                part: "header",
                offset: 0,
                ..
            }
        ));
        let middle = 132 + 5_000;
        let altered = with(middle, !good[middle]);
        assert!(
            matches!(
                altered,
                TrieFileError::Checksum {
                    part: "group",
                    offset: 132,
                    ..
                }
            ),
            "{altered}"
        );
        let torn = decode(&good[..good.len() - 7]).unwrap_err();
        assert!(matches!(torn, TrieFileError::Torn { .. }), "{torn}");
        assert!(matches!(
            decode(&good[..100]),
            Err(TrieFileError::Torn {
                offset: 0,
                expected: 132,
                found: 100
            })
        ));
        let longer = decode(&[&good[..], &[0]].concat()).unwrap_err();
        assert!(
            matches!(longer, TrieFileError::Longer { offset } if offset == good.len() as u64),
            "{longer}"
        );
    }
}

#[test]
fn an_altered_group_of_version_2_hides_no_other() {
    let leaves = leaves(3 * GROUP);
    let mut bytes = encode(&leaves, TrieFileVersion::Two);
    bytes[132 + 100] ^= 1;
    let mut reader = TrieFileReader::new(&bytes[..]).unwrap();
    let mut read = Vec::new();
    assert!(reader.next_group(&mut read).is_err());
    read.clear();
    while reader.next_group(&mut read).is_ok_and(|more| more) {}
    assert_eq!(read, leaves[GROUP as usize..]);
}

#[test]
fn groups_that_change_places_are_refused() {
    let leaves = leaves(2 * GROUP);
    let good = encode(&leaves, TrieFileVersion::Two);
    let first = 132 + 4 + u32::from_le_bytes(good[132..136].try_into().unwrap()) as usize + 16;
    let swapped = [&good[..132], &good[first..], &good[132..first]].concat();
    assert!(matches!(
        decode(&swapped),
        Err(TrieFileError::Checksum { part: "group", .. })
    ));
}

/// With right checksums, so that only what they protect against forgery is left.
#[test]
fn leaves_that_cannot_be_are_refused() {
    let mut unordered = leaves(10);
    unordered.swap(3, 4);
    let mut twice = leaves(10);
    twice[4] = twice[3];
    for leaves in [unordered, twice] {
        for version in [TrieFileVersion::One, TrieFileVersion::Two] {
            let mut bytes = Vec::new();
            let header = TrieFileHeader {
                root: [0; 32],
                ..header(&self::leaves(10))
            };
            write_leaves(&mut bytes, &header, version, leaves.iter().copied()).unwrap();
            let refused = decode(&bytes).unwrap_err();
            assert!(
                matches!(refused, TrieFileError::Order { leaf: 4, .. }),
                "{refused}"
            );
        }
    }
    let mut large = leaves(10);
    large[2].1.bytes = NonZeroU32::MAX;
    let mut bytes = Vec::new();
    write_leaves(&mut bytes, &header(&leaves(10)), TrieFileVersion::One, large).unwrap();
    assert!(matches!(decode(&bytes), Err(TrieFileError::Leaf { leaf: 2, .. })));
    let mut header = header(&leaves(10));
    header.counts.bytes += 1;
    let mut bytes = Vec::new();
    write_leaves(&mut bytes, &header, TrieFileVersion::Two, leaves(10)).unwrap();
    assert!(matches!(decode(&bytes), Err(TrieFileError::Bytes { .. })));
    let mut none = Vec::new();
    assert!(write_leaves(&mut none, &header, TrieFileVersion::Two, leaves(9)).is_err());
}

#[test]
fn only_the_stores_own_file_is_believed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("trie");
    let leaves = leaves(300);
    let bytes = encode(&leaves, TrieFileVersion::Two);
    let good = expected(&bytes);
    let refused = |expected: Expected| expected.root(&path).unwrap_err();
    assert!(matches!(refused(good), TrieFileError::Missing));
    std::fs::write(&path, &bytes).unwrap();
    assert_eq!(*good.root(&path).unwrap().as_bytes(), header(&leaves).root);

    let record = good.record.unwrap();
    let other_chain = Expected {
        chain: [1; 32],
        ..good
    };
    assert!(matches!(refused(other_chain), TrieFileError::OtherChain { .. }));
    let head = Some(Head { number: 78, ..HEAD });
    assert!(matches!(
        refused(Expected { head, ..good }),
        TrieFileError::OtherBlock { .. }
    ));
    assert!(matches!(
        refused(Expected { head: None, ..good }),
        TrieFileError::OtherBlock { .. }
    ));
    let mut counts = good.counts;
    counts.bytes += 1;
    assert!(matches!(
        refused(Expected { counts, ..good }),
        TrieFileError::OtherCounts { .. }
    ));
    assert!(matches!(
        refused(Expected { record: None, ..good }),
        TrieFileError::Unrecorded { .. }
    ));
    let other = Some(FileRecord {
        root: [2; 32],
        ..record
    });
    assert!(matches!(
        refused(Expected {
            record: other,
            ..good
        }),
        TrieFileError::Unrecorded { .. }
    ));
    let other = Some(FileRecord {
        seal: [2; 32],
        ..record
    });
    assert!(matches!(
        refused(Expected {
            record: other,
            ..good
        }),
        TrieFileError::Seal { .. }
    ));

    // A header that promises another root than the leaves have, vouched for by everybody.
    let mut lie = header(&leaves);
    lie.root[0] ^= 1;
    let mut bytes = Vec::new();
    write_leaves(&mut bytes, &lie, TrieFileVersion::Two, leaves).unwrap();
    std::fs::write(&path, &bytes).unwrap();
    assert!(matches!(refused(expected(&bytes)), TrieFileError::Root { .. }));
}

#[test]
fn an_older_file_stays_when_the_new_one_cannot_be_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("trie");
    let leaves = leaves(10);
    replace(&path, &header(&leaves), leaves.iter().copied()).unwrap();
    let before = std::fs::read(&path).unwrap();
    assert!(replace(&path, &header(&leaves), leaves[1..].iter().copied()).is_err());
    assert_eq!(std::fs::read(&path).unwrap(), before);
    assert_eq!(
        std::fs::read_dir(folder.path()).unwrap().count(),
        1,
        "nothing half made stays"
    );
}

#[test]
fn the_record_is_read_back_and_nothing_else() {
    let record = FileRecord {
        head: HEAD,
        root: [3; 32],
        seal: [4; 32],
    };
    let bytes = record.encode();
    assert_eq!(FileRecord::decode(&bytes), Some(record));
    assert_eq!(FileRecord::decode(&bytes[1..]), None);
    for bit in 0..bytes.len() * 8 {
        let mut altered = bytes;
        altered[bit / 8] ^= 1 << (bit % 8);
        assert_eq!(FileRecord::decode(&altered), None, "bit {bit}");
    }
}

/// Writes `tests/data/trie-version-1` anew: only when the sample itself is to change.
#[test]
#[ignore = "writes a file of the source"]
fn write_the_sample() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/trie-version-1");
    std::fs::write(path, encode(&leaves(300), TrieFileVersion::One)).unwrap();
}

proptest! {
    #[test]
    fn any_bytes_are_read_without_a_panic(
        start in 0..400_usize, bytes in prop::collection::vec(any::<u8>(), 0..600), second: bool,
    ) {
        let _ = decode(&bytes);
        // Behind a good start: the header's checksum would stop everything else.
        let version = if second { TrieFileVersion::Two } else { TrieFileVersion::One };
        let mut mixed = encode(&leaves(30), version);
        mixed.truncate(start.max(132));
        mixed.extend(&bytes);
        let _ = decode(&mixed);
    }

    #[test]
    fn no_altered_bit_and_no_cut_is_believed(
        count in 1..40_u64, place in any::<prop::sample::Index>(), bit in 0..8_u8, second: bool,
    ) {
        let version = if second { TrieFileVersion::Two } else { TrieFileVersion::One };
        let good = encode(&leaves(count), version);
        let mut altered = good.clone();
        let at = place.index(good.len());
        altered[at] ^= 1_u8 << bit;
        prop_assert!(decode(&altered).is_err(), "byte {}", at);
        prop_assert!(decode(&good[..at]).is_err());
    }

    /// Right checksums over any group: what a forger can write.
    #[test]
    fn any_group_with_a_right_checksum_is_read_without_a_panic(
        group in prop::collection::vec(any::<u8>(), 34..400), count in 1..8_u64, shared in 0..40_u8,
    ) {
        let header = TrieFileHeader { counts: Counts { registers: count, bytes: 0 }, ..header(&leaves(1)) };
        let mut bytes = header.encode().to_vec();
        let header_sum: [u8; 16] = bytes[116..].try_into().unwrap();
        let mut body = (group.len() as u32).to_le_bytes().to_vec();
        body.extend(&group);
        body[4] = shared;
        let sum = group::cut_checksum(&header_sum, 0, &body);
        bytes.extend(body);
        bytes.extend(sum);
        let refused = decode(&bytes);
        prop_assert!(refused.is_err(), "its header announces no bytes");
    }

    /// A header may promise what it likes: only what is there is read.
    #[test]
    fn a_header_that_promises_much_costs_nothing(registers in 10_000_u64.., version in 1..3_u32) {
        let header = TrieFileHeader { version, counts: Counts { registers, bytes: 1 }, ..header(&leaves(1)) };
        let mut bytes = header.encode().to_vec();
        bytes.extend([0; 1000]);
        let mut reader = TrieFileReader::new(&bytes[..]).unwrap();
        let mut leaves = Vec::new();
        prop_assert!(reader.next_group(&mut leaves).is_err());
        prop_assert!(leaves.capacity() <= GROUP as usize);
    }
}
