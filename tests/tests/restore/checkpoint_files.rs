//! Files with thousands of checkpoints.

use std::fs::{self, OpenOptions};
use std::os::unix::fs::FileExt;
use std::sync::Arc;

use cairn_block_log::{BlockLog, Dictionaries};
use serde_json::json;

use crate::world::Bench;

#[test]
fn thousands_of_checkpoints_from_a_file_work_like_five() {
    let bench = Bench::new(5001, "empty");
    let log = bench.text("chain/blockchain");
    let made = bench
        .run(["log", "checkpoints", &log, "--every", "1"])
        .expect_code(0);
    let points = bench.text("points");
    fs::write(&points, &made.stdout).unwrap();
    let lines: Vec<_> = made
        .stdout
        .lines()
        .filter(|line| !line.starts_with('#'))
        .collect();
    assert_eq!(lines.len(), 5001);
    assert_eq!(lines[5000], bench.checkpoint(5001));

    let record = bench
        .replay(&["--checkpoint-file", &points])
        .expect_code(0)
        .json();
    assert_eq!(record["checkpoints_reached"].as_array().unwrap().len(), 5001);
    assert_eq!(record["validation"]["blocks_signed"], 0, "{record}");
    let kept = bench.restore_points();
    assert_eq!(kept.len(), 2, "{kept:?}");
    assert_eq!(kept[1], 5001, "the last checkpoint always");

    let few = bench
        .run(["log", "checkpoints", &log, "--every", "2000", "--json"])
        .expect_code(0)
        .json();
    let numbers: Vec<_> = few["checkpoints"]
        .as_array()
        .unwrap()
        .iter()
        .map(|point| point[0].clone())
        .collect();
    assert_eq!(numbers, [json!(2000), json!(4000), json!(5001)]);
    assert_eq!(few["head"]["number"], 5001);
    bench
        .run(["log", "checkpoints", &log, "--every", "0"])
        .expect_code(2);
}

#[test]
fn no_checkpoints_come_from_a_log_that_does_not_link() {
    let bench = Bench::new(300, "mixed");
    let file = bench.path("chain/blockchain/block_log");
    let log = BlockLog::open(&file, 400, Arc::new(Dictionaries::none())).unwrap();
    let (_, offset) = log.offset_of(120).unwrap();
    // The first byte after the number in the id of the block before.
    let writable = OpenOptions::new().read(true).write(true).open(&file).unwrap();
    let mut byte = [0];
    writable.read_exact_at(&mut byte, offset + 4).unwrap();
    writable.write_all_at(&[byte[0] ^ 1], offset + 4).unwrap();
    let log = bench.text("chain/blockchain");
    let refused = bench
        .run(["log", "checkpoints", &log, "--every", "100"])
        .expect_code(1);
    assert!(refused.stderr.contains("block 120"), "{refused}");
    assert_eq!(refused.stdout, "", "no half of a file");
}
