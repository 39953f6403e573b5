//! A state and its log that do not fit each other, without peers.

use std::fs;

use cairn_tests::{cairn, copy_files};

use crate::world::{Bench, files, reconciled};

#[test]
fn a_state_ahead_of_its_log_goes_back_to_a_restore_point() {
    let bench = Bench::new(600, "mixed");
    bench.own_the_log();
    let (first, second) = (bench.checkpoint(200), bench.checkpoint(500));
    let more = ["--checkpoint", &first, "--checkpoint", &second];
    let expected = bench.replay_own(&more).expect_code(0).json();
    assert_eq!(bench.restore_points(), [200, 500]);
    bench.cut_log_behind(300);
    let record = bench.replay_own(&more).expect_code(0);
    let lines = reconciled(&record);
    let text =
        "put back from block 600 to its restore point at block 200, because the block log ends at block 300";
    assert!(lines.len() == 1 && lines[0].contains(text), "{record}");
    assert_eq!(record.json()["head"]["number"], 300, "{record}");
    assert_eq!(record.json()["blocks"], 100, "{record}");
    let quiet = bench.replay_own(&more).expect_code(0);
    assert_eq!(reconciled(&quiet), Vec::<&str>::new(), "{quiet}");

    // With the whole log again, everything is as before.
    bench.own_the_log();
    let record = bench.replay_own(&more).expect_code(0).json();
    assert_eq!(record["state"], expected["state"]);
}

#[test]
fn a_state_without_its_log_is_refused_with_what_can_be_done_and_stays() {
    let bench = Bench::new(300, "mixed");
    bench.own_the_log();
    bench.replay_own(&[]).expect_code(0);
    let before = bench.state();
    bench.cut_log_behind(250);
    for lost in [false, true] {
        if lost {
            fs::remove_dir_all(bench.path("node/blockchain")).unwrap();
        }
        let refused = bench.start().expect_code(1);
        for text in [
            "the state is at block 300",
            "--block-log-split 0",
            "--force-replay",
            "Put the missing",
        ] {
            assert!(refused.stderr.contains(text), "{text} is missing\n{refused}");
        }
        assert_eq!(bench.state(), before, "nothing was changed");
    }
}

#[test]
fn a_log_of_other_blocks_is_noticed_before_anything_is_appended() {
    let bench = Bench::new(300, "mixed");
    bench.own_the_log();
    let point = bench.checkpoint(100);
    bench.replay_own(&["--checkpoint", &point]).expect_code(0);
    let other = bench.path("other");
    let words = [
        "devnet",
        "generate",
        "--blocks",
        "400",
        "--seed",
        "2",
        "--out",
        other.to_str().unwrap(),
    ];
    cairn(words).expect_code(0);
    copy_files(&other.join("blockchain"), &bench.path("node/blockchain"));
    let log = bench.path("node/blockchain/block_log");
    let before = fs::read(&log).unwrap();
    let refused = bench.start().expect_code(1);
    assert!(
        refused.stderr.contains("no restore point on the log's chain"),
        "{refused}"
    );
    assert!(before == fs::read(&log).unwrap(), "nothing was changed");
    assert_eq!(bench.state()["head"]["number"], 300);
}

#[test]
fn fifteen_starts_without_new_blocks_change_nothing() {
    let bench = Bench::new(300, "mixed");
    bench.own_the_log();
    let point = bench.checkpoint(200);
    bench.replay_own(&["--checkpoint", &point]).expect_code(0);
    bench.start().expect_code(0);
    let (log, state) = (files(&bench.path("node/blockchain")), bench.state());
    let points = files(&bench.path("node/state/restore-points"));
    for _ in 0..15 {
        let started = bench.start().expect_code(0);
        assert_eq!(started.json()["blocks"], 0, "{started}");
        assert!(!started.stderr.contains("WARN"), "{started}");
        assert_eq!(reconciled(&started), Vec::<&str>::new(), "{started}");
    }
    assert!(log == files(&bench.path("node/blockchain")));
    assert!(points == files(&bench.path("node/state/restore-points")));
    assert_eq!(bench.state(), state);
}

#[test]
fn a_state_older_than_its_log_catches_up_and_the_second_start_is_quiet() {
    let bench = Bench::new(300, "mixed");
    bench.own_the_log();
    bench.replay_own(&["--exit-at-block", "120"]).expect_code(0);
    let healed = bench.start().expect_code(0);
    assert!(healed.stderr.contains("Last applied block: 120"), "{healed}");
    assert_eq!(healed.json()["blocks"], 180, "{healed}");
    let quiet = bench.start().expect_code(0);
    assert!(!quiet.stderr.contains("Resume of replaying"), "{quiet}");
    assert_eq!(quiet.json()["blocks"], 0, "{quiet}");
}

#[test]
fn leftovers_of_an_interrupted_process_are_removed_with_a_line_each() {
    let bench = Bench::new(100, "mixed");
    bench.own_the_log();
    bench.replay_own(&[]).expect_code(0);
    let before = bench.state();
    let id = "0000002affffffffffffffffffffffffffffffff";
    let leftovers = [
        "registers.making",
        "start-point/42-x",
        &format!("restore-points/42-{id}.making"),
    ]
    .map(|name| bench.path("node/state").join(name));
    for leftover in &leftovers {
        fs::create_dir_all(leftover).unwrap();
        fs::write(leftover.join("CURRENT"), "x").unwrap();
    }
    let started = bench.start().expect_code(0);
    assert_eq!(reconciled(&started).len(), 3, "{started}");
    assert!(leftovers.iter().all(|leftover| !leftover.exists()));
    let quiet = bench.start().expect_code(0);
    assert_eq!(reconciled(&quiet), Vec::<&str>::new(), "{quiet}");
    assert_eq!(bench.state(), before);
}
