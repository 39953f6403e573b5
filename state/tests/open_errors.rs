//! What an operator gets wrong: each has its own error, and nothing in the directory changes.
#![allow(clippy::unwrap_used, missing_docs, reason = "tests")]

mod common;

use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;

use cairn_state::{FORMAT_VERSION, MetadataError, StateError, Store, StoreOptions};
use common::{CHAIN, whole};

/// A closed store with one commit.
fn store() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    whole::advance(&mut common::open(dir.path()), 1).unwrap();
    dir
}

fn error(dir: &Path, options: &StoreOptions) -> StateError {
    Store::open(dir, options).map(|_| ()).unwrap_err()
}

/// Changes a store through RocksDB alone.
fn tamper(dir: &Path, change: impl FnOnce(&rocksdb::DB)) {
    let mut options = rocksdb::Options::default();
    options.create_missing_column_families(true);
    let db = rocksdb::DB::open_cf(&options, dir, ["default", "registers", "local"]).unwrap();
    change(&db);
    db.flush().unwrap();
}

#[test]
fn another_chain() {
    let dir = store();
    let before = common::files(dir.path());
    let error = error(dir.path(), &StoreOptions::new([9; 32]));
    let StateError::OtherChain { expected, found, .. } = &error else {
        panic!("{error}")
    };
    assert_eq!((*expected, *found), ([9; 32], CHAIN));
    assert!(error.to_string().contains(&"c4".repeat(32)), "{error}");
    assert_eq!(common::files(dir.path()), before);
    assert_eq!(
        whole::check(&Store::open(dir.path(), &common::small()).unwrap()),
        1
    );
}

#[test]
fn a_newer_format() {
    let dir = store();
    tamper(dir.path(), |db| {
        let mut metadata = db.get("state").unwrap().unwrap();
        metadata[8..12].copy_from_slice(&(FORMAT_VERSION + 1).to_le_bytes());
        metadata.extend_from_slice(b"and more than this version knows");
        db.put("state", metadata).unwrap();
    });
    let before = common::files(dir.path());
    let options = common::small();
    for error in [
        error(dir.path(), &options),
        Store::open_read_only(dir.path()).map(|_| ()).unwrap_err(),
    ] {
        let StateError::NewerFormat { found, .. } = error else {
            panic!("{error}")
        };
        assert_eq!(found, FORMAT_VERSION + 1);
    }
    assert_eq!(common::files(dir.path()), before);
}

#[test]
fn in_use() {
    let dir = tempfile::tempdir().unwrap();
    let mut registers = common::open(dir.path());
    let error = error(dir.path(), &common::small());
    assert!(matches!(error, StateError::Locked { .. }), "{error}");
    whole::advance(&mut registers, 1).unwrap();
    assert_eq!(
        whole::check(registers.store()),
        1,
        "the open store was not disturbed"
    );
}

#[test]
fn other_files() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("notes.txt"), "mine").unwrap();
    let before = common::files(dir.path());
    let error = error(dir.path(), &common::small());
    assert!(
        matches!(&error, StateError::NotAStore { found, .. } if found == Path::new("notes.txt")),
        "{error}"
    );
    assert_eq!(common::files(dir.path()), before);
}

/// RocksDB would begin a new database here.
#[test]
fn a_store_that_has_lost_its_current_file() {
    let dir = tempfile::tempdir().unwrap();
    let mut registers = common::open(dir.path());
    whole::advance(&mut registers, 1).unwrap();
    drop(registers);
    fs::remove_file(dir.path().join("CURRENT")).unwrap();
    let before = common::files(dir.path());
    let error = error(dir.path(), &common::small());
    assert!(matches!(&error, StateError::NotAStore { .. }), "{error}");
    assert_eq!(common::files(dir.path()), before);
}

#[test]
fn a_file_in_place_of_the_directory() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("state");
    fs::write(&file, "mine").unwrap();
    let error = error(&file, &common::small());
    assert!(matches!(&error, StateError::Unwritable { .. }), "{error}");
    assert_eq!(fs::read(file).unwrap(), b"mine");
}

