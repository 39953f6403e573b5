//! A node that is at the head, falls behind, syncs, and is at the head again: each change is logged once, with the block
//! and the reason.

use cairn_chain::BlockId;
use cairn_node::devnet::RawBlock;
use cairn_tests::chains::tree;
use cairn_tests::zoo::{Grower, Watcher, Yard};
use cairn_tests::{Running, TurnedClock, free_port};

use crate::node::start_with;

/// The chain when the node comes, when it falls behind, when it has caught up, at the end.
const MET: usize = 90;
const LEFT: usize = 100;
const CAUGHT_UP: usize = 500;
const END: usize = 520;

/// Lines about the mode, without the time before them.
fn modes(log: &str) -> Vec<String> {
    let lines = log.lines().filter(|line| line.contains("live mode"));
    lines
        .map(|line| line[line.find("entering").or(line.find("leaving")).unwrap()..].to_owned())
        .collect()
}

struct Case {
    yard: Yard,
    chain: Vec<RawBlock>,
    clock: TurnedClock,
    port: u16,
    grower: Grower,
}

impl Case {
    fn new() -> Self {
        let yard = Yard::new(1);
        let chain = tree().grow(BlockId::ZERO, END as u32);
        let clock = TurnedClock::new(&yard.path(""));
        clock.set(chain[MET - 1].time, 1);
        let grower = Grower::new(&chain[..MET]);
        Self {
            yard,
            chain,
            clock,
            port: free_port(),
            grower,
        }
    }

    /// One block after the other: the next one is not announced before the node has announced the one before.
    fn follow(&self, from: usize, to: usize, node: &Running, watcher: &Watcher) {
        for block in &self.chain[from..to] {
            self.clock.set(block.time, 1);
            self.grower.push(block);
            watcher.until_head(block.id, node);
        }
    }

    fn start(&self) -> (Running, Watcher) {
        let seed = format!("p2p-seed-node = 127.0.0.1:{}", self.port);
        let (mut node, watcher) = start_with(&self.yard, "node", &[], &[seed], self.clock.environment());
        watcher.until_head(self.chain[MET - 1].id, &node);
        node.wait_for_line("entering live mode");
        (node, watcher)
    }

    /// What the node said of its mode, and that it has all blocks and banned nobody.
    fn end(self, node: Running) -> Vec<String> {
        node.terminate();
        let finished = node.wait().expect_code(0);
        assert!(self.yard.banned("node").is_empty(), "{finished}");
        let record = finished.json();
        let kept = record["head"]["number"].as_u64().unwrap();
        assert_eq!(
            kept + record["reversible_blocks"].as_u64().unwrap(),
            END as u64,
            "{finished}"
        );
        modes(&finished.stderr)
    }
}

fn entering(block: usize) -> String {
    format!("entering live mode at block {block}: it is ")
}

#[test]
fn cut_off_and_connected_again() {
    let case = Case::new();
    let peer = case.yard.keep_at(case.port, case.grower.clone());
    let (mut node, watcher) = case.start();
    case.follow(MET, LEFT, &node, &watcher);
    case.yard.close(&peer);
    case.clock.set(case.chain[CAUGHT_UP - 1].time, 1);
    node.wait_for_line("leaving live mode");
    case.grower.go_to(&case.chain[..CAUGHT_UP]);
    assert_eq!(case.yard.keep_at(case.port, case.grower.clone()), peer);
    watcher.until_head(case.chain[CAUGHT_UP - 1].id, &node);
    node.wait_for_line(&entering(CAUGHT_UP));
    case.follow(CAUGHT_UP, END, &node, &watcher);
    let lines = case.end(node);
    assert_eq!(lines.len(), 3, "{lines:#?}");
    assert!(lines[0].starts_with(&entering(MET)), "{lines:#?}");
    let left = format!("leaving live mode at block {LEFT}: it is ");
    assert!(
        lines[1].starts_with(&left) && lines[1].ends_with(" s old, and no peer with blocks is connected"),
        "{lines:#?}"
    );
    assert!(lines[2].starts_with(&entering(CAUGHT_UP)), "{lines:#?}");
}

#[test]
fn the_peer_is_silent_and_then_far_ahead() {
    let case = Case::new();
    case.yard.keep_at(case.port, case.grower.clone());
    let (mut node, watcher) = case.start();
    case.follow(MET, LEFT, &node, &watcher);
    // Nobody has more: the node is at the head, however old that is.
    case.clock.set(case.chain[CAUGHT_UP - 1].time, 1);
    case.grower.go_to(&case.chain[..CAUGHT_UP]);
    node.wait_for_line("leaving live mode");
    watcher.until_head(case.chain[CAUGHT_UP - 1].id, &node);
    node.wait_for_line(&entering(CAUGHT_UP));
    case.follow(CAUGHT_UP, END, &node, &watcher);
    let lines = case.end(node);
    assert_eq!(lines.len(), 3, "{lines:#?}");
    assert!(lines[0].starts_with(&entering(MET)), "{lines:#?}");
    let behind = CAUGHT_UP - LEFT;
    assert_eq!(
        lines[1],
        format!(
            "leaving live mode at block {LEFT}: {behind} blocks behind the best peer's head {CAUGHT_UP}, syncing"
        )
    );
    assert!(lines[2].starts_with(&entering(CAUGHT_UP)), "{lines:#?}");
}
