//! The kept trie beside the slow walk over all registers of the store, which is the judge.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use proptest::prelude::*;
use tempfile::TempDir;

use super::*;
use crate::trie::NodeHash;
use crate::trie::scheme::{self, ValueHash};
use crate::{Path, Registers, RestorePoints, StoreOptions};

struct Bench {
    folder: TempDir,
}

fn head(number: u32) -> Head {
    Head {
        number,
        id: [number as u8; 20],
    }
}

impl Bench {
    fn new() -> Self {
        Self {
            folder: TempDir::new().unwrap(),
        }
    }

    fn file(&self) -> PathBuf {
        self.folder.path().join("trie")
    }

    fn open(&self) -> Registers {
        let mut registers = self.open_without();
        registers.keep_trie(TrieOptions::in_file(self.file())).unwrap();
        registers
    }

    fn open_without(&self) -> Registers {
        let options = StoreOptions {
            register_cache_bytes: 4 << 10,
            write_buffer_bytes: 64 << 10,
            ..StoreOptions::new([7; 32])
        };
        Registers::new(Store::open(self.folder.path().join("registers"), &options).unwrap()).unwrap()
    }
}

/// The root by the scheme's own words.
fn slow_root(leaves: &[(Path, NodeHash)], depth: usize) -> NodeHash {
    match leaves {
        [] => NodeHash::EMPTY,
        [(_, hash)] => *hash,
        _ => {
            let (left, right) =
                leaves.split_at(leaves.partition_point(|(path, _)| !scheme::bit(path, depth)));
            scheme::interior(&slow_root(left, depth + 1), &slow_root(right, depth + 1))
        }
    }
}

fn root_of_store(store: &Store) -> NodeHash {
    let mut leaves = Vec::new();
    store
        .scan(|key, value| {
            let path = Path::of(key);
            leaves.push((path, scheme::leaf(&path, &ValueHash::of(value))));
        })
        .unwrap();
    slow_root(&leaves, 0)
}

/// All three ways to the root, and the counts.
fn check(registers: &Registers) {
    let root = registers.root(None).unwrap().unwrap();
    let store = registers.store();
    assert_eq!(root.root, root_of_store(store));
    assert_eq!(root.head, store.head());
    assert_eq!(root.counts, store.counts());
    assert_eq!(store.compute_root(|_| {}).unwrap(), root);
}

fn fill(registers: &mut Registers, keys: std::ops::Range<u32>, value: u8) {
    for key in keys {
        registers.set(&key.to_le_bytes(), &[value; 40]).unwrap();
    }
}

/// Whether the last start took the trie from its file: the file is then not written again for the same block.
fn came_from_file(bench: &Bench, registers: &Registers) -> bool {
    registers.root(None).unwrap();
    let before = fs::metadata(bench.file())
        .ok()
        .map(|file| file.modified().unwrap());
    thread::sleep(Duration::from_millis(20));
    registers.write_trie_file(None).unwrap();
    before.is_some()
        && before
            == fs::metadata(bench.file())
                .ok()
                .map(|file| file.modified().unwrap())
}

#[test]
fn the_root_is_that_of_the_last_commit() {
    let bench = Bench::new();
    let mut registers = bench.open();
    let empty = registers.root(None).unwrap().unwrap();
    assert_eq!((empty.root, empty.head), (NodeHash::EMPTY, None));
    fill(&mut registers, 0..3_000, 1);
    registers.commit(head(1)).unwrap();
    check(&registers);
    let one = registers.root(None).unwrap();
    fill(&mut registers, 0..10, 2);
    assert_eq!(registers.root(None).unwrap(), one, "not committed yet");
    registers.remove(&20_u32.to_le_bytes()).unwrap();
    registers.commit(head(2)).unwrap();
    check(&registers);
    assert_ne!(registers.root(None).unwrap(), one);
    assert!(
        bench.open_without_twice(registers).root(None).unwrap().is_none(),
        "no trie is kept"
    );
}

impl Bench {
    fn open_without_twice(&self, first: Registers) -> Registers {
        drop(first);
        self.open_without()
    }
}

#[test]
fn a_clean_stop_leaves_a_file_that_the_next_start_takes() {
    let bench = Bench::new();
    let mut registers = bench.open();
    assert!(!registers.write_trie_file(None).unwrap(), "nothing was committed");
    fill(&mut registers, 0..10_000, 1);
    registers.commit(head(1)).unwrap();
    assert!(registers.write_trie_file(None).unwrap());
    assert_eq!(
        registers.store().root_of_trie_file(&bench.file()).ok(),
        registers.root(None).unwrap()
    );
    drop(registers);
    let mut registers = bench.open();
    assert!(came_from_file(&bench, &registers));
    check(&registers);
    fill(&mut registers, 5_000..11_000, 2);
    registers.commit(head(2)).unwrap();
    check(&registers);
    drop(registers);
    // As after a kill: the file is of block 1.
    let registers = bench.open();
    assert!(!came_from_file(&bench, &registers));
    check(&registers);
    assert!(came_from_file(&bench, &bench.reopen(registers)));
}