/// Not a test by itself: opens as a user who may not write.
#[test]
fn stranger() {
    let Some(dir) = common::plays("stranger") else {
        return;
    };
    for dir in [dir.join("new"), dir.join("old")] {
        let error = error(&dir, &common::small());
        let StateError::Unwritable { source, .. } = &error else {
            panic!("{error}")
        };
        assert_eq!(source.kind(), ErrorKind::PermissionDenied, "{error}");
        println!("{error}");
    }
    assert_eq!(
        whole::check(&Store::open_read_only(dir.join("old")).unwrap()),
        1,
        "reading is allowed"
    );
}

#[test]
fn no_permission() {
    let top = tempfile::tempdir().unwrap();
    let binary = top.path().join("test-binary");
    let dir = top.path().join("dir");
    fs::create_dir(&dir).unwrap();
    whole::advance(&mut common::open(&dir.join("old")), 1).unwrap();
    let before = common::files(&dir.join("old"));

    let mut command = common::role("stranger", "stranger", &dir);
    // Root may write everywhere, so the other process is nobody, who gets a copy of this binary to run.
    let root = fs::write("/proc/self/oom_score_adj", "0").is_ok() && is_root(top.path());
    if root {
        fs::copy(std::env::current_exe().unwrap(), &binary).unwrap();
        let mut copy = std::process::Command::new(&binary);
        copy.args(command.get_args());
        for (name, value) in command.get_envs() {
            copy.env(name, value.unwrap());
        }
        command = copy;
        command.uid(65_534).gid(65_534).current_dir("/");
    }
    for (path, mode) in [
        (top.path().to_path_buf(), 0o555),
        (dir.clone(), 0o555),
        (dir.join("old"), 0o555),
    ] {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }
    let output = command.output().unwrap();
    for path in [top.path().to_path_buf(), dir.clone(), dir.join("old")] {
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let text =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}");
    assert!(text.contains("1 passed"), "{text}");
    assert!(text.contains("cannot be written"), "{text}");
    assert_eq!(common::files(&dir.join("old")), before);
    assert!(!dir.join("new").exists());
}

fn is_root(own: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    fs::metadata(own).unwrap().uid() == 0
}

#[test]
fn creating_that_was_interrupted_is_finished() {
    let dir = store();
    // RocksDB makes `CURRENT` last: without it, nothing was ever in the store.
    for (name, _) in common::files(dir.path()) {
        if name == "CURRENT" || name.ends_with(".sst") {
            fs::remove_file(dir.path().join(name)).unwrap();
        }
    }
    let fresh = tempfile::tempdir().unwrap();
    for (name, bytes) in common::files(dir.path()) {
        if name == "LOCK" || name == "IDENTITY" || name.starts_with("LOG") || name.starts_with("OPTIONS-") {
            fs::write(fresh.path().join(name), bytes).unwrap();
        }
    }
    let store = Store::open(fresh.path(), &common::small()).unwrap();
    assert_eq!(whole::check(&store), 0);
}

#[test]
fn a_database_without_metadata_is_begun_only_when_empty() {
    let dir = tempfile::tempdir().unwrap();
    drop(common::open(dir.path()));
    tamper(dir.path(), |db| db.delete("state").unwrap());
    assert_eq!(
        whole::check(&Store::open(dir.path(), &common::small()).unwrap()),
        0
    );

    let dir = store();
    tamper(dir.path(), |db| db.delete("state").unwrap());
    let error = error(dir.path(), &common::small());
    assert!(
        matches!(
            error,
            StateError::CorruptMetadata {
                source: MetadataError::Missing,
                ..
            }
        ),
        "{error}"
    );
}

