//! Branches of a few blocks.

use std::collections::BTreeSet;

use super::*;

#[test]
fn the_longer_branch_wins_and_of_equal_ones_the_first() {
    let mut database = ForkDatabase::new(root());
    let none = BTreeSet::new();
    let first = line(&mut database, root(), 3, 1, |_| 1);
    follow(&mut database, &none);
    assert_eq!(database.head(), first);
    let second = line(&mut database, root(), 3, 2, |_| 2);
    follow(&mut database, &none);
    assert_eq!(database.head(), first, "equally long");
    let longer = line(&mut database, second, 1, 2, |_| 2);
    assert_eq!(database.route(&longer).unwrap().fork_point, 100);
    follow(&mut database, &none);
    assert_eq!(database.head(), longer);
    assert_eq!((database.main_len(), database.side_len()), (4, 3));
}

#[test]
fn an_invalid_block_brings_the_old_head_back_and_is_remembered() {
    let mut database = ForkDatabase::new(root());
    let old = line(&mut database, root(), 5, 1, |_| 1);
    follow(&mut database, &BTreeSet::new());
    // The third of six is invalid.
    let bad = id(103, 2);
    line(&mut database, root(), 6, 2, |_| 2);
    follow(&mut database, &BTreeSet::from([bad]));
    assert_eq!(database.head(), old);
    assert_eq!(&**database.refusal(&bad).unwrap(), "invalid");
    let again = child(id(102, 2), 2, 2);
    assert!(matches!(database.push(again), Push::Refused(reason) if &*reason == "invalid"));
    let descendant = child(id(105, 2), 2, 2);
    assert!(matches!(database.push(descendant), Push::Refused(reason) if reason.contains("block 103")));
    let unheard_of = child(id(106, 2), 9, 2);
    assert!(matches!(database.push(unheard_of), Push::Refused(_)));
    // Equally high as the old head when the invalid one is met: still the old one.
    line(&mut database, root(), 6, 3, |_| 2);
    follow(&mut database, &BTreeSet::from([id(106, 3)]));
    assert_eq!(database.head(), old);
}

#[test]
fn blocks_wait_for_their_parent_and_not_for_ever() {
    let mut database = ForkDatabase::new(root());
    let mut blocks = Vec::new();
    let mut at = root();
    for tail in 0..MAX_UNLINKED_BLOCKS as u32 + 10 {
        blocks.push(child(at, tail, 1));
        at = blocks[blocks.len() - 1].id;
    }
    for block in blocks[1..].iter().rev() {
        assert_eq!(database.push(block.clone()), Push::Unlinked);
    }
    assert_eq!(database.unlinked_len(), MAX_UNLINKED_BLOCKS);
    assert_eq!(database.push(blocks[5].clone()), Push::Known);
    assert_eq!(database.push(blocks[0].clone()), Push::Linked);
    follow(&mut database, &BTreeSet::new());
    // The highest ones came first and had to make room.
    assert_eq!(database.main_len(), MAX_UNLINKED_BLOCKS + 1);
    assert_eq!(database.unlinked_len(), 0);
}

#[test]
fn what_is_not_above_the_root_is_too_old() {
    let mut database = ForkDatabase::new(root());
    assert_eq!(database.push(child(id(99, 5), 5, 1)), Push::TooOld);
    assert_eq!(
        database.push(child(id(100, 5), 5, 1)),
        Push::TooOld,
        "its parent is not the root"
    );
    assert_eq!(database.push(child(id(98, 5), 5, 1)), Push::TooOld);
    let root_itself = child(id(99, 0), 0, 1);
    assert_eq!(
        (root_itself.id, database.push(root_itself)),
        (root(), Push::Known)
    );
}
