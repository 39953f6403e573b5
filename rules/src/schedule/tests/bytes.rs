//! The register's bytes.

use cairn_chain::{AccountName, Time};
use proptest::prelude::*;

use crate::schedule::draw::{MOST_SCHEDULED, Schedule, Undecidable};
use crate::schedule::{CorruptSchedule, ScheduleState};

fn account() -> impl Strategy<Value = AccountName> {
    "[a-z]{3,16}".prop_map(|text| AccountName::from(text.as_str()))
}

fn schedule() -> impl Strategy<Value = Schedule> {
    let reason = prop::sample::select(vec![
        Undecidable::Votes,
        Undecidable::VirtualTimes,
        Undecidable::MiningQueue,
        Undecidable::ManyEarlyWitnesses,
    ]);
    prop_oneof![
        prop::collection::vec(account(), 1..=MOST_SCHEDULED).prop_map(Schedule::Known),
        (1..=MOST_SCHEDULED as u8, any::<bool>(), reason).prop_map(|(size, distinct, reason)| {
            Schedule::Unknown {
                size,
                distinct,
                reason,
            }
        }),
    ]
}

fn state() -> impl Strategy<Value = ScheduleState> {
    let head = prop::option::of((any::<u32>(), any::<u32>().prop_map(Time)));
    let seen = prop::collection::vec(prop::option::of(account()), MOST_SCHEDULED);
    (
        any::<u64>(),
        head,
        schedule(),
        prop::option::of(schedule()),
        any::<bool>(),
        seen,
    )
        .prop_map(
            |(counter, head, current, future, virtual_times_differ, seen)| ScheduleState {
                counter,
                head,
                current,
                future,
                virtual_times_differ,
                seen: seen.try_into().unwrap(),
            },
        )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn a_state_has_one_encoding(state in state()) {
        let bytes = state.to_bytes();
        prop_assert!(bytes.len() <= 1_051, "{}", bytes.len());
        prop_assert_eq!(ScheduleState::from_bytes(&bytes), Ok(state));
    }

    #[test]
    fn changed_bytes_are_refused_or_another_state(
        state in state(), at in any::<prop::sample::Index>(), change in 1..=255u8
    ) {
        let mut bytes = state.to_bytes();
        let at = at.index(bytes.len());
        bytes[at] ^= change;
        if let Ok(other) = ScheduleState::from_bytes(&bytes) {
            prop_assert_eq!(other.to_bytes(), bytes);
        }
    }

    #[test]
    fn cut_bytes_are_refused(state in state(), at in any::<prop::sample::Index>()) {
        let bytes = state.to_bytes();
        prop_assert!(ScheduleState::from_bytes(&bytes[..at.index(bytes.len())]).is_err());
    }

    #[test]
    fn any_bytes_end(bytes in prop::collection::vec(0..24u8, 0..200)) {
        if let Ok(state) = ScheduleState::from_bytes(&bytes) {
            prop_assert_eq!(state.to_bytes(), bytes);
        }
    }
}

/// The layout is pinned: a store that was written must be read.
#[test]
fn layout_1() {
    let mut seen = [None; MOST_SCHEDULED];
    seen[2] = Some(AccountName::from("bob"));
    let state = ScheduleState {
        counter: 0x0102,
        head: Some((42, Time(0x0304))),
        current: Schedule::Unknown {
            size: 20,
            distinct: true,
            reason: Undecidable::VirtualTimes,
        },
        future: Some(Schedule::Known(vec![AccountName::from("alice")])),
        virtual_times_differ: true,
        seen,
    };
    let expected = concat!(
        "01",
        "07",
        "0201000000000000",
        "2a000000",
        "04030000",
        "01140101",
        "0001",
        "616c6963650000000000000000000000",
        "01",
        "02",
        "626f6200000000000000000000000000",
    );
    assert_eq!(hex::encode(state.to_bytes()), expected);
    let largest = ScheduleState {
        current: Schedule::Known(vec![AccountName::EMPTY; MOST_SCHEDULED]),
        future: Some(Schedule::Known(vec![AccountName::EMPTY; MOST_SCHEDULED])),
        seen: [Some(AccountName::EMPTY); MOST_SCHEDULED],
        ..state
    };
    assert_eq!(largest.to_bytes().len(), 1_052);
    let refused = |bytes: &[u8], offset: usize| {
        let error = ScheduleState::from_bytes(bytes).unwrap_err();
        assert_eq!(error, CorruptSchedule { offset, ..error });
    };
    refused(&[], 0);
    refused(&[2], 0);
    refused(&[1, 8], 1);
    let bytes = hex::decode(expected).unwrap();
    let with = |at: usize, byte: u8| {
        let mut bytes = bytes.clone();
        bytes[at] = byte;
        bytes
    };
    // Kind of list, size, distinct, reason; entries; a name behind its end; number of turns; turn.
    refused(&with(18, 2), 18);
    refused(&with(19, 0), 19);
    refused(&with(19, 22), 19);
    refused(&with(20, 2), 20);
    refused(&with(21, 4), 21);
    refused(&with(23, 0), 23);
    refused(&with(39, 1), 24);
    refused(&with(40, 22), 40);
    refused(&with(41, 21), 41);
    refused(&[&bytes[..], &[0]].concat(), bytes.len());
}
