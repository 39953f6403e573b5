//! Each thing is damaged once.

use std::fs;
use std::path::PathBuf;

use tempfile::TempDir;

use super::*;
use crate::{Head, Registers, StoreOptions, TrieOptions};

const REGISTERS_HERE: u32 = 9_000;

struct Bench {
    folder: TempDir,
}

impl Bench {
    /// A state with a trie file.
    fn new() -> Self {
        let bench = Self {
            folder: TempDir::new().unwrap(),
        };
        let mut registers = Registers::new(bench.open()).unwrap();
        registers.keep_trie(TrieOptions::in_file(bench.file())).unwrap();
        for key in 0..REGISTERS_HERE {
            registers.set(&key.to_le_bytes(), b"a value").unwrap();
        }
        registers
            .commit(Head {
                number: 5,
                id: [5; 20],
            })
            .unwrap();
        registers.write_trie_file(None).unwrap();
        bench
    }

    fn file(&self) -> PathBuf {
        self.folder.path().join("trie")
    }

    fn open(&self) -> Store {
        Store::open(self.folder.path().join("registers"), &StoreOptions::new([7; 32])).unwrap()
    }

    /// Damages the database behind the engine's back.
    fn damage(&self, damage: impl FnOnce(&Store)) -> CheckReport {
        let store = self.open();
        damage(&store);
        let mut steps = 0;
        let report = check(&store, &self.file(), |_| steps += 1);
        assert!(steps >= 1, "progress was told");
        report
    }
}

fn put(store: &Store, path: &[u8], record: &[u8]) {
    store.db().put_cf(store.family(REGISTERS), path, record).unwrap();
}

fn path(key: u32) -> Path {
    Path::of(&key.to_le_bytes())
}

fn texts(report: &CheckReport) -> Vec<String> {
    report.faults.iter().map(ToString::to_string).collect()
}

#[test]
fn a_whole_state_has_no_fault() {
    let bench = Bench::new();
    let report = bench.damage(|_| {});
    assert_eq!(texts(&report), [""; 0]);
    assert_eq!(report.trie_file, TrieFileState::Fits);
    assert_eq!(report.found.counts.registers, u64::from(REGISTERS_HERE));
    assert_eq!(report.found, bench.open().compute_root(|_| {}).unwrap());
}

#[test]
fn a_value_that_changed_is_found_although_everything_else_is_right() {
    let bench = Bench::new();
    let report = bench.damage(|store| put(store, path(7).as_bytes(), b"\x04\x07\0\0\0A value"));
    let [
        Fault::Differs {
            path: found,
            same_hash: false,
            ..
        },
        Fault::Root { .. },
    ] = &report.faults[..]
    else {
        panic!("{:?}", texts(&report))
    };
    assert_eq!(*found, path(7));
    // Without the file the root alone tells.
    fs::remove_file(bench.file()).unwrap();
    let report = bench.damage(|_| {});
    assert!(
        matches!(report.faults[..], [Fault::Root { .. }]),
        "{:?}",
        texts(&report)
    );
    assert!(matches!(report.trie_file, TrieFileState::Another(_)));
}

#[test]
fn a_missing_register_is_found() {
    let bench = Bench::new();
    let report = bench.damage(|store| {
        store
            .db()
            .delete_cf(store.family(REGISTERS), path(7).as_bytes())
            .unwrap();
    });
    let [
        Fault::NotInStore { path: found },
        Fault::Counts {
            expected,
            found: counted,
        },
        Fault::Root { .. },
    ] = &report.faults[..]
    else {
        panic!("{:?}", texts(&report))
    };
    assert_eq!(*found, path(7));
    assert_eq!(expected.registers, counted.registers + 1);
}

#[test]
fn a_register_too_many_is_found() {
    let bench = Bench::new();
    let extra = path(REGISTERS_HERE);
    let mut record = b"\x04".to_vec();
    record.extend(REGISTERS_HERE.to_le_bytes());
    record.extend(b"x");
    let report = bench.damage(|store| put(store, extra.as_bytes(), &record));
    let [
        Fault::NotInFile { path: found },
        Fault::Counts { .. },
        Fault::Root { .. },
    ] = &report.faults[..]
    else {
        panic!("{:?}", texts(&report))
    };
    assert_eq!(*found, extra);
}

#[test]
fn a_malformed_register_is_named_once() {
    for (record, reason) in [
        (&b"\x84\x00\x07\0\0\0v"[..], "length of the key"),
        (b"\x04\x07\0\0\0", "value is empty"),
        (b"\x09\x07", "a key of 9 bytes"),
        (b"", "length of the key"),
    ] {
        let bench = Bench::new();
        let report = bench.damage(|store| put(store, path(7).as_bytes(), record));
        let texts = texts(&report);
        assert!(
            texts[0].contains(&path(7).to_string()) && texts[0].contains(reason),
            "{texts:?}"
        );
        assert!(
            matches!(report.faults[1..], [Fault::Counts { .. }, Fault::Root { .. }]),
            "{texts:?}"
        );
    }
}

#[test]
fn a_register_in_the_wrong_place_is_found() {
    let bench = Bench::new();
    let report = bench.damage(|store| put(store, path(7).as_bytes(), b"\x04\x08\0\0\0a value"));
    let Fault::Misplaced { path: found, own } = report.faults[0] else {
        panic!("{:?}", texts(&report))
    };
    assert_eq!((found, own), (path(7), path(8)));
}

