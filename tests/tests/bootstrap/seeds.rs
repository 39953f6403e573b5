//! Seeds that alter, die, or have damaged files.

use std::fs;
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

use cairn_tests::{PATIENCE, Running, cairn};

use crate::world::{Chain, free_port, second_seed};

#[test]
fn an_altered_body_is_refused_on_arrival_and_comes_from_another_peer() {
    let chain = Chain::plain(400);
    let (bad_port, good_port) = (free_port(), free_port());
    let _bad = second_seed(&chain, "bad", bad_port);
    // The bad seed has checked its log by now; what it serves is read from the file.
    let log = chain.path("bad/blockchain/block_log");
    let mut bytes = fs::read(&log).unwrap();
    let place = bytes.len() / 2;
    bytes[place] ^= 0x40;
    fs::write(&log, bytes).unwrap();

    let point = chain.checkpoint(400);
    let seeds = format!("p2p-seed-node = 127.0.0.1:{bad_port} 127.0.0.1:{good_port}\ncheckpoint = {point}\n");
    let folder = chain.config("fresh", &seeds);
    let mut fresh = Running::start(["run", "-d", &folder, "--exit-at-block", "400", "--json"]);
    fresh.wait_for_line("was refused");
    fresh.wait_for_line("Banned peer");
    let _good = chain.seed(good_port);
    let record = fresh.wait().expect_code(0).json();
    assert_eq!(record["head"]["number"], 400);
    let straight = chain.config("straight", "");
    let log = chain.path("seed/blockchain");
    let words = [
        "replay",
        "-d",
        &straight,
        "--json",
        "--block-log",
        log.to_str().unwrap(),
    ];
    assert_eq!(cairn(words).expect_code(0).json()["state"], record["state"]);
}

#[test]
fn a_seed_that_dies_is_replaced_by_another() {
    let chain = Chain::new(4000);
    let ports = [free_port(), free_port()];
    let (first, _second) = (chain.seed(ports[0]), second_seed(&chain, "other", ports[1]));
    let point = chain.checkpoint(4000);
    let seeds = ports
        .map(|port| format!("p2p-seed-node = 127.0.0.1:{port}\n"))
        .concat();
    let folder = chain.config("fresh", &format!("{seeds}checkpoint = {point}\n"));
    let fresh = Running::start(["run", "-d", &folder, "--exit-at-block", "4000", "--json"]);
    first.kill_after(400);
    let record = fresh.wait().expect_code(0).json();
    assert_eq!(record["head"]["number"], 4000);
    let log = |name: &str| fs::read(chain.path(name).join("blockchain/block_log")).unwrap();
    assert!(log("seed") == log("fresh"), "the logs are equal byte for byte");
}

/// Waits until a file looks as wanted, and gives it.
fn wait_for_file(path: &Path, wanted: impl Fn(&[u8]) -> bool) -> Vec<u8> {
    let started = Instant::now();
    loop {
        let bytes = fs::read(path).unwrap_or_default();
        if wanted(&bytes) {
            return bytes;
        }
        assert!(
            started.elapsed() < PATIENCE,
            "{} has {} bytes",
            path.display(),
            bytes.len()
        );
        sleep(Duration::from_millis(20));
    }
}

#[test]
fn headers_come_from_a_file_of_the_seed_that_may_be_damaged() {
    let chain = Chain::new(3000);
    let port = free_port();
    let mut seed = chain.seed(port);
    let file = chain.path("seed/p2p/headers");
    // Two segments of 1024 headers with more than 120 bytes each; the rest is served from the blocks.
    let whole = wait_for_file(&file, |bytes| bytes.len() > 2 * 1024 * 120);
    let mut damaged = whole.clone();
    damaged[whole.len() / 3] ^= 1;
    fs::write(&file, damaged).unwrap();

    let point = chain.checkpoint(3000);
    let lines = format!("p2p-seed-node = 127.0.0.1:{port}\nsync-window-size = 8\ncheckpoint = {point}\n");
    let folder = chain.config("fresh", &lines);
    let record = cairn(["run", "-d", &folder, "--exit-at-block", "3000", "--json"])
        .expect_code(0)
        .json();
    assert_eq!(record["head"]["number"], 3000);
    seed.wait_for_line("are damaged; they are taken from the block log again");
    wait_for_file(&file, |bytes| bytes == whole);
    seed.terminate();
    let _ = seed.wait().expect_code(0);
}
