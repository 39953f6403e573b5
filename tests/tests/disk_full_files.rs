//! Files that a node can do without find no room, all at once and in the middle of a write: the node goes on, damages
//! nothing, and writes them when there is room.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use cairn_node::devnet::{BlocksOptions, RawBlock, blocks};
use cairn_tests::power_cut::Shim;
use cairn_tests::zoo::{Grower, Keeper, Stock, Yard};
use cairn_tests::{PATIENCE, Running, cairn, free_port};

const BLOCKS: u32 = 2_200;
/// Behind it the log is long enough for a header file.
const FIRST_CHECKPOINT: u32 = 1_200;
/// Without these a node works.
const PATHS: [&str; 4] = ["p2p/bans", "p2p/headers", "state/trie", "state/restore-points/"];

fn until(node: &Running, what: &str, holds: impl Fn() -> bool) {
    let started = Instant::now();
    while !holds() {
        assert!(started.elapsed() < PATIENCE, "{what}\n{}", node.log().join("\n"));
        thread::sleep(Duration::from_millis(10));
    }
}

fn length(path: &Path) -> u64 {
    fs::metadata(path).map_or(0, |facts| facts.len())
}

#[test]
fn files_that_find_no_room_stop_nothing_and_are_written_when_there_is_some() {
    let yard = Yard::new(BLOCKS);
    let chain: Vec<RawBlock> = blocks(&BlocksOptions::new(BLOCKS)).collect();
    assert_eq!(
        chain[FIRST_CHECKPOINT as usize - 1].id,
        yard.honest().id(FIRST_CHECKPOINT)
    );
    let grower = Grower::new(&chain[..FIRST_CHECKPOINT as usize + 100]);
    let honest = yard.keep(grower.clone());
    // It cannot prove a way to the second checkpoint either.
    let short = Stock::honest(FIRST_CHECKPOINT + 100);
    let liar = yard.keep(Keeper::new(short.with_altered_bodies()));
    let port = free_port();
    let lines = [
        format!("p2p-endpoint = 127.0.0.1:{port}"),
        format!("checkpoint = {}", yard.checkpoint(FIRST_CHECKPOINT)),
        format!("checkpoint = {}", yard.checkpoint(BLOCKS)),
    ];
    let folder = yard.configure("node", &[&liar, &honest], &lines);
    let node_folder = Path::new(&folder);
    let tools = tempfile::tempdir().unwrap();
    let (shim, flag) = (Shim::build(tools.path()), tools.path().join("full"));
    let journal = tools.path().join("journal");
    let start = || {
        let environment = shim.full_for(node_folder, &journal, &flag, &PATHS);
        Running::start_with(["run", "-d", &folder, "--json"], environment)
    };

    fs::write(&flag, "").unwrap();
    let mut node = start();
    for line in [
        "cannot write the ban list",
        "cannot be kept as a restore point",
        "headers are served from whole blocks",
    ] {
        let line = node.wait_for_line(line);
        assert!(line.contains("No space left"), "{line}");
    }
    let watcher = yard.watch(port);
    watcher.until_head(chain[FIRST_CHECKPOINT as usize - 1].id, &node);

    // There is room for a while: what can be written at any time is.
    fs::remove_file(&flag).unwrap();
    until(&node, "no ban is written", || {
        yard.banned("node").contains(&liar.id)
    });
    let headers = node_folder.join("p2p/headers");
    // More than the half that was written first.
    until(&node, "no headers are written", || length(&headers) > 1024 * 111);
    fs::write(&flag, "").unwrap();
    node.terminate();
    let finished = node.wait().expect_code(0);
    assert!(
        finished.stderr.contains("the trie file is not written"),
        "{finished}"
    );
    assert!(!finished.stderr.contains("panicked"), "{finished}");
    let record = finished.json();
    assert_eq!(record["head"]["number"], FIRST_CHECKPOINT, "{finished}");
    for file in ["state/trie", "state/trie.new"] {
        assert!(!node_folder.join(file).exists(), "{file} is there");
    }
    let points = node_folder.join("state/restore-points");
    assert_eq!(
        fs::read_dir(&points).map_or(0, Iterator::count),
        0,
        "a restore point in pieces"
    );
    let check = cairn(["state", "check", "-d", &folder]);
    assert_eq!(check.code(), 0, "{check}");

    fs::remove_file(&flag).unwrap();
    let node = start();
    grower.go_to(&chain);
    let watcher = yard.watch(port);
    watcher.until_head(chain[BLOCKS as usize - 1].id, &node);
    let kept = points.join(format!("{BLOCKS}-{}", chain[BLOCKS as usize - 1].id));
    until(&node, "no restore point", || kept.is_dir());
    node.terminate();
    let finished = node.wait().expect_code(0);
    let record = finished.json();
    assert_eq!(record["state"], yard.replayed_state(), "{finished}");
    assert!(yard.banned("node").contains(&liar.id));
    let root = cairn(["state", "root", "-d", &folder, "--json"])
        .expect_code(0)
        .json();
    assert_eq!(root["source"], "trie file", "{root}\n{finished}");
    assert_eq!(root["root"], record["state"]["root"]);
    let restored = cairn(["state", "restore", "-d", &folder, "--json"]).expect_code(0);
    assert_eq!(restored.json()["head"]["number"], BLOCKS, "{restored}");
}