impl Bench {
    fn reopen(&self, registers: Registers) -> Registers {
        drop(registers);
        self.open()
    }
}

#[test]
fn a_damaged_file_is_not_believed() {
    let bench = Bench::new();
    let mut registers = bench.open();
    fill(&mut registers, 0..6_000, 1);
    registers.commit(head(1)).unwrap();
    registers.write_trie_file(None).unwrap();
    drop(registers);
    let good = fs::read(bench.file()).unwrap();
    let damages: [fn(&mut Vec<u8>); 5] = [
        |bytes| bytes.truncate(bytes.len() - 1),
        |bytes| bytes.clear(),
        |bytes| bytes[90] ^= 1,
        |bytes| bytes[5_000] ^= 1,
        |bytes| bytes.push(0),
    ];
    for (number, damage) in damages.iter().enumerate() {
        let mut bytes = good.clone();
        damage(&mut bytes);
        fs::write(bench.file(), &bytes).unwrap();
        let registers = bench.open();
        assert!(!came_from_file(&bench, &registers), "damage {number}");
        check(&registers);
        assert_eq!(fs::read(bench.file()).unwrap(), good, "and it was written anew");
    }
    fs::remove_file(bench.file()).unwrap();
    let registers = bench.open();
    assert!(!came_from_file(&bench, &registers));
    check(&registers);
}

/// With the same head, counts and root in the header, but other leaves, and all checksums right.
#[test]
fn a_forged_file_is_not_believed() {
    let bench = Bench::new();
    let mut registers = bench.open();
    fill(&mut registers, 0..100, 1);
    registers.commit(head(1)).unwrap();
    registers.write_trie_file(None).unwrap();
    drop(registers);
    let mut reader = crate::trie_file::TrieFileReader::open(&bench.file()).unwrap();
    let mut leaves = Vec::new();
    while reader.next_group(&mut leaves).unwrap() {}
    leaves[7].1.hash = NodeHash::from_bytes([1; 32]);
    crate::trie_file::replace(&bench.file(), reader.header(), leaves).unwrap();
    let registers = bench.open();
    assert!(!came_from_file(&bench, &registers));
    check(&registers);
}

#[test]
fn proofs_by_the_trie_file_are_those_by_the_registers() {
    let bench = Bench::new();
    let mut registers = bench.open();
    let none = registers
        .store()
        .prove_all_by_trie_file(&bench.file(), &[b"a"], |_| panic!("nothing to prove it by"));
    assert!(matches!(none, Err(StateError::TrieFile { .. })), "{none:?}");
    for count in [1, 2, 40, 5_000] {
        fill(&mut registers, 0..count, 1);
        registers.commit(head(count)).unwrap();
        registers.write_trie_file(None).unwrap();
        // Half of them exist.
        let keys: Vec<[u8; 4]> = (0..2 * count)
            .step_by(count as usize / 20 + 1)
            .map(u32::to_le_bytes)
            .collect();
        let (mut by_file, mut by_registers) = (Vec::new(), Vec::new());
        let store = registers.store();
        let root = store
            .prove_all_by_trie_file(&bench.file(), &keys, |proof| by_file.push(proof))
            .unwrap();
        assert_eq!(root, root_of_store(store));
        store
            .prove_all(&keys, |proof| by_registers.push(proof), |_| {})
            .unwrap();
        assert_eq!(by_file, by_registers);
        assert!(by_file.iter().all(|proof| proof.verify(&root).is_ok()));
    }
    fill(&mut registers, 0..1, 2);
    registers.commit(head(5_001)).unwrap();
    let old = registers
        .store()
        .prove_all_by_trie_file(&bench.file(), &[b"a"], |_| panic!("by another block's"));
    assert!(matches!(old, Err(StateError::TrieFile { .. })), "{old:?}");
}

#[test]
fn the_trie_goes_back_with_a_restore_point() {
    let bench = Bench::new();
    let mut registers = bench.open();
    fill(&mut registers, 0..500, 1);
    registers.commit(head(1)).unwrap();
    let one = registers.root(None).unwrap();
    let point = RestorePoints::in_dir(bench.folder.path().join("points"))
        .keep(registers.store())
        .unwrap();
    fill(&mut registers, 200..700, 2);
    registers.commit(head(2)).unwrap();
    registers.write_trie_file(None).unwrap();
    let mut registers = registers.restore(&point).unwrap();
    check(&registers);
    assert_eq!(registers.root(None).unwrap(), one);
    fill(&mut registers, 0..5, 3);
    registers.commit(head(2)).unwrap();
    check(&registers);
}

#[test]
fn what_sessions_can_take_back_is_not_in_the_root() {
    let bench = Bench::new();
    let mut registers = bench.open();
    fill(&mut registers, 0..100, 1);
    registers.commit(head(1)).unwrap();
    registers.begin_block().unwrap();
    fill(&mut registers, 50..150, 2);
    registers.accept_block_with_session();
    registers.commit(head(1)).unwrap();
    check(&registers);
    registers.undo_session().unwrap();
    registers.commit(head(1)).unwrap();
    check(&registers);
}

