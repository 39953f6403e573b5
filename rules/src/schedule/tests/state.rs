//! From block to block.

use std::convert::Infallible;

use cairn_chain::{AccountName, Time};

use super::{counts, name, names, witnesses};
use crate::schedule::{
    Dequeued, Missed, RoundInput, Schedule, ScheduleState, Slot, SlotCheck, SlotError, Undecidable,
    WitnessFact,
};

const GENESIS: Time = Time(1_599_999_999);

fn round(hardfork: u8, votes_exist: bool, facts: &[WitnessFact]) -> RoundInput {
    RoundInput {
        hardfork,
        miner_voting_block: 30,
        votes_exist,
        counts: counts(facts),
    }
}

/// A chain that makes its own blocks: the scheduled witness in the next slot, or anybody where the list is not known.
struct Chain {
    state: ScheduleState,
    facts: Vec<WitnessFact>,
    hardfork: u8,
    votes_exist: bool,
}

impl Chain {
    fn new(hardfork: u8, facts: Vec<WitnessFact>) -> Self {
        let mut state = ScheduleState::genesis(name("initminer"));
        (1..=hardfork).for_each(|number| state.note_hardfork(number));
        Self {
            state,
            facts,
            hardfork,
            votes_exist: false,
        }
    }

    fn next_slot(&self) -> (Time, Slot) {
        let time = self
            .state
            .head()
            .map_or(GENESIS.seconds() + 3, |(_, time)| time.seconds() + 3);
        (Time(time), self.state.slot(GENESIS, Time(time)).unwrap())
    }

    fn next_witness(&self, slot: Slot) -> AccountName {
        match self.state.current() {
            Schedule::Known(list) => list[(slot.counter % list.len() as u64) as usize],
            Schedule::Unknown { size, .. } => name(&format!("any-{}", slot.counter % u64::from(*size))),
        }
    }

    fn block(&mut self) -> SlotCheck {
        let (time, slot) = self.next_slot();
        let witness = self.next_witness(slot);
        let check = self.state.check(slot, witness).unwrap();
        let number = self.state.head().map_or(1, |(number, _)| number + 1);
        self.state.advance(number, time, slot, witness);
        let round = round(self.hardfork, self.votes_exist, &self.facts);
        let Ok(_) = self
            .state
            .end_of_block(&round, || Ok::<_, Infallible>(self.facts.clone()));
        check
    }

    fn blocks(&mut self, count: u32) {
        (0..count).for_each(|_| {
            self.block();
        });
    }

    fn sorted(schedule: &Schedule) -> Option<Vec<AccountName>> {
        let Schedule::Known(list) = schedule else {
            return None;
        };
        let mut list = list.clone();
        list.sort_unstable();
        Some(list)
    }
}

#[test]
fn a_list_is_in_force_after_the_round_that_drew_it() {
    let facts = witnesses(&["initminer", "alice", "bob"]);
    let all = names(&["alice", "bob", "initminer"]);
    let mut chain = Chain::new(25, facts.clone());
    chain.blocks(20);
    assert_eq!(Chain::sorted(chain.state.current()), Some(names(&["initminer"])));
    chain.block();
    assert_eq!(Chain::sorted(chain.state.current()), Some(all.clone()));
    assert_eq!(chain.state.for_irreversibility(), chain.state.current());

    // Since hardfork 26 one round later, but known, and used for irreversibility, before.
    let mut chain = Chain::new(26, facts);
    chain.blocks(21);
    assert_eq!(Chain::sorted(chain.state.current()), Some(names(&["initminer"])));
    assert_eq!(Chain::sorted(chain.state.for_irreversibility()), Some(all));
    let next = chain.state.for_irreversibility().clone();
    chain.blocks(21);
    assert_eq!(chain.state.current(), &next);
}

#[test]
fn votes_for_hardforks_are_counted_over_the_list_before() {
    let facts = witnesses(&["initminer", "alice"]);
    for (hardfork, counted) in [(5, vec!["initminer"]), (26, vec!["initminer"])] {
        let mut chain = Chain::new(hardfork, facts.clone());
        chain.blocks(20);
        let (time, slot) = chain.next_slot();
        chain.state.advance(21, time, slot, chain.next_witness(slot));
        let round = round(hardfork, false, &facts);
        let Ok(end) = chain
            .state
            .end_of_block(&round, || Ok::<_, Infallible>(facts.clone()));
        let end = end.unwrap();
        assert_eq!(
            Chain::sorted(&end.counted),
            Some(names(&counted)),
            "hardfork {hardfork}"
        );
        assert_eq!(end.dequeued, Dequeued::Known(Vec::new()));
        // Only once a round.
        chain
            .state
            .advance(22, Time(time.seconds() + 3), slot, name("initminer"));
        assert_eq!(chain.state.end_of_block(&round, || Err("not needed")), Ok(None));
    }
}

