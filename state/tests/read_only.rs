//! Reading a store while another process writes to it.
#![allow(clippy::unwrap_used, missing_docs, reason = "tests")]

mod common;

use std::process::Stdio;
use std::time::{Duration, Instant};

use cairn_state::{Registers, StateError, Store};
use common::whole;

/// Not a test by itself: the process that writes while the other one reads.
#[test]
fn writer() {
    let Some(dir) = common::plays("writer") else {
        return;
    };
    let mut registers = common::open(&dir);
    let first = registers.head().map_or(0, |head| head.number) + 1;
    for number in first.. {
        whole::advance(&mut registers, number).unwrap();
        // Without a pause the writer flushes every few milliseconds, and on a busy machine no open of the reader falls
        // between two flushes. A real one flushes about once a second.
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_reader_beside_a_writer_sees_whole_states_that_move_on() {
    let dir = tempfile::tempdir().unwrap();
    whole::advance(&mut common::open(dir.path()), 1).unwrap();
    let child = common::role("writer", "writer", dir.path())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let mut child = common::Killed(child);

    // Write buffers of 64 KiB and commits of about 13 KB: the files under the readers change all the time.
    let first = Store::open_read_only(dir.path()).unwrap();
    let digest = first.digest().unwrap();
    let number = whole::check(&first);
    let (mut opens, mut last) = (0, number);
    let start = Instant::now();
    while start.elapsed() < Duration::from_secs(3) {
        let store = Store::open_read_only(dir.path()).unwrap();
        let number = whole::check(&store);
        assert!(number >= last, "{number} after {last}");
        (opens, last) = (opens + 1, number);
    }
    let running = child.0.try_wait().unwrap().is_none();
    let locked = Store::open(dir.path(), &common::small()).map(|_| ()).unwrap_err();
    drop(child);
    println!("{opens} read-only opens beside the writer, commits {number} to {last}");
    assert!(running, "the writer was not disturbed");
    assert!(last > number + 20, "the writer wrote: {number} to {last}");
    assert!(matches!(locked, StateError::Locked { .. }), "{locked}");

    // The first reader still reads what it opened, although all of those files are long gone.
    assert_eq!(whole::check(&first), number);
    assert_eq!(first.digest().unwrap(), digest);
}

#[test]
fn reading_changes_nothing_and_a_reader_cannot_write() {
    let dir = tempfile::tempdir().unwrap();
    let mut registers = common::open(dir.path());
    whole::advance(&mut registers, 3).unwrap();
    drop(registers);
    let before = common::files(dir.path());
    let store = Store::open_read_only(dir.path()).unwrap();
    assert_eq!(whole::check(&store), 3);
    assert_eq!(*store.chain(), common::CHAIN);
    let refused = Registers::new(store).map(|_| ()).unwrap_err();
    assert!(matches!(refused, StateError::ReadOnly { .. }), "{refused}");
    let mut reading = Registers::for_reading(Store::open_read_only(dir.path()).unwrap());
    reading.set(b"only in memory", b"1").unwrap();
    assert_eq!(reading.get(b"only in memory").unwrap(), Some(&b"1"[..]));
    let head = reading.head().unwrap();
    let refused = reading.commit(head).unwrap_err();
    assert!(matches!(refused, StateError::ReadOnly { .. }), "{refused}");
    assert_eq!(common::files(dir.path()), before);
}

#[test]
fn reading_where_nothing_is_creates_nothing() {
    let dir = tempfile::tempdir().unwrap();
    for missing in [dir.path().to_path_buf(), dir.path().join("missing")] {
        let error = Store::open_read_only(&missing).map(|_| ()).unwrap_err();
        assert!(
            matches!(&error, StateError::Missing { dir } if *dir == missing),
            "{error}"
        );
    }
    assert_eq!(common::files(dir.path()), []);
}
