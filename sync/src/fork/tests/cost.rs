//! What a block costs when thousands lie beside the main branch: how often blocks are looked at, counted.

use std::collections::BTreeSet;

use super::*;

/// Blocks beside the main branch.
const SIDE: u32 = 5_000;
/// A block is asked for its id, its parent, its witness and its size, some of them twice.
const LOOKS_A_BLOCK: u64 = 16;

/// Looks that a piece of work takes.
fn looks(work: impl FnOnce()) -> u64 {
    let before = LOOKS.get();
    work();
    LOOKS.get() - before
}

/// A main branch of 300 blocks of four witnesses, and side blocks that part from it at its hundredth one: `bush` so many a
/// parent, as a chain where it is 1.
fn beside(bush: u32) -> ForkDatabase<Block> {
    let mut database = ForkDatabase::new(root());
    line(&mut database, root(), 300, 0, |n| n as usize % 4);
    follow(&mut database, &BTreeSet::new());
    let mut parent = id(200, 0);
    for n in 0..SIDE {
        let block = child(parent, n + 1, 2);
        if n % bush == bush - 1 && parent.number() < 390 {
            parent = block.id;
        }
        database.push(block);
    }
    database
}

#[test]
fn side_blocks_cost_the_main_branch_nothing() {
    let finality = Finality::Votes {
        witnesses: (0..4).map(witness).collect(),
        needed: 3,
    };
    for bush in [1, 7, SIDE] {
        let mut database = beside(bush);
        assert_eq!(database.side_len(), SIDE as usize);
        let mut dead = 0;
        let moved = looks(|| {
            for number in 101..200 {
                database.advance(number);
            }
            dead = SIDE - database.side_len() as u32;
        });
        assert_eq!(dead, 0, "they part at block 200");
        assert!(
            moved <= 99 * LOOKS_A_BLOCK,
            "bushes of {bush}: {moved} looks for 99 blocks"
        );
        let grown = looks(|| {
            for number in 401..=500 {
                database.push(child(id(number - 1, 0), 0, number as usize % 4));
                follow(&mut database, &BTreeSet::new());
                database.irreversible(&finality);
            }
        });
        assert!(
            grown <= 100 * LOOKS_A_BLOCK,
            "bushes of {bush}: {grown} looks for 100 blocks"
        );
        let died = looks(|| drop(database.advance(201)));
        assert_eq!(database.side_len(), 0);
        let limit = u64::from(SIDE + 2) * LOOKS_A_BLOCK;
        assert!(
            died <= limit,
            "bushes of {bush}: {died} looks for {SIDE} dead blocks"
        );
    }
}

#[test]
fn a_refused_block_costs_what_continues_it() {
    let mut database = beside(7);
    for tail in 0..100 {
        let bad = child(id(390, 0), 10_000 + tail, 2);
        database.push(bad.clone());
        database.push(child(bad.id, tail, 2));
        let refused = looks(|| assert!(database.refuse(&bad.id, "invalid").is_some()));
        assert!(refused <= 4 * LOOKS_A_BLOCK, "{refused} looks");
    }
    assert_eq!(database.side_len(), SIDE as usize);
}

#[test]
fn room_is_made_once_in_a_thousand_blocks() {
    for bush in [1, 7, SIDE] {
        let mut database = beside(bush);
        let parents: Vec<BlockId> = database.main_branch().map(|block| block.id).collect();
        let count = 2 * MAX_SIDE_BLOCKS as u32;
        let pushed = looks(|| {
            for n in 0..count {
                let parent = parents[100 + n as usize % 190];
                let block = child(parent, 20_000 + n, 3);
                database.push(Block { bytes: 10, ..block });
            }
        });
        assert!(database.side_len() > MAX_SIDE_BLOCKS / 8 * 7 - 1);
        let limit = u64::from(count) * LOOKS_A_BLOCK;
        assert!(
            pushed <= limit,
            "bushes of {bush}: {pushed} looks for {count} blocks"
        );
    }
}
