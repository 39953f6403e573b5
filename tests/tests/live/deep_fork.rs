//! A fork of two hundred blocks: the two halves of the witnesses do not hear of each other for ten minutes.

use std::collections::BTreeSet;

use cairn_chain::{AccountName, BlockId};
use cairn_node::devnet::RawBlock;
use cairn_tests::chains::{faction, tip, tree};
use cairn_tests::free_port;
use cairn_tests::zoo::{Grower, Yard};

use crate::node::{ids_served, joined, start};

const TRUNK: usize = 128;
const DEPTH: u32 = 200;

#[test]
fn a_fork_200_blocks_deep_is_switched_to_and_back() {
    let (yard, mut tree) = (Yard::new(1), tree());
    let trunk = tree.grow(BlockId::ZERO, TRUNK as u32);
    let producers: BTreeSet<AccountName> = trunk[TRUNK / 2..].iter().map(|block| block.witness).collect();
    let witnesses: Vec<AccountName> = producers.into_iter().collect();
    assert_eq!(witnesses.len(), 21);
    // Neither half has the three quarters that make a block irreversible.
    let left = faction(&mut tree, tip(&trunk), DEPTH, &witnesses[..10]);
    let right = faction(&mut tree, tip(&trunk), DEPTH + 1, &witnesses[10..]);
    // They find each other again, on the left branch.
    let together = tree.grow(tip(&left), 60);

    let first = Grower::new(&joined(&trunk, &left));
    let first_peer = yard.keep(first.clone());
    let second_port = free_port();
    let seed = format!("p2p-seed-node = 127.0.0.1:{second_port}");
    let (mut node, watcher) = start(&yard, "node", &[&first_peer], &[seed]);
    watcher.until_head(tip(&left), &node);

    let second_peer = yard.keep_at(second_port, Grower::new(&joined(&trunk, &right)));
    watcher.until_head(tip(&right), &node);
    let switched = node.wait_for_line("Switching to fork");
    assert!(
        switched.contains(&format!("{DEPTH} blocks above {TRUNK} are taken back")),
        "{switched}"
    );
    let all = |chain: &[RawBlock]| -> Vec<BlockId> { chain.iter().map(|block| block.id).collect() };
    assert_eq!(ids_served(&watcher, &yard), all(&joined(&trunk, &right)));

    // One block longer than the right branch is enough.
    let back = joined(&joined(&trunk, &left), &together[..2]);
    first.go_to(&back);
    watcher.until_head(tip(&back), &node);
    assert_eq!(ids_served(&watcher, &yard), all(&back));
    let whole = joined(&joined(&trunk, &left), &together);
    first.go_to(&whole);
    watcher.until_head(tip(&whole), &node);
    for peer in [&first_peer, &second_peer] {
        assert_eq!(yard.connected_to(peer), 1, "{}", node.log().join("\n"));
    }
    node.terminate();
    let finished = node.wait().expect_code(0);
    let switches = finished
        .stderr
        .lines()
        .filter(|line| line.contains("Switching to fork"));
    assert_eq!(switches.count(), 2, "{finished}");
    assert!(yard.banned("node").is_empty(), "{finished}");
    let record = finished.json();
    let kept = record["head"]["number"].as_u64().unwrap() as usize;
    assert!(
        kept > TRUNK + DEPTH as usize,
        "the left branch is irreversible: {finished}"
    );
    assert_eq!(
        record["state"],
        yard.replayed("judge", &whole[..kept]),
        "{finished}"
    );
}