#[test]
fn a_trie_without_the_stores_counts_is_given_up() {
    let bench = Bench::new();
    let mut registers = bench.open();
    fill(&mut registers, 0..100, 1);
    registers.commit(head(1)).unwrap();
    registers.keeper().unwrap().committed(
        head(1),
        Counts {
            registers: 99,
            bytes: 1,
        },
    );
    let lost = registers.root(None).unwrap_err();
    assert!(matches!(lost, StateError::TrieLost { .. }), "{lost}");
    assert!(registers.write_trie_file(None).is_err());
    fill(&mut registers, 0..100, 2);
    registers.commit(head(2)).unwrap();
    check(&bench.reopen(registers));
}

#[test]
fn files_are_written_while_the_trie_goes_on() {
    let bench = Bench::new();
    let mut registers = bench.open_without();
    let mut options = TrieOptions::in_file(bench.file());
    options.interval = Duration::ZERO;
    registers.keep_trie(options).unwrap();
    for number in 1..40 {
        fill(&mut registers, number * 50..number * 50 + 500, number as u8);
        registers.commit(head(number)).unwrap();
        check(&registers);
    }
    assert!(bench.file().exists(), "nobody asked for it");
    let mut reader = crate::trie_file::TrieFileReader::open(&bench.file()).unwrap();
    let mut leaves = Vec::new();
    while reader.next_group(&mut leaves).unwrap() {}
    let found = crate::trie_file::same_root(reader.header().root, slow_root(&hashes(&leaves), 0));
    assert!(
        found.is_ok(),
        "a file of one block, whatever was committed meanwhile: {found:?}"
    );
}

fn hashes(leaves: &[crate::trie_file::PlacedLeaf]) -> Vec<(Path, NodeHash)> {
    leaves.iter().map(|(path, leaf)| (*path, leaf.hash)).collect()
}

#[test]
fn a_file_that_cannot_be_written_is_an_error_and_no_more() {
    let bench = Bench::new();
    let mut registers = bench.open_without();
    let nowhere = bench.folder.path().join("missing/trie");
    registers.keep_trie(TrieOptions::in_file(nowhere)).unwrap();
    fill(&mut registers, 0..100, 1);
    registers.commit(head(1)).unwrap();
    assert!(matches!(
        registers.write_trie_file(None),
        Err(StateError::Files { .. })
    ));
    check(&registers);
}

#[derive(Debug, Clone)]
enum Step {
    Set(u8, u8),
    Remove(u8),
    Session,
    UndoSession,
    Commit,
    WriteFile,
    Reopen,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        12 => (any::<u8>(), 1..4_u8).prop_map(|(key, value)| Step::Set(key, value)),
        4 => any::<u8>().prop_map(Step::Remove),
        2 => Just(Step::Session),
        1 => Just(Step::UndoSession),
        3 => Just(Step::Commit),
        1 => Just(Step::WriteFile),
        1 => Just(Step::Reopen),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn whatever_the_way_the_root_is_that_of_the_registers(steps in prop::collection::vec(step(), 0..120)) {
        let bench = Bench::new();
        let mut registers = bench.open();
        let mut number = 0;
        // What is to be durable: the same set in another store must have the same root.
        registers.begin_block().unwrap();
        for step in steps {
            match step {
                Step::Set(key, value) => registers.set(&[key], &vec![value; usize::from(value) * 20]).unwrap(),
                Step::Remove(key) => registers.remove(&[key]).unwrap(),
                Step::Session => {
                    registers.accept_block_with_session();
                    registers.begin_block().unwrap();
                }
                Step::UndoSession => {
                    registers.accept_block();
                    registers.undo_session().unwrap();
                    registers.begin_block().unwrap();
                }
                Step::Commit => {
                    registers.accept_block();
                    number += 1;
                    registers.commit(head(number)).unwrap();
                    check(&registers);
                    registers.begin_block().unwrap();
                }
                Step::WriteFile => drop(registers.write_trie_file(None).unwrap()),
                Step::Reopen => {
                    registers = bench.reopen(registers);
                    check(&registers);
                    registers.begin_block().unwrap();
                }
            }
        }
        registers.accept_block();
        while registers.drop_oldest_session() {}
        registers.commit(head(number + 1)).unwrap();
        check(&registers);
        let all: BTreeMap<Vec<u8>, Vec<u8>> = {
            let mut all = BTreeMap::new();
            registers.store().scan(|key, value| drop(all.insert(key.to_vec(), value.to_vec()))).unwrap();
            all
        };
        let other = Bench::new();
        let mut fresh = other.open();
        for (key, value) in &all {
            fresh.set(key, value).unwrap();
        }
        fresh.commit(head(9)).unwrap();
        prop_assert_eq!(
            fresh.root(None).unwrap().unwrap().root,
            registers.root(None).unwrap().unwrap().root
        );
    }
}
