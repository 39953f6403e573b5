//! A generated chain and its seeds.

use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};

use cairn_tests::{Running, cairn, copy_files};
use serde_json::Value;
use tempfile::TempDir;

/// A generated chain in a seed's folder.
pub(crate) struct Chain {
    pub(crate) folder: TempDir,
    pub(crate) blocks: u32,
}

impl Chain {
    /// Stored compressed.
    pub(crate) fn new(blocks: u32) -> Self {
        Self::generate(blocks, &["--compress"])
    }

    /// Stored as is.
    pub(crate) fn plain(blocks: u32) -> Self {
        Self::generate(blocks, &[])
    }

    pub(crate) fn generate(blocks: u32, more: &[&str]) -> Self {
        let folder = TempDir::new().unwrap();
        let seed = folder.path().join("seed");
        let (seed, number) = (seed.to_str().unwrap(), blocks.to_string());
        let words = ["devnet", "generate", "--blocks", &number, "--out", seed];
        cairn(words.iter().chain(more)).expect_code(0);
        Self { folder, blocks }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn spec(&self) -> String {
        self.path("seed").join("chain.json").to_str().unwrap().to_owned()
    }

    pub(crate) fn checkpoint(&self, number: u32) -> String {
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

    pub(crate) fn config(&self, name: &str, lines: &str) -> String {
        let folder = self.path(name);
        fs::create_dir_all(&folder).unwrap();
        fs::write(
            folder.join("config.ini"),
            format!("chain = {}\nblock-log-split = -1\n{lines}", self.spec()),
        )
        .unwrap();
        folder.to_str().unwrap().to_owned()
    }

    pub(crate) fn seed(&self, port: u16) -> Running {
        let folder = self.config("seed", &format!("p2p-endpoint = 127.0.0.1:{port}\n"));
        let mut seed = Running::start(["run", "-d", &folder, "--json"]);
        seed.wait_for_line("Listening on");
        seed
    }
}

pub(crate) fn free_port() -> u16 {
    TcpListener::bind(("127.0.0.1", 0))
        .unwrap()
        .local_addr()
        .unwrap()
        .port()
}

pub(crate) fn state_of(folder: &Path) -> Value {
    cairn(["state", "info", "-d", folder.to_str().unwrap(), "--json"])
        .expect_code(0)
        .json()
}

/// A second seed with the first one's chain, under its own name.
pub(crate) fn second_seed(chain: &Chain, name: &str, port: u16) -> Running {
    copy_files(
        &chain.path("seed/blockchain"),
        &chain.path(name).join("blockchain"),
    );
    let folder = chain.config(name, &format!("p2p-endpoint = 127.0.0.1:{port}\n"));
    let mut seed = Running::start(["run", "-d", &folder, "--json"]);
    seed.wait_for_line("Listening on");
    seed
}