#[test]
fn an_error_leaves_the_schedule_as_it_was() {
    let mut chain = Chain::new(20, witnesses(&["initminer", "alice"]));
    chain.blocks(20);
    let (time, slot) = chain.next_slot();
    chain.state.advance(21, time, slot, name("initminer"));
    let before = chain.state.clone();
    let round = round(20, false, &chain.facts);
    assert_eq!(chain.state.end_of_block(&round, || Err("disk")), Err("disk"));
    assert_eq!(chain.state, before);
}

#[test]
fn the_wrong_witness_or_time_is_refused() {
    let mut chain = Chain::new(20, witnesses(&["initminer", "alice", "bob"]));
    chain.blocks(25);
    let (time, slot) = chain.next_slot();
    let expected = chain.next_witness(slot);
    for witness in names(&["alice", "bob", "initminer", "carol", ""]) {
        let check = chain.state.check(slot, witness);
        if witness == expected {
            assert_eq!(check, Ok(SlotCheck::Scheduled));
        } else {
            assert_eq!(
                check,
                Err(SlotError::WrongWitness {
                    slot: 1,
                    expected,
                    found: witness
                })
            );
        }
    }
    let early = Time(time.seconds() - 1);
    let expected = SlotError::BeforeFirstSlot {
        time: early.seconds(),
        first: u64::from(time.seconds()),
    };
    assert_eq!(chain.state.slot(GENESIS, early), Err(expected));
    // The counter moves by missed slots, too.
    let late = chain.state.slot(GENESIS, Time(time.seconds() + 7 * 3)).unwrap();
    assert_eq!((late.number, late.counter), (8, slot.counter + 7));
}

#[test]
fn missed_slots_name_each_witness_once() {
    let mut chain = Chain::new(20, witnesses(&["initminer", "alice", "bob"]));
    chain.blocks(25);
    let Schedule::Known(list) = chain.state.current().clone() else {
        panic!()
    };
    let (time, next) = chain.next_slot();
    let slot = |number: u32| {
        chain
            .state
            .slot(GENESIS, Time(time.seconds() + 3 * (number - 1)))
            .unwrap()
    };
    assert_eq!(chain.state.missed(next), Missed::Known(Vec::new()));
    let turn = |number: u64| list[((chain.state.counter() + number) % 3) as usize];
    assert_eq!(chain.state.missed(slot(2)), Missed::Known(vec![turn(1)]));
    assert_eq!(chain.state.missed(slot(3)), Missed::Known(vec![turn(1), turn(2)]));
    let all = Missed::Known(vec![turn(1), turn(2), turn(3)]);
    assert_eq!(chain.state.missed(slot(4)), all);
    assert_eq!(chain.state.missed(slot(49_000_000)), all);
    // Of a list that names a witness twice, once.
    let mut early = Chain::new(0, witnesses(&["initminer"]));
    early.blocks(21);
    assert_eq!(
        early.state.current(),
        &Schedule::Known(names(&["initminer", "initminer"]))
    );
    let late = Slot {
        number: 9,
        counter: early.state.counter() + 9,
    };
    assert_eq!(early.state.missed(late), Missed::Known(names(&["initminer"])));
}

