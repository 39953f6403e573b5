//! A fresh node bootstraps from a seed over loopback: two processes, a generated chain.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

use cairn_tests::{PATIENCE, Running, cairn, copy_files};
use serde_json::{Value, json};
use tempfile::TempDir;

/// A generated chain in a seed's folder.
struct Chain {
    folder: TempDir,
    blocks: u32,
}

impl Chain {
    /// Stored compressed.
    fn new(blocks: u32) -> Self {
        Self::generate(blocks, &["--compress"])
    }

    /// Stored as is.
    fn plain(blocks: u32) -> Self {
        Self::generate(blocks, &[])
    }

    fn generate(blocks: u32, more: &[&str]) -> Self {
        let folder = TempDir::new().unwrap();
        let seed = folder.path().join("seed");
        let (seed, number) = (seed.to_str().unwrap(), blocks.to_string());
        let words = ["devnet", "generate", "--blocks", &number, "--out", seed];
        cairn(words.iter().chain(more)).expect_code(0);
        Self { folder, blocks }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn spec(&self) -> String {
        self.path("seed").join("chain.json").to_str().unwrap().to_owned()
    }

    fn checkpoint(&self, number: u32) -> String {
        let (log, text) = (self.path("seed/blockchain"), number.to_string());
        let words = [
            "log",
            "ids",
            log.to_str().unwrap(),
            "--from",
            &text,
            "--to",
            &text,
            "--chain",
            &self.spec(),
        ];
        let out = cairn(words).expect_code(0).stdout;
        format!("[{number},{}]", out.split_whitespace().nth(1).unwrap())
    }

    fn config(&self, name: &str, lines: &str) -> String {
        let folder = self.path(name);
        fs::create_dir_all(&folder).unwrap();
        fs::write(
            folder.join("config.ini"),
            format!("chain = {}\nblock-log-split = -1\n{lines}", self.spec()),
        )
        .unwrap();
        folder.to_str().unwrap().to_owned()
    }

    fn seed(&self, port: u16) -> Running {
        let folder = self.config("seed", &format!("p2p-endpoint = 127.0.0.1:{port}\n"));
        let mut seed = Running::start(["run", "-d", &folder, "--json"]);
        seed.wait_for_line("Listening on");
        seed
    }
}

fn free_port() -> u16 {
    TcpListener::bind(("127.0.0.1", 0))
        .unwrap()
        .local_addr()
        .unwrap()
        .port()
}

fn state_of(folder: &Path) -> Value {
    cairn(["state", "info", "-d", folder.to_str().unwrap(), "--json"])
        .expect_code(0)
        .json()
}

/// The durable block after a kill; 0 if the kill came before there was a state.
fn durable_block(folder: &Path) -> u64 {
    let found = cairn(["state", "info", "-d", folder.to_str().unwrap(), "--json"]);
    if found.code() == 1 && found.stderr.contains("there is no state") {
        return 0;
    }
    found.expect_code(0).json()["head"]["number"].as_u64().unwrap()
}

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

/// A second seed with the first one's chain, under its own name.
fn second_seed(chain: &Chain, name: &str, port: u16) -> Running {
    copy_files(
        &chain.path("seed/blockchain"),
        &chain.path(name).join("blockchain"),
    );
    let folder = chain.config(name, &format!("p2p-endpoint = 127.0.0.1:{port}\n"));
    let mut seed = Running::start(["run", "-d", &folder, "--json"]);
    seed.wait_for_line("Listening on");
    seed
}

#[test]
fn an_altered_body_is_refused_on_arrival_and_comes_from_another_peer() {
    let chain = Chain::plain(400);
    let (bad_port, good_port) = (free_port(), free_port());
    let _bad = second_seed(&chain, "bad", bad_port);
    // The bad seed has checked its log by now; what it serves is read from the file.
    let log = chain.path("bad/blockchain/block_log");
    let mut bytes = fs::read(&log).unwrap();
    let place = bytes.len() / 2;
    bytes[place] ^= 0x40;
    fs::write(&log, bytes).unwrap();

    let point = chain.checkpoint(400);
    let seeds = format!("p2p-seed-node = 127.0.0.1:{bad_port} 127.0.0.1:{good_port}\ncheckpoint = {point}\n");
    let folder = chain.config("fresh", &seeds);
    let mut fresh = Running::start(["run", "-d", &folder, "--exit-at-block", "400", "--json"]);
    fresh.wait_for_line("was refused");
    fresh.wait_for_line("Banned peer");
    let _good = chain.seed(good_port);
    let record = fresh.wait().expect_code(0).json();
    assert_eq!(record["head"]["number"], 400);
    let straight = chain.config("straight", "");
    let log = chain.path("seed/blockchain");
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

#[test]
fn a_seed_that_dies_is_replaced_by_another() {
    let chain = Chain::new(4000);
    let ports = [free_port(), free_port()];
    let (first, _second) = (chain.seed(ports[0]), second_seed(&chain, "other", ports[1]));
    let point = chain.checkpoint(4000);
    let seeds = ports
        .map(|port| format!("p2p-seed-node = 127.0.0.1:{port}\n"))
        .concat();
    let folder = chain.config("fresh", &format!("{seeds}checkpoint = {point}\n"));
    let fresh = Running::start(["run", "-d", &folder, "--exit-at-block", "4000", "--json"]);
    first.kill_after(400);
    let record = fresh.wait().expect_code(0).json();
    assert_eq!(record["head"]["number"], 4000);
    let log = |name: &str| fs::read(chain.path(name).join("blockchain/block_log")).unwrap();
    assert!(log("seed") == log("fresh"), "the logs are equal byte for byte");
}

/// Waits until a file looks as wanted, and gives it.
fn wait_for_file(path: &Path, wanted: impl Fn(&[u8]) -> bool) -> Vec<u8> {
    let started = Instant::now();
    loop {
        let bytes = fs::read(path).unwrap_or_default();
        if wanted(&bytes) {
            return bytes;
        }
        assert!(
            started.elapsed() < PATIENCE,
            "{} has {} bytes",
            path.display(),
            bytes.len()
        );
        sleep(Duration::from_millis(20));
    }
}

#[test]
fn headers_come_from_a_file_of_the_seed_that_may_be_damaged() {
    let chain = Chain::new(3000);
    let port = free_port();
    let mut seed = chain.seed(port);
    let file = chain.path("seed/p2p/headers");
    // Two segments of 1024 headers with more than 120 bytes each; the rest is served from the blocks.
    let whole = wait_for_file(&file, |bytes| bytes.len() > 2 * 1024 * 120);
    let mut damaged = whole.clone();
    damaged[whole.len() / 3] ^= 1;
    fs::write(&file, damaged).unwrap();

    let point = chain.checkpoint(3000);
    let lines = format!("p2p-seed-node = 127.0.0.1:{port}\nsync-window-size = 8\ncheckpoint = {point}\n");
    let folder = chain.config("fresh", &lines);
    let record = cairn(["run", "-d", &folder, "--exit-at-block", "3000", "--json"])
        .expect_code(0)
        .json();
    assert_eq!(record["head"]["number"], 3000);
    seed.wait_for_line("are damaged; they are taken from the block log again");
    wait_for_file(&file, |bytes| bytes == whole);
    seed.terminate();
    let _ = seed.wait().expect_code(0);
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
