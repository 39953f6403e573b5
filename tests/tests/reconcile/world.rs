//! A chain, a seed that serves it, and nodes that are copies of one which has come some way.

use std::fs;
use std::path::Path;

use cairn_tests::{Devnet, Finished, Running, cairn, free_port};
use serde_json::Value;

/// Four parts of 400 blocks, as devnets have them.
pub(crate) const BLOCKS: u32 = 1_400;
/// Where the nodes are when their folders are damaged.
pub(crate) const BASE: u32 = 1_000;
/// Where a backup of the folder was made.
pub(crate) const OLDER: u32 = 600;

pub(crate) struct World {
    pub(crate) chain: Devnet,
    pub(crate) port: u16,
    _seed: Running,
}

impl World {
    /// One witness: each block is irreversible at once, so that a sync keeps the whole chain.
    pub(crate) fn new() -> Self {
        let chain = Devnet::generate(BLOCKS, &["--profile", "mixed", "--witnesses", "1"]);
        let port = free_port();
        Self {
            _seed: chain.seed(port),
            chain,
            port,
        }
    }

    /// A node's folder and settings. Checkpoints lie below the backup, between it and the node, and ahead of both.
    pub(crate) fn configure(&self, name: &str, lines: &str) -> String {
        let points: String = [500, 900, 1_300]
            .map(|number| format!("checkpoint = {}\n", self.chain.checkpoint(number)))
            .concat();
        let lines = format!("enable-block-log-compression = 0\n{points}{lines}");
        self.chain.config(name, &lines)
    }

    /// With the seed.
    pub(crate) fn node(&self, name: &str, lines: &str) -> String {
        self.configure(name, &format!("p2p-seed-node = 127.0.0.1:{}\n{lines}", self.port))
    }

    /// The head and the state that a replay of the whole chain comes to.
    pub(crate) fn truth(&self) -> (Value, Value) {
        let log = self.chain.path("seed/blockchain");
        let words = ["replay", "--block-log", log.to_str().unwrap(), "--chain"];
        let spec = self.chain.spec();
        let record = cairn(words.into_iter().chain([spec.as_str(), "--json"]))
            .expect_code(0)
            .json();
        (record["head"].clone(), record["state"]["digest"].clone())
    }

    /// Everything of a node's folder under another name.
    pub(crate) fn copy(&self, from: &str, to: &str) -> String {
        let (from, to) = (self.chain.path(from), self.chain.path(to));
        copy_all(&from, &to);
        to.to_str().unwrap().to_owned()
    }
}

pub(crate) fn run_to(folder: &str, block: u32) -> Finished {
    let block = block.to_string();
    cairn(["run", "-d", folder, "--exit-at-block", &block, "--json"])
}

/// Lines about parts that were brought in line with each other.
pub(crate) fn reconciled(finished: &Finished) -> Vec<&str> {
    let lines = finished.stderr.lines();
    lines.filter(|line| line.contains("reconcile")).collect()
}

/// What is wrong with a start that should have found nothing to do.
pub(crate) fn is_quiet(finished: &Finished) -> Option<String> {
    let record = finished.json();
    if record["blocks"] != 0 || record["blocks_logged"] != 0 {
        return Some("there were blocks left".to_owned());
    }
    // Warnings about checkpoints are about the settings, and come with every start.
    let line = finished.stderr.lines().find(|line| {
        let warns = line.contains(" WARN ") || line.contains(" ERROR ");
        line.contains("reconcile") || (warns && !line.contains("test_checkpoint"))
    });
    line.map(str::to_owned)
}

/// A start that finds nothing to do.
pub(crate) fn assert_quiet(finished: &Finished, what: &str) {
    let fault = is_quiet(finished);
    assert!(fault.is_none(), "{what}: {fault:?}\n{finished}");
}

pub(crate) fn copy_all(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        match entry.file_type().unwrap().is_dir() {
            true => copy_all(&entry.path(), &target),
            false => drop(fs::copy(entry.path(), &target).unwrap()),
        }
    }
}

/// Puts a folder in the place of another one.
pub(crate) fn replace(from: &Path, to: &Path) {
    let _ = fs::remove_dir_all(to);
    copy_all(from, to);
}

/// Cuts the last bytes off a file.
pub(crate) fn tear(file: &Path, bytes: u64) {
    let file = fs::OpenOptions::new().write(true).open(file).unwrap();
    let len = file.metadata().unwrap().len();
    file.set_len(len.saturating_sub(bytes)).unwrap();
}
