//! Drawing.

use std::convert::Infallible;

use cairn_chain::{AccountName, Time};

use super::{counts, many, name, names, queued, witnesses};
use crate::schedule::draw::{
    Dequeued, Draw, DrawInput, Schedule, Undecidable, WitnessCounts, WitnessFact, draw,
};
use crate::schedule::shuffle::shuffle;

const TIME: Time = Time(1_600_000_000);

fn input(block: u32, hardfork: u8, counts: WitnessCounts) -> DrawInput {
    DrawInput {
        block,
        time: TIME,
        hardfork,
        miner_voting_block: 864_000,
        votes_exist: false,
        virtual_times_differ: false,
        counts,
    }
}

fn run(input: &DrawInput, facts: &[WitnessFact]) -> Draw {
    // Facts come in any order.
    let mut facts = facts.to_vec();
    facts.reverse();
    let Ok(draw) = draw(input, || Ok::<_, Infallible>(facts));
    draw
}

/// The schedule that this list gives, with nothing taken off the queue.
fn known(list: Vec<AccountName>) -> Draw {
    known_dequeued(list, &[])
}

fn known_dequeued(mut list: Vec<AccountName>, dequeued: &[&str]) -> Draw {
    shuffle(&mut list, TIME);
    Draw {
        schedule: Schedule::Known(list),
        dequeued: Dequeued::Known(names(dequeued)),
    }
}

fn unknown(size: u8, distinct: bool, reason: Undecidable, dequeued: Dequeued) -> Draw {
    Draw {
        schedule: Schedule::Unknown {
            size,
            distinct,
            reason,
        },
        dequeued,
    }
}

fn numbered(numbers: impl Iterator<Item = u32>) -> Vec<AccountName> {
    numbers.map(|number| name(&format!("w-{number:03}"))).collect()
}

#[test]
fn without_votes_the_top_is_by_name_and_the_last_place_by_creation() {
    // 27 witnesses w-073 to w-099, of which w-099 was first.
    let facts = many(27);
    let mut expected = numbered(73..93);
    expected.push(name("w-099"));
    for hardfork in [17, 20, 26, 28] {
        assert_eq!(
            run(&input(21, hardfork, counts(&facts)), &facts),
            known(expected.clone()),
            "{hardfork}"
        );
    }
    // 19 at the top before hardfork 17, and with nobody in the queue two by creation.
    let mut expected = numbered(73..92);
    expected.extend([name("w-099"), name("w-098")]);
    for hardfork in [4, 13, 16] {
        assert_eq!(
            run(&input(21, hardfork, counts(&facts)), &facts),
            known(expected.clone()),
            "{hardfork}"
        );
    }
    // Fewer than 21: all of them.
    let facts = witnesses(&["initminer", "carol", "alice"]);
    let expected = names(&["alice", "carol", "initminer"]);
    assert_eq!(run(&input(42, 27, counts(&facts)), &facts), known(expected));
}

#[test]
fn disabled_witnesses_are_passed_over_since_hardfork_14() {
    let mut facts = many(27);
    for disabled in ["w-073", "w-099"] {
        facts
            .iter_mut()
            .find(|fact| fact.name == name(disabled))
            .unwrap()
            .enabled = false;
    }
    let mut expected = numbered(74..94);
    expected.push(name("w-098"));
    assert_eq!(run(&input(21, 17, counts(&facts)), &facts), known(expected));
    let mut expected = numbered(74..93);
    expected.extend([name("w-098"), name("w-097")]);
    assert_eq!(run(&input(21, 14, counts(&facts)), &facts), known(expected));
    let mut expected = numbered(73..92);
    expected.extend([name("w-099"), name("w-098")]);
    assert_eq!(run(&input(21, 13, counts(&facts)), &facts), known(expected));
    // Nobody left: an empty name is scheduled, which nobody has.
    let mut facts = witnesses(&["alice"]);
    facts[0].enabled = false;
    assert_eq!(
        run(&input(21, 20, counts(&facts)), &facts),
        known(vec![AccountName::EMPTY])
    );
}

