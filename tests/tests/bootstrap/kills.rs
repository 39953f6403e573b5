//! kill -9 in the middle of the work.

use std::fs;
use std::path::Path;

use cairn_tests::{Running, cairn};

use crate::world::{Chain, free_port};

/// The durable block after a kill; 0 if the kill came before there was a state.
fn durable_block(folder: &Path) -> u64 {
    let found = cairn(["state", "info", "-d", folder.to_str().unwrap(), "--json"]);
    if found.code() == 1 && found.stderr.contains("there is no state") {
        return 0;
    }
    found.expect_code(0).json()["head"]["number"].as_u64().unwrap()
}

/// Kills of a process; fewer if it is done before.
const KILLS: u32 = 20;

/// Kills the process while it works, [`KILLS`] times, each time a little later if the time before brought nothing; gives
/// the durable block after the last one.
fn kill_often(words: &[&str], folder: &Path) -> u64 {
    // Kills before anything was durable show little; on a busy machine there are many of them.
    let (mut durable, mut landed, mut early, mut delay) = (0, 0, 0, 30);
    while landed < KILLS && early < 100 {
        let ended = Running::start(words).kill_after(delay);
        if ended.status.code().is_some() {
            // It was done before the kill came, and what the kill before left is not the last word.
            durable = durable_block(folder);
            break;
        }
        let found = durable_block(folder);
        match found {
            0 => early += 1,
            _ => landed += 1,
        }
        assert!(
            found >= durable,
            "kill {landed}: durable block {durable} was lost, found {found}"
        );
        delay = if found == durable { delay + 40 } else { delay + 3 };
        durable = found;
    }
    assert!(
        landed >= KILLS / 4 && durable > 0,
        "{landed} kills landed, durable {durable}: the test shows nothing"
    );
    durable
}

#[test]
fn kill_9_during_a_sync_loses_no_durable_block() {
    let chain = Chain::new(6000);
    let port = free_port();
    let _seed = chain.seed(port);
    let point = chain.checkpoint(6000);
    // A commit every 100 blocks, so that the kills fall between several.
    let config =
        format!("p2p-seed-node = 127.0.0.1:{port}\ncheckpoint = {point}\nflush-state-interval = 100\n");
    let folder = chain.config("fresh", &config);
    kill_often(
        &["run", "-d", &folder, "--exit-at-block", "6000", "--json"],
        &chain.path("fresh"),
    );
    let record = cairn(["run", "-d", &folder, "--exit-at-block", "6000", "--json"])
        .expect_code(0)
        .json();
    let straight = chain.config("straight", "");
    let words = ["replay", "-d", &straight, "--json", "--block-log"];
    let log = chain.path("seed/blockchain");
    let words = words
        .into_iter()
        .chain([log.to_str().unwrap(), "--checkpoint", &point]);
    let expected = cairn(words).expect_code(0).json();
    assert_eq!(record["state"], expected["state"]);
    let log = |name: &str| fs::read(chain.path(name).join("blockchain/block_log")).unwrap();
    assert!(log("seed") == log("fresh"), "the logs are equal byte for byte");
}

#[test]
fn kill_9_during_a_replay_resumes_from_the_last_commit() {
    let chain = Chain::new(6000);
    let log = chain.path("seed/blockchain");
    let folder = chain.config("node", "flush-state-interval = 100\n");
    let words = [
        "replay",
        "-d",
        &folder,
        "--json",
        "--block-log",
        log.to_str().unwrap(),
    ];
    let durable = kill_often(&words, &chain.path("node"));
    let resumed = cairn(words).expect_code(0);
    let record = resumed.json();
    assert_eq!(
        record["blocks"].as_u64().unwrap(),
        6000 - durable,
        "only what was not durable is applied again"
    );
    let straight = chain.config("straight", "");
    let words = [
        "replay",
        "-d",
        &straight,
        "--json",
        "--block-log",
        log.to_str().unwrap(),
    ];
    assert_eq!(cairn(words).expect_code(0).json()["state"], record["state"]);
}
