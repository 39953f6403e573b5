//! A disk that fills up is a pause, not an end: said clearly, ended by itself, and never a broken state.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::Path;

use cairn_tests::power_cut::Shim;
use cairn_tests::{Devnet, Finished, Running, SmallDisk, cairn, free_port};
use serde_json::Value;

const BLOCKS: u32 = 2_000;
const LAST: &str = "2000";
/// With one witness each block is irreversible at once, so that the whole chain is kept.
const ONE_WITNESS: &[&str] = &["--witnesses", "1"];

/// Head and state that the chain must end with.
fn expected(chain: &Devnet) -> Value {
    expected_at(chain, LAST)
}

/// Head and state that the chain has at this block.
fn expected_at(chain: &Devnet, last: &str) -> Value {
    let (log, spec) = (chain.path("seed/blockchain"), chain.spec());
    let words = [
        "replay",
        "--block-log",
        log.to_str().unwrap(),
        "--chain",
        &spec,
        "--exit-at-block",
        last,
        "--json",
    ];
    cairn(words).expect_code(0).json()
}

/// The lines that an operator sees: where, how much, what to do; and none that blames the hardware or the state.
fn check_words(finished: &Finished, disk: &SmallDisk) {
    let pause = finished
        .stderr
        .lines()
        .find(|line| line.contains("disk full: paused"))
        .unwrap_or_else(|| panic!("no pause\n{finished}"));
    for text in [
        disk.path().to_str().unwrap(),
        "MiB free",
        "MiB needed",
        "Free some space",
    ] {
        assert!(pause.contains(text), "{text} is missing in {pause}");
    }
    for text in ["panicked", "hardware", "corrupt", "damaged"] {
        assert!(!finished.stderr.contains(text), "{text}\n{finished}");
    }
}

/// A file system, and a node's folder on it.
fn node_on_small_disk(test: &str, chain: &Devnet, lines: &str) -> Option<(SmallDisk, String)> {
    let disk = SmallDisk::mount(test, 64)?;
    let folder = chain.config_in(
        &disk.path().join("node"),
        &format!("block-log-split = -1\nflush-state-interval = 100\nstats-interval = 1\n{lines}"),
    );
    Some((disk, folder))
}

#[test]
fn a_sync_pauses_serves_and_goes_on_when_there_is_room() {
    let chain = Devnet::generate(BLOCKS, ONE_WITNESS);
    let whole = expected(&chain);
    let (seed_port, own_port) = (free_port(), free_port());
    let lines = format!("p2p-seed-node = 127.0.0.1:{seed_port}\np2p-endpoint = 127.0.0.1:{own_port}\n");
    let Some((disk, folder)) = node_on_small_disk("disk full, sync", &chain, &lines) else {
        return;
    };
    let _seed = chain.seed(seed_port);
    // The first part of the chain while there is room, so that there is something to serve.
    cairn(["run", "-d", &folder, "--exit-at-block", "500"]).expect_code(0);
    disk.leave(4);
    let mut node = Running::start(["run", "-d", &folder, "--exit-at-block", LAST, "--json"]);
    node.wait_for_line("disk full: paused");
    node.wait_for_line("disk full: waiting for room"); // In the statistics.

    let other = chain.config(
        "other",
        &format!("p2p-seed-node = 127.0.0.1:{own_port}\nblock-log-split = 0\n"),
    );
    let served = cairn(["run", "-d", &other, "--exit-at-block", "500", "--json"]).expect_code(0);
    assert_eq!(
        served.json()["head"]["number"],
        500,
        "a paused node serves what it has"
    );
    assert!(!node.has_ended(), "still paused");

    disk.relieve();
    let finished = node.wait().expect_code(0);
    check_words(&finished, &disk);
    assert!(finished.stderr.contains("disk full no more"), "{finished}");
    let record = finished.json();
    assert_eq!(
        (&record["head"], &record["state"]),
        (&whole["head"], &whole["state"])
    );
}

