//! Going back to a restore point.

use std::fs;

use cairn_tests::cairn;
use serde_json::json;

use crate::world::{Bench, reconciled};

#[test]
fn a_restored_state_is_that_of_its_checkpoint_and_goes_on_from_there() {
    let bench = Bench::new(600, "mixed");
    let points = [100, 200, 300].map(|number| bench.checkpoint(number));
    let more: Vec<&str> = points
        .iter()
        .flat_map(|point| ["--checkpoint", point.as_str()])
        .collect();
    let expected = bench.replay(&more).expect_code(0).json();
    // The first and the last one always, the one between if it cost little.
    let kept = bench.restore_points();
    assert_eq!((kept.len(), kept[1]), (2, 300), "{kept:?}");

    let node = bench.text("node");
    let wrong = cairn(["state", "restore", "-d", &node, "--to", "7"]).expect_code(2);
    assert!(wrong.stderr.contains("only of"), "{wrong}");
    let restored = cairn(["state", "restore", "-d", &node, "--json"])
        .expect_code(0)
        .json();
    assert_eq!(restored["head"]["number"], 300);
    assert_eq!(restored["head_before"], 600);
    assert_eq!(bench.state()["head"]["number"], 300);
    let to = kept[0].to_string();
    cairn(["state", "restore", "-d", &node, "--to", &to]).expect_code(0);
    let state = bench.state();
    assert_eq!(state["head"]["number"], kept[0]);
    assert_eq!(bench.restore_points(), kept, "restore points stay");
    assert!(state["registers"].as_u64().unwrap() < expected["state"]["registers"].as_u64().unwrap());

    let again = bench.replay(&more).expect_code(0).json();
    assert_eq!(again["blocks"].as_u64().unwrap(), 600 - kept[0]);
    assert_eq!(again["state"], expected["state"]);
}

#[test]
fn a_restore_cuts_the_log_too_when_its_blocks_are_not_to_be_trusted() {
    let bench = Bench::new(600, "mixed");
    bench.own_the_log();
    let point = bench.checkpoint(200);
    bench.replay_own(&["--checkpoint", &point]).expect_code(0);
    let node = bench.text("node");
    let words = ["state", "restore", "-d", &node, "--cut-log", "--json"];
    let restored = cairn(words).expect_code(0).json();
    assert_eq!(restored["blocks_cut"], json!([201, 600]), "{restored}");
    let started = bench.start().expect_code(0);
    assert_eq!(
        (&started.json()["head"]["number"], &started.json()["blocks"]),
        (&json!(200), &json!(0))
    );
    assert_eq!(reconciled(&started), Vec::<&str>::new(), "{started}");
    let kept = bench.path("node/blockchain/block_log.cut-201-600");
    let whole = fs::read(bench.path("chain/blockchain/block_log")).unwrap();
    let log = fs::read(bench.path("node/blockchain/block_log")).unwrap();
    assert!(
        [log, fs::read(kept).unwrap()].concat() == whole,
        "no byte is lost"
    );
    let again = cairn(words).expect_code(0).json();
    assert_eq!(again["blocks_cut"], json!(null), "{again}");
}

#[test]
fn a_state_that_is_thrown_away_has_no_restore_points() {
    let bench = Bench::new(200, "mixed");
    let (log, point) = (bench.text("chain/blockchain"), bench.checkpoint(100));
    let words = [
        "replay",
        "--block-log",
        &log,
        "--checkpoint",
        &point,
        "--log-level",
        "debug",
    ];
    let proven = bench.run(words).expect_code(0);
    assert!(!proven.stderr.contains("kept in"), "{proven}");
    let unproven = bench
        .run(words.into_iter().chain(["--no-preverify"]))
        .expect_code(0);
    assert!(
        unproven.stderr.contains("state of block 100 kept in"),
        "{unproven}"
    );
}
