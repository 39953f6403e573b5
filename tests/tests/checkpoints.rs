//! Checkpoints that are wrong, contradicted, or below the head, on a real log of 1311 blocks.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::{Path, PathBuf};

use cairn_tests::{Finished, cairn, copy_files, hive_data};
use serde_json::json;
use tempfile::TempDir;

struct Bench {
    data: PathBuf,
    log: PathBuf,
    folder: TempDir,
}

impl Bench {
    fn new(test: &str) -> Option<Self> {
        let data = hive_data(test)?;
        let log = data.join("logs/testnet_pattern");
        Some(Self {
            data,
            log,
            folder: TempDir::new().unwrap(),
        })
    }

    fn node(&self) -> String {
        self.folder.path().join("node").to_str().unwrap().to_owned()
    }

    fn common(&self) -> [String; 4] {
        let dictionaries = self.data.join("dictionaries").to_str().unwrap().to_owned();
        [
            "--chain".into(),
            "hive-testnet".into(),
            "--zstd-dictionaries".into(),
            dictionaries,
        ]
    }

    fn replay_of(&self, log: &Path, more: &[&str]) -> Finished {
        let mut words: Vec<String> = [
            "replay",
            "-d",
            &self.node(),
            "--block-log",
            log.to_str().unwrap(),
            "--json",
        ]
        .map(str::to_owned)
        .into();
        words.extend(self.common());
        words.extend(more.iter().map(ToString::to_string));
        cairn(words)
    }

    fn replay(&self, more: &[&str]) -> Finished {
        self.replay_of(&self.log, more)
    }

    fn id(&self, number: u32) -> String {
        let number = number.to_string();
        let mut words: Vec<String> = [
            "log",
            "ids",
            self.log.to_str().unwrap(),
            "--from",
            &number,
            "--to",
            &number,
        ]
        .map(str::to_owned)
        .into();
        words.extend(self.common());
        let out = cairn(words).expect_code(0).stdout;
        out.split_whitespace().nth(1).unwrap().to_owned()
    }

    fn right(&self, number: u32) -> String {
        format!("[{number},{}]", self.id(number))
    }

    /// The record of a replay in one go, into another folder.
    fn straight(&self) -> serde_json::Value {
        let other = TempDir::new().unwrap();
        let mut words: Vec<String> = ["replay", "-d", other.path().to_str().unwrap(), "--block-log"]
            .map(str::to_owned)
            .into();
        words.push(self.log.to_str().unwrap().to_owned());
        words.push("--json".into());
        words.extend(self.common());
        words.extend(["--checkpoint".to_owned(), self.right(200)]);
        cairn(words).expect_code(0).json()
    }
}

/// The number is embedded, the rest is invented.
fn wrong(number: u32) -> String {
    format!("[{number},{number:08x}ffffffffffffffffffffffffffffffff]")
}

fn mode_lines(finished: &Finished) -> Vec<&str> {
    finished
        .stderr
        .lines()
        .filter(|line| line.contains("alidation"))
        .collect()
}

#[test]
fn a_wrong_id_is_found_before_a_block_is_applied_and_a_corrected_run_goes_on() {
    let Some(bench) = Bench::new("wrong checkpoint") else {
        return;
    };
    bench.replay(&["--exit-at-block", "150"]).expect_code(0);
    let stopped = bench.replay(&["--checkpoint", &wrong(200)]).expect_code(3);
    let found = bench.id(200);
    let untrusted = format!("Blocks 151..200 of {} are not on the chain", bench.log.display());
    for text in [
        "Block did not match checkpoint",
        &wrong(200)[5..45],
        &found,
        "(command line)",
        "testnet_pattern/block_log). Blocks",
        &untrusted,
        "nothing was applied, the state is at block 150",
    ] {
        assert!(stopped.stderr.contains(text), "{text} is missing\n{stopped}");
    }
    let record = stopped.json();
    assert_eq!(record["blocks"], 0, "{record}");
    assert_eq!(record["head"]["number"], 150, "{record}");
    assert_eq!(record["durable_block"], 150, "{record}");
    assert_eq!(record["checkpoints_reached"], json!([]), "{record}");

    let resumed = bench.replay(&["--checkpoint", &bench.right(200)]).expect_code(0);
    assert!(
        resumed
            .stderr
            .contains("Resume of replaying. Last applied block: 150"),
        "{resumed}"
    );
    let record = resumed.json();
    assert_eq!(record["head"]["number"], 1311);
    assert_eq!(record["blocks"], 1311 - 150, "no block is applied twice");
    assert_eq!(record["checkpoints_reached"], json!([[200, found]]));
    assert_eq!(
        bench.straight()["state"]["registers"],
        record["state"]["registers"]
    );
}