#[test]
fn a_replay_pauses_and_can_be_ended_and_begun_again() {
    let chain = Devnet::generate(BLOCKS, ONE_WITNESS);
    let whole = expected(&chain);
    let Some((disk, folder)) = node_on_small_disk("disk full, replay", &chain, "") else {
        return;
    };
    let (log, spec) = (chain.path("seed/blockchain"), chain.spec());
    let words = [
        "replay",
        "-d",
        &folder,
        "--block-log",
        log.to_str().unwrap(),
        "--chain",
        &spec,
        "--json",
    ];
    cairn(words.into_iter().chain(["--exit-at-block", "500"])).expect_code(0);
    disk.leave(4);
    let mut node = Running::start(words);
    node.wait_for_line("disk full: paused");
    node.terminate();
    let ended = node.wait().expect_code(0);
    check_words(&ended, &disk);
    let record = ended.json();
    assert_eq!(record["ended"], "stopped", "{ended}");
    assert_eq!(record["head"]["number"], record["durable_block"], "{ended}");

    let mut node = Running::start(words);
    node.wait_for_line("disk full: paused");
    disk.relieve();
    let record = node.wait().expect_code(0).json();
    assert_eq!(
        (&record["head"], &record["state"]),
        (&whole["head"], &whole["state"])
    );
}

/// The reserve is there so that no write is refused. Somebody else may take the room between the look and the write.
#[test]
fn a_write_that_is_refused_all_the_same_costs_nothing_but_time() {
    let chain = Devnet::generate(BLOCKS, ONE_WITNESS);
    let whole = expected(&chain);
    let port = free_port();
    let lines = format!("p2p-seed-node = 127.0.0.1:{port}\n");
    let Some((disk, folder)) = node_on_small_disk("disk full, refused write", &chain, &lines) else {
        return;
    };
    let _seed = chain.seed(port);
    cairn(["run", "-d", &folder, "--exit-at-block", "500"]).expect_code(0);
    // Not even enough to open what is there.
    disk.leave(0);
    let mut node = Running::start(["run", "-d", &folder, "--exit-at-block", LAST, "--json"]);
    node.wait_for_line("disk full: paused");
    disk.relieve();
    let finished = node.wait().expect_code(0);
    check_words(&finished, &disk);
    let record = finished.json();
    assert_eq!(
        (&record["head"], &record["state"]),
        (&whole["head"], &whole["state"])
    );
}

/// A commit of which half is on the disk when no room is left: the file system had said that there is enough.
#[test]
fn a_commit_that_is_cut_in_half_leaves_the_one_before() {
    let chain = Devnet::generate(BLOCKS, ONE_WITNESS);
    let (whole, port) = (expected(&chain), free_port());
    let tools = tempfile::tempdir().unwrap();
    let (shim, flag) = (Shim::build(tools.path()), tools.path().join("full"));
    let _seed = chain.seed(port);
    for after in [2, 5] {
        let folder = chain.config(
            &format!("node-{after}"),
            &format!("block-log-split = -1\nflush-state-interval = 100\np2p-seed-node = 127.0.0.1:{port}\n"),
        );
        let journal = tools.path().join(format!("journal-{after}"));
        std::fs::write(&flag, "").unwrap();
        let words = ["run", "-d", &folder, "--exit-at-block", LAST, "--json"];
        let environment = || shim.full_disk(Path::new(&folder), &journal, &flag, after);
        let mut node = Running::start_with(words, environment());
        node.wait_for_line("disk full: paused");
        assert!(!node.has_ended(), "it waits for room");
        node.kill();

        // What is on the disk is the last commit, as it stands on its own.
        let state = cairn(["state", "info", "-d", &folder, "--json"])
            .expect_code(0)
            .json();
        let head = state["head"]["number"].as_u64().unwrap();
        assert!((100..u64::from(BLOCKS)).contains(&head), "{state}");
        let there = expected_at(&chain, &head.to_string());
        assert_eq!(
            (&state["head"]["id"], &state["digest"]),
            (&there["head"]["id"], &there["state"]["digest"])
        );

        // Full once more, and then room: the same process goes on.
        let mut node = Running::start_with(words, environment());
        node.wait_for_line("disk full: paused");
        std::fs::remove_file(&flag).unwrap();
        let finished = node.wait().expect_code(0);
        let record = finished.json();
        assert_eq!(
            (&record["head"], &record["state"]),
            (&whole["head"], &whole["state"]),
            "{finished}"
        );
    }
}
