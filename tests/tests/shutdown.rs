//! SIGINT and SIGTERM end a node under full load in time, and what is there can be gone on with.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::thread;
use std::time::{Duration, Instant};

use cairn_tests::{Devnet, Finished, PATIENCE, Running, cairn, free_port};
use serde_json::Value;

const BLOCKS: u32 = 2_500;

/// What a supervisor gives a service before it kills it.
const PROMISE: Duration = Duration::from_secs(10);

fn replay<'a>(folder: &'a str, log: &'a str, spec: &'a str) -> [&'a str; 11] {
    [
        "replay",
        "-d",
        folder,
        "--block-log",
        log,
        "--chain",
        spec,
        "--validate-during-replay",
        "--stats-interval",
        "1",
        "--json",
    ]
}

/// The block that a line of the statistics tells.
fn head_block(line: &str) -> Option<u32> {
    let (_, rest) = line.split_once("head block ")?;
    rest.split(' ').next()?.parse().ok()
}

/// Waits until the node is in the middle of its work, above a block, sends the signal, and waits for the end.
fn stop_in_the_middle(mut node: Running, above: u32, signal: &str) -> Finished {
    let started = Instant::now();
    // The statistics tell that blocks were applied, which may take its time on a busy machine.
    let at_work = |line: &String| head_block(line).is_some_and(|block| block > above);
    while !node.log().iter().any(at_work) {
        assert!(
            !node.has_ended() && started.elapsed() < PATIENCE,
            "{}",
            node.log().join("\n")
        );
        thread::sleep(Duration::from_millis(5));
    }
    let asked = Instant::now();
    node.signal(signal);
    let finished = node.wait();
    assert!(asked.elapsed() < PROMISE, "{:?}\n{finished}", asked.elapsed());
    let finished = finished.expect_code(0);
    let told = format!("shutdown: SIG{signal}; waiting for the writer");
    assert!(finished.stderr.contains(&told), "{told} is missing\n{finished}");
    assert!(
        finished
            .stderr
            .contains("shutdown: waiting for block log and state to be closed"),
        "{finished}"
    );
    finished
}

fn check_middle(finished: &Finished) -> u64 {
    let record = finished.json();
    assert_eq!(record["ended"], "stopped", "{finished}");
    let head = record["head"]["number"].as_u64().unwrap();
    assert!(
        (1..u64::from(BLOCKS)).contains(&head),
        "the signal came in the middle, not at {head}"
    );
    assert_eq!(record["durable_block"], head, "what was applied is kept");
    head
}

fn whole(chain: &Devnet, log: &str) -> Value {
    let spec = chain.spec();
    cairn(["replay", "--block-log", log, "--chain", &spec, "--json"])
        .expect_code(0)
        .json()
}

#[test]
fn a_replay_in_full_validation_ends_in_time_and_is_gone_on_with() {
    let chain = Devnet::generate(BLOCKS, &[]);
    let (log, spec) = (chain.path("seed/blockchain"), chain.spec());
    let log = log.to_str().unwrap();
    let whole = whole(&chain, log);
    let node = chain.path("node");
    let words = replay(node.to_str().unwrap(), log, &spec);
    let finished = stop_in_the_middle(Running::start(words), 0, "INT");
    let head = check_middle(&finished);
    let record = cairn(words).expect_code(0).json();
    assert_eq!(
        record["blocks"],
        u64::from(BLOCKS) - head,
        "nothing is done twice"
    );
    assert_eq!(
        (&record["head"], &record["state"]),
        (&whole["head"], &whole["state"])
    );
}

