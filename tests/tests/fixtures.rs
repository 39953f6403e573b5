//! Every real log: summary, verification, and replay in both validation modes to the identity state that an
//! independent reader found.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::{Path, PathBuf};

use cairn_tests::{cairn, hive_data, read_json};
use serde_json::{Value, json};
use tempfile::TempDir;

/// A log of the Hive data, and the chain that it belongs to.
struct Fixture {
    log: &'static str,
    /// File in `expected/` with the identity state.
    identity: &'static str,
    chain: Chain,
}

enum Chain {
    Named(&'static str),
    /// A chain specification: genesis time, hardforks at block 1, and possibly one later as (number, block).
    Spec {
        genesis: u32,
        hardforks: u32,
        later: Option<(u32, u32)>,
    },
}

const fn fixture(log: &'static str, identity: &'static str, chain: Chain) -> Fixture {
    Fixture { log, identity, chain }
}

const FIXTURES: &[Fixture] = &[
    fixture("derived_mainnet_700", "derived_mainnet_700", Chain::Named("hive")),
    fixture("derived_mixed", "derived_mixed", Chain::Named("hive-testnet")),
    fixture("derived_split", "derived_split", Chain::Named("hive-testnet")),
    fixture("hf28_tests", "hf28_tests", Chain::Named("hive-testnet")),
    fixture(
        "hf28_upvoting",
        "hf28_upvoting",
        Chain::Spec {
            genesis: 1_699_532_261,
            hardforks: 27,
            later: Some((28, 2000)),
        },
    ),
    fixture("hived", "hived", Chain::Named("hive-testnet")),
    fixture("mirrornet_1k", "mirrornet_1k", Chain::Named("hive-mirrornet")),
    fixture(
        "op_account_witness_proxy",
        "op_account_witness_proxy",
        Chain::Spec {
            genesis: 1_700_210_126,
            hardforks: 28,
            later: None,
        },
    ),
    fixture(
        "op_account_witness_vote",
        "op_account_witness_vote",
        Chain::Named("hive-testnet"),
    ),
    fixture(
        "op_update_proposal_votes",
        "op_update_proposal_votes",
        Chain::Named("hive-testnet"),
    ),
    fixture(
        "output_formatter",
        "output_formatter",
        Chain::Named("hive-testnet"),
    ),
    fixture(
        "steemd_generated",
        "steemd_generated",
        Chain::Named("steem-testnet"),
    ),
    fixture(
        "steemd_identity",
        "steemd_identity",
        Chain::Named("steem-testnet"),
    ),
    fixture("steemd_live", "steemd_live", Chain::Named("steem-testnet")),
    fixture("testnet_pattern", "testnet_pattern", Chain::Named("hive-testnet")),
    fixture(
        "transaction_pattern",
        "transaction_pattern",
        Chain::Named("hive-testnet"),
    ),
];

impl Fixture {
    fn path(&self, data: &Path) -> PathBuf {
        data.join("logs").join(self.log)
    }

