//! Heads that peers announce, on one branch and on several.

use std::time::{Duration, Instant};

use cairn_chain::BlockId;
use cairn_node::devnet::RawBlock;
use cairn_tests::chains::{tip, tree};
use cairn_tests::zoo::{Grower, Yard};

use crate::node::{ids_served, joined, start};

#[test]
fn announced_blocks_are_applied_and_passed_on_before_the_next_one() {
    let (yard, mut tree) = (Yard::new(1), tree());
    let chain = tree.grow(BlockId::ZERO, 90);
    let (first, second) = (Grower::new(&chain[..60]), Grower::new(&chain[..60]));
    let peers = [yard.keep(first.clone()), yard.keep(second.clone())];
    let (node, watcher) = start(&yard, "node", &[&peers[0], &peers[1]], &[]);
    watcher.until_head(chain[59].id, &node);
    let mut longest = Duration::ZERO;
    for block in &chain[60..] {
        first.push(block);
        let announced = Instant::now();
        watcher.until_head(block.id, &node);
        longest = longest.max(announced.elapsed());
        second.push(block);
    }
    println!("30 blocks, from the peer's announcement to the node's: {longest:?} at most");
    // What is not irreversible yet is served as well, behind the log.
    let expected: Vec<BlockId> = chain.iter().map(|block| block.id).collect();
    assert_eq!(ids_served(&watcher, &yard), expected);
    node.terminate();
    let finished = node.wait().expect_code(0);
    assert!(yard.banned("node").is_empty(), "{finished}");
}

/// Grows `first` and `second` in turns behind their common beginning: the node is on the longer one each time.
fn switches(
    yard: &Yard,
    name: &str,
    trunk: &[RawBlock],
    first: &[RawBlock],
    second: &[RawBlock],
    depth: usize,
) {
    let growers = [Grower::new(&joined(trunk, &first[..depth])), Grower::new(trunk)];
    let peers = [yard.keep(growers[0].clone()), yard.keep(growers[1].clone())];
    let (node, watcher) = start(yard, name, &[&peers[0], &peers[1]], &[]);
    watcher.until_head(first[depth - 1].id, &node);
    growers[1].go_to(&joined(trunk, &second[..depth + 1]));
    watcher.until_head(second[depth].id, &node);
    let served = ids_served(&watcher, yard);
    assert_eq!(served[trunk.len() + depth], second[depth].id);
    growers[0].go_to(&joined(trunk, &first[..depth + 2]));
    watcher.until_head(first[depth + 1].id, &node);
    for block in &first[depth + 2..depth + 5] {
        growers[0].push(block);
        watcher.until_head(block.id, &node);
    }
    for peer in &peers {
        assert_eq!(yard.connected_to(peer), 1, "{}", node.log().join("\n"));
    }
    node.terminate();
    let finished = node.wait().expect_code(0);
    let lines = finished.stderr.lines();
    assert_eq!(
        lines.filter(|line| line.contains("Switching to fork")).count(),
        2,
        "{finished}"
    );
    assert!(yard.banned(name).is_empty(), "{finished}");
    // Each block of the chain counts once; the checks are of work, also for what was taken back.
    let record = finished.json();
    let (blocks, taken_back) = (trunk.len() + depth + 5, depth + (depth + 1));
    assert_eq!(record["blocks"], blocks, "{finished}");
    assert_eq!(
        record["validation"]["blocks_signed"],
        blocks + taken_back,
        "{finished}"
    );
}

#[test]
fn a_fork_five_deep_is_switched_to_and_back() {
    let (yard, mut tree) = (Yard::new(1), tree());
    let trunk = tree.grow(BlockId::ZERO, 70);
    let first = tree.grow(tip(&trunk), 12);
    let second = tree.grow(tip(&trunk), 12);
    switches(&yard, "node", &trunk, &first, &second, 5);
}

/// Case S15, S18, S45: a peer on a fork that split off long ago announces one head after the other.
#[test]
fn a_fork_below_the_last_irreversible_block_is_left_alone() {
    let (yard, mut tree) = (Yard::new(1), tree());
    let chain = tree.grow(BlockId::ZERO, 140);
    let fork = tree.grow(chain[59].id, 90);
    let (good, dead) = (Grower::new(&chain[..110]), Grower::default());
    let peers = [yard.keep(good.clone()), yard.keep(dead.clone())];
    let (node, watcher) = start(&yard, "node", &[&peers[0], &peers[1]], &[]);
    watcher.until_head(chain[109].id, &node);
    for more in 0..30 {
        dead.go_to(&joined(&chain[..60], &fork[..51 + more]));
        good.push(&chain[110 + more]);
        watcher.until_head(chain[110 + more].id, &node);
    }
    // An old head of the right chain is no fault either.
    dead.go_to(&chain[..135]);
    std::thread::sleep(Duration::from_millis(200));
    for peer in &peers {
        assert_eq!(yard.connected_to(peer), 1, "{}", node.log().join("\n"));
    }
    node.terminate();
    let finished = node.wait().expect_code(0);
    let lines = finished
        .stderr
        .lines()
        .filter(|line| line.contains("follows another fork"));
    assert!((1..=3).contains(&lines.count()), "{finished}");
    assert!(dead.requests() < 60, "{} requests", dead.requests());
    assert!(!finished.stderr.contains("Switching to fork"), "{finished}");
    assert!(yard.banned("node").is_empty(), "{finished}");
}

/// Case S15: an old block that comes again is no fault.
#[test]
fn a_peer_that_goes_back_to_an_old_head_stays_connected() {
    let (yard, mut tree) = (Yard::new(1), tree());
    let chain = tree.grow(BlockId::ZERO, 110);
    let growers = [Grower::new(&chain[..80]), Grower::new(&chain[..80])];
    let peers = [yard.keep(growers[0].clone()), yard.keep(growers[1].clone())];
    let (node, watcher) = start(&yard, "node", &[&peers[0], &peers[1]], &[]);
    watcher.until_head(chain[79].id, &node);
    for head in 80..100 {
        // The first one says once more what it had said five blocks ago, before and behind the block in hand.
        growers[0].go_to(&chain[..head - 5]);
        std::thread::sleep(Duration::from_millis(30));
        growers[1].push(&chain[head]);
        watcher.until_head(chain[head].id, &node);
        growers[0].go_to(&chain[..head + 1]);
        std::thread::sleep(Duration::from_millis(30));
    }
    growers[0].go_to(&chain);
    watcher.until_head(tip(&chain), &node);
    for peer in &peers {
        assert_eq!(yard.connected_to(peer), 1, "{}", node.log().join("\n"));
    }
    node.terminate();
    let finished = node.wait().expect_code(0);
    assert!(yard.banned("node").is_empty(), "{finished}");
    assert!(!finished.stderr.contains("is not used"), "{finished}");
    assert_eq!(finished.json()["fork_switches"], 0, "{finished}");
}
