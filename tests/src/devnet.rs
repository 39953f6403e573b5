//! A generated chain in a seed's folder, and nodes beside it.

use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::{Running, cairn};

/// A generated chain. Its log lies in `seed/blockchain`, in one file.
#[derive(Debug)]
pub struct Devnet {
    folder: TempDir,
    /// Number of its blocks.
    pub blocks: u32,
}

impl Devnet {
    /// Generates so many blocks, with more words for `devnet generate`.
    ///
    /// # Panics
    /// When that fails.
    #[must_use]
    pub fn generate(blocks: u32, more: &[&str]) -> Self {
        let folder = TempDir::new().expect("a temporary folder");
        let seed = folder.path().join("seed");
        let number = blocks.to_string();
        let words = ["devnet", "generate", "--blocks", &number, "--out", text(&seed)];
        drop(cairn(words.iter().chain(more)).expect_code(0));
        Self { folder, blocks }
    }

    /// A path in the folder of all nodes.
    #[must_use]
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The chain specification.
    #[must_use]
    pub fn spec(&self) -> String {
        text(&self.path("seed/chain.json")).to_owned()
    }

    /// The checkpoint at a block, as config.ini wants it.
    ///
    /// # Panics
    /// When the log has no such block.
    #[must_use]
    pub fn checkpoint(&self, number: u32) -> String {
        let (log, number) = (self.path("seed/blockchain"), number.to_string());
        let words = [
            "log",
            "ids",
            text(&log),
            "--from",
            &number,
            "--to",
            &number,
            "--chain",
            &self.spec(),
        ];
        let out = cairn(words).expect_code(0).stdout;
        let id = out.split_whitespace().nth(1).expect("number and id");
        format!("[{number},{id}]")
    }

    /// Writes a node's config.ini, which names the chain; gives the node's folder.
    ///
    /// # Panics
    /// When it cannot be written.
    #[must_use]
    pub fn config(&self, name: &str, lines: &str) -> String {
        self.config_in(&self.path(name), lines)
    }

    /// As [`config`](Self::config), for a folder anywhere.
    ///
    /// # Panics
    /// When it cannot be written.
    #[must_use]
    pub fn config_in(&self, folder: &Path, lines: &str) -> String {
        fs::create_dir_all(folder).expect("the folder can be made");
        let config = format!("chain = {}\n{lines}", self.spec());
        fs::write(folder.join("config.ini"), config).expect("config.ini can be written");
        text(folder).to_owned()
    }

    /// A running node that serves the whole chain.
    ///
    /// # Panics
    /// When it does not come up.
    #[must_use]
    pub fn seed(&self, port: u16) -> Running {
        let lines = format!("block-log-split = -1\np2p-endpoint = 127.0.0.1:{port}\n");
        let folder = self.config("seed", &lines);
        let mut seed = Running::start(["run", "-d", &folder, "--json"]);
        seed.wait_for_line("Listening on");
        seed
    }
}

fn text(path: &Path) -> &str {
    path.to_str().expect("temporary folders have plain names")
}

/// A port that nobody listens on at the moment.
///
/// # Panics
/// When there is none.
#[must_use]
pub fn free_port() -> u16 {
    TcpListener::bind(("127.0.0.1", 0))
        .and_then(|listener| listener.local_addr())
        .expect("a free port on loopback")
        .port()
}
