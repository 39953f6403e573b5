//! Case S45: thousands of blocks that anybody can make, and that lead nowhere.

use std::fs;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use cairn_tests::zoo::{Grower, Keeper, Raw, Stock, Yard};
use cairn_tests::{PATIENCE, Running, free_port};

const ADRIFT: u32 = 10_000;
const HONEST: u32 = 300;
/// Blocks by which it grows meanwhile: as many as its peer announces at once.
const GROWTH: u32 = 8;

/// The largest memory of a process so far, in bytes.
fn peak_memory(process: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() * 1024
}

/// Lines that are about such a block, and those that say how many more there were.
fn lines(log: &[String]) -> (usize, usize) {
    let count = |text: &str| log.iter().filter(|line| line.contains(text)).count();
    let about = count("is not used") + count("was refused") + count("follows another fork");
    (about, count("suppressed"))
}

/// A node beside two peers, of which the honest one grows block by block; `first`: the other one was there before, alone.
/// Gives the log.
fn beside_blocks_adrift(from: u32, first: bool) -> Vec<String> {
    let yard = Yard::new(HONEST);
    let honest = yard.honest();
    let adrift = yard.keep(Keeper::new(honest.adrift(from, ADRIFT)));
    let grower = Grower::of(&honest, HONEST - GROWTH);
    let (own, port) = (free_port(), free_port());
    let config = [
        format!("p2p-endpoint = 127.0.0.1:{own}"),
        format!("p2p-seed-node = 127.0.0.1:{port}"),
    ];
    let keep = || yard.keep_at(port, grower.clone());
    let before = (!first).then(keep);
    let folder = yard.configure("node", &[&adrift], &config);
    let mut node = Running::start(["run", "-d", &folder, "--json"]);
    let good = before.unwrap_or_else(|| {
        node.wait_for_line("is not used");
        keep()
    });
    let watcher = yard.watch(own);
    watcher.until_head(honest.id(HONEST - GROWTH), &node);
    for number in HONEST - GROWTH + 1..=HONEST {
        grower.push_item(honest.item(number));
        watcher.until_head(honest.id(number), &node);
    }
    let peak = peak_memory(node.id());
    println!("{from}: {} MiB at most", peak >> 20);
    assert!(peak < 400 << 20, "{peak} bytes");
    node.terminate();
    let finished = node.wait().expect_code(0);
    assert!(!yard.banned("node").contains(&good.id), "{finished}");
    let received = finished.json()["received_bytes"].as_u64().unwrap();
    println!(
        "{from}: {received} bytes received, the honest chain has {}",
        honest.bytes()
    );
    finished.stderr.lines().map(str::to_owned).collect()
}

/// Ten thousand messages that nobody asked for; the honest peer grows meanwhile.
#[test]
fn ten_thousand_blocks_unasked_and_heads_that_nobody_has_disturb_nobody() {
    let yard = Yard::new(HONEST);
    let honest = yard.honest();
    let start = HONEST - GROWTH;
    let stock = Stock::honest(start);
    let raws = [
        Raw::pushing_blocks(&stock, start + 1, ADRIFT),
        Raw::announcing(&stock, start + 20, ADRIFT),
    ];
    let pushed = raws.each_ref().map(Raw::pushed);
    let pests = raws.map(|raw| yard.let_loose(raw));
    let grower = Grower::of(&honest, start);
    let good = yard.keep(grower.clone());
    let port = free_port();
    let lines_of_config = [format!("p2p-endpoint = 127.0.0.1:{port}")];
    let folder = yard.configure("node", &[&pests[0], &pests[1], &good], &lines_of_config);
    let node = Running::start(["run", "-d", &folder, "--json"]);
    let watcher = yard.watch(port);
    watcher.until_head(honest.id(start), &node);
    let started = Instant::now();
    let mut number = start;
    while number < HONEST || pushed.iter().any(|pushed| pushed.load(Relaxed) < ADRIFT) {
        if number < HONEST {
            number += 1;
            grower.push_item(honest.item(number));
            watcher.until_head(honest.id(number), &node);
        }
        assert!(
            started.elapsed() < PATIENCE,
            "{pushed:?}\n{}",
            node.log().join("\n")
        );
        std::thread::sleep(Duration::from_millis(20));
    }
    let peak = peak_memory(node.id());
    assert!(peak < 400 << 20, "{peak} bytes");
    node.terminate();
    let finished = node.wait().expect_code(0);
    assert!(
        yard.banned("node").is_empty(),
        "who speaks without being asked is not heard\n{finished}"
    );
    let lines = finished.stderr.lines().count();
    println!("{} MiB at most, {lines} lines", peak >> 20);
    assert!(lines < 60, "{finished}");
}

#[test]
fn ten_thousand_blocks_that_lead_nowhere_are_a_few_lines() {
    // From the middle of the chain, and on top of its head.
    for (from, first) in [
        (51, false),
        (51, true),
        (HONEST - GROWTH + 1, false),
        (HONEST - GROWTH + 1, true),
    ] {
        let log = beside_blocks_adrift(from, first);
        let (about, suppressed) = lines(&log);
        assert!((1..=30).contains(&about), "{about} lines\n{}", log.join("\n"));
        assert!(suppressed <= 2, "{suppressed} lines\n{}", log.join("\n"));
        println!(
            "{from}: {about} lines, {suppressed} about suppressed ones, {} in all",
            log.len()
        );
    }
}
