//! The size of blocks that the scheduled witnesses vote for.

use cairn_chain::operations::{AccountWitnessVote, ChainProperties, WitnessUpdate};
use cairn_chain::{Asset, FeeAsset, MAX_BLOCK_SIZE, Operation, Text, Time};

use super::world::{START, World, key, name};
use crate::registers::VotedBlockSizes;
use crate::schedule::Slot;

fn wants(witness: &str, maximum_block_size: u32) -> Operation<'static> {
    Operation::WitnessUpdate(WitnessUpdate {
        owner: name(witness),
        url: Text(b"https://example.org"),
        block_signing_key: key(7),
        props: ChainProperties {
            account_creation_fee: FeeAsset::hive(3_000),
            maximum_block_size,
            hbd_interest_rate: 0,
        },
        fee: Asset::hive(0),
    })
}

/// Ends so many rounds and gives the limit behind each; `None` where it is not known.
fn rounds(world: &mut World, count: u32) -> Vec<Option<usize>> {
    let mut limits = Vec::new();
    for _ in 0..count {
        let schedule = &mut world.state.memory.schedule;
        let round = schedule.head().map_or(0, |(block, _)| block / 21) + 1;
        let (slot, time) = (
            Slot {
                number: 1,
                counter: u64::from(round),
            },
            Time(START + round),
        );
        schedule.advance(21 * round, time, slot, name("initminer"));
        world.state.evaluator(true).end_round(28).unwrap();
        limits.push(world.find::<VotedBlockSizes>(()).map(|sizes| sizes.limit()));
    }
    limits
}

#[test]
fn it_is_the_median_of_the_schedule_and_follows_a_change_late() {
    for note_26 in [false, true] {
        let mut world = World::testnet(28);
        if note_26 {
            // From now on lists are drawn a round ahead.
            world.state.memory.schedule.note_hardfork(26);
        }
        let most = Some(MAX_BLOCK_SIZE);
        assert_eq!(rounds(&mut world, 3), [most, most, Some(131_072)]);
        world.does(&wants("initminer", 70_000));
        assert_eq!(
            rounds(&mut world, 3),
            [Some(131_072), Some(131_072), Some(70_000)]
        );
        world.does(&wants("initminer", 90_000));
        assert_eq!(rounds(&mut world, 1), [Some(90_000)], "more is taken at once");
        // Of four votes the larger of those in the middle.
        for (witness, size) in [("alice", 65_536), ("bob", 100_000), ("carol", 2_000_000)] {
            world.does(&wants(witness, size));
        }
        assert_eq!(rounds(&mut world, 4)[3], Some(100_000));
        world.does(&wants("dan", 65_536));
        assert_eq!(rounds(&mut world, 4)[3], Some(90_000));
    }
}

#[test]
fn it_is_not_known_where_stake_decides_who_is_scheduled() {
    let mut world = World::testnet(28);
    world.does(&wants("alice", 65_536));
    assert!(rounds(&mut world, 4)[3].is_some());
    world.does(&Operation::AccountWitnessVote(AccountWitnessVote {
        account: name("bob"),
        witness: name("alice"),
        approve: true,
    }));
    assert_eq!(rounds(&mut world, 2), [None, None]);
}