#[test]
fn a_checkpoint_above_the_last_wanted_block_proves_it_too() {
    let Some(bench) = Bench::new("checkpoint above exit-at-block") else {
        return;
    };
    let (right, wrong) = (bench.right(200), wrong(300));
    let more = [
        "--exit-at-block",
        "100",
        "--checkpoint",
        &right,
        "--checkpoint",
        &wrong,
    ];
    let reached = bench.replay(&more).expect_code(0);
    assert!(
        reached
            .stderr
            .contains("Headers of blocks 1 to 200 are on the chain"),
        "{reached}"
    );
    let more = [
        "--exit-at-block",
        "250",
        "--checkpoint",
        &right,
        "--checkpoint",
        &wrong,
    ];
    let stopped = bench.replay(&more).expect_code(3);
    assert!(stopped.stderr.contains("Blocks 201..300 of"), "{stopped}");
    assert_eq!(stopped.json()["head"]["number"], 100, "{stopped}");
}

#[test]
fn checkpoints_that_contradict_each_other_are_told_apart() {
    let Some(bench) = Bench::new("contradicting checkpoints") else {
        return;
    };
    let right = bench.right(300);
    let stopped = bench
        .replay(&["--checkpoint", &wrong(200), "--checkpoint", &right])
        .expect_code(3);
    let text = format!("The checkpoints contradict each other: the log goes through {right}");
    assert!(stopped.stderr.contains(&text), "{stopped}");
    let stopped = bench
        .replay(&["--checkpoint", &wrong(200), "--checkpoint", &wrong(300)])
        .expect_code(3);
    let text = "does not go through 1 later one either";
    assert!(stopped.stderr.contains(text), "{stopped}");
    assert_eq!(stopped.json()["blocks"], 0, "{stopped}");
}

#[test]
fn without_the_pass_over_headers_the_state_goes_back_to_the_last_reached_checkpoint() {
    let Some(bench) = Bench::new("automatic restore") else {
        return;
    };
    let right = bench.right(200);
    let more = [
        "--no-preverify",
        "--checkpoint",
        &right,
        "--checkpoint",
        &wrong(300),
    ];
    let stopped = bench.replay(&more).expect_code(3);
    let untrusted = format!(
        "Blocks 201..300 of {} are not on the chain of this checkpoint; the state is back at block 200",
        bench.log.display()
    );
    let found = bench.id(300);
    for text in [
        untrusted.as_str(),
        "Block did not match checkpoint",
        found.as_str(),
    ] {
        assert!(stopped.stderr.contains(text), "{text} is missing\n{stopped}");
    }
    let record = stopped.json();
    assert_eq!(record["head"]["number"], 200, "{record}");
    assert_eq!(record["durable_block"], 200, "{record}");
    assert_eq!(
        record["checkpoints_reached"],
        json!([[200, bench.id(200)]]),
        "{record}"
    );

    let record = bench.replay(&["--checkpoint", &right]).expect_code(0).json();
    assert_eq!(record["blocks"], 1311 - 200, "{record}");
    assert_eq!(bench.straight()["state"], record["state"]);
}

#[test]
fn without_a_reached_checkpoint_the_state_goes_back_to_where_the_run_began() {
    let Some(bench) = Bench::new("automatic restore to the start") else {
        return;
    };
    let stopped = bench
        .replay(&["--no-preverify", "--checkpoint", &wrong(100)])
        .expect_code(3);
    assert_eq!(stopped.json()["head"]["number"], 0, "{stopped}");
    assert!(
        stopped.stderr.contains("the state is back at block 0"),
        "{stopped}"
    );
    bench.replay(&["--exit-at-block", "150"]).expect_code(0);
    let stopped = bench
        .replay(&["--no-preverify", "--checkpoint", &wrong(300)])
        .expect_code(3);
    assert_eq!(stopped.json()["head"]["number"], 150, "{stopped}");
    let text = "back at block 150, where this run began; blocks 1..150 had been applied before it";
    assert!(stopped.stderr.contains(text), "{stopped}");
    let state = Path::new(&bench.node()).join("state");
    assert!(
        !state.join("start-point").exists(),
        "nothing is left of the start"
    );
    bench.replay(&[]).expect_code(0);
}

#[test]
fn a_checkpoint_of_another_block_is_refused_at_start_with_both_numbers_and_its_line() {
    let Some(bench) = Bench::new("checkpoint of another block") else {
        return;
    };
    let file = bench.folder.path().join("points");
    std::fs::write(
        &file,
        "# mine\n[20000000,02625a000d8be8b1085b94d25e0c20daf1e9be56]\n[7,0000000a]\n",
    )
    .unwrap();
    let finished = bench
        .replay(&["--checkpoint-file", file.to_str().unwrap()])
        .expect_code(2);
    for text in ["points:2", "(20000000)", "(40000000)", "points:3"] {
        assert!(finished.stderr.contains(text), "{text} is missing\n{finished}");
    }
    assert!(
        !Path::new(&bench.node()).join("state").exists(),
        "nothing was touched"
    );
}