#[test]
fn within_a_round_turns_belong_to_witnesses() {
    let mut chain = Chain::new(20, witnesses(&["initminer", "alice", "bob"]));
    chain.votes_exist = true;
    chain.blocks(21);
    assert_eq!(
        chain.state.current(),
        &Schedule::Unknown {
            size: 3,
            distinct: true,
            reason: Undecidable::Votes
        }
    );
    let (_, first) = chain.next_slot();
    assert_eq!(chain.state.missed(Slot { number: 2, ..first }), Missed::Unknown);
    // Anybody may begin.
    for witness in names(&["alice", "bob", "initminer"]) {
        assert_eq!(chain.state.check(first, witness), Ok(SlotCheck::Consistent));
    }
    let advance = |state: &mut ScheduleState, slot: Slot, witness: &str| {
        let (number, time) = state.head().unwrap();
        assert_eq!(state.check(slot, name(witness)), Ok(SlotCheck::Consistent));
        state.advance(
            number + 1,
            Time(time.seconds() + 3 * slot.number),
            slot,
            name(witness),
        );
    };
    let slot = |state: &ScheduleState, number: u32| {
        let (_, head) = state.head().unwrap();
        state.slot(GENESIS, Time(head.seconds() + 3 * number)).unwrap()
    };
    advance(&mut chain.state, first, "alice");
    // The next turn is not hers; the third from now is.
    let second = slot(&chain.state, 1);
    let own_turn = (first.counter % 3) as usize;
    let turn = (second.counter % 3) as usize;
    let expected = SlotError::NotOwnTurn {
        slot: 1,
        found: name("alice"),
        own_turn,
        turn,
    };
    assert_eq!(chain.state.check(second, name("alice")), Err(expected));
    let again = slot(&chain.state, 3);
    assert_eq!(chain.state.check(again, name("alice")), Ok(SlotCheck::Consistent));
    let expected = SlotError::OthersTurn {
        slot: 3,
        expected: name("alice"),
        found: name("bob"),
    };
    assert_eq!(chain.state.check(again, name("bob")), Err(expected));
    advance(&mut chain.state, second, "bob");
    let third = slot(&chain.state, 2);
    advance(&mut chain.state, third, "alice");
    // A new round has a new list.
    let rest = 42 - chain.state.head().unwrap().0;
    for _ in 0..rest {
        let slot = slot(&chain.state, 1);
        let witness = ["initminer", "alice", "bob"]
            .into_iter()
            .find(|witness| chain.state.check(slot, name(witness)).is_ok())
            .unwrap();
        advance(&mut chain.state, slot, witness);
    }
    let round = round(20, true, &chain.facts);
    let Ok(end) = chain
        .state
        .end_of_block(&round, || Ok::<_, Infallible>(Vec::new()));
    assert!(end.is_some());
    for witness in names(&["alice", "bob", "initminer"]) {
        assert_eq!(
            chain.state.check(slot(&chain.state, 1), witness),
            Ok(SlotCheck::Consistent)
        );
    }
}

#[test]
fn before_hardfork_4_a_witness_may_have_two_turns() {
    let mut chain = Chain::new(3, witnesses(&["initminer", "alice", "bob"]));
    chain.votes_exist = true;
    chain.blocks(21);
    assert!(matches!(
        chain.state.current(),
        Schedule::Unknown {
            size: 4,
            distinct: false,
            ..
        }
    ));
    let (time, slot) = chain.next_slot();
    chain.state.advance(22, time, slot, name("alice"));
    let (_, slot) = chain.next_slot();
    assert_eq!(chain.state.check(slot, name("alice")), Ok(SlotCheck::Consistent));
}

#[test]
fn virtual_times_are_equal_again_after_a_drawing_without_votes() {
    let list: Vec<String> = (0..25).map(|number| format!("w-{number:02}")).collect();
    let mut list: Vec<&str> = list.iter().map(String::as_str).collect();
    list[0] = "initminer";
    let mut chain = Chain::new(20, witnesses(&list));
    chain.blocks(21);
    assert!(matches!(chain.state.current(), Schedule::Known(_)));
    // A vote comes and goes within one round.
    chain.state.note_vote();
    chain.blocks(21);
    let expected = Schedule::Unknown {
        size: 21,
        distinct: true,
        reason: Undecidable::VirtualTimes,
    };
    assert_eq!(chain.state.current(), &expected);
    chain.blocks(21);
    assert!(matches!(chain.state.current(), Schedule::Known(_)));
    // A vote that stays.
    chain.state.note_vote();
    chain.votes_exist = true;
    chain.blocks(42);
    assert!(matches!(
        chain.state.current(),
        Schedule::Unknown {
            reason: Undecidable::Votes,
            ..
        }
    ));
    chain.votes_exist = false;
    chain.blocks(21);
    assert_eq!(chain.state.current(), &expected);
    chain.blocks(21);
    assert!(matches!(chain.state.current(), Schedule::Known(_)));
}
