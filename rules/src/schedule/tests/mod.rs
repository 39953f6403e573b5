//! The schedule's parts, one by one; whole chains are in `tests/schedule_fixtures.rs`.

mod bytes;
mod draw;
mod state;
mod time;

use cairn_chain::AccountName;

use super::{WitnessCounts, WitnessFact};

fn name(text: &str) -> AccountName {
    AccountName::from(text)
}

fn names(list: &[&str]) -> Vec<AccountName> {
    list.iter().map(|text| name(text)).collect()
}

/// Enabled witnesses, created in this order.
fn witnesses(list: &[&str]) -> Vec<WitnessFact> {
    let fact = |(index, text): (u32, &&str)| WitnessFact {
        name: name(text),
        index,
        enabled: true,
        queue_number: 0,
    };
    (0..).zip(list).map(fact).collect()
}

/// So many witnesses, created in the reverse of their order by name: `w-099` first.
fn many(count: u32) -> Vec<WitnessFact> {
    let fact = |index| WitnessFact {
        name: name(&format!("w-{:03}", 99 - index)),
        index,
        enabled: true,
        queue_number: 0,
    };
    (0..count).map(fact).collect()
}

fn queued(facts: &mut [WitnessFact], queue: &[(&str, u64)]) {
    for (miner, number) in queue {
        facts
            .iter_mut()
            .find(|fact| fact.name == name(miner))
            .unwrap()
            .queue_number = *number;
    }
}

fn counts(facts: &[WitnessFact]) -> WitnessCounts {
    let queue = facts.iter().filter(|fact| fact.queue_number > 0).count();
    WitnessCounts {
        total: facts.len(),
        enabled: facts.iter().filter(|fact| fact.enabled).count(),
        mining_counter: queue as u64,
        queue_is_empty: queue == 0,
        queue_is_known: true,
    }
}
