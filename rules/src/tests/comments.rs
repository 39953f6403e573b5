//! Comments, their intervals, and deleting them, by hardfork.

use cairn_chain::operations::{Comment as CommentOp, DeleteComment, Vote};
use cairn_chain::{ChainSpec, Operation, Text};

use super::world::{START, World, name};
use crate::checks::Undecided;
use crate::error::OperationFault;
use crate::registers::{Comment, CommentId};

fn comment<'a>(author: &str, permlink: &'a str, parent_author: &str, parent: &'a str) -> Operation<'a> {
    Operation::Comment(CommentOp {
        parent_author: name(parent_author),
        parent_permlink: Text::from(parent),
        author: name(author),
        permlink: Text::from(permlink),
        title: Text(b""),
        body: Text(b"body"),
        json_metadata: Text(b""),
    })
}

fn root<'a>(author: &str, permlink: &'a str) -> Operation<'a> {
    comment(author, permlink, "", "tag")
}

fn delete<'a>(author: &str, permlink: &'a str) -> Operation<'a> {
    Operation::DeleteComment(DeleteComment {
        author: name(author),
        permlink: Text::from(permlink),
    })
}

fn vote<'a>(author: &str, permlink: &'a str) -> Operation<'a> {
    let (voter, author) = (name("dan"), name(author));
    Operation::Vote(Vote {
        voter,
        author,
        permlink: Text::from(permlink),
        weight: 10_000,
    })
}

fn find(world: &mut World, author: &str, permlink: &str) -> Option<Comment> {
    world.find(CommentId {
        author: &name(author),
        permlink: permlink.as_bytes(),
    })
}

/// Tries an operation so many seconds after another one.
fn try_after(
    spec: &ChainSpec,
    hardfork: u8,
    first: &Operation<'_>,
    second: &Operation<'_>,
    seconds: u32,
) -> bool {
    let mut world = World::new(spec.clone(), hardfork).with(&["alice", "bob"]);
    world.does(&root("bob", "post"));
    world.does(first);
    world.time(START + seconds);
    world.run(second).is_ok()
}

/// So many seconds must lie between two posts, and one less is too few.
fn check_interval(spec: &ChainSpec, hardfork: u8, first: &Operation<'_>, second: &Operation<'_>, least: u32) {
    assert!(
        try_after(spec, hardfork, first, second, least),
        "hardfork {hardfork}, {least} s"
    );
    if least > 0 {
        assert!(
            !try_after(spec, hardfork, first, second, least - 1),
            "hardfork {hardfork}, less than {least} s"
        );
    }
}

#[test]
fn intervals() {
    let hive = ChainSpec::hive();
    let steem = ChainSpec::steem_testnet();
    let (first, second) = (root("alice", "one"), root("alice", "two"));
    let (reply, other) = (
        comment("alice", "re-one", "bob", "post"),
        comment("alice", "re-two", "bob", "post"),
    );
    check_interval(&hive, 5, &first, &second, 61);
    check_interval(&hive, 5, &reply, &other, 61);
    check_interval(&hive, 6, &first, &second, 301);
    check_interval(&hive, 6, &reply, &other, 3);
    check_interval(&hive, 28, &first, &reply, 3);
    // Root posts only wait for root posts.
    check_interval(&hive, 28, &reply, &first, 0);
    check_interval(&steem, 19, &reply, &other, 21);
    check_interval(&steem, 20, &reply, &other, 3);
    // Edits: since hardfork 21.
    check_interval(&hive, 20, &first, &first, 0);
    check_interval(&hive, 21, &first, &first, 3);
}

#[test]
fn parents_and_depths() {
    let mut world = World::testnet(28);
    world.does(&root("alice", "one"));
    world.does(&comment("bob", "re", "alice", "one"));
    let reply = find(&mut world, "bob", "re").unwrap();
    assert_eq!((reply.depth, reply.replies), (1, 0));
    assert!(reply.replies_to(&name("alice"), b"one"));
    assert_eq!(find(&mut world, "alice", "one").unwrap().replies, 1);
    let missing = world.run(&comment("carol", "re", "alice", "two"));
    assert!(matches!(missing, Err(OperationFault::NoComment { .. })));
    world.time(START + 3);
    assert_eq!(
        world
            .run(&comment("bob", "re", "alice", "re"))
            .err()
            .map(|fault| fault.to_string()),
        Some("comment @alice/re does not exist".to_owned())
    );
    assert_eq!(
        world.run(&comment("bob", "re", "bob", "re")),
        Err(OperationFault::ParentChanged)
    );
    assert_eq!(world.run(&root("bob", "re")), Err(OperationFault::ParentChanged));
    assert_eq!(
        world.run(&comment("alice", "one", "bob", "re")),
        Err(OperationFault::ParentChanged)
    );
    world.hardfork(20);
    // Before hardfork 21 an edit may name any parent, and changes nothing by it.
    world.does(&comment("alice", "one", "bob", "re"));
    assert_eq!(find(&mut world, "alice", "one").unwrap().depth, 0);
    assert_eq!(world.run(&root("bob", "re")), Err(OperationFault::ParentChanged));
}

