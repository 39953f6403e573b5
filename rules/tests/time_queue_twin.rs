//! The time queue against an ordered map, over random sequences of what one can do with it.

#![allow(clippy::unwrap_used, missing_docs, reason = "a test fails by panicking")]

mod support;

use std::collections::BTreeMap;

use cairn_chain::{AccountName, Time};
use cairn_rules::registers::Tables;
use cairn_rules::time_queue::TimeQueue;
use proptest::collection::vec;
use proptest::prelude::*;

/// The obvious queue: by time, then by the order in which the times were set.
#[derive(Default, Clone)]
struct Twin {
    by_time: BTreeMap<(u32, u64), AccountName>,
    places: BTreeMap<AccountName, (u32, u64)>,
    next: u64,
}

impl Twin {
    fn remove(&mut self, account: AccountName) {
        if let Some(place) = self.places.remove(&account) {
            self.by_time.remove(&place);
        }
    }

    fn set(&mut self, account: AccountName, time: u32) {
        if self.places.get(&account).is_some_and(|place| place.0 == time) {
            return;
        }
        self.remove(account);
        self.places.insert(account, (time, self.next));
        self.by_time.insert((time, self.next), account);
        self.next += 1;
    }

    fn first_due(&self, now: u32) -> Option<(Time, AccountName)> {
        let ((time, _), account) = self.by_time.first_key_value()?;
        (*time <= now).then_some((Time(*time), *account))
    }
}

#[derive(Debug, Clone)]
enum Step {
    Set(u8, u32),
    Remove(u8),
    /// Does everything that is due.
    Drain(u32),
    /// Puts all back that was done since the last accepted step.
    Undo,
    Accept,
}

/// Few distinct times, near and far: neighbours, byte edges, both ends.
fn time() -> impl Strategy<Value = u32> {
    prop_oneof![
        0u32..4,
        Just(255),
        Just(256),
        Just(0x00ff_ffff),
        Just(0x0100_0000),
        1_700_000_000u32..1_700_000_600,
        Just(u32::MAX),
        any::<u32>(),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => (0u8..12, time()).prop_map(|(account, time)| Step::Set(account, time)),
        3 => (0u8..12).prop_map(Step::Remove),
        1 => time().prop_map(Step::Drain),
        1 => Just(Step::Undo),
        1 => Just(Step::Accept),
    ]
}

fn account(number: u8) -> AccountName {
    AccountName::from(format!("account-{number}").as_str())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn equals_an_ordered_map(steps in vec(step(), 1..120)) {
        let folder = tempfile::tempdir().unwrap();
        let mut tables = Tables::new(support::registers(folder.path()));
        let (mut queue, mut twin) = (TimeQueue::new(7), Twin::default());
        let mut accepted = twin.clone();
        tables.registers_mut().begin_block().unwrap();
        for step in steps {
            match step {
                Step::Set(number, time) => {
                    queue.set(&mut tables, &account(number), Time(time)).unwrap();
                    twin.set(account(number), time);
                }
                Step::Remove(number) => {
                    queue.remove(&mut tables, &account(number)).unwrap();
                    twin.remove(account(number));
                }
                Step::Drain(now) => {
                    while let Some((time, due)) = queue.first_due(&mut tables, Time(now)).unwrap() {
                        prop_assert_eq!(twin.first_due(now), Some((time, due)));
                        queue.remove(&mut tables, &due).unwrap();
                        twin.remove(due);
                    }
                    prop_assert_eq!(twin.first_due(now), None);
                }
                Step::Undo => {
                    tables.registers_mut().undo_block();
                    queue.forget();
                    twin = accepted.clone();
                    tables.registers_mut().begin_block().unwrap();
                }
                Step::Accept => {
                    tables.registers_mut().accept_block();
                    accepted = twin.clone();
                    tables.registers_mut().begin_block().unwrap();
                }
            }
            let earliest = queue.earliest(&mut tables).unwrap();
            prop_assert_eq!(earliest, twin.by_time.keys().next().map(|(time, _)| Time(*time)));
            for number in 0..12 {
                let found = queue.time_of(&mut tables, &account(number)).unwrap();
                prop_assert_eq!(found, twin.places.get(&account(number)).map(|place| Time(place.0)));
            }
        }
        // Emptied, it leaves no register behind.
        for number in 0..12 {
            queue.remove(&mut tables, &account(number)).unwrap();
        }
        prop_assert_eq!(tables.registers().counts().unwrap().registers, 0);
    }
}
