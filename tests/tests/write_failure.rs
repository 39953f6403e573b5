//! A write of the state that fails for good: the node says why and ends, and the next start goes on from the last commit.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::process::Command;

use cairn_tests::{Devnet, Running, binary, cairn};

const BLOCKS: u32 = 2_000;
/// The limit of a file's size, in the shell's units of 512 bytes: 750 KiB, the log of a few commits.
const LIMIT: u32 = 1_500;

#[test]
fn a_commit_that_fails_ends_the_node_and_costs_nothing_that_was_committed() {
    let chain = Devnet::generate(BLOCKS, &[]);
    let (log, spec) = (chain.path("seed/blockchain"), chain.spec());
    let words = |folder: &str| {
        let words = [
            "replay",
            "-d",
            folder,
            "--block-log",
            log.to_str().unwrap(),
            "--chain",
            &spec,
            "--flush-state-interval",
            "100",
            "--json",
        ];
        words.map(str::to_owned)
    };
    let whole = chain.path("whole");
    let whole = cairn(words(whole.to_str().unwrap())).expect_code(0).json();
    let folder = chain.path("failing");
    let folder = folder.to_str().unwrap();

    // The signal that comes with the limit is ignored, so that the write fails instead.
    let mut limited = Command::new("sh");
    limited
        .args([
            "-c",
            &format!("trap '' XFSZ && ulimit -f {LIMIT} && exec \"$0\" \"$@\""),
        ])
        .arg(binary())
        .args(words(folder));
    let failed = Running::spawn(limited).wait().expect_code(1);
    for text in ["File too large", folder] {
        assert!(failed.stderr.contains(text), "{text} is missing\n{failed}");
    }
    for text in ["panicked", "disk full"] {
        assert!(!failed.stderr.contains(text), "{text}\n{failed}");
    }

    let info = cairn(["state", "info", "-d", folder, "--json"])
        .expect_code(0)
        .json();
    let durable = info["head"]["number"].as_u64().unwrap();
    assert!(durable > 0 && durable < u64::from(BLOCKS), "{info}\n{failed}");

    let resumed = cairn(words(folder)).expect_code(0);
    let from = format!("Last applied block: {durable}");
    assert!(resumed.stderr.contains(&from), "{from} is missing\n{resumed}");
    let record = resumed.json();
    assert_eq!(
        (&record["head"], &record["state"]),
        (&whole["head"], &whole["state"])
    );
}
