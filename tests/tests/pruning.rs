//! Nodes that keep only a part of the block log, or none, have the same state as those that keep all of it.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::Path;

use cairn_tests::{Devnet, Finished, Running, cairn, copy_files, free_port};

/// Devnets have 400 blocks in a part: four full parts and one that grows.
const BLOCKS: u32 = 1_700;
/// With one witness each block is irreversible at once, so that the whole chain is kept.
const ONE_WITNESS: &[&str] = &["--witnesses", "1"];

/// The files of a log, sorted.
fn log_files(node: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(node.join("blockchain")) else {
        return Vec::new();
    };
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

fn parts(numbers: &[u32]) -> Vec<String> {
    let names = |number: &u32| {
        let name = format!("block_log_part.{number:04}");
        [name.clone(), format!("{name}.artifacts")]
    };
    numbers.iter().flat_map(names).collect()
}

fn run_to(folder: &str, block: u32) -> Finished {
    cairn([
        "run",
        "-d",
        folder,
        "--exit-at-block",
        &block.to_string(),
        "--json",
    ])
    .expect_code(0)
}

#[test]
fn a_sync_ends_with_the_same_state_whatever_is_kept_of_the_log() {
    let chain = Devnet::generate(BLOCKS, ONE_WITNESS);
    let port = free_port();
    let seed = chain.seed(port);
    let points: String = [1_000, 1_600]
        .map(|number| format!("checkpoint = {}\n", chain.checkpoint(number)))
        .concat();
    let config = |name: &str, split: &str| {
        let lines = format!(
            "p2p-seed-node = 127.0.0.1:{port}\nblock-log-split = {split}\nflush-state-interval = 150\n{points}"
        );
        chain.config(name, &lines)
    };
    let mut digests = Vec::new();
    for (name, split, half, whole) in [
        ("all", "9999", parts(&[1, 2, 3]), parts(&[1, 2, 3, 4, 5])),
        ("two", "2", parts(&[1, 2, 3]), parts(&[3, 4, 5])),
        ("one", "1", parts(&[2, 3]), parts(&[4, 5])),
        ("none", "0", vec![], vec![]),
    ] {
        let folder = config(name, split);
        run_to(&folder, 1_000);
        assert_eq!(log_files(&chain.path(name)), half, "{name}");
        let finished = run_to(&folder, BLOCKS);
        let record = finished.json();
        assert_eq!(log_files(&chain.path(name)), whole, "{name}\n{finished}");
        assert_eq!(record["blocks"], 700, "{name} goes on where it was\n{finished}");
        assert_eq!(record["durable_block"], BLOCKS, "{name}");
        digests.push((record["head"].clone(), record["state"].clone()));
        let again = run_to(&folder, BLOCKS).json();
        assert_eq!(again["blocks"], 0, "{name}: nothing is left to do");
        assert_eq!(again["state"], record["state"], "{name}");
    }
    seed.terminate();
    let seed = seed.wait().expect_code(0).json();
    for (node, digest) in digests.iter().enumerate() {
        assert_eq!(
            digest,
            &(seed["head"].clone(), seed["state"].clone()),
            "node {node}"
        );
    }

    // The pruned node serves what it has: enough for a node that is at block 1,000, which says so.
    let pruned = free_port();
    let lines = format!("p2p-endpoint = 127.0.0.1:{pruned}\nblock-log-split = 2\n");
    let folder = chain.config("two", &lines);
    let mut server = Running::start(["run", "-d", &folder]);
    server.wait_for_line("Listening on");
    let lines = format!("p2p-seed-node = 127.0.0.1:{pruned}\nblock-log-split = 0\n");
    let folder = chain.config("later", &lines);
    let (log, spec) = (chain.path("seed/blockchain"), chain.spec());
    let words = [
        "replay",
        "-d",
        &folder,
        "--block-log",
        log.to_str().unwrap(),
        "--chain",
        &spec,
    ];
    cairn(words.into_iter().chain(["--exit-at-block", "1000"])).expect_code(0);
    let record = run_to(&folder, BLOCKS).json();
    assert_eq!(
        (&record["head"], &record["state"]),
        (&seed["head"], &seed["state"])
    );
    assert_eq!(record["blocks"], 700);
}

#[test]
fn a_replay_in_the_own_folder_removes_parts_and_every_log_command_reads_the_rest() {
    let chain = Devnet::generate(BLOCKS, ONE_WITNESS);
    let port = free_port();
    let seed = chain.seed(port);
    let lines = format!("p2p-seed-node = 127.0.0.1:{port}\n");
    let source = chain.config("source", &lines);
    let whole = run_to(&source, BLOCKS).json();
    drop(seed);

    let node = chain.path("node");
    copy_files(&chain.path("source/blockchain"), &node.join("blockchain"));
    let folder = chain.config("node", "block-log-split = 2\nflush-state-interval = 150\n");
    let replay = |more: &[&str]| cairn(["replay", "-d", &folder, "--json"].iter().chain(more));
    let finished = replay(&[]).expect_code(0);
    assert_eq!(finished.json()["state"], whole["state"], "{finished}");
    assert_eq!(log_files(&node), parts(&[3, 4, 5]), "{finished}");
    // Each part goes on its own, as soon as the state does not need it: not all of them at the end.
    let removed = |part: u32| {
        let name = format!("block_log_part.{part:04} removed");
        finished.stderr.lines().position(|line| line.contains(&name))
    };
    let done = finished
        .stderr
        .lines()
        .position(|line| line.contains("Done reindexing"));
    assert!(
        removed(1).is_some() && removed(1) < removed(2) && removed(2) < done,
        "{finished}"
    );
    let again = replay(&[]).expect_code(0);
    assert!(again.stderr.contains("Nothing to replay"), "{again}");

    // What is gone cannot be replayed, so that the state must not be thrown away for it.
    let refused = replay(&["--force-replay"]).expect_code(1);
    assert!(
        refused.stderr.contains("begins at block 801") && refused.stderr.contains("Nothing was removed"),
        "{refused}"
    );
    let state = cairn(["state", "info", "-d", &folder, "--json"])
        .expect_code(0)
        .json();
    assert_eq!(state["digest"], whole["state"]["digest"]);

    let (log, spec) = (node.join("blockchain"), chain.spec());
    let command = |words: &[&str]| {
        let words = ["log", words[0], log.to_str().unwrap()]
            .into_iter()
            .chain(words[1..].iter().copied());
        cairn(words.chain(["--chain", &spec]))
    };
    let verified = command(&["verify", "--json"]).expect_code(0).json();
    assert_eq!(verified["blocks"], 900, "{verified}");
    let info = command(&["info", "--json"]).expect_code(0).json();
    assert_eq!(info["head_block_num"], BLOCKS, "{info}");
    let ids = command(&["ids"]).expect_code(0).stdout;
    assert_eq!(ids.lines().count(), 900);
    assert!(ids.starts_with("801 "), "{}", ids.lines().next().unwrap());
    let block = command(&["get", "801", "--json"]).expect_code(0).json();
    assert!(ids.contains(block["block_id"].as_str().unwrap()), "{block}");
    let refused = command(&["get", "800"]).expect_code(1);
    assert!(refused.stderr.contains("holds blocks 801 to 1700"), "{refused}");

    // A state that this log cannot make again stays.
    let anew = cairn(["state", "restore", "-d", &folder, "--to", "0"]).expect_code(1);
    assert!(anew.stderr.contains("Nothing was removed"), "{anew}");
    let info = cairn(["state", "info", "-d", &folder, "--json"]).expect_code(0);
    assert_eq!(info.json()["head"]["number"], BLOCKS, "{info}");
}

/// Without the pass over the headers a contradicted checkpoint takes the state back to where the run began: what has to be
/// applied again from there must not have been removed meanwhile.
#[test]
fn a_run_that_may_have_to_go_back_removes_no_part_before_it_is_through_its_own_log() {
    let chain = Devnet::generate(BLOCKS, ONE_WITNESS);
    let port = free_port();
    let seed = chain.seed(port);
    let source = chain.config("source", &format!("p2p-seed-node = 127.0.0.1:{port}\n"));
    let whole = run_to(&source, BLOCKS).json();
    drop(seed);

    let node = chain.path("node");
    copy_files(&chain.path("source/blockchain"), &node.join("blockchain"));
    let lines = "block-log-split = 2\nflush-state-interval = 150\n";
    let run = |lines: &str| {
        let folder = chain.config("node", lines);
        cairn([
            "run",
            "-d",
            &folder,
            "--exit-before-sync",
            "--no-preverify",
            "--json",
        ])
    };
    let other = chain.checkpoint(1_600);
    let wrong = format!("{}{}]", &other[..other.len() - 3], "00");
    let refused = run(&format!("{lines}checkpoint = {wrong}\n")).expect_code(3);
    assert!(
        refused.stderr.contains("the state is back at block 0"),
        "{refused}"
    );
    assert_eq!(log_files(&node), parts(&[1, 2, 3, 4, 5]), "{refused}");

    let right = run(&format!("{lines}checkpoint = {other}\n")).expect_code(0);
    assert_eq!(right.json()["state"], whole["state"], "{right}");
    assert_eq!(log_files(&node), parts(&[3, 4, 5]), "{right}");
}