    /// The value of `--chain`; a specification is written into `folder`.
    fn chain(&self, folder: &Path) -> String {
        let (genesis, hardforks, later) = match self.chain {
            Chain::Named(name) => return name.to_owned(),
            Chain::Spec {
                genesis,
                hardforks,
                later,
            } => (genesis, hardforks, later),
        };
        let mut schedule = vec![json!({ "hardfork": hardforks, "block_num": 0 })];
        if let Some((hardfork, block)) = later {
            schedule.push(json!({ "hardfork": hardfork, "block_num": block }));
        }
        let spec = json!({ "name": self.log, "genesis_time": genesis, "hardfork_schedule": schedule });
        let path = folder.join("chain.json");
        std::fs::write(&path, spec.to_string()).unwrap();
        path.to_str().unwrap().to_owned()
    }
}

fn arguments(words: &[&str], chain: &str, data: &Path) -> Vec<String> {
    let mut all: Vec<String> = words.iter().map(ToString::to_string).collect();
    all.extend(["--chain", chain, "--zstd-dictionaries"].map(str::to_owned));
    all.push(data.join("dictionaries").to_str().unwrap().to_owned());
    all
}

#[test]
fn log_info_gives_what_an_independent_reader_found() {
    let Some(data) = hive_data("log info") else { return };
    for fixture in FIXTURES {
        let folder = TempDir::new().unwrap();
        let chain = fixture.chain(folder.path());
        let path = fixture.path(&data);
        let pairs: Vec<(PathBuf, String)> = if fixture.log == "derived_split" {
            (1..=4)
                .map(|part| {
                    (
                        path.join(format!("block_log_part.{part:04}")),
                        format!("derived_split_part_{part:04}"),
                    )
                })
                .collect()
        } else {
            vec![(path.join("block_log"), fixture.log.to_owned())]
        };
        for (file, expected) in pairs {
            let words = ["log", "info", file.to_str().unwrap(), "--json"];
            let found = cairn(arguments(&words, &chain, &data)).expect_code(0).json();
            let expected = read_json(&data.join("expected").join(format!("{expected}.json")));
            for (key, value) in expected.as_object().unwrap() {
                assert_eq!(found.get(key), Some(value), "{}: {key}", fixture.log);
            }
        }
    }
}

#[test]
fn log_verify_walks_every_log_whole() {
    let Some(data) = hive_data("log verify") else {
        return;
    };
    for fixture in FIXTURES {
        let folder = TempDir::new().unwrap();
        let chain = fixture.chain(folder.path());
        let path = fixture.path(&data);
        let words = ["log", "verify", path.to_str().unwrap(), "--json"];
        let found = cairn(arguments(&words, &chain, &data)).expect_code(0).json();
        let expected = read_json(
            &data
                .join("expected")
                .join(format!("identity_{}.json", fixture.identity)),
        );
        assert_eq!(
            found["head"]["number"], expected["head_block_num"],
            "{}: {found}",
            fixture.log
        );
    }
}

#[test]
fn replay_in_both_modes_reaches_the_independent_identity_state() {
    let Some(data) = hive_data("replay") else { return };
    for fixture in FIXTURES {
        for full in [false, true] {
            replay_and_compare(&data, fixture, full);
        }
    }
}

fn replay_and_compare(data: &Path, fixture: &Fixture, full: bool) {
    let name = format!("{} ({})", fixture.log, if full { "full" } else { "reduced" });
    let expected = read_json(
        &data
            .join("expected")
            .join(format!("identity_{}.json", fixture.identity)),
    );
    let folder = TempDir::new().unwrap();
    let chain = fixture.chain(folder.path());
    let (node, path) = (folder.path().join("node"), fixture.path(data));
    let mut words = vec![
        "replay",
        "-d",
        node.to_str().unwrap(),
        "--block-log",
        path.to_str().unwrap(),
        "--json",
    ];
    if full {
        words.push("--validate-during-replay");
    }
    let report = cairn(arguments(&words, &chain, data)).expect_code(0).json();
    assert_eq!(report["head"]["number"], expected["head_block_num"], "{name}");
    assert_eq!(report["head"]["id"], expected["head_block_id"], "{name}");
    assert_eq!(report["undo_sessions"], 0, "{name}");
    assert_eq!(report["durable_block"], expected["head_block_num"], "{name}");

    let words = [
        "state",
        "identity",
        "-d",
        node.to_str().unwrap(),
        "--json",
        "--chain",
        &chain,
    ];
    let identity = cairn(words).expect_code(0).json();
    for section in [
        "accounts",
        "witnesses",
        "witness_votes",
        "comments",
        "recovery_requests",
        "recovery_account_changes",
        "owner_history",
        "declined_voting_requests",
        "identity_sha256",
        "tapos_ring_sha256",
        "proxies",
        "signing_keys",
        "hardfork",
    ] {
        let Some(value) = expected.get(section) else {
            continue;
        };
        assert_eq!(identity.get(section), Some(value), "{name}: {section}");
    }
    if full {
        compare_checks(&name, &report["validation"], &expected);
    }
}

/// What was checked in full mode, against what the independent reader checked.
fn compare_checks(name: &str, found: &Value, expected: &Value) {
    let checks = &expected["checks"];
    for (key, theirs) in [
        ("blocks_signed", "blocks_signed_by_the_witness_key_in_state"),
        ("transactions", "transactions_authority_checked"),
        ("signatures", "signatures_recovered"),
        ("reference_blocks", "reference_block_matched"),
    ] {
        assert_eq!(found[key], checks[theirs], "{name}: {key}: {found}");
    }
    let open = &checks["transactions_exempt_or_special"]["satisfied without any signature (open authority)"];
    assert_eq!(
        found["exempt"]["open_authority"].as_u64().unwrap_or(0),
        open.as_u64().unwrap_or(0),
        "{name}: {found}"
    );
    // The schedule is known again once votes that counted are gone, so at least as many slots are checked; each
    // block's slot is either checked or counted as undecided.
    let (slots, undecided) = (
        found["slots"].as_u64().unwrap(),
        found["undecided"]["slot"].as_u64().unwrap_or(0),
    );
    assert!(
        slots >= checks["slots_checked_against_schedule"].as_u64().unwrap(),
        "{name}: {found}"
    );
    assert_eq!(
        slots + undecided,
        expected["head_block_num"].as_u64().unwrap(),
        "{name}: {found}"
    );
}
