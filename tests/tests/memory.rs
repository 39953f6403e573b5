//! Memory stays bounded, however large the blocks are and however long the writer stands still.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use cairn_tests::{Devnet, PATIENCE, Running, SmallDisk, free_port};

/// 500 MB of blocks: a node that gathers them without a bound shows it.
const BLOCKS: u32 = 250;
const WINDOW_MIB: u64 = 64;
/// What a node may take beside its window.
const REST_MIB: u64 = 256;
/// What a node may hold after a sync that it does not hold after a restart: registers in its cache, RocksDB's write
/// buffers.
const WARM_MIB: u64 = 80;

/// A figure of /proc/ID/status, in MiB: VmRSS is the resident memory now, VmHWM the most that it ever was,
/// RssAnon what of it is not the program or a file.
fn memory(process: u32, name: &str) -> u64 {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status.lines().find(|line| line.starts_with(name)).unwrap();
    let kibibytes: u64 = line.split_whitespace().nth(1).unwrap().parse().unwrap();
    kibibytes / 1024
}

/// Waits until the figure has not grown for three seconds: the window is full by then.
fn settled(process: u32, name: &str) -> u64 {
    let started = Instant::now();
    let (mut most, mut since) = (0, Instant::now());
    while since.elapsed() < Duration::from_secs(3) {
        assert!(started.elapsed() < PATIENCE, "memory grows and grows: {most} MiB");
        let now = memory(process, name);
        if now > most {
            (most, since) = (now, Instant::now());
        }
        thread::sleep(Duration::from_millis(50));
    }
    most
}

#[test]
fn a_writer_that_stands_still_fills_the_window_and_no_more() {
    let chain = Devnet::generate(BLOCKS, &["--profile", "large"]);
    let Some(disk) = SmallDisk::mount("memory under a cap", 64) else {
        return;
    };
    let port = free_port();
    let seed = chain.seed(port);
    let lines = format!(
        "p2p-seed-node = 127.0.0.1:{port}\nblock-log-split = 0\nsync-window-size = {WINDOW_MIB}\n\
         flush-state-interval = 5\nstop-at-block = {BLOCKS}\ncheckpoint = {}\n",
        chain.checkpoint(BLOCKS)
    );
    let folder = chain.config_in(&disk.path().join("node"), &lines);
    disk.leave(4);
    let mut node = Running::start(["run", "-d", &folder, "--json"]);
    node.wait_for_line("disk full: paused");
    let (paused, cap) = (settled(node.id(), "VmRSS"), WINDOW_MIB + REST_MIB);
    assert!(paused > WINDOW_MIB, "the window is not full: {paused} MiB");
    disk.relieve();
    node.wait_for_line("Stopped syncing on user request");
    let most = memory(node.id(), "VmHWM");
    let after = memory(node.id(), "VmRSS");
    println!("resident memory: {paused} MiB paused, {most} MiB at most, {after} MiB after the sync");
    assert!(most < cap, "{most} MiB at most, {cap} MiB promised");
    // The server reads large blocks for others all the time.
    let served = memory(seed.id(), "VmHWM");
    println!("resident memory of the seed: {served} MiB at most");
    assert!(served < cap, "{served} MiB at most, {cap} MiB promised");
    node.terminate();
    let record = node.wait().expect_code(0).json();
    assert_eq!(record["head"]["number"], BLOCKS);
}

#[test]
fn what_a_sync_took_is_given_back_when_it_is_over() {
    const BLOCKS: u32 = 10_000;
    let chain = Devnet::generate(BLOCKS, &[]);
    let port = free_port();
    let _seed = chain.seed(port);
    let checkpoint = chain.checkpoint(BLOCKS);
    let folder = chain.config(
        "node",
        &format!(
            "p2p-seed-node = 127.0.0.1:{port}\nenable-block-log-compression = 0\nstop-at-block = {BLOCKS}\n\
             log-level = info,run=debug\ncheckpoint = {checkpoint}\n"
        ),
    );
    let run = || {
        let mut node = Running::start(["run", "-d", &folder]);
        node.wait_for_line("Stopped syncing on user request");
        node
    };
    let mut node = run();
    let synced = memory(node.id(), "RssAnon");
    node.wait_for_line("free memory given back");
    let kept = memory(node.id(), "RssAnon");
    node.terminate();
    node.wait().expect_code(0);
    let node = run();
    let restarted = settled(node.id(), "RssAnon");
    println!(
        "memory: {synced} MiB after the sync, {kept} MiB a little later, {restarted} MiB after a restart"
    );
    assert!(
        kept < restarted + WARM_MIB,
        "{kept} MiB, {restarted} MiB after a restart"
    );
}
