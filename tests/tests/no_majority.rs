//! A chain on which nothing becomes irreversible ends a node with a line that says what to do, and doing it helps.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeSet;

use cairn_chain::{AccountName, BlockId};
use cairn_node::devnet::{ChainShape, RawBlock, Step, Tree};
use cairn_sync::writer::MAX_REVERSIBLE_BLOCKS;
use cairn_tests::zoo::{Grower, Yard};
use cairn_tests::{Finished, Running};

/// All four witnesses are at work up to here.
const TRUNK: u32 = 64;

/// Behind the trunk, two of four witnesses make `alone` blocks, and then all of them some more.
fn chain(alone: usize) -> Vec<RawBlock> {
    let mut tree = Tree::new(ChainShape {
        witnesses: 4,
        missed_slots: 0,
        transactions: (0, 0),
        ..ChainShape::small(1)
    });
    let mut chain = tree.grow(BlockId::ZERO, TRUNK);
    let witnesses: BTreeSet<AccountName> = chain.iter().map(|raw| raw.witness).collect();
    let two: Vec<AccountName> = witnesses.into_iter().take(2).collect();
    let mut tip = tree.tip(chain[chain.len() - 1].id).unwrap().clone();
    for _ in 0..alone {
        let by = |missed: u32| tip.clone().grow(&Step { missed: Some(missed) }).witness;
        let missed = (0..8).find(|missed| two.contains(&by(*missed)));
        chain.push(tip.grow(&Step { missed }));
    }
    chain.extend((0..40).map(|_| tip.grow(&Step { missed: Some(0) })));
    chain
}

#[test]
fn a_newer_checkpoint_takes_a_node_past_a_chain_without_majority() {
    let alone = MAX_REVERSIBLE_BLOCKS + 20;
    let (yard, chain) = (Yard::new(1), chain(alone));
    let peer = yard.keep(Grower::new(&chain));
    let last = chain.len().to_string();
    let run = |more: &[String]| -> Finished {
        let folder = yard.configure("node", &[&peer], more);
        Running::start(["run", "-d", &folder, "--exit-at-block", &last, "--json"]).wait()
    };
    for attempt in 0..2 {
        let stuck = run(&[]).expect_code(1);
        for text in [
            "can still be taken back, and no more are held",
            "end the next start in the same way",
            "add it as a checkpoint (--checkpoint), and start again",
        ] {
            assert!(stuck.stderr.contains(text), "{text}\n{stuck}");
        }
        let record = stuck.json();
        let kept = record["head"]["number"].as_u64().unwrap();
        assert!(
            (u64::from(TRUNK) - 4..u64::from(TRUNK) + 4).contains(&kept),
            "{stuck}"
        );
        assert_eq!(record["durable_block"], kept, "attempt {attempt}\n{stuck}");
        assert!(yard.banned("node").is_empty(), "{stuck}");
    }
    // What the message says: a block of the chain that is irreversible elsewhere.
    let trusted = &chain[TRUNK as usize + alone + 9];
    let freed = run(&[format!("checkpoint = [{},{}]", trusted.number, trusted.id)]).expect_code(0);
    let record = freed.json();
    let (kept, reversible) = (
        record["head"]["number"].as_u64().unwrap(),
        record["reversible_blocks"].as_u64().unwrap(),
    );
    assert!(kept >= u64::from(trusted.number), "{freed}");
    assert_eq!(kept + reversible, chain.len() as u64, "{freed}");
    assert_eq!(
        record["head"]["id"],
        chain[usize::try_from(kept).unwrap() - 1].id.to_string()
    );
}
