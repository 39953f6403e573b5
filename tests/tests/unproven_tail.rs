//! A log that nobody vouches for and that ends below the checkpoint: its blocks are applied on trust in what comes. If
//! they turn out to be of a fork, there is a way back.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use cairn_tests::{Devnet, Running, cairn, copy_files, free_port};
use serde_json::{Value, json};

const BLOCKS: u32 = 400;
/// The last block that both chains have.
const FORK: u32 = 100;
const DEPTH: u32 = 30;

/// A node's folder with the fork's log, and a seed that has the right chain.
struct Bench {
    chain: Devnet,
    _seed: Running,
    folder: String,
}

impl Bench {
    fn new(checkpoints: &[u32]) -> Self {
        let fork = format!("{FORK}:{DEPTH}");
        let chain = Devnet::generate(BLOCKS, &["--fork", &fork, "--profile", "empty"]);
        let port = free_port();
        let seed = chain.seed(port);
        let lines: String = checkpoints
            .iter()
            .map(|number| format!("checkpoint = {}\n", chain.checkpoint(*number)))
            .collect();
        let folder = chain.config(
            "node",
            &format!("p2p-seed-node = 127.0.0.1:{port}\nblock-log-split = -1\n{lines}"),
        );
        copy_files(
            &chain.path(&format!("seed/fork-{FORK}/blockchain")),
            &chain.path("node/blockchain"),
        );
        Self {
            chain,
            _seed: seed,
            folder,
        }
    }

    /// The fork's log is applied, and then the headers of the right chain show what it is.
    fn run_into_the_fork(&self) -> String {
        let last = BLOCKS.to_string();
        let failed = cairn(["run", "-d", &self.folder, "--exit-at-block", &last]).expect_code(3);
        let unproven = "nobody vouches for them until a later run reaches it";
        assert!(failed.stderr.contains(unproven), "{failed}");
        assert!(failed.stderr.contains("the node is on another chain"), "{failed}");
        failed.stderr
    }

    fn restore(&self, more: &[&str]) -> Value {
        let words = ["state", "restore", "-d", &self.folder, "--cut-log", "--json"];
        cairn(words.iter().chain(more)).expect_code(0).json()
    }

    /// The node has the right chain in the end.
    fn finish(&self) {
        let last = BLOCKS.to_string();
        let done = cairn(["run", "-d", &self.folder, "--json", "--exit-at-block", &last]).expect_code(0);
        let words = ["replay", "-d", &self.chain.config("judge", ""), "--block-log"];
        let log = self.chain.path("seed/blockchain");
        let judged = cairn(words.iter().chain([&log.to_str().unwrap(), &"--json"])).expect_code(0);
        assert_eq!(done.json()["head"]["number"], BLOCKS);
        assert_eq!(done.json()["state"], judged.json()["state"], "{done}{judged}");
    }
}

#[test]
fn a_forks_log_without_a_checkpoint_in_it_is_left_from_the_beginning() {
    let bench = Bench::new(&[BLOCKS]);
    let said = bench.run_into_the_fork();
    assert!(said.contains("`cairn state restore --to 0 --cut-log`"), "{said}");
    let words = ["state", "restore", "-d", &bench.folder, "--cut-log"];
    let none = cairn(words).expect_code(1);
    assert!(
        none.stderr.contains("--to 0 goes back to the beginning"),
        "{none}"
    );
    let restored = bench.restore(&["--to", "0"]);
    assert_eq!(restored["blocks_cut"], json!([1, FORK + DEPTH]));
    assert_eq!(restored["head"]["number"], 0);
    let kept = format!("node/blockchain/block_log.cut-1-{}", FORK + DEPTH);
    assert!(bench.chain.path(&kept).is_file(), "nothing is lost");
    bench.finish();
}

#[test]
fn a_forks_log_is_left_at_the_last_checkpoint_in_it() {
    // Of many checkpoints close to each other only some are kept; the last one below the unproven blocks is.
    let below: Vec<u32> = (1..=FORK - 10).collect();
    let all: Vec<u32> = below.iter().copied().chain([BLOCKS]).collect();
    let bench = Bench::new(&all);
    let said = bench.run_into_the_fork();
    let last = FORK - 10;
    assert!(
        said.contains(&format!("the state of block {last} is kept")),
        "{said}"
    );
    let restored = bench.restore(&[]);
    assert_eq!(restored["blocks_cut"], json!([last + 1, FORK + DEPTH]));
    assert_eq!(restored["head"]["number"], last);
    bench.finish();
}
