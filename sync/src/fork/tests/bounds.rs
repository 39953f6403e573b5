//! What a peer can make the database hold.

use std::collections::BTreeSet;

use super::*;

#[test]
fn a_branch_that_has_just_become_the_longest_is_not_cut() {
    let mut database = ForkDatabase::new(root());
    let block = |parent, tail| Block {
        bytes: MAX_SIDE_BYTES / 10,
        ..child(parent, tail, 1)
    };
    // Other branches fill the room.
    for tail in 100..109 {
        database.push(block(root(), tail));
    }
    follow(&mut database, &BTreeSet::new());
    let mut at = root();
    for tail in 1..12 {
        let next = block(at, tail);
        at = next.id;
        database.push(next);
        follow(&mut database, &BTreeSet::new());
        assert!(database.side_len() * (MAX_SIDE_BYTES / 10) <= MAX_SIDE_BYTES);
    }
    assert_eq!(database.head(), at);
}

#[test]
fn side_branches_are_bounded_and_the_main_branch_stays() {
    let mut database = ForkDatabase::new(root());
    let head = line(&mut database, root(), 50, 0, |_| 1);
    follow(&mut database, &BTreeSet::new());
    for tail in 1..=(MAX_SIDE_BLOCKS as u32 + 500) {
        database.push(child(id(120, 0), tail, 2));
        assert!(database.side_len() <= MAX_SIDE_BLOCKS);
    }
    assert_eq!((database.head(), database.main_len()), (head, 50));
    assert!(database.side_len() > MAX_SIDE_BLOCKS / 2);
    let mut database = ForkDatabase::new(root());
    for tail in 1..10 {
        let block = Block {
            bytes: MAX_SIDE_BYTES / 4,
            ..child(root(), tail, 2)
        };
        database.push(block);
        assert!(database.bytes() <= MAX_SIDE_BYTES);
    }
}

#[test]
fn refused_ids_are_bounded() {
    let mut database = ForkDatabase::new(root());
    for tail in 0..MAX_REFUSED as u32 + 100 {
        database.push(child(root(), tail, 2));
        database.refuse(&id(101, tail), "invalid");
    }
    assert_eq!(database.refused_len(), MAX_REFUSED);
    assert!(database.refusal(&id(101, 0)).is_none());
}
