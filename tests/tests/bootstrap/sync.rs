//! What a sync comes to.

use std::fs;

use cairn_tests::{Running, cairn};
use serde_json::json;
use tempfile::TempDir;

use crate::world::{Chain, free_port, second_seed, state_of};

#[test]
fn a_fresh_node_ends_with_the_seeds_head_state_and_log() {
    let chain = Chain::new(1200);
    let port = free_port();
    let seed = chain.seed(port);
    let points: String = [400, 800, 1200]
        .map(|number| format!("checkpoint = {}\n", chain.checkpoint(number)))
        .concat();
    let folder = chain.config("fresh", &format!("p2p-seed-node = 127.0.0.1:{port}\n{points}"));
    let fresh = cairn(["run", "-d", &folder, "--exit-at-block", "1200", "--json"]).expect_code(0);
    let record = fresh.json();
    assert_eq!(record["head"]["number"], chain.blocks);
    assert_eq!(record["checkpoints_reached"].as_array().unwrap().len(), 3);
    assert_eq!(record["undo_sessions"], 0);
    assert_eq!(record["reversible_blocks"], 0, "a checkpoint is irreversible");
    assert_eq!(record["durable_block"], chain.blocks, "{record}");
    for number in [400, 800, 1200] {
        let line = format!("Checkpoint {} reached.", chain.checkpoint(number));
        assert!(fresh.stderr.contains(&line), "{line} is missing\n{fresh}");
    }
    assert!(
        fresh
            .stderr
            .contains("Final checkpoint reached, resuming normal block validation."),
        "{fresh}"
    );

    seed.terminate();
    let seed = seed.wait().expect_code(0).json();
    assert_eq!(seed["head"], record["head"]);
    assert_eq!(
        seed["state"], record["state"],
        "equal blocks give equal registers"
    );
    let log = |name: &str| fs::read(chain.path(name).join("blockchain/block_log")).unwrap();
    assert!(log("seed") == log("fresh"), "the logs are equal byte for byte");
    assert_eq!(
        state_of(&chain.path("fresh"))["digest"],
        record["state"]["digest"]
    );
}

#[test]
fn a_node_above_the_last_checkpoint_validates_in_full_what_it_fetches() {
    let chain = Chain::new(300);
    let port = free_port();
    let _seed = chain.seed(port);
    let point = chain.checkpoint(100);
    let folder = chain.config(
        "fresh",
        &format!("p2p-seed-node = 127.0.0.1:{port}\ncheckpoint = {point}\n"),
    );
    let record = cairn(["run", "-d", &folder, "--exit-at-block", "300", "--json"])
        .expect_code(0)
        .json();
    assert_eq!(record["validation"]["blocks_signed"], 200, "{record}");
}

/// Cases S01, S03 and S05 in a sync: nothing of the disputed range is applied, the seeds are not harmed.
#[test]
fn a_wrong_checkpoint_ends_the_sync_before_its_range_and_a_corrected_run_goes_on() {
    let chain = Chain::new(400);
    let (port, other_port) = (free_port(), free_port());
    let mut seeds = [chain.seed(port), second_seed(&chain, "other", other_port)];
    let wrong = format!("[250,{:08x}ffffffffffffffffffffffffffffffff]", 250);
    let config = |point: &str| {
        chain.config(
            "fresh",
            &format!(
                "p2p-seed-node = 127.0.0.1:{port} 127.0.0.1:{other_port}\ncheckpoint = {}\ncheckpoint = {point}\n",
                chain.checkpoint(150)
            ),
        )
    };
    let folder = config(&wrong);
    let stopped = cairn(["run", "-d", &folder, "--exit-at-block", "400", "--json"]).expect_code(3);
    let ids = chain.checkpoint(250);
    let id = ids.trim_matches(['[', ']']).split_once(',').unwrap().1;
    let sentence = format!("2 of 2 peers disagree with checkpoint {wrong}");
    for expected in [
        "Block did not match checkpoint",
        &sentence,
        &format!("found {id} (2 peers)"),
        "config.ini:5",
    ] {
        assert!(
            stopped.stderr.contains(expected),
            "{expected:?} is missing\n{stopped}"
        );
    }
    assert_eq!(stopped.json()["head"]["number"], 150, "{stopped}");
    let log = chain.path("fresh/blockchain");
    let info = [
        "log",
        "info",
        log.to_str().unwrap(),
        "--json",
        "--chain",
        &chain.spec(),
    ];
    assert_eq!(cairn(info).expect_code(0).json()["head_block_num"], 150);

    let folder = config(&chain.checkpoint(250));
    let record = cairn(["run", "-d", &folder, "--exit-at-block", "400", "--json"])
        .expect_code(0)
        .json();
    // Sixteen of twenty-one witnesses must have built on a block above the last checkpoint before it is kept.
    assert_eq!(record["head"]["number"], 384, "{record}");
    assert_eq!(record["reversible_blocks"], 16, "{record}");
    assert_eq!(record["durable_block"], 384, "{record}");
    assert_eq!(record["blocks"], 250, "{record}");
    for seed in &mut seeds {
        assert!(!seed.has_ended(), "an honest seed is not harmed");
    }
}

#[test]
fn a_node_of_another_chain_is_refused_at_the_door() {
    let (chain, other) = (Chain::new(60), TempDir::new().unwrap());
    let port = free_port();
    let _seed = chain.seed(port);
    let folder = other.path().join("node");
    let words = [
        "run",
        "-d",
        folder.to_str().unwrap(),
        "--chain",
        "hive-testnet",
        "--p2p-seed-node",
    ];
    let address = format!("127.0.0.1:{port}");
    let mut node = Running::start(words.into_iter().chain([address.as_str()]));
    node.wait_for_line("Refused peer: it is on chain");
    let killed = node.kill();
    assert!(!killed.stderr.contains("Got block"), "{killed}");
}

/// Undo sessions below a checkpoint are never used; opened all the same, they change nothing.
#[test]
fn undo_sessions_are_opened_for_comparison_only() {
    let chain = Chain::plain(300);
    let log = chain.path("seed/blockchain");
    let (spec, point) = (chain.spec(), chain.checkpoint(300));
    let words = [
        "replay",
        "--block-log",
        log.to_str().unwrap(),
        "--chain",
        &spec,
        "--checkpoint",
        &point,
        "--json",
    ];
    let without = cairn(words).expect_code(0).json();
    let with = cairn(words.iter().chain(&["--undo-below-checkpoint"]))
        .expect_code(0)
        .json();
    assert_eq!(
        (&without["undo_sessions"], &with["undo_sessions"]),
        (&json!(0), &json!(300))
    );
    assert_eq!(without["state"], with["state"]);
    assert_eq!(
        (&with["durable_block"], &with["head"]),
        (&json!(300), &without["head"])
    );
}

#[test]
fn sigterm_ends_a_node_in_order() {
    let chain = Chain::new(60);
    let port = free_port();
    let mut seed = chain.seed(port);
    seed.terminate();
    let started = std::time::Instant::now();
    seed.wait_for_line("shutdown: SIGTERM");
    let finished = seed.wait().expect_code(0);
    assert!(started.elapsed().as_secs() < 10);
    assert_eq!(finished.json()["ended"], "stopped");
}
