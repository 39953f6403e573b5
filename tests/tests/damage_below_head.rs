//! A block of the node's own log that a disk has changed, below the state's head: the peers notice, then the node does.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs::{self, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;

use cairn_block_log::{BlockLog, Dictionaries};
use cairn_tests::{Devnet, Running, cairn, copy_files, free_port};

const BLOCKS: u32 = 200;
const DAMAGED: u32 = 120;

/// Changes a byte in the middle of a block.
fn damage(log: &Path, number: u32) {
    let reader = BlockLog::open(log, 1_000_000, Arc::new(Dictionaries::none())).unwrap();
    let (file, offset) = reader.offset_of(number).unwrap();
    let place = offset + reader.read(number).unwrap().bytes.len() as u64 / 2;
    let file = OpenOptions::new().read(true).write(true).open(file).unwrap();
    let mut byte = [0];
    file.read_exact_at(&mut byte, place).unwrap();
    file.write_all_at(&[byte[0] ^ 0x10], place).unwrap();
}

#[test]
fn a_block_that_went_bad_is_found_when_a_peer_is_angry_and_is_fetched_again() {
    let chain = Devnet::generate(BLOCKS, &["--witnesses", "1"]);
    let (honest_port, port) = (free_port(), free_port());
    let honest = chain.seed(honest_port);
    let listening =
        format!("block-log-split = -1\nenable-block-log-compression = 0\np2p-endpoint = 127.0.0.1:{port}\n");
    let folder = chain.config("damaged", &listening);
    copy_files(&chain.path("seed/blockchain"), &chain.path("damaged/blockchain"));
    cairn(["run", "-d", &folder, "--exit-before-sync"]).expect_code(0);
    let log = chain.path("damaged/blockchain/block_log");
    let whole = fs::read(&log).unwrap();
    damage(&log, DAMAGED);

    // A node that syncs from it bans it.
    let mut server = Running::start(["run", "-d", &folder]);
    server.wait_for_line("Listening on");
    let checkpoint = chain.checkpoint(BLOCKS);
    let seed = format!("p2p-seed-node = 127.0.0.1:{port}\ncheckpoint = {checkpoint}\n");
    let client = Running::start(["run", "-d", &chain.config("client", &seed)]);
    let found = server.wait_for_line("the block log is damaged");
    assert!(
        found.contains(&format!("that are sent block {DAMAGED} ban this node")),
        "{found}"
    );
    assert!(found.contains("block_log") && found.contains("offset"), "{found}");
    client.terminate();
    client.wait().expect_code(0);
    server.terminate();
    server.wait().expect_code(0);
    let note = chain.path("damaged/p2p/log-damage");
    assert_eq!(fs::read_to_string(&note).unwrap(), format!("{DAMAGED}\n"));

    // The next start cuts the log there, and has it whole again.
    let again = format!("{listening}p2p-seed-node = 127.0.0.1:{honest_port}\n");
    let mut server = Running::start(["run", "-d", &chain.config("damaged", &again)]);
    server.wait_for_line(&format!("cut behind block {}", DAMAGED - 1));
    server.wait_for_line("are in the block log again");
    server.terminate();
    server.wait().expect_code(0);
    assert!(!note.exists());
    assert!(fs::read(&log).unwrap() == whole, "the log has its bytes again");
    drop(honest);
}