#[test]
fn a_database_of_another_program() {
    let dir = tempfile::tempdir().unwrap();
    let mut options = rocksdb::Options::default();
    options.create_if_missing(true);
    options.create_missing_column_families(true);
    drop(rocksdb::DB::open_cf(&options, dir.path(), ["default", "theirs"]).unwrap());
    let one = tempfile::tempdir().unwrap();
    rocksdb::DB::open(&options, one.path())
        .unwrap()
        .put("key", "value")
        .unwrap();
    for dir in [dir, one] {
        let before = common::files(dir.path());
        let error = error(dir.path(), &common::small());
        assert!(
            matches!(
                error,
                StateError::CorruptMetadata {
                    source: MetadataError::Missing,
                    ..
                }
            ),
            "{error}"
        );
        assert_eq!(common::files(dir.path()), before);
    }
}

#[test]
fn damaged_records_are_named() {
    let dir = store();
    let path = *blake3::hash(b"register/7").as_bytes();
    tamper(dir.path(), |db| {
        db.put_cf(db.cf_handle("registers").unwrap(), path, b"\x05short")
            .unwrap();
    });
    let mut registers = common::open(dir.path());
    for error in [
        registers.get(b"register/7").map(|_| ()).unwrap_err(),
        registers.set(b"register/7", b"value").unwrap_err(),
        registers.store().get(b"register/7").map(|_| ()).unwrap_err(),
        registers.store().digest().map(|_| ()).unwrap_err(),
    ] {
        assert!(
            matches!(&error, StateError::CorruptRegister { path: found, .. } if *found.as_bytes() == path),
            "{error}"
        );
    }
    assert!(
        registers.get(b"register/8").unwrap().is_some(),
        "the others are still there"
    );
    drop(registers);

    tamper(dir.path(), |db| {
        db.delete_cf(db.cf_handle("registers").unwrap(), path).unwrap();
        db.put_cf(db.cf_handle("registers").unwrap(), b"", b"\x00v")
            .unwrap();
    });
    let error = Store::open_read_only(dir.path())
        .unwrap()
        .scan(|_, _| ())
        .unwrap_err();
    assert!(
        matches!(error, StateError::CorruptPath { length: 0, .. }),
        "{error}"
    );
}

#[test]
fn counts_that_cannot_be_are_an_error() {
    let dir = store();
    tamper(dir.path(), |db| {
        let mut metadata = db.get("state").unwrap().unwrap();
        metadata[69..77].fill(0);
        db.put("state", metadata).unwrap();
    });
    let mut registers = common::open(dir.path());
    registers.remove(b"register/1").unwrap();
    assert!(matches!(
        registers.counts().unwrap_err(),
        StateError::CorruptCounts { .. }
    ));
    assert!(matches!(
        registers.commit(whole::head(2)).unwrap_err(),
        StateError::CorruptCounts { .. }
    ));
}

/// The bytes of format version 1 as RocksDB has them: when this fails, the version has to change.
#[test]
fn version_1_is_pinned() {
    let dir = tempfile::tempdir().unwrap();
    let mut registers = common::open(dir.path());
    registers.set(b"name", b"value").unwrap();
    registers.local_put(b"key", b"entry").unwrap();
    registers.commit(whole::head(7)).unwrap();
    drop(registers);
    tamper(dir.path(), |db| {
        let all = |family| {
            let entries = db.iterator_cf(db.cf_handle(family).unwrap(), rocksdb::IteratorMode::Start);
            entries
                .map(|entry| entry.unwrap())
                .map(|(key, value)| (key.to_vec(), value.to_vec()))
                .collect::<Vec<_>>()
        };
        assert_eq!(
            all("registers"),
            [(
                blake3::hash(b"name").as_bytes().to_vec(),
                b"\x04namevalue".to_vec()
            )]
        );
        assert_eq!(all("local"), [(b"key".to_vec(), b"entry".to_vec())]);
        let mut metadata = b"cairn-st\x01\0\0\0".to_vec();
        metadata.extend(CHAIN);
        metadata.extend(b"\x01\x07\0\0\0\0\0\0\x07");
        metadata.extend([0xab; 16]);
        metadata.extend(b"\x01\0\0\0\0\0\0\0\x09\0\0\0\0\0\0\0");
        assert_eq!(all("default"), [(b"state".to_vec(), metadata)]);
    });
}
