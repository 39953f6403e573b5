//! kill -9 at the head.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use cairn_chain::{AccountName, BlockId};
use cairn_node::devnet::RawBlock;
use cairn_tests::PATIENCE;
use cairn_tests::chains::{tip, tree, until_now};
use cairn_tests::zoo::{Grower, Yard};

use crate::node::start;

/// The last block that sixteen of the 21 witnesses have built on: three quarters of the schedule.
fn irreversible(chain: &[RawBlock]) -> u32 {
    let mut newest: HashMap<AccountName, u32> = HashMap::new();
    for block in chain {
        newest.insert(block.witness, block.number);
    }
    let mut newest: Vec<u32> = newest.into_values().collect();
    newest.sort_unstable();
    assert_eq!(newest.len(), 21);
    newest[5]
}

/// Case S31.
#[test]
fn a_crash_at_the_head_costs_what_was_reversible_and_one_block_at_most() {
    let (yard, mut tree) = (Yard::new(1), tree());
    let mut chain = until_now(&mut tree, 80, 110);
    chain.extend(tree.grow(tip(&chain), 30));
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
    let irreversible = irreversible(&chain);
    let (mut node, watcher) = start(&yard, "node", &[], &[]);
    let line = node.wait_for_line("Full validation from block ");
    let next = line.split("Full validation from block ").nth(1).unwrap();
    let state = next.split(' ').next().unwrap().parse::<u32>().unwrap() - 1;
    assert!(
        state + 1 >= irreversible,
        "block {irreversible} was irreversible, the state has {state}"
    );
    // How far the state was behind the log is told, if it was.
    let resumed = node
        .log()
        .into_iter()
        .find(|line| line.contains("Resume of replaying"));
    assert!(
        resumed.is_none_or(|line| line.ends_with(" blocks ahead")),
        "{}",
        node.log().join("\n")
    );
    let started = Instant::now();
    let head = loop {
        match watcher.head() {
            Some(head) if head != BlockId::ZERO => break head,
            _ => assert!(started.elapsed() < PATIENCE, "{}", node.log().join("\n")),
        }
        std::thread::sleep(Duration::from_millis(10));
    };
    println!(
        "block {irreversible} of {} was irreversible: {state} in the state, {head} served",
        chain.len()
    );
    assert!(head.number() + 1 >= irreversible, "block {}", head.number());
    assert_eq!(head, chain[head.number() as usize - 1].id);
}
