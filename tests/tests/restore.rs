//! Restore points, and parts of a folder that do not fit each other after a crash.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs::{self, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cairn_block_log::{BlockLog, Dictionaries};
use cairn_tests::{Finished, Running, cairn, copy_files};
use serde_json::{Value, json};
use tempfile::TempDir;

/// A generated chain, in a folder of its own, and a node's folder.
struct Bench {
    folder: TempDir,
}

impl Bench {
    fn new(blocks: u32, profile: &str) -> Self {
        let folder = TempDir::new().unwrap();
        let chain = folder.path().join("chain");
        let words = [
            "devnet",
            "generate",
            "--blocks",
            &blocks.to_string(),
            "--profile",
            profile,
            // Each block is irreversible at once, so that a sync keeps the whole chain.
            "--witnesses",
            "1",
            "--out",
        ];
        let words = words
            .map(str::to_owned)
            .into_iter()
            .chain([chain.to_str().unwrap().to_owned()]);
        cairn(words).expect_code(0);
        Self { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn text(&self, name: &str) -> String {
        self.path(name).to_str().unwrap().to_owned()
    }

    fn run<'a>(&self, words: impl IntoIterator<Item = &'a str>) -> Finished {
        cairn(
            words
                .into_iter()
                .map(str::to_owned)
                .chain(["--chain".to_owned(), self.text("chain/chain.json")]),
        )
    }

    /// Replays the chain's log into the node's folder.
    fn replay(&self, more: &[&str]) -> Finished {
        let (node, log) = (self.text("node"), self.text("chain/blockchain"));
        let words = ["replay", "-d", &node, "--block-log", &log, "--json"];
        self.run(words.into_iter().chain(more.iter().copied()))
    }

    /// Replays the node's own log.
    fn replay_own(&self, more: &[&str]) -> Finished {
        let node = self.text("node");
        let words = ["replay", "-d", &node, "--block-log-split", "-1", "--json"];
        self.run(words.into_iter().chain(more.iter().copied()))
    }

    /// Starts the node, which replays its own log and ends before it would sync.
    fn start(&self) -> Finished {
        let node = self.text("node");
        self.run([
            "run",
            "-d",
            &node,
            "--block-log-split",
            "-1",
            "--exit-before-sync",
            "--json",
        ])
    }

    /// Gives the node the chain's log as its own.
    fn own_the_log(&self) {
        copy_files(&self.path("chain/blockchain"), &self.path("node/blockchain"));
    }

    fn checkpoint(&self, number: u32) -> String {
        let (log, number) = (self.text("chain/blockchain"), number.to_string());
        let out = self
            .run(["log", "ids", &log, "--from", &number, "--to", &number])
            .expect_code(0)
            .stdout;
        format!("[{number},{}]", out.split_whitespace().nth(1).unwrap())
    }

    fn state(&self) -> Value {
        cairn(["state", "info", "-d", &self.text("node"), "--json"])
            .expect_code(0)
            .json()
    }

    fn restore_points(&self) -> Vec<u64> {
        let state = self.state();
        let points = state["restore_points"].as_array().unwrap();
        points.iter().map(|point| point[0].as_u64().unwrap()).collect()
    }

    /// Cuts the node's own log behind a block.
    fn cut_log_behind(&self, number: u32) {
        let file = self.path("node/blockchain/block_log");
        let log = BlockLog::open(&file, 400, Arc::new(Dictionaries::none())).unwrap();
        let (_, offset) = log.offset_of(number + 1).unwrap();
        OpenOptions::new()
            .write(true)
            .open(file)
            .unwrap()
            .set_len(offset)
            .unwrap();
    }
}

/// Lines about parts that were brought in line with each other.
fn reconciled(finished: &Finished) -> Vec<&str> {
    finished
        .stderr
        .lines()
        .filter(|line| line.contains("reconcile"))
        .collect()
}

/// Every file of a folder with its bytes, but not RocksDB's own log and lock, which every start touches.
fn files(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path));
        } else {
            found.push((path.clone(), fs::read(&path).unwrap()));
        }
    }
    found.sort();
    found
}

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