#[test]
fn one_miner_is_taken_from_the_queue_until_hardfork_17() {
    let mut facts = many(27);
    // The first two are among the top 19 and leave the queue without getting its place.
    queued(
        &mut facts,
        &[("w-080", 3), ("w-073", 4), ("w-095", 7), ("w-096", 9)],
    );
    let mut expected = numbered(73..92);
    expected.extend([name("w-095"), name("w-099")]);
    let expected = known_dequeued(expected, &["w-080", "w-073", "w-095"]);
    assert_eq!(run(&input(21, 4, counts(&facts)), &facts), expected);
    assert_eq!(run(&input(21, 16, counts(&facts)), &facts), expected);
    // Since 14 a miner without a key leaves it as well.
    facts
        .iter_mut()
        .find(|fact| fact.name == name("w-095"))
        .unwrap()
        .enabled = false;
    let mut list = numbered(73..92);
    list.extend([name("w-096"), name("w-099")]);
    let expected = known_dequeued(list, &["w-080", "w-073", "w-095", "w-096"]);
    assert_eq!(run(&input(21, 14, counts(&facts)), &facts), expected);
    // Since 17 the queue is left alone.
    let mut list = numbered(73..93);
    list.push(name("w-099"));
    assert_eq!(run(&input(21, 17, counts(&facts)), &facts), known(list));
}

#[test]
fn votes_make_the_schedule_unknown_but_not_its_size() {
    let facts = many(27);
    let voted = |hardfork, facts: &[WitnessFact]| {
        let input = DrawInput {
            votes_exist: true,
            ..input(21, hardfork, counts(facts))
        };
        run(&input, facts)
    };
    let none = || Dequeued::Known(Vec::new());
    assert_eq!(voted(28, &facts), unknown(21, true, Undecidable::Votes, none()));
    assert_eq!(voted(16, &facts), unknown(21, true, Undecidable::Votes, none()));
    let mut with_queue = facts.clone();
    queued(&mut with_queue, &[("w-080", 3)]);
    assert_eq!(
        voted(16, &with_queue),
        unknown(21, true, Undecidable::Votes, Dequeued::Unknown)
    );
    assert_eq!(
        voted(17, &with_queue),
        unknown(21, true, Undecidable::Votes, none())
    );
    let three = witnesses(&["alice", "bob", "carol"]);
    assert_eq!(voted(20, &three), unknown(3, true, Undecidable::Votes, none()));
    // A single witness is scheduled whoever votes for it.
    let one = witnesses(&["alice"]);
    assert_eq!(voted(20, &one), known(names(&["alice"])));
    let mut one_enabled = witnesses(&["alice", "bob"]);
    one_enabled[0].enabled = false;
    assert_eq!(voted(20, &one_enabled), known(names(&["bob"])));
    assert_eq!(
        voted(13, &one_enabled),
        unknown(2, true, Undecidable::Votes, none())
    );
    // Witnesses are not asked for where they cannot help.
    let input = DrawInput {
        votes_exist: true,
        ..input(21, 20, counts(&facts))
    };
    assert_eq!(draw(&input, || Err("not needed")), Ok(voted(20, &facts)));
}

#[test]
fn an_unknown_queue_makes_the_schedule_unknown_until_hardfork_17() {
    let facts = many(27);
    let counts = WitnessCounts {
        queue_is_known: false,
        ..counts(&facts)
    };
    let expected = unknown(21, true, Undecidable::MiningQueue, Dequeued::Unknown);
    assert_eq!(run(&input(21, 16, counts), &facts), expected);
    assert!(matches!(
        run(&input(21, 17, counts), &facts).schedule,
        Schedule::Known(_)
    ));
}

#[test]
fn old_votes_leave_virtual_times_that_differ() {
    let after_votes = |hardfork, facts: &[WitnessFact]| {
        let input = DrawInput {
            virtual_times_differ: true,
            ..input(21, hardfork, counts(facts))
        };
        run(&input, facts)
    };
    let facts = many(27);
    let none = || Dequeued::Known(Vec::new());
    assert_eq!(
        after_votes(20, &facts),
        unknown(21, true, Undecidable::VirtualTimes, none())
    );
    // The queue does not depend on them.
    let mut with_queue = facts;
    queued(&mut with_queue, &[("w-080", 3), ("w-095", 4)]);
    let dequeued = Dequeued::Known(names(&["w-080", "w-095"]));
    assert_eq!(
        after_votes(16, &with_queue),
        unknown(21, true, Undecidable::VirtualTimes, dequeued)
    );
    // Where at most one is left for the places by virtual time, they do not matter.
    for count in [20, 21] {
        let facts = many(count);
        assert_eq!(
            after_votes(20, &facts),
            run(&input(21, 20, counts(&facts)), &facts),
            "{count}"
        );
    }
    assert!(matches!(
        after_votes(20, &many(22)).schedule,
        Schedule::Unknown { size: 21, .. }
    ));
}

