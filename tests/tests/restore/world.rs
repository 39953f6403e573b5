//! A generated chain, and a node that owns its log or replays it.

use std::fs::{self, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cairn_block_log::{BlockLog, Dictionaries};
use cairn_tests::{Finished, cairn, copy_files};
use serde_json::Value;
use tempfile::TempDir;

/// A generated chain, in a folder of its own, and a node's folder.
pub(crate) struct Bench {
    pub(crate) folder: TempDir,
}

impl Bench {
    pub(crate) fn new(blocks: u32, profile: &str) -> Self {
        let folder = TempDir::new().unwrap();
        let chain = folder.path().join("chain");
        let words = [
            "devnet",
            "generate",
            "--blocks",
            &blocks.to_string(),
            "--profile",
            profile,
            // Each block is irreversible at once, so that a sync keeps the whole chain.
            "--witnesses",
            "1",
            "--out",
        ];
        let words = words
            .map(str::to_owned)
            .into_iter()
            .chain([chain.to_str().unwrap().to_owned()]);
        cairn(words).expect_code(0);
        Self { folder }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn text(&self, name: &str) -> String {
        self.path(name).to_str().unwrap().to_owned()
    }

    pub(crate) fn run<'a>(&self, words: impl IntoIterator<Item = &'a str>) -> Finished {
        cairn(
            words
                .into_iter()
                .map(str::to_owned)
                .chain(["--chain".to_owned(), self.text("chain/chain.json")]),
        )
    }

    /// Replays the chain's log into the node's folder.
    pub(crate) fn replay(&self, more: &[&str]) -> Finished {
        let (node, log) = (self.text("node"), self.text("chain/blockchain"));
        let words = ["replay", "-d", &node, "--block-log", &log, "--json"];
        self.run(words.into_iter().chain(more.iter().copied()))
    }

    /// Replays the node's own log.
    pub(crate) fn replay_own(&self, more: &[&str]) -> Finished {
        let node = self.text("node");
        let words = ["replay", "-d", &node, "--block-log-split", "-1", "--json"];
        self.run(words.into_iter().chain(more.iter().copied()))
    }

    /// Starts the node, which replays its own log and ends before it would sync.
    pub(crate) fn start(&self) -> Finished {
        let node = self.text("node");
        self.run([
            "run",
            "-d",
            &node,
            "--block-log-split",
            "-1",
            "--exit-before-sync",
            "--json",
        ])
    }

    /// Gives the node the chain's log as its own.
    pub(crate) fn own_the_log(&self) {
        copy_files(&self.path("chain/blockchain"), &self.path("node/blockchain"));
    }

    pub(crate) fn checkpoint(&self, number: u32) -> String {
        let (log, number) = (self.text("chain/blockchain"), number.to_string());
        let out = self
            .run(["log", "ids", &log, "--from", &number, "--to", &number])
            .expect_code(0)
            .stdout;
        format!("[{number},{}]", out.split_whitespace().nth(1).unwrap())
    }

    pub(crate) fn state(&self) -> Value {
        cairn(["state", "info", "-d", &self.text("node"), "--json"])
            .expect_code(0)
            .json()
    }

    pub(crate) fn restore_points(&self) -> Vec<u64> {
        let state = self.state();
        let points = state["restore_points"].as_array().unwrap();
        points.iter().map(|point| point[0].as_u64().unwrap()).collect()
    }

    /// Cuts the node's own log behind a block.
    pub(crate) fn cut_log_behind(&self, number: u32) {
        let file = self.path("node/blockchain/block_log");
        let log = BlockLog::open(&file, 400, Arc::new(Dictionaries::none())).unwrap();
        let (_, offset) = log.offset_of(number + 1).unwrap();
        OpenOptions::new()
            .write(true)
            .open(file)
            .unwrap()
            .set_len(offset)
            .unwrap();
    }
}

/// Lines about parts that were brought in line with each other.
pub(crate) fn reconciled(finished: &Finished) -> Vec<&str> {
    finished
        .stderr
        .lines()
        .filter(|line| line.contains("reconcile"))
        .collect()
}

/// Every file of a folder with its bytes, but not RocksDB's own log and lock, which every start touches.
pub(crate) fn files(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path));
        } else {
            found.push((path.clone(), fs::read(&path).unwrap()));
        }
    }
    found.sort();
    found
}

pub(crate) fn flip(file: &Path, offset: u64) {
    let file = OpenOptions::new().read(true).write(true).open(file).unwrap();
    let mut byte = [0];
    file.read_exact_at(&mut byte, offset).unwrap();
    file.write_all_at(&[byte[0] ^ 1], offset).unwrap();
}
