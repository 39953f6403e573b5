//! Generated chains with few witnesses, missed slots, forks and broken blocks, given to the built binary.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use cairn_tests::{Finished, cairn};
use serde_json::Value;
use tempfile::TempDir;

const BLOCKS: u64 = 400;

struct Chain {
    folder: TempDir,
    report: Value,
}

impl Chain {
    fn generate(more: &[&str]) -> Self {
        let folder = TempDir::new().unwrap();
        let out = folder.path().join("chain");
        let blocks = BLOCKS.to_string();
        let words = [
            "devnet",
            "generate",
            "--blocks",
            &blocks,
            "--out",
            out.to_str().unwrap(),
            "--json",
        ];
        let report = cairn(words.iter().chain(more)).expect_code(0).json();
        Self { folder, report }
    }

    fn path(&self, name: &str) -> String {
        self.folder.path().join(name).to_str().unwrap().to_owned()
    }

    /// Replays the log in `folder` into a fresh state.
    fn replay(&self, folder: &str, state: &str, more: &[&str]) -> Finished {
        let (log, spec) = (
            self.path(&format!("{folder}/blockchain")),
            self.path(&format!("{folder}/chain.json")),
        );
        let state = self.path(state);
        let words = [
            "replay",
            "-d",
            &state,
            "--block-log",
            &log,
            "--chain",
            &spec,
            "--json",
        ];
        cairn(words.iter().chain(more))
    }

    /// The identity state, without what a node knows for itself.
    fn identity(&self, state: &str) -> Value {
        let (state, spec) = (self.path(state), self.path("chain/chain.json"));
        let words = ["state", "identity", "-d", &state, "--json", "--chain", &spec];
        let mut identity = cairn(words).expect_code(0).json();
        identity.as_object_mut().unwrap().remove("known_transactions");
        identity
    }
}

#[test]
fn a_chain_with_missed_slots_is_validated_in_full_and_its_fork_too() {
    let chain = Chain::generate(&["--witnesses", "7", "--missed-slots", "25", "--fork", "300:60"]);
    let full = chain
        .replay("chain", "full", &["--validate-during-replay"])
        .expect_code(0)
        .json();
    assert_eq!(full["head"], chain.report["head"]);
    let checks = &full["validation"];
    assert_eq!(checks["blocks_signed"], BLOCKS, "{full}");
    assert_eq!(checks["slots"], BLOCKS, "{full}");
    assert!(checks["undecided"].as_object().unwrap().is_empty(), "{full}");
    assert!(checks["exempt"].as_object().unwrap().is_empty(), "{full}");
    assert_eq!(checks["transactions"], chain.report["transactions"]);

    // What is not checked changes nothing.
    drop(chain.replay("chain", "reduced", &[]).expect_code(0));
    let identity = chain.identity("full");
    assert_eq!(identity, chain.identity("reduced"));
    assert_eq!(identity["witnesses"]["count"], 7);

    let fork = &chain.report["forks"][0];
    let words = &["--validate-during-replay"];
    let replayed = chain
        .replay("chain/fork-300", "fork", words)
        .expect_code(0)
        .json();
    assert_eq!(replayed["head"]["number"], 360);
    assert_eq!(replayed["head"]["id"], fork["head"]["id"]);
    assert_eq!(replayed["validation"]["slots"], 360);
    let ids = |folder: &str| {
        let (log, spec) = (
            chain.path(&format!("{folder}/blockchain")),
            chain.path("chain/chain.json"),
        );
        let words = [
            "log", "ids", &log, "--from", "299", "--to", "302", "--chain", &spec,
        ];
        let text = cairn(words).expect_code(0).stdout;
        text.lines().map(str::to_owned).collect::<Vec<_>>()
    };
    let (ours, theirs) = (ids("chain"), ids("chain/fork-300"));
    assert_eq!(ours[..2], theirs[..2]);
    assert!(ours[2..].iter().all(|id| !theirs.contains(id)));
}

#[test]
fn a_block_that_breaks_a_rule_ends_the_replay() {
    for (rule, message) in [
        ("witness-turn", "is scheduled"),
        ("witness-switched-off", "the signing key of"),
        ("active-authority", "missing active authority"),
        ("account-is-new", "exists already"),
    ] {
        let chain = Chain::generate(&["--break", &format!("{rule}@100"), "--witnesses", "4"]);
        let found = chain.replay("chain", "state", &["--validate-during-replay"]);
        let found = found.expect_code(1);
        assert!(found.stderr.contains("block 100"), "{rule}: {}", found.stderr);
        assert!(found.stderr.contains(message), "{rule}: {}", found.stderr);
    }
}

#[test]
fn wrong_words_are_refused_with_what_is_right() {
    let folder = TempDir::new().unwrap();
    let out = folder.path().join("chain");
    for (word, value, message) in [
        ("--break", "nonsense@100", "rules: trailing-bytes"),
        ("--break", "name", "RULE@BLOCK"),
        ("--break", "name@2", "cannot be broken in block 2"),
        ("--break", "name@401", "the chain has 400 blocks"),
        ("--break", "not-mixed@100", "hardfork 28 is in force"),
        ("--fork", "100", "AT:DEPTH"),
        ("--fork", "401:3", "the chain has 400 blocks"),
        ("--witnesses", "22", "1..=21"),
        ("--missed-slots", "76", "0..=75"),
    ] {
        let words = [
            "devnet",
            "generate",
            "--blocks",
            "400",
            "--out",
            out.to_str().unwrap(),
            word,
            value,
        ];
        let stderr = cairn(words).expect_code(2).stderr;
        assert!(stderr.contains(message), "{word} {value}: {stderr}");
    }
    let help = cairn(["devnet", "generate", "--help"]).expect_code(0).stdout;
    assert!(
        help.contains("proxy-chain: A chain of proxies has five accounts."),
        "{help}"
    );
}