fn flip(file: &Path, offset: u64) {
    let file = OpenOptions::new().read(true).write(true).open(file).unwrap();
    let mut byte = [0];
    file.read_exact_at(&mut byte, offset).unwrap();
    file.write_all_at(&[byte[0] ^ 1], offset).unwrap();
}

/// Where in a damaged block the damage is, and what the node has beside the log.
#[derive(Debug, Clone, Copy)]
enum Damage {
    /// In a transaction: the pass over headers does not see it, its application does.
    Body,
    /// In the id of the block before: the pass over headers sees it.
    Header,
    /// In a transaction of a log without an index, which is checked as a whole when it is opened.
    BodyWithoutIndex,
}

#[test]
fn a_damaged_block_of_the_own_log_is_cut_and_fetched_again() {
    for damage in [Damage::Body, Damage::Header, Damage::BodyWithoutIndex] {
        let bench = Bench::new(300, "mixed");
        bench.own_the_log();
        bench.replay_own(&["--exit-at-block", "100"]).expect_code(0);
        let file = bench.path("node/blockchain/block_log");
        let log = BlockLog::open(&file, 400, Arc::new(Dictionaries::none())).unwrap();
        let at = |number| log.offset_of(number).unwrap().1;
        match damage {
            Damage::Header => flip(&file, at(120) + 4),
            // The last byte before the trailer.
            Damage::Body | Damage::BodyWithoutIndex => flip(&file, at(121) - 8 - 1),
        }
        if matches!(damage, Damage::BodyWithoutIndex) {
            fs::remove_file(file.with_extension("artifacts")).unwrap();
        }
        let (chain, spec) = (bench.text("chain"), bench.text("chain/chain.json"));
        let free = std::net::TcpListener::bind(("127.0.0.1", 0))
            .unwrap()
            .local_addr()
            .unwrap();
        let address = free.to_string();
        let words = [
            "run",
            "-d",
            &chain,
            "--chain",
            &spec,
            "--block-log-split",
            "-1",
            "--p2p-endpoint",
            &address,
        ];
        let mut seed = Running::start(words);
        seed.wait_for_line("Listening on");

        let (node, point) = (bench.text("node"), bench.checkpoint(200));
        let mut words = vec![
            "run",
            "-d",
            &node,
            "--block-log-split",
            "-1",
            "--exit-at-block",
            "300",
            "--json",
        ];
        words.extend([
            "--p2p-seed-node",
            &address,
            "--checkpoint",
            &point,
            "--enable-block-log-compression",
            "0",
        ]);
        let mended = bench.run(words.clone()).expect_code(0);
        let (offset, path) = (format!("offset {}", at(120)), file.display().to_string());
        let kept = "block_log.cut-120-300";
        for text in [
            "damaged",
            "block 120",
            "119",
            &offset,
            &path,
            "blocks 120 to 300 are fetched again",
            kept,
            "in the block log again",
        ] {
            assert!(
                mended.stderr.contains(text),
                "{damage:?}: {text} is missing\n{mended}"
            );
        }
        assert_eq!(mended.json()["head"]["number"], 300, "{mended}");
        assert!(fs::read(&file).unwrap() == fs::read(bench.path("chain/blockchain/block_log")).unwrap());
        assert!(!file.with_file_name(kept).exists(), "{damage:?}");
        let quiet = bench.run(words).expect_code(0);
        assert_eq!(reconciled(&quiet), Vec::<&str>::new(), "{quiet}");
    }
}

#[test]
fn a_damaged_block_is_only_told_about_when_nothing_is_to_be_fetched() {
    let bench = Bench::new(300, "mixed");
    bench.own_the_log();
    bench.replay_own(&["--exit-at-block", "100"]).expect_code(0);
    let file = bench.path("node/blockchain/block_log");
    let log = BlockLog::open(&file, 400, Arc::new(Dictionaries::none())).unwrap();
    flip(&file, log.offset_of(121).unwrap().1 - 8 - 1);
    let before = fs::read(&file).unwrap();
    for refused in [bench.start(), bench.replay_own(&[])] {
        let refused = refused.expect_code(1);
        assert!(refused.stderr.contains("log breaks at 120"), "{refused}");
        assert!(before == fs::read(&file).unwrap(), "nothing was cut");
    }
}