#[test]
fn a_sync_ends_in_time_and_is_gone_on_with() {
    // With one witness each block is irreversible at once, so that the whole chain is kept.
    let chain = Devnet::generate(BLOCKS, &["--witnesses", "1"]);
    let log = chain.path("seed/blockchain");
    let whole = whole(&chain, log.to_str().unwrap());
    let port = free_port();
    let _seed = chain.seed(port);
    // Without a checkpoint everything is validated, which takes long enough to be interrupted.
    let folder = chain.config(
        "node",
        &format!("p2p-seed-node = 127.0.0.1:{port}\nstats-interval = 1\n"),
    );
    let words = ["run", "-d", &folder, "--exit-at-block", "2500", "--json"];
    let finished = stop_in_the_middle(Running::start(words), 0, "TERM");
    let head = check_middle(&finished);
    let record = cairn(words).expect_code(0).json();
    assert_eq!(record["blocks"], u64::from(BLOCKS) - head);
    assert_eq!(
        (&record["head"], &record["state"]),
        (&whole["head"], &whole["state"])
    );
}

/// Full validation on all processors, and blocks that can still be taken back.
#[test]
fn a_sync_above_its_last_checkpoint_ends_in_time_and_is_gone_on_with() {
    const LAST: u32 = 5_000;
    let chain = Devnet::generate(LAST, &[]);
    let (log, spec, port) = (chain.path("seed/blockchain"), chain.spec(), free_port());
    let _seed = chain.seed(port);
    for (name, signal) in [("first", "INT"), ("second", "TERM")] {
        let folder = chain.config(
            name,
            &format!(
                "p2p-seed-node = 127.0.0.1:{port}\nstats-interval = 1\ncheckpoint = {}\n",
                chain.checkpoint(200)
            ),
        );
        let words = [
            "run",
            "-d",
            &folder,
            "--exit-at-block",
            &LAST.to_string(),
            "--json",
        ];
        let finished = stop_in_the_middle(Running::start(words), 300, signal);
        assert!(finished.stderr.contains("Final checkpoint reached"), "{finished}");
        let record = finished.json();
        assert_eq!(record["ended"], "stopped", "{finished}");
        let (head, reversible) = (number(&record, "head"), &record["reversible_blocks"]);
        assert!((200..u64::from(LAST)).contains(&head), "{finished}");
        assert!(
            reversible.as_u64().unwrap() > 0,
            "nothing can be taken back\n{finished}"
        );
        assert_eq!(record["durable_block"], head, "{finished}");

        let finished = cairn(words).expect_code(0);
        let record = finished.json();
        let kept = number(&record, "head");
        assert_eq!(
            record["blocks"],
            u64::from(LAST) - head,
            "what was irreversible is not done twice\n{finished}"
        );
        let last = kept.to_string();
        let replay = [
            "replay",
            "--block-log",
            log.to_str().unwrap(),
            "--chain",
            &spec,
            "--exit-at-block",
            &last,
            "--json",
        ];
        let whole = cairn(replay).expect_code(0).json();
        assert_eq!(
            (&record["head"], &record["state"]),
            (&whole["head"], &whole["state"])
        );
    }
}

fn number(record: &Value, of: &str) -> u64 {
    record[of]["number"].as_u64().unwrap()
}

#[test]
fn a_second_signal_ends_at_once_and_breaks_nothing() {
    let chain = Devnet::generate(BLOCKS, &[]);
    let (log, spec) = (chain.path("seed/blockchain"), chain.spec());
    let log = log.to_str().unwrap();
    let whole = whole(&chain, log);
    let node = chain.path("node");
    let words = replay(node.to_str().unwrap(), log, &spec);
    // The first signal may end the node before the second comes: then another try tells.
    let mut codes = Vec::new();
    while !codes.contains(&130) {
        assert!(codes.len() < 20, "no second signal came in time: {codes:?}");
        let mut running = Running::start(words);
        running.wait_for_line("Full validation from block");
        thread::sleep(Duration::from_millis(20));
        running.signal("TERM");
        running.signal("TERM");
        let finished = running.wait();
        let code = finished.code();
        assert!(code == 0 || code == 130, "{finished}");
        if code == 130 {
            assert!(
                finished.stderr.contains("second SIGTERM, ending at once"),
                "{finished}"
            );
        }
        codes.push(code);
    }
    let record = cairn(words).expect_code(0).json();
    assert_eq!(
        (&record["head"], &record["state"]),
        (&whole["head"], &whole["state"])
    );
}
