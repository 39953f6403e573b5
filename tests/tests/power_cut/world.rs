//! What all cases share: a generated chain, a seed that serves it, and what undisturbed nodes come to.

use std::collections::HashMap;
use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use cairn_tests::power_cut::{BlockEnds, Entry, Shim, Tree};
use cairn_tests::{Running, cairn, read_json};
use serde_json::Value;
use tempfile::TempDir;

/// Blocks to a part.
const PART: u32 = 60;

/// How a node keeps its block log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Form {
    pub(crate) split: bool,
    pub(crate) compressed: bool,
}

/// The block log of an undisturbed node.
#[derive(Debug)]
pub(crate) struct ExpectedLog {
    /// The folder `blockchain` after the last block and a clean end.
    pub(crate) tree: Tree,
    pub(crate) ends: BlockEnds,
}

#[derive(Debug)]
pub(crate) struct World {
    folder: TempDir,
    /// Number of the last block.
    pub(crate) blocks: u32,
    pub(crate) shim: Shim,
    port: u16,
    _seed: Running,
    ids: Vec<String>,
    logs: Mutex<HashMap<Form, Arc<ExpectedLog>>>,
    digests: Mutex<HashMap<u32, String>>,
    /// Where the folders of cases are made: in memory where that is possible.
    pub(crate) cases: TempDir,
}

impl World {
    /// A chain of so many blocks of a devnet profile.
    pub(crate) fn new(blocks: u32, profile: &str) -> Self {
        let folder = TempDir::with_prefix("cairn-power-cut-world-").unwrap();
        let seed = folder.path().join("seed");
        let count = blocks.to_string();
        let words = [
            "devnet",
            "generate",
            "--blocks",
            &count,
            "--compress",
            "--profile",
            profile,
            // Each block is irreversible at once, so that a sync keeps the whole chain.
            "--witnesses",
            "1",
            "--out",
            text(&seed),
        ];
        cairn(words).expect_code(0);
        let mut specification = read_json(&seed.join("chain.json"));
        specification["blocks_per_log_part"] = PART.into();
        let chain = folder.path().join("chain.json");
        fs::write(&chain, specification.to_string()).unwrap();
        let log = seed.join("blockchain");
        let ids = cairn(["log", "ids", text(&log), "--chain", text(&chain)])
            .expect_code(0)
            .stdout;
        let ids = ids
            .lines()
            .map(|line| line.split_whitespace().nth(1).unwrap().to_owned())
            .collect();
        let port = TcpListener::bind(("127.0.0.1", 0))
            .unwrap()
            .local_addr()
            .unwrap()
            .port();
        let config = format!(
            "chain = {}\nblock-log-split = -1\np2p-endpoint = 127.0.0.1:{port}\n",
            chain.display()
        );
        fs::write(seed.join("config.ini"), config).unwrap();
        let mut running = Running::start(["run", "-d", text(&seed)]);
        running.wait_for_line("Listening on");
        Self {
            blocks,
            shim: Shim::build(folder.path()),
            port,
            _seed: running,
            ids,
            logs: Mutex::default(),
            digests: Mutex::default(),
            cases: TempDir::new_in("/dev/shm").or_else(|_| TempDir::new()).unwrap(),
            folder,
        }
    }

    /// A path in the folder of this test.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn chain(&self) -> PathBuf {
        self.path("chain.json")
    }

    /// The seed's log: a foreign one for a replay.
    pub(crate) fn foreign_log(&self) -> PathBuf {
        self.path("seed/blockchain")
    }

    /// Lines of a configuration that every node has.
    pub(crate) fn config(&self, checkpoints: &[u32], interval: u32) -> String {
        let mut lines = format!(
            "chain = {}\np2p-seed-node = 127.0.0.1:{}\nflush-state-interval = {interval}\n",
            self.chain().display(),
            self.port
        );
        for number in checkpoints {
            lines.push_str(&format!(
                "checkpoint = [{number},{}]\n",
                self.ids[*number as usize - 1]
            ));
        }
        lines
    }

    /// The log that an undisturbed node of this form has in the end.
    pub(crate) fn expected_log(&self, form: Form) -> Arc<ExpectedLog> {
        let mut logs = self.logs.lock().unwrap();
        Arc::clone(
            logs.entry(form)
                .or_insert_with(|| Arc::new(self.undisturbed(form))),
        )
    }

    fn undisturbed(&self, form: Form) -> ExpectedLog {
        let folder = self.path(&format!("undisturbed-{}-{}", form.split, form.compressed));
        fs::create_dir(&folder).unwrap();
        let config = form.config() + &self.config(&[self.blocks], 10_000);
        fs::write(folder.join("config.ini"), config).unwrap();
        let record = self
            .sync(&folder, &folder.join("config.ini"))
            .wait()
            .expect_code(0)
            .json();
        assert_eq!(digest(&record), self.digest(self.blocks));
        let tree = Tree::read(&folder.join("blockchain"));
        let mut ends = BlockEnds::default();
        for (name, entry) in &tree.0 {
            let Entry::File(bytes) = entry else {
                panic!("{name} is a folder")
            };
            match name.strip_prefix("block_log_part.") {
                _ if name.ends_with(".artifacts") => {}
                None => {
                    let foreign = fs::read(self.foreign_log().join("block_log")).unwrap();
                    assert!(
                        !form.compressed || *bytes == foreign,
                        "the logs are equal byte for byte"
                    );
                    ends.add(name, 1, bytes);
                }
                Some(number) => ends.add(name, (number.parse::<u32>().unwrap() - 1) * PART + 1, bytes),
            }
        }
        ExpectedLog { tree, ends }
    }

    /// Starts a sync to the last block.
    pub(crate) fn sync(&self, folder: &Path, config: &Path) -> Running {
        let last = self.blocks.to_string();
        Running::start([
            "run",
            "-d",
            text(folder),
            "--config",
            text(config),
            "--exit-at-block",
            &last,
            "--json",
        ])
    }

    /// The digest of the state after this block, from a replay of its own.
    pub(crate) fn digest(&self, number: u32) -> String {
        if let Some(known) = self.digests.lock().unwrap().get(&number) {
            return known.clone();
        }
        let (log, chain, last) = (self.foreign_log(), self.chain(), number.to_string());
        let words = [
            "replay",
            "--block-log",
            text(&log),
            "--chain",
            text(&chain),
            "--json",
        ];
        let record = match number {
            0 => return String::new(),
            _ => cairn(words.into_iter().chain(["--exit-at-block", &last]))
                .expect_code(0)
                .json(),
        };
        assert_eq!(record["head"]["number"], number);
        let found = digest(&record);
        self.digests.lock().unwrap().insert(number, found.clone());
        found
    }
}

impl Form {
    /// The lines of a configuration.
    pub(crate) fn config(self) -> String {
        format!(
            "block-log-split = {}\nenable-block-log-compression = {}\n",
            if self.split { 9999 } else { -1 },
            u8::from(self.compressed)
        )
    }
}

/// The digest in a run's record.
pub(crate) fn digest(record: &Value) -> String {
    record["state"]["digest"].as_str().unwrap().to_owned()
}

pub(crate) fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}