#[test]
fn early_chain_schedules_the_queue_alone() {
    let mut facts = witnesses(&["initminer", "alice", "bob", "carol"]);
    queued(&mut facts, &[("carol", 1), ("alice", 5)]);
    let list = names(&["carol", "alice"]);
    // Whoever votes.
    let voted = DrawInput {
        votes_exist: true,
        virtual_times_differ: true,
        ..input(863_982, 3, counts(&facts))
    };
    assert_eq!(run(&voted, &facts), known(list));

    // Of 22 miners the first is taken off, the other 21 are scheduled; of 25 the last three wait.
    let queue_of = |count: u32| {
        let mut facts = many(30);
        (0u32..)
            .zip(&mut facts)
            .take(count as usize)
            .for_each(|(index, fact)| {
                fact.queue_number = u64::from(100 - index);
            });
        facts
    };
    let facts = queue_of(25);
    // w-075 has number 76, the lowest; w-099 number 100.
    let expected = known_dequeued(numbered(76..97), &["w-075"]);
    assert_eq!(run(&input(21, 0, counts(&facts)), &facts), expected);
    let facts = queue_of(21);
    assert_eq!(
        run(&input(21, 3, counts(&facts)), &facts),
        known(numbered(79..100))
    );
    // The counter decides, and it counts the very first proof of work, which is not in the queue.
    let counted = WitnessCounts {
        mining_counter: 22,
        ..counts(&facts)
    };
    assert_eq!(
        run(&input(21, 3, counted), &facts),
        known_dequeued(numbered(80..100), &["w-079"])
    );
    // A counter without a queue leaves nobody.
    let facts = witnesses(&["initminer"]);
    let counted = WitnessCounts {
        mining_counter: 1,
        ..counts(&facts)
    };
    assert_eq!(
        run(&input(21, 0, counted), &facts),
        known(vec![AccountName::EMPTY])
    );
}

#[test]
fn early_chain_without_miners() {
    // At first initminer twice.
    let one = witnesses(&["initminer"]);
    assert_eq!(
        run(&input(21, 0, counts(&one)), &one),
        known(names(&["initminer", "initminer"]))
    );
    let three = witnesses(&["initminer", "bob", "alice"]);
    let list = names(&["alice", "bob", "initminer", "initminer"]);
    assert_eq!(run(&input(21, 3, counts(&three)), &three), known(list));
    // Votes decide about the order.
    let none = Dequeued::Known(Vec::new());
    let voted = |facts: &[WitnessFact]| {
        run(
            &DrawInput {
                votes_exist: true,
                ..input(21, 2, counts(facts))
            },
            facts,
        )
    };
    assert_eq!(voted(&three), unknown(4, false, Undecidable::Votes, none.clone()));
    assert_eq!(voted(&one), known(names(&["initminer", "initminer"])));
    let after = DrawInput {
        virtual_times_differ: true,
        ..input(21, 2, counts(&three))
    };
    assert_eq!(
        run(&after, &three),
        unknown(4, false, Undecidable::VirtualTimes, none.clone())
    );
    // More than 19 leave one outside, whose virtual time is not followed.
    let nineteen = many(19);
    let mut list = numbered(81..100);
    list.push(name("w-099"));
    assert_eq!(run(&input(21, 0, counts(&nineteen)), &nineteen), known(list));
    let twenty = many(20);
    let expected = unknown(20, false, Undecidable::ManyEarlyWitnesses, none);
    assert_eq!(run(&input(21, 0, counts(&twenty)), &twenty), expected);
}

#[test]
fn after_the_mining_era_one_miner_follows_the_voted() {
    let mut facts = witnesses(&["initminer", "alice", "bob", "carol"]);
    queued(&mut facts, &[("carol", 1), ("alice", 5)]);
    // Block 864003 is the first that ends a round behind 864000.
    let list = names(&["bob", "initminer", "initminer", "carol"]);
    assert_eq!(run(&input(864_003, 3, counts(&facts)), &facts), known(list));
    let voted = DrawInput {
        votes_exist: true,
        ..input(864_003, 3, counts(&facts))
    };
    let expected = unknown(4, false, Undecidable::Votes, Dequeued::Known(Vec::new()));
    assert_eq!(run(&voted, &facts), expected);
}