#[test]
fn a_wrong_checkpoint_below_the_head_is_found_at_start() {
    let Some(bench) = Bench::new("checkpoint below the head") else {
        return;
    };
    bench.replay(&["--exit-at-block", "100"]).expect_code(0);
    let refused = bench.replay(&["--checkpoint", &wrong(50)]).expect_code(3);
    assert!(
        refused.stderr.contains("lies below this node's head 100"),
        "{refused}"
    );
    assert!(refused.stderr.contains(&bench.id(50)), "{refused}");
    bench.replay(&["--checkpoint", &bench.right(50)]).expect_code(0);
}

#[test]
fn modes_are_announced_when_they_change() {
    let Some(bench) = Bench::new("mode lines") else {
        return;
    };
    let with = bench
        .replay(&[
            "--checkpoint",
            &bench.right(300),
            "--checkpoint",
            &bench.right(100),
        ])
        .expect_code(0);
    let lines = mode_lines(&with).join("\n");
    for text in [
        &format!(
            "Checkpoints enabled, blocks will be subject to reduced validation until final checkpoint {}",
            bench.right(300)
        ),
        "Reduced validation on from block 1 to 300",
        "Final checkpoint reached, resuming normal block validation.",
    ] {
        assert!(lines.contains(text), "{text} is missing\n{with}");
    }
    for number in [100, 300] {
        let text = format!("Checkpoint {} reached.", bench.right(number));
        assert!(
            with.stderr
                .lines()
                .any(|line| line.contains("test_checkpoint") && line.contains(&text)),
            "{with}"
        );
    }
    let record = with.json();
    assert_eq!(
        record["validation"]["blocks_signed"],
        1311 - 300,
        "full from the block after the last checkpoint"
    );

    let plain = TempDir::new().unwrap();
    let mut words: Vec<String> = [
        "replay",
        "-d",
        plain.path().to_str().unwrap(),
        "--json",
        "--block-log",
    ]
    .map(str::to_owned)
    .into();
    words.push(bench.log.to_str().unwrap().to_owned());
    words.extend(bench.common());
    let without = cairn(words).expect_code(0);
    let lines = mode_lines(&without).join("\n");
    assert!(
        lines.contains("Reduced validation on from block 1 on: there is no checkpoint"),
        "{without}"
    );
    assert_eq!(without.json()["validation"]["blocks_signed"], 0);
}

#[test]
fn an_altered_body_is_refused_in_reduced_mode_whatever_the_artifacts_say() {
    let Some(data) = hive_data("altered body") else {
        return;
    };
    // mirrornet_1k is stored as is but empty; steemd_generated is stored as is and full of transactions.
    let log = TempDir::new().unwrap();
    copy_files(&data.join("logs/steemd_generated"), log.path());
    let file = log.path().join("block_log");
    let common = ["--chain", "steem-testnet"];
    let path = log.path().to_str().unwrap();

    // Index made from the honest file, by letting a node own it.
    let owner = TempDir::new().unwrap();
    let blockchain = owner.path().join("blockchain");
    copy_files(log.path(), &blockchain);
    let owner_path = owner.path().to_str().unwrap();
    let words = [
        "replay",
        "-d",
        owner_path,
        "--exit-at-block",
        "1",
        "--block-log-split",
        "-1",
    ];
    cairn(words.into_iter().chain(common)).expect_code(0);
    let artifacts = blockchain.join("block_log.artifacts");
    std::fs::copy(&artifacts, log.path().join("block_log.artifacts")).unwrap();

    // The last signature byte of the last transaction of block 5000, found through the index of the file itself.
    let at = |words: &[&str]| cairn(words.iter().copied().chain(common)).expect_code(0);
    let number = (5000..5100)
        .find(|number| {
            let found = at(&["log", "get", path, &number.to_string(), "--json"]).json();
            found["transactions"]
                .as_array()
                .is_some_and(|list| !list.is_empty())
        })
        .unwrap();
    let mut bytes = std::fs::read(&file).unwrap();
    let record = std::fs::read(&artifacts).unwrap();
    // Trailer of the block after it: its offset less eight bytes of trailer is the end of this block.
    let start = 56 + 24 * (number as usize);
    let next = u64::from_le_bytes(record[start..start + 8].try_into().unwrap()) & ((1 << 48) - 1);
    let target = next as usize - 8 - 1;
    bytes[target] ^= 1;
    std::fs::write(&file, &bytes).unwrap();

    let id = at(&["log", "ids", path, "--from", "6000", "--to", "6000"]).stdout;
    let id = id.split_whitespace().nth(1).unwrap();
    let node = TempDir::new().unwrap();
    let checkpoint = format!("[6000,{id}]");
    let words = [
        "replay",
        "-d",
        node.path().to_str().unwrap(),
        "--block-log",
        path,
        "--checkpoint",
        &checkpoint,
        "--json",
    ];
    let refused = cairn(words.into_iter().chain(common)).expect_code(3);
    assert_eq!(refused.json()["head"]["number"], number - 1, "{refused}");
    assert!(
        refused.stderr.contains(&format!("log breaks at {number}")),
        "{refused}"
    );
    assert!(refused.stderr.contains("erkle"), "the reason is named\n{refused}");
}
