//! A node at the head of the network: blocks that peers announce, forks, a crash. Real connections over loopback, the
//! built binary.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use cairn_block_log::{BlockDecoder, Dictionaries};
use cairn_chain::{BlockId, SignedHeader};
use cairn_node::devnet::{ChainShape, RawBlock, Step, Tree};
use cairn_tests::zoo::{Grower, Peer, Watcher, Yard};
use cairn_tests::{PATIENCE, Running, free_port};

/// The yards' chain, small blocks, all of its witnesses.
fn tree() -> Tree {
    Tree::new(ChainShape {
        witnesses: 21,
        missed_slots: 0,
        ..ChainShape::small(1)
    })
}

fn id(chain: &[RawBlock]) -> BlockId {
    chain.last().unwrap().id
}

fn joined(trunk: &[RawBlock], branch: &[RawBlock]) -> Vec<RawBlock> {
    [trunk, branch].concat()
}

/// A node that these peers are known to, and a watcher beside it.
fn start(yard: &Yard, name: &str, peers: &[&Peer], lines: &[String]) -> (Running, Watcher) {
    let port = free_port();
    let mut lines = lines.to_vec();
    lines.push(format!("p2p-endpoint = 127.0.0.1:{port}"));
    let folder = yard.configure(name, peers, &lines);
    let node = Running::start(["run", "-d", &folder, "--json"]);
    (node, yard.watch(port))
}

fn ids_served(watcher: &Watcher, yard: &Yard) -> Vec<BlockId> {
    let mut decoder = BlockDecoder::new(std::sync::Arc::new(Dictionaries::none()));
    let mut previous = BlockId::ZERO;
    let read = |block: cairn_p2p::WireBlock| {
        let form = cairn_block_log::Attributes::unpack(u64::from(block.attributes) << 48).unwrap();
        let raw = decoder.view(form.compression(), &block.bytes).unwrap();
        let header = SignedHeader::unpack_prefix(raw).unwrap().0;
        assert_eq!(header.previous, previous, "block {} does not link", block.number);
        previous = header.id();
        previous
    };
    watcher.fetch(yard).into_iter().map(read).collect()
}

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
    let first = tree.grow(id(&trunk), 12);
    let second = tree.grow(id(&trunk), 12);
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

/// Cases S12 and S10: the first block above the last checkpoint is validated in full.
#[test]
fn full_validation_begins_behind_the_last_checkpoint() {
    use cairn_node::devnet::{BlocksOptions, Fault, FaultAt, blocks};
    let yard = Yard::new(430);
    let fault = FaultAt {
        block: 305,
        fault: Fault::WitnessSignature,
    };
    let options = BlocksOptions {
        faults: vec![fault],
        ..BlocksOptions::new(430)
    };
    let forged: Vec<RawBlock> = blocks(&options).collect();
    let liar = yard.keep(Grower::new(&forged));
    let checkpoint = format!("checkpoint = {}", yard.checkpoint(300));
    let (mut node, watcher) = start(&yard, "node", &[&liar], &[checkpoint]);
    let line = node.wait_for_line("block 305");
    assert!(line.contains("was refused"), "{line}");
    watcher.until_head(forged[303].id, &node);
    node.wait_for_line("Final checkpoint reached, resuming normal block validation.");
    node.terminate();
    let finished = node.wait().expect_code(0);
    assert!(yard.banned("node").contains(&liar.id), "{finished}");
}

/// A chain that ends about `before` seconds before now: its second block comes after a very long pause.
fn until_now(tree: &mut Tree, blocks: u32, before: u64) -> Vec<RawBlock> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs() - before;
    let mut chain = tree.grow(BlockId::ZERO, 1);
    let start = u64::from(chain[0].time.0);
    let missed = (now - start) / 3 - u64::from(blocks);
    let step = Step {
        missed: Some(u32::try_from(missed).unwrap()),
    };
    chain.push(tree.extend(id(&chain), &step).unwrap());
    chain.extend(tree.grow(id(&chain), blocks - 2));
    chain
}

/// Case S31.
#[test]
fn a_crash_at_the_head_costs_what_was_reversible_at_most() {
    let (yard, mut tree) = (Yard::new(1), tree());
    let mut chain = until_now(&mut tree, 80, 110);
    chain.extend(tree.grow(id(&chain), 30));
    let grower = Grower::new(&chain[..80]);
    let peer = yard.keep(grower.clone());
    let (mut node, watcher) = start(&yard, "node", &[&peer], &[]);
    watcher.until_head(chain[79].id, &node);
    for block in &chain[80..] {
        grower.push(block);
        watcher.until_head(block.id, &node);
    }
    node.wait_for_line("entering live mode at block");
    drop(node.kill());
    let (node, watcher) = start(&yard, "node", &[], &[]);
    let started = Instant::now();
    let head = loop {
        match watcher.head() {
            Some(head) if head != BlockId::ZERO => break head,
            _ => assert!(started.elapsed() < PATIENCE, "{}", node.log().join("\n")),
        }
        std::thread::sleep(Duration::from_millis(10));
    };
    println!("block {} of {} after the crash", head.number(), chain.len());
    assert!(
        head.number() as usize >= chain.len() - 21,
        "block {}",
        head.number()
    );
    assert_eq!(head, chain[head.number() as usize - 1].id);
}
