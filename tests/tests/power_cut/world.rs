//! What all cases share: a generated chain, a seed that serves it, and what undisturbed nodes come to.

use std::collections::HashMap;
use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};

use cairn_chain::ChainSpec;
use cairn_tests::power_cut::{BlockEnds, Entry, Shim, Tree};
use cairn_tests::{Running, cairn, read_json};
use serde_json::Value;
use tempfile::TempDir;

use crate::judge;

/// Blocks to a part.
const PART: u32 = 60;

/// How a node keeps its block log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Form {
    pub(crate) split: bool,
    pub(crate) compressed: bool,
    /// Only so many full parts of a split log are kept.
    pub(crate) keep: Option<u32>,
}

/// The block log of an undisturbed node.
#[derive(Debug)]
pub(crate) struct ExpectedLog {
    /// The folder `blockchain` after the last block and a clean end.
    pub(crate) tree: Tree,
    /// The same of a node that keeps all of its log.
    pub(crate) whole: Tree,
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
    states: OnceLock<Vec<Value>>,
    /// Where the folders of cases are made: in memory where that is possible.
    pub(crate) cases: TempDir,
}

impl World {
    /// A chain of so many blocks of a devnet profile. With one witness each block is irreversible at once, so that a sync
    /// keeps the whole chain.
    pub(crate) fn new(blocks: u32, profile: &str, witnesses: u32) -> Self {
        let folder = TempDir::with_prefix("cairn-power-cut-world-").unwrap();
        let seed = folder.path().join("seed");
        let (count, witnesses) = (blocks.to_string(), witnesses.to_string());
        let words = [
            "devnet",
            "generate",
            "--blocks",
            &count,
            "--compress",
            "--profile",
            profile,
            "--witnesses",
            &witnesses,
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
            states: OnceLock::new(),
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
        let known = self.logs.lock().unwrap().get(&form).map(Arc::clone);
        known.unwrap_or_else(|| {
            let made = Arc::new(self.undisturbed(form));
            self.logs.lock().unwrap().insert(form, Arc::clone(&made));
            made
        })
    }

    fn undisturbed(&self, form: Form) -> ExpectedLog {
        let folder = self.path(&format!(
            "undisturbed-{}-{}-{:?}",
            form.split, form.compressed, form.keep
        ));
        fs::create_dir(&folder).unwrap();
        let config = form.config() + &self.config(&[self.blocks], 10_000);
        fs::write(folder.join("config.ini"), config).unwrap();
        let record = self
            .sync(&folder, &folder.join("config.ini"))
            .wait()
            .expect_code(0)
            .json();
        assert_eq!(&record["state"], self.state(self.blocks));
        let tree = Tree::read(&folder.join("blockchain"));
        if form.keep.is_some() {
            let whole = self.expected_log(Form { keep: None, ..form });
            return ExpectedLog {
                tree,
                whole: whole.tree.clone(),
                ends: whole.ends.clone(),
            };
        }
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
        ExpectedLog {
            whole: tree.clone(),
            tree,
            ends,
        }
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

    /// The state after this block, which is not 0, as a record shows it.
    pub(crate) fn state(&self, number: u32) -> &Value {
        let states = self.states.get_or_init(|| {
            let text = fs::read_to_string(self.chain()).unwrap();
            let spec = Arc::new(ChainSpec::from_json(&text).unwrap());
            let states = judge::states(&self.foreign_log(), &spec, self.cases.path());
            assert_eq!(states.len(), self.blocks as usize);
            states
        });
        &states[number as usize - 1]
    }

    /// Blocks of the chain above the head that a run keeps, by its record.
    pub(crate) fn reversible(&self, record: &Value) -> u32 {
        let count = record["reversible_blocks"].as_u64().unwrap_or(0);
        u32::try_from(count).unwrap()
    }
}

impl Form {
    /// The lines of a configuration.
    pub(crate) fn config(self) -> String {
        let split = match (self.split, self.keep) {
            (true, Some(keep)) => keep.to_string(),
            (true, None) => "9999".to_owned(),
            (false, _) => "-1".to_owned(),
        };
        let compressed = u8::from(self.compressed);
        format!("block-log-split = {split}\nenable-block-log-compression = {compressed}\n")
    }
}

pub(crate) fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}
