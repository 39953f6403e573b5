use proptest::prelude::*;
use tempfile::TempDir;

use super::*;

fn id(number: u32) -> BlockId {
    let mut bytes = [number as u8; 20];
    bytes[..4].copy_from_slice(&number.to_be_bytes());
    BlockId(bytes)
}

fn checkpoint(number: u32) -> Checkpoint {
    Checkpoint {
        number,
        id: id(number),
    }
}

fn filled(folder: &TempDir, top: u32, bottom: u32) -> Skeleton {
    let mut skeleton = Skeleton::open(folder.path(), checkpoint(top)).unwrap();
    while skeleton.lowest() > bottom {
        let next = skeleton.lowest() - 1;
        skeleton.push(id(next)).unwrap();
    }
    skeleton
}

#[test]
fn gives_back_every_id_from_memory_and_from_the_file() {
    let folder = TempDir::new().unwrap();
    let mut skeleton = filled(&folder, 5000, 7);
    for number in 7..=5000 {
        assert_eq!(skeleton.id(number).unwrap(), Some(id(number)));
    }
    assert_eq!(skeleton.id(6).unwrap(), None);
    assert_eq!(skeleton.id(5001).unwrap(), None);
    drop(skeleton);
    // 4994 ids: four whole groups are kept.
    let mut again = Skeleton::open(folder.path(), checkpoint(5000)).unwrap();
    assert_eq!(again.lowest(), 5000 - 4 * 1024 + 1);
    assert_eq!(again.id(5000 - 4095).unwrap(), Some(id(5000 - 4095)));
}

#[test]
fn a_group_that_a_crash_has_torn_ends_the_file() {
    let folder = TempDir::new().unwrap();
    drop(filled(&folder, 5000, 7));
    let path = Skeleton::path(folder.path(), 5000);
    let mut bytes = fs::read(&path).unwrap();
    bytes[HEADER + GROUP_BYTES + 70] ^= 1;
    fs::write(&path, bytes).unwrap();
    let skeleton = Skeleton::open(folder.path(), checkpoint(5000)).unwrap();
    assert_eq!(skeleton.lowest(), 5000 - 1023);
}

#[test]
fn another_checkpoint_begins_anew() {
    let folder = TempDir::new().unwrap();
    drop(filled(&folder, 5000, 7));
    let other = Checkpoint {
        number: 5000,
        id: BlockId([1; 20]),
    };
    let mut skeleton = Skeleton::open(folder.path(), other).unwrap();
    assert_eq!(skeleton.lowest(), 5000);
    assert_eq!(skeleton.id(5000).unwrap(), Some(other.id));
}

#[test]
fn the_sweep_leaves_what_is_wanted_and_what_is_not_a_skeleton() {
    let folder = TempDir::new().unwrap();
    for number in [100, 200] {
        Skeleton::open(folder.path(), checkpoint(number)).unwrap();
    }
    fs::write(folder.path().join("skeleton-x"), b"").unwrap();
    fs::write(folder.path().join("node_key"), b"").unwrap();
    Skeleton::sweep(folder.path(), |number| number == 200);
    let mut names: Vec<_> = fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(names, ["node_key", "skeleton-200", "skeleton-x"]);
}

#[test]
fn a_group_that_is_damaged_while_it_is_used_is_an_error_and_a_reset_mends_it() {
    let folder = TempDir::new().unwrap();
    let mut skeleton = filled(&folder, 5000, 7);
    let path = Skeleton::path(folder.path(), 5000);
    let mut bytes = fs::read(&path).unwrap();
    bytes[HEADER + 3] ^= 1;
    fs::write(&path, bytes).unwrap();
    assert!(matches!(
        skeleton.id(5000),
        Err(SkeletonError::Damaged { offset: 64, .. })
    ));
    skeleton.reset().unwrap();
    assert_eq!(skeleton.lowest(), 5000);
    assert_eq!(skeleton.id(5000).unwrap(), Some(id(5000)));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Whatever was done to the file, an id that it gives is one that was pushed.
    #[test]
    fn arbitrary_damage_never_gives_a_wrong_id(
        top in 1u32..6000,
        cut in 0.0f64..1.2,
        flips in proptest::collection::vec((any::<prop::sample::Index>(), 1u8..), 0..4),
    ) {
        let folder = TempDir::new().unwrap();
        drop(filled(&folder, top, 1));
        let path = Skeleton::path(folder.path(), top);
        let mut bytes = fs::read(&path).unwrap();
        bytes.resize((bytes.len() as f64 * cut) as usize, 0xaa);
        for (place, bit) in flips {
            if !bytes.is_empty() {
                let place = place.index(bytes.len());
                bytes[place] ^= bit;
            }
        }
        fs::write(&path, &bytes).unwrap();
        let mut skeleton = Skeleton::open(folder.path(), checkpoint(top)).unwrap();
        for number in skeleton.lowest()..=top {
            prop_assert_eq!(skeleton.id(number).unwrap(), Some(id(number)));
        }
        // And it can be filled to the end again.
        while skeleton.lowest() > 1 {
            let next = skeleton.lowest() - 1;
            skeleton.push(id(next)).unwrap();
        }
        for number in 1..=top {
            prop_assert_eq!(skeleton.id(number).unwrap(), Some(id(number)));
        }
    }

    #[test]
    fn arbitrary_bytes_are_no_skeleton(bytes in proptest::collection::vec(any::<u8>(), 0..3000)) {
        let folder = TempDir::new().unwrap();
        fs::write(Skeleton::path(folder.path(), 3000), bytes).unwrap();
        let skeleton = Skeleton::open(folder.path(), checkpoint(3000)).unwrap();
        prop_assert_eq!(skeleton.lowest(), 3000);
    }
}
