//! Slots, shuffle, votes for hardforks.

use cairn_chain::{Time, Version};
use proptest::prelude::*;

use crate::schedule::majority::{HardforkVote, agreed};
use crate::schedule::shuffle::shuffle;
use crate::schedule::slots::{first_slot_time, slot_at};

const GENESIS: Time = Time(1_000);

#[test]
fn slots_lie_on_the_grid() {
    let slot = |head: u32, time: u32| slot_at(Some(Time(head)), GENESIS, Time(time));
    for head in [2_001, 2_002, 2_003] {
        let expected = [0, 0, 0, 1, 1, 1, 2, 2, 2, 3];
        let found: Vec<_> = (2_001..2_011).map(|time| slot(head, time)).collect();
        assert_eq!(found, expected, "head at {head}");
    }
    // Ten years without a block.
    assert_eq!(slot(3, 315_360_003), 105_120_000);
    assert_eq!(slot(u32::MAX, u32::MAX), 0);
    assert_eq!(slot(0, u32::MAX), u32::MAX / 3);
}

#[test]
fn the_first_slot_follows_genesis_wherever_that_is() {
    let slot = |time: u32| slot_at(None, GENESIS, Time(time));
    assert_eq!(
        [
            slot(0),
            slot(1_000),
            slot(1_002),
            slot(1_003),
            slot(1_005),
            slot(1_006)
        ],
        [0, 0, 0, 1, 1, 2]
    );
    assert_eq!(first_slot_time(None, Time(u32::MAX)), u64::from(u32::MAX) + 3);
}

/// The same in arithmetic that cannot wrap by itself.
fn slow_shuffle(mut list: Vec<u32>, time: u32) -> Vec<u32> {
    let modulus = 1u128 << 64;
    let multiplier = 2_685_821_657_736_338_717u128;
    let n = list.len() as u128;
    for i in 0..n {
        let mut k = ((u128::from(time) << 32) + i * multiplier) % modulus;
        k ^= k >> 12;
        k ^= (k << 25) % modulus;
        k ^= k >> 27;
        k = k * multiplier % modulus;
        list.swap(i as usize, (i + k % (n - i)) as usize);
    }
    list
}

proptest! {
    #[test]
    fn shuffle_agrees_with_its_twin(count in 0..22u32, time in any::<u32>()) {
        let mut list: Vec<_> = (0..count).collect();
        shuffle(&mut list, Time(time));
        prop_assert_eq!(list, slow_shuffle((0..count).collect(), time));
    }
}

#[test]
fn seventeen_votes_agree() {
    let vote = |hardfork: u8, time: u32| HardforkVote {
        version: Version::new(0, hardfork, 0),
        time: Time(time),
    };
    let votes = |same: usize, others: usize| {
        let mut votes = vec![vote(6, 100); same];
        votes.extend((0..others).map(|other| vote(6, 101 + other as u32)));
        votes.reverse();
        votes
    };
    assert_eq!(agreed(&votes(17, 4)), Some(vote(6, 100)));
    assert_eq!(agreed(&votes(21, 0)), Some(vote(6, 100)));
    assert_eq!(agreed(&votes(16, 5)), None);
    assert_eq!(agreed(&votes(16, 0)), None);
    assert_eq!(agreed(&[]), None);
    // Another time is another vote, and so is another hardfork.
    let mut mixed = votes(16, 0);
    mixed.extend([vote(7, 100); 5]);
    assert_eq!(agreed(&mixed), None);
}
