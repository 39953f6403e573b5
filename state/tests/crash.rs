//! A process that dies leaves a whole state.
//!
//! Killing a process loses nothing that it gave to the operating system; the second test therefore also takes
//! away the end of the log, as a power cut can. Neither test can show that a synced write survives a power cut:
//! that is assumed of the disk.
#![allow(clippy::unwrap_used, missing_docs, reason = "tests")]

mod common;

use std::fs;
use std::io::{Read, Write};
use std::process::Stdio;
use std::time::Duration;

use cairn_state::Store;
use common::whole;

const KILLS: u64 = 10;

/// Not a test by itself: the process that is killed. It says which commits have returned.
#[test]
fn committer() {
    let Some(dir) = common::plays("committer") else {
        return;
    };
    let mut registers = common::open(&dir);
    let first = registers.head().map_or(0, |head| head.number) + 1;
    for number in first.. {
        whole::advance(&mut registers, number).unwrap();
        writeln!(std::io::stdout(), "committed {number}").unwrap();
    }
}

/// Numbers from a seed that is printed, so that a failing run can be told from another.
fn pseudo_random(seed: u64) -> impl FnMut(u64) -> u64 {
    let mut state = seed | 1;
    move |below| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state % below
    }
}

fn seed() -> u64 {
    let now = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .unwrap();
    let seed = now.subsec_nanos().into();
    println!("seed {seed}");
    seed
}

#[test]
fn a_killed_process_leaves_a_whole_state() {
    let dir = tempfile::tempdir().unwrap();
    let mut random = pseudo_random(seed());
    let mut previous = 0;
    for kill in 1..=KILLS {
        let child = common::role("committer", "committer", dir.path())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut child = common::Killed(child);
        std::thread::sleep(Duration::from_millis(50 + random(400)));
        child.0.kill().unwrap();
        child.0.wait().unwrap();
        let mut output = String::new();
        child
            .0
            .stdout
            .take()
            .unwrap()
            .read_to_string(&mut output)
            .unwrap();
        // The last line may be cut.
        let returned = output
            .split_inclusive('\n')
            .filter_map(|line| line.strip_prefix("committed ")?.strip_suffix('\n')?.parse().ok())
            .next_back()
            .unwrap_or(previous);

        let store = Store::open(dir.path(), &common::small()).unwrap();
        let number = whole::check(&store);
        println!("kill {kill}: commit {returned} had returned, the state is that of {number}");
        assert!(
            number == returned || number == returned + 1,
            "{number} after {returned}"
        );
        previous = number;
    }
    assert!(
        previous > KILLS as u32,
        "commits happened between the kills: {previous}"
    );
}

#[test]
fn a_log_that_lost_its_end_gives_an_earlier_whole_state() {
    let live = tempfile::tempdir().unwrap();
    let mut random = pseudo_random(seed());
    let mut registers = common::open(live.path());
    for number in 1..=8 {
        whole::advance(&mut registers, number).unwrap();
    }
    // The store is copied while it is open: closing it is a courtesy that a power cut does not grant.
    let files = common::files(live.path());
    let logs = files.iter().filter(|(name, _)| name.ends_with(".log"));
    let (log, bytes) = logs.max_by_key(|(name, _)| name.clone()).unwrap();
    let mut seen = std::collections::BTreeSet::new();
    for attempt in 0..40 {
        let copy = tempfile::tempdir().unwrap();
        for (name, bytes) in &files {
            fs::write(copy.path().join(name), bytes).unwrap();
        }
        let keep = random(bytes.len() as u64 + 1) as usize;
        let mut damaged = bytes[..keep].to_vec();
        if attempt % 2 == 1 {
            // The length was written, the blocks were not.
            damaged.resize(bytes.len(), 0);
        }
        fs::write(copy.path().join(log), damaged).unwrap();
        let store = Store::open(copy.path(), &common::small()).unwrap();
        seen.insert(whole::check(&store));
    }
    println!("{} bytes of log, states seen: {seen:?}", bytes.len());
    assert!(seen.len() > 2, "different ends give different states: {seen:?}");
    assert!(seen.iter().all(|&number| number <= 8));
}
