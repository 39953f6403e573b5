//! What makes a block irreversible.

use std::collections::BTreeSet;

use super::*;

#[test]
fn three_quarters_of_the_witnesses_make_a_block_irreversible_and_kill_other_forks() {
    let mut database = ForkDatabase::new(root());
    let finality = Finality::Votes {
        witnesses: (0..4).map(witness).collect(),
        needed: 3,
    };
    let none = BTreeSet::new();
    // A fork of two blocks, by witness 3.
    line(&mut database, root(), 2, 9, |_| 3);
    follow(&mut database, &none);
    assert_eq!(database.irreversible(&finality), 100);
    line(&mut database, root(), 4, 1, |n| n as usize % 3);
    follow(&mut database, &none);
    // Witnesses 1, 2, 0 have 102, 103, 104; witness 3 has voted for the other fork, that is for the root only.
    assert_eq!(database.irreversible(&finality), 102);
    let gone: Vec<u32> = database
        .advance(102)
        .iter()
        .map(|block| block.id.number())
        .collect();
    assert_eq!(gone, [101, 102]);
    assert_eq!(
        (database.root(), database.main_len(), database.side_len()),
        (id(102, 1), 2, 0)
    );
    assert_eq!(
        database.push(child(id(103, 9), 9, 3)),
        Push::Unlinked,
        "the fork is not known any more"
    );
    assert_eq!(database.push(child(id(101, 1), 9, 3)), Push::TooOld);
    assert_eq!(database.irreversible(&finality), 102, "it never goes back");
}

#[test]
fn a_block_that_was_never_applied_has_no_vote() {
    let mut database = ForkDatabase::new(root());
    let finality = Finality::Votes {
        witnesses: (0..3).map(witness).collect(),
        needed: 3,
    };
    let head = line(&mut database, root(), 6, 1, |n| n as usize % 3);
    follow(&mut database, &BTreeSet::new());
    assert_eq!(database.irreversible(&finality), 104);
    // Anybody can write three names on blocks.
    let forged = line(&mut database, id(101, 1), 4, 7, |n| n as usize % 3);
    assert_eq!(forged.number(), 105);
    assert_eq!(database.irreversible(&finality), 104);
    assert_eq!(database.head(), head);
}

#[test]
fn a_block_without_a_vote_confirms_nothing() {
    let mut database = ForkDatabase::new(root());
    let finality = Finality::Producers {
        needed: 3,
        within: 42,
    };
    line(&mut database, root(), 6, 1, |n| n as usize);
    for number in 101..=106 {
        // The fourth, fifth and sixth witness are not known from before.
        database.applied(&id(number, 1), number <= 103);
        let expected = if number >= 103 { 101 } else { 100 };
        assert_eq!(database.irreversible(&finality), expected, "at {number}");
    }
}

#[test]
fn without_the_schedule_only_the_last_two_rounds_count() {
    let mut database = ForkDatabase::new(root());
    let finality = Finality::Producers {
        needed: 3,
        within: 42,
    };
    // Two witnesses at the beginning, then one alone for longer than two rounds, then a third.
    line(&mut database, root(), 60, 1, |n| n.min(2) as usize);
    follow(&mut database, &BTreeSet::new());
    assert_eq!(database.irreversible(&finality), 100);
    line(&mut database, id(160, 1), 1, 1, |_| 0);
    follow(&mut database, &BTreeSet::new());
    assert_eq!(
        database.irreversible(&finality),
        100,
        "the second one's vote is too old"
    );
    line(&mut database, id(161, 1), 1, 1, |_| 1);
    follow(&mut database, &BTreeSet::new());
    assert_eq!(database.irreversible(&finality), 160);
}

#[test]
fn in_the_mining_era_depth_is_enough() {
    let mut database = ForkDatabase::new(root());
    let finality = Finality::Depth(21);
    line(&mut database, root(), 30, 1, |_| 1);
    follow(&mut database, &BTreeSet::new());
    assert_eq!(database.irreversible(&finality), 109);
    database.advance(109);
    assert_eq!(database.irreversible(&finality), 109);
}
