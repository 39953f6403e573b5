//! A commit that fails: it did not happen, the handle is dead, and the next start finds the commit before.
#![allow(clippy::unwrap_used, missing_docs, reason = "tests")]

mod common;

use std::fs;
use std::io::{ErrorKind, Write};
use std::path::Path;
use std::process::{Command, Output};

use cairn_state::{StateError, Store};
use common::whole;

/// Commits until one fails, then tries everything else. Gives the last number that succeeded and the first error.
/// The disk is filled, by whatever that means, when some commits have succeeded.
fn commit_until_it_fails(dir: &Path, fill: impl Fn()) -> (u32, StateError) {
    let mut registers = common::open(dir);
    let mut number = registers.head().map_or(0, |head| head.number);
    let error = loop {
        match whole::advance(&mut registers, number + 1) {
            Ok(_) => number += 1,
            Err(error) => break error,
        }
        if number == 5 {
            fill();
        }
        assert!(number < 100_000, "writing never failed");
    };
    registers.accept_block();
    registers.undo_block();
    for dead in [
        registers.commit(whole::head(number + 1)).map(|_| ()),
        registers.get(b"register/1").map(|_| ()),
        registers.set(b"register/1", b"value"),
        registers.remove(b"register/1"),
        registers.local_put(b"key", b"value"),
        registers.local_delete(b"key"),
        registers.begin_block(),
    ] {
        let dead = dead.unwrap_err();
        let StateError::Dead { cause } = &dead else {
            panic!("{dead}")
        };
        assert_eq!(cause.to_string(), error.to_string());
    }
    assert_eq!(
        registers.head(),
        Some(whole::head(number)),
        "the head is that of the last commit"
    );
    (number, error)
}

fn run(mut command: Command) -> Output {
    let output = command.output().unwrap();
    let text =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    println!("{text}");
    output
}

/// A shell command that runs a role of this binary after some preparation.
fn prepared(preparation: &str, test: &str, dir: &Path) -> Command {
    let role = common::role(test, test, dir);
    let mut command = Command::new("sh");
    command
        .args(["-c", &format!("{preparation} && exec \"$0\" \"$@\"")])
        .arg(role.get_program())
        .args(role.get_args());
    for (name, value) in role.get_envs() {
        command.env(name, value.unwrap());
    }
    command
}

/// Not a test by itself: runs where files may not grow beyond a limit.
#[test]
fn limited() {
    let Some(dir) = common::plays("limited") else {
        return;
    };
    let (number, error) = commit_until_it_fails(&dir, || ());
    assert!(matches!(error, StateError::Database { .. }), "{error}");
    println!("commit {} failed: {error}", number + 1);
    fs::write(dir.with_extension("number"), number.to_string()).unwrap();
}

#[test]
fn a_failed_write_ends_the_handle() {
    let top = tempfile::tempdir().unwrap();
    let dir = top.path().join("state");
    whole::advance(&mut common::open(&dir), 1).unwrap();
    // Files end at 32 KiB; the signal that comes with that is ignored, so that the write fails instead.
    let output = run(prepared("trap '' XFSZ && ulimit -f 64", "limited", &dir));
    assert!(output.status.success());
    let number: u32 = fs::read_to_string(dir.with_extension("number"))
        .unwrap()
        .parse()
        .unwrap();
    let store = Store::open(&dir, &common::small()).unwrap();
    assert_eq!(whole::check(&store), number);
}

/// Not a test by itself: runs with a small file system mounted on its directory.
#[test]
fn full() {
    let Some(top) = common::plays("full") else { return };
    let (dir, ballast) = (top.join("state"), top.join("ballast"));
    let fill = || {
        let mut file = fs::File::create(&ballast).unwrap();
        let full = std::iter::repeat_with(|| file.write_all(&[1; 1024])).find_map(Result::err);
        assert_eq!(full.unwrap().kind(), ErrorKind::StorageFull);
    };
    let (number, error) = commit_until_it_fails(&dir, fill);
    println!("commit {} failed: {error}", number + 1);
    let StateError::DiskFull { dir: named, .. } = &error else {
        panic!("{error}")
    };
    assert_eq!(*named, dir);
    assert!(error.to_string().contains("no space is left"), "{error}");

    // Opening on the full disk says so too, and harms nothing.
    if let Err(error) = Store::open(&dir, &common::small()) {
        println!("opening failed: {error}");
        assert!(matches!(error, StateError::DiskFull { .. }), "{error}");
    }
    fs::remove_file(ballast).unwrap();
    let mut registers = common::open(&dir);
    assert_eq!(whole::check(registers.store()), number);
    whole::advance(&mut registers, number + 1).unwrap();
    println!("went on after space was freed");
}

#[test]
fn a_full_disk_is_named_as_such() {
    let top = tempfile::tempdir().unwrap();
    let mount = format!("mount -t tmpfs -o size=32m none {}", top.path().display());
    let allowed = ["-m", "-rm"].into_iter().find(|how| {
        let probe = Command::new("unshare")
            .arg(how)
            .args(["sh", "-c", &mount])
            .output();
        probe.is_ok_and(|output| output.status.success())
    });
    let Some(how) = allowed else {
        println!("skipped: this user may not mount a small file system");
        return;
    };
    let inner = prepared(&mount, "full", top.path());
    let mut command = Command::new("unshare");
    command.arg(how).arg(inner.get_program()).args(inner.get_args());
    for (name, value) in inner.get_envs() {
        command.env(name, value.unwrap());
    }
    let output = run(command);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success());
    assert!(text.contains("went on after space was freed"));
}
