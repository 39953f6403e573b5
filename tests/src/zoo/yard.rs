//! Where a node under test meets the zoo.

use std::fs;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use cairn_block_log::{BlockLogWriter, CutPolicy, Dictionaries, Layout, WriterOptions};
use cairn_chain::{BlockId, ChainId};
use cairn_node::devnet::{self, GenerateOptions, RawBlock};
use cairn_p2p::{BlockProvider, Identity, Network, NetworkConfig, NetworkHandle, PeerSummary, WireBlock};
use futures::StreamExt;
use serde_json::Value;
use tempfile::TempDir;

use super::{Grower, Raw, Stock, raw};
use crate::{Finished, PATIENCE, Running, cairn};

/// A peer that the node can be sent to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Peer {
    /// Its id, as the ban list shows it.
    pub id: String,
    /// Its port on loopback.
    pub port: u16,
}

/// A connection to a node under test.
#[derive(Debug)]
pub struct Watcher(NetworkHandle);

impl Watcher {
    /// The node's head as it announced it last; `None` while it is not connected.
    #[must_use]
    pub fn head(&self) -> Option<BlockId> {
        let head = |peer: &PeerSummary| peer.head_id;
        self.0.peers().first().map(head)
    }

    /// Waits until the node announces this head.
    ///
    /// # Panics
    /// When it does not in time.
    pub fn until_head(&self, id: BlockId, node: &Running) {
        let started = Instant::now();
        while self.head() != Some(id) {
            assert!(
                started.elapsed() < PATIENCE,
                "the node announces {:?} and not {id}, block {}:\n{}",
                self.head(),
                id.number(),
                node.log().join("\n")
            );
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Waits until the node is connected.
    ///
    /// # Panics
    /// When it is not in time.
    pub fn until_connected(&self, node: &Running) {
        let started = Instant::now();
        while self.head().is_none() {
            assert!(
                started.elapsed() < PATIENCE,
                "no connection:\n{}",
                node.log().join("\n")
            );
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Headers of the node from one block on, at most so many, as they come in one answer.
    ///
    /// # Panics
    /// When they do not come.
    #[must_use]
    pub fn headers(&self, yard: &Yard, first: u32, count: u32) -> Vec<u8> {
        let peer = self.0.peers().into_iter().next().expect("it is connected");
        let count = count.min(cairn_p2p::MAX_HEADERS);
        let answer = self.0.request_headers(peer.id, first, count);
        yard.runtime.block_on(answer).expect("headers")
    }

    /// All blocks of the node from 1 to its head, fetched in one request.
    ///
    /// # Panics
    /// When they do not come.
    #[must_use]
    pub fn fetch(&self, yard: &Yard) -> Vec<WireBlock> {
        let peer = self.0.peers().into_iter().next().expect("it is connected");
        let answer = self.0.request_range(peer.id, 1, peer.head, 32 << 20);
        let blocks: Vec<_> = yard.runtime.block_on(answer.collect());
        blocks.into_iter().map(|block| block.expect("a block")).collect()
    }
}

/// A chain, the peers of a test and the folders of the nodes under test.
#[derive(Debug)]
pub struct Yard {
    folder: TempDir,
    honest: Stock,
    chain: ChainId,
    networks: Mutex<Vec<NetworkHandle>>,
    runtime: tokio::runtime::Runtime,
}

impl Yard {
    /// A yard with an honest chain of so many blocks.
    ///
    /// # Panics
    /// When something cannot be set up.
    #[must_use]
    pub fn new(blocks: u32) -> Self {
        let folder = TempDir::new().expect("a folder for the test");
        fs::write(folder.path().join("chain.json"), devnet::chain_spec_json(1)).expect("it can be written");
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .expect("a runtime");
        Self {
            folder,
            honest: Stock::honest(blocks),
            chain: devnet::chain_id(1),
            networks: Mutex::default(),
            runtime,
        }
    }

    /// The honest chain.
    #[must_use]
    pub fn honest(&self) -> Stock {
        self.honest.clone()
    }

    /// A checkpoint on the honest chain, as it is written in a configuration.
    #[must_use]
    pub fn checkpoint(&self, number: u32) -> String {
        format!("[{number},{}]", self.honest.id(number))
    }

    /// Starts a peer that keeps the protocol.
    ///
    /// # Panics
    /// When it cannot be started.
    pub fn keep(&self, keeper: impl BlockProvider + 'static) -> Peer {
        self.keep_on(self.chain, keeper)
    }

    /// Starts a peer that keeps the protocol of another chain.
    ///
    /// # Panics
    /// When it cannot be started.
    pub fn keep_on(&self, chain: ChainId, keeper: impl BlockProvider + 'static) -> Peer {
        self.keep_with(NetworkConfig::new(chain), 0, keeper)
    }

    /// Starts a peer that keeps the protocol on a port of its own: the same peer each time.
    ///
    /// # Panics
    /// When it cannot be started.
    pub fn keep_at(&self, port: u16, keeper: impl BlockProvider + 'static) -> Peer {
        let mut config = NetworkConfig::new(self.chain);
        config.identity = Identity::File(self.path(&format!("key-{port}")));
        self.keep_with(config, port, keeper)
    }

    fn keep_with(&self, mut config: NetworkConfig, port: u16, keeper: impl BlockProvider + 'static) -> Peer {
        config.listen = vec![format!("127.0.0.1:{port}").parse().expect("an endpoint")];
        let network = self
            .runtime
            .block_on(Network::start(config, Arc::new(keeper)))
            .expect("loopback listens");
        let address = network
            .listen_addresses()
            .into_iter()
            .find(|address| address.to_string().contains("tcp"))
            .expect("it listens on TCP");
        let peer = Peer {
            id: network.local_peer().to_string(),
            port: raw::port(&address),
        };
        self.networks
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(network);
        peer
    }

    /// Ends a peer and its connections.
    ///
    /// # Panics
    /// When there is no such peer.
    pub fn close(&self, peer: &Peer) {
        let network = {
            let mut networks = self.networks.lock().unwrap_or_else(PoisonError::into_inner);
            let at = networks
                .iter()
                .position(|network| network.local_peer().to_string() == peer.id);
            networks.swap_remove(at.expect("a peer of this yard"))
        };
        self.runtime.block_on(network.shutdown());
    }

    /// Connects to the node that listens on this port, without a block to offer: what the node says of itself.
    ///
    /// # Panics
    /// When no network can be started.
    #[must_use]
    pub fn watch(&self, port: u16) -> Watcher {
        let mut config = NetworkConfig::new(self.chain);
        config.seeds = vec![format!("127.0.0.1:{port}").parse().expect("an endpoint")];
        config.redial.first = Duration::from_millis(50);
        config.redial.longest = Duration::from_millis(200);
        let network = self
            .runtime
            .block_on(Network::start(config, Arc::new(Grower::default())))
            .expect("a network without listeners starts");
        Watcher(network)
    }

    /// The nodes that are connected to a peer.
    ///
    /// # Panics
    /// When there is no such peer.
    #[must_use]
    pub fn connected_to(&self, peer: &Peer) -> usize {
        let networks = self.networks.lock().unwrap_or_else(PoisonError::into_inner);
        let network = networks
            .iter()
            .find(|network| network.local_peer().to_string() == peer.id)
            .expect("a peer of this yard");
        network.peers().len()
    }

    /// Starts a peer that breaks the protocol.
    pub fn let_loose(&self, raw: Raw) -> Peer {
        let (id, port) = self.runtime.block_on(raw.start(self.chain));
        Peer {
            id: id.to_string(),
            port,
        }
    }

    /// The folder of a node.
    #[must_use]
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes the configuration of a node that knows these peers; gives its folder.
    ///
    /// # Panics
    /// When it cannot be written.
    pub fn configure(&self, name: &str, peers: &[&Peer], lines: &[String]) -> String {
        let folder = self.path(name);
        fs::create_dir_all(&folder).expect("the folder can be made");
        let mut text = format!("chain = {}\n", self.path("chain.json").display());
        for peer in peers {
            text += &format!("p2p-seed-node = 127.0.0.1:{}\n", peer.port);
        }
        for line in lines {
            text += &format!("{line}\n");
        }
        fs::write(folder.join("config.ini"), text).expect("the configuration can be written");
        folder.to_str().expect("a folder with a plain name").to_owned()
    }

    /// Starts a node that ends at block `last`.
    ///
    /// # Panics
    /// When it cannot be started.
    pub fn start(&self, name: &str, peers: &[&Peer], last: u32, lines: &[String]) -> Running {
        let folder = self.configure(name, peers, lines);
        Running::start([
            "run",
            "-d",
            &folder,
            "--exit-at-block",
            &last.to_string(),
            "--json",
        ])
    }

    /// Runs a node up to block `last`, which is its checkpoint too.
    ///
    /// # Panics
    /// When it cannot be started or does not end in time.
    pub fn sync(&self, name: &str, peers: &[&Peer], last: u32) -> Finished {
        let checkpoint = format!("checkpoint = {}", self.checkpoint(last));
        self.start(name, peers, last, &[checkpoint]).wait()
    }

    /// Ids of the peers in a node's ban list.
    ///
    /// # Panics
    /// When the list is there and makes no sense.
    #[must_use]
    pub fn banned(&self, name: &str) -> Vec<String> {
        let path = self.path(name).join("p2p/bans.json");
        let Ok(text) = fs::read_to_string(path) else {
            return Vec::new();
        };
        let list: Value = serde_json::from_str(&text).expect("the ban list is JSON");
        let bans = list["bans"].as_array().expect("it has a list");
        let id = |ban: &Value| ban["peer"].as_str().expect("each ban has a peer").to_owned();
        bans.iter().map(id).collect()
    }

    /// Replays these blocks from 1 on as a log of their own, with lines of a configuration and words for the command.
    ///
    /// # Panics
    /// When the log cannot be written.
    pub fn replay(&self, name: &str, blocks: &[RawBlock], lines: &[String], more: &[&str]) -> Finished {
        let out = self.path(&format!("{name}-log"));
        fs::create_dir_all(&out).expect("the folder can be made");
        let options = WriterOptions {
            layout: Layout::Single,
            chain: &devnet::chain_spec(1),
            dictionaries: Arc::new(Dictionaries::none()),
            cut: CutPolicy::Torn,
        };
        let (mut writer, _) = BlockLogWriter::open(&out, &options).expect("a new log");
        for block in blocks {
            let written = writer.append_plain(block.number, &block.bytes, &block.id);
            written.expect("the log can be written");
        }
        writer.close().expect("the log can be written");
        let folder = self.configure(name, &[], lines);
        let log = out.to_str().expect("a folder with a plain name");
        let words = ["replay", "-d", &folder, "--json", "--block-log", log];
        cairn(words.iter().chain(more))
    }

    /// The state that a replay of these blocks from 1 on gives, every one of them validated in full.
    ///
    /// # Panics
    /// When they cannot be written or replayed.
    #[must_use]
    pub fn replayed(&self, name: &str, blocks: &[RawBlock]) -> Value {
        let finished = self.replay(name, blocks, &[], &["--validate-during-replay"]);
        finished.expect_code(0).json()["state"].clone()
    }

    /// The state that a replay of the honest chain gives, as the record shows it.
    ///
    /// # Panics
    /// When the chain cannot be written or replayed.
    #[must_use]
    pub fn replayed_state(&self) -> Value {
        self.replayed_state_at(self.honest.head())
    }

    /// The same up to a block.
    ///
    /// # Panics
    /// As [`replayed_state`](Self::replayed_state).
    #[must_use]
    pub fn replayed_state_at(&self, last: u32) -> Value {
        let out = self.path("honest");
        let log = out.join("blockchain");
        if !log.exists() {
            let options = GenerateOptions::new(self.honest.head(), out);
            devnet::generate(&options, &|_| {}).expect("the chain can be written");
        }
        let folder = self.configure(&format!("replayed-{last}"), &[], &[]);
        let log = log.to_str().expect("a folder with a plain name");
        let last = last.to_string();
        let words = [
            "replay",
            "-d",
            &folder,
            "--json",
            "--block-log",
            log,
            "--exit-at-block",
            &last,
        ];
        cairn(words).expect_code(0).json()["state"].clone()
    }
}