#[test]
fn a_key_that_is_no_path_is_found() {
    let bench = Bench::new();
    let report = bench.damage(|store| put(store, b"short", b"\x01kv"));
    assert!(
        matches!(report.faults[..], [Fault::NoPath { length: 5 }]),
        "{:?}",
        texts(&report)
    );
}

#[test]
fn wrong_counts_are_found() {
    let bench = Bench::new();
    let mut store = bench.open();
    let mut counts = store.counts();
    counts.bytes += 3;
    let head = store.head().unwrap();
    store.write(rocksdb::WriteBatch::default(), head, counts).unwrap();
    let report = check(&store, &bench.file(), |_| {});
    assert!(
        matches!(report.faults[..], [Fault::Counts { .. }]),
        "{:?}",
        texts(&report)
    );
    assert!(
        matches!(report.trie_file, TrieFileState::Another(_)),
        "it has other counts"
    );
}

#[test]
fn each_damaged_group_of_the_file_is_found_and_the_registers_are_whole() {
    let bench = Bench::new();
    let mut bytes = fs::read(bench.file()).unwrap();
    let second = bytes.len() / 2;
    bytes[1_000] ^= 1;
    bytes[second] ^= 1;
    fs::write(bench.file(), &bytes).unwrap();
    let report = bench.damage(|_| {});
    let offsets: Vec<_> = report
        .faults
        .iter()
        .map(|fault| match fault {
            Fault::TrieFile(crate::trie_file::TrieFileError::Checksum { offset, .. }) => *offset,
            other => panic!("{other}"),
        })
        .collect();
    assert_eq!(offsets.len(), 2, "{:?}", texts(&report));
    assert!(offsets[0] == 132 && offsets[1] > 132 && offsets[1] < second as u64);
    assert_eq!(report.trie_file, TrieFileState::Damaged);
    assert!(report.faults.iter().all(|fault| !fault.is_of_registers()));
}

#[test]
fn a_torn_file_and_one_with_another_header_are_found() {
    let bench = Bench::new();
    let good = fs::read(bench.file()).unwrap();
    fs::write(bench.file(), &good[..good.len() - 1]).unwrap();
    let report = bench.damage(|_| {});
    assert!(texts(&report)[0].contains("torn"), "{:?}", texts(&report));
    let mut altered = good;
    altered[70] ^= 1;
    fs::write(bench.file(), &altered).unwrap();
    let report = bench.damage(|_| {});
    assert!(texts(&report)[0].contains("header"), "{:?}", texts(&report));
    assert_eq!(report.fault_count, 1);
}

#[test]
fn a_file_of_another_block_is_no_fault() {
    let bench = Bench::new();
    let mut store = bench.open();
    let counts = store.counts();
    store
        .write(
            rocksdb::WriteBatch::default(),
            Head {
                number: 6,
                id: [6; 20],
            },
            counts,
        )
        .unwrap();
    let report = check(&store, &bench.file(), |_| {});
    assert_eq!(report.fault_count, 0, "{:?}", texts(&report));
    let TrieFileState::Another(reason) = report.trie_file else {
        panic!()
    };
    assert!(reason.contains("block [5,"), "{reason}");
}

#[test]
fn a_table_file_that_cannot_be_read_is_a_fault_with_its_place() {
    let bench = Bench::new();
    let store = bench.open();
    store.db().flush_cf(store.family(REGISTERS)).unwrap();
    drop(store);
    let dir = bench.folder.path().join("registers");
    let table = fs::read_dir(&dir)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|end| end == "sst"))
        .max_by_key(|path| fs::metadata(path).unwrap().len())
        .unwrap();
    let mut bytes = fs::read(&table).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle..middle + 64].fill(0xee);
    fs::write(&table, bytes).unwrap();
    let report = bench.damage(|_| {});
    let [Fault::Unreadable { behind: Some(_), .. }] = &report.faults[..] else {
        panic!("{:?}", texts(&report))
    };
}

#[test]
fn a_state_full_of_faults_is_told_in_short() {
    let bench = Bench::new();
    let report = bench.damage(|store| {
        for key in 0..500 {
            put(store, path(key).as_bytes(), b"");
        }
    });
    assert_eq!(report.faults.len(), KEPT);
    assert!(report.fault_count >= 502, "{}", report.fault_count);
}

/// A file that is lost is told at once, and not waited for.
#[test]
fn a_lost_table_file_is_damage() {
    let bench = Bench::new();
    let store = bench.open();
    store.db().flush_cf(store.family(REGISTERS)).unwrap();
    drop(store);
    let registers = bench.folder.path().join("registers");
    let table = fs::read_dir(&registers)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .find(|path| path.extension().is_some_and(|ending| ending == "sst"))
        .unwrap();
    fs::remove_file(&table).unwrap();
    let name = table.file_stem().unwrap().to_str().unwrap();
    let reading = Store::open_read_only(&registers).err().unwrap();
    let writing = Store::open(&registers, &StoreOptions::new([7; 32]))
        .err()
        .unwrap();
    for error in [reading, writing] {
        let text = error.to_string();
        assert!(error.is_damage(), "{text}");
        assert!(
            text.contains("is damaged") && text.contains(name) && text.contains("restore point"),
            "{text}"
        );
    }
}