#[test]
fn depth_is_limited_before_hardfork_17() {
    let mut world = World::testnet(16);
    let permlinks = ["c0", "c1", "c2", "c3", "c4", "c5", "c6", "c7"];
    world.does(&root("alice", permlinks[0]));
    for (parent, permlink) in permlinks.iter().zip(&permlinks[1..7]) {
        world.time(world.now() + 3);
        world.does(&comment("alice", permlink, "alice", parent));
    }
    assert_eq!(find(&mut world, "alice", "c6").unwrap().depth, 6);
    world.time(world.now() + 3);
    let deeper = comment("alice", "c7", "alice", "c6");
    assert_eq!(
        world.run(&deeper),
        Err(OperationFault::Depth { limit: 6, found: 6 })
    );
    world.hardfork(17);
    world.does(&deeper);
}

#[test]
fn permlinks_of_new_comments() {
    for (permlink, hardfork, allowed) in [
        ("Post", 0, true),
        ("Post", 1, false),
        ("", 0, true),
        ("", 1, false),
        ("a-0", 1, true),
        ("a_0", 28, false),
    ] {
        let result = World::testnet(hardfork).run(&root("alice", permlink));
        assert_eq!(
            result.is_ok(),
            allowed,
            "{permlink:?} at hardfork {hardfork}: {result:?}"
        );
    }
    let long = "x".repeat(256);
    let mut world = World::testnet(28);
    assert_eq!(
        world.run_reduced(&root("alice", &long)),
        Err(OperationFault::PermlinkLength(256))
    );
    world.does(&root("alice", &long[..255]));
}

#[test]
fn deleting() {
    let mut world = World::testnet(28);
    world.does(&root("alice", "one"));
    world.does(&comment("bob", "re", "alice", "one"));
    assert_eq!(
        world.run(&delete("alice", "one")),
        Err(OperationFault::HasReplies(1))
    );
    world.does(&delete("bob", "re"));
    assert!(find(&mut world, "bob", "re").is_none());
    assert!(matches!(
        world.run(&delete("bob", "re")),
        Err(OperationFault::NoComment { .. })
    ));
    assert!(matches!(
        world.run(&vote("bob", "re")),
        Err(OperationFault::NoComment { .. })
    ));
    world.does(&delete("alice", "one"));
    assert!(find(&mut world, "alice", "one").is_none());
    assert!(matches!(
        world.run_reduced(&delete("alice", "one")),
        Err(OperationFault::NoComment { .. })
    ));
}

#[test]
fn deleting_before_hardfork_19_is_undecided() {
    let mut world = World::testnet(18);
    world.does(&root("alice", "one"));
    world.does(&comment("bob", "re", "alice", "one"));
    world.does(&delete("bob", "re"));
    assert!(find(&mut world, "bob", "re").unwrap().flags.deletion_undecided);
    let parent = find(&mut world, "alice", "one").unwrap();
    assert_eq!((parent.replies, parent.flags.replies_undecided), (0, true));
    // Whoever needs it says that it was there; that is let through and counted.
    world.does(&vote("bob", "re"));
    world.does(&delete("bob", "re"));
    assert_eq!(
        find(&mut world, "alice", "one").unwrap().replies,
        0,
        "a reply is lost once"
    );
    let undecided = &world.state.checks().undecided;
    assert_eq!(
        (
            undecided[&Undecided::CommentDeletion],
            undecided[&Undecided::CommentExistence]
        ),
        (2, 2)
    );
    // A new comment under its name is there for certain, whatever it replies to.
    world.time(START + 400);
    world.does(&root("bob", "re"));
    let again = find(&mut world, "bob", "re").unwrap();
    assert_eq!((again.flags.deletion_undecided, again.depth), (false, 0));
}
