//! What hardforks do, and when.

use cairn_chain::{Authority, ChainSpec, PublicKey, Time, Version};

use super::world::{START, World, key, name};
use crate::registers::{
    AccountCore, ActiveAuthority, HardforkState, OwnerAuthority, OwnerHistoryEntry, PostingAuthority,
    RecoveryRequest, Witness,
};

/// Ends a block of mainnet with this number: hardforks take effect.
fn hardforks_at(world: &mut World, number: u32, time: u32) {
    world.state.memory.globals.head_number = number;
    world.time(time);
    world
        .state
        .evaluator(true)
        .hardforks_of_block()
        .unwrap_or_else(|stop| panic!("{stop:?}"));
}

#[test]
fn mainnet_goes_by_blocks() {
    let mut world = World::new(ChainSpec::hive(), 0);
    hardforks_at(&mut world, 905_692, 1_461_605_403);
    assert_eq!(world.state.globals().hardfork, 0);
    hardforks_at(&mut world, 905_693, 1_461_605_406);
    assert_eq!(world.state.globals().hardfork, 1);
    // Two in one block are possible, and the last of all has no block and waits for votes.
    hardforks_at(&mut world, 69_050_084, 1_666_612_800);
    assert_eq!(world.state.globals().hardfork, 27);
    hardforks_at(&mut world, 100_000_000, 1_763_557_200);
    assert_eq!(world.state.globals().hardfork, 27);
    let agreed = HardforkState {
        next_version: Version::new(1, 28, 0),
        next_time: Time(1_763_557_200),
    };
    world.state.tables.write((), &agreed).unwrap();
    hardforks_at(&mut world, 100_000_001, 1_763_557_199);
    assert_eq!(world.state.globals().hardfork, 27);
    hardforks_at(&mut world, 100_000_002, 1_763_557_200);
    assert_eq!(world.state.globals().hardfork, 28);
}

#[test]
fn testnets_go_by_time_up_to_5_and_then_by_votes() {
    let mut world = World::new(ChainSpec::hive_testnet(), 0);
    hardforks_at(&mut world, 10, START);
    assert_eq!(world.state.globals().hardfork, 5);
    let agreed = HardforkState {
        next_version: Version::new(0, 6, 0),
        next_time: Time(START),
    };
    world.state.tables.write((), &agreed).unwrap();
    hardforks_at(&mut world, 11, START + 3);
    assert_eq!(world.state.globals().hardfork, 6);
    // Hive's first is forced.
    world.hardfork(22);
    hardforks_at(&mut world, 12, START + 6);
    assert_eq!(world.state.globals().hardfork, 23);
    let mut steem = World::new(ChainSpec::steem_testnet(), 22);
    hardforks_at(&mut steem, 12, START + 6);
    assert_eq!(steem.state.globals().hardfork, 22);
}

#[test]
fn hardfork_9_replaces_stolen_keys() {
    let mut world = World::mainnet(8).with(&["aeico", "zurvanic", "zzz"]);
    let (stolen, spared) = (name("aeico"), name("zzz"));
    hardforks_at(&mut world, 3_202_773, START + 3);
    let new = Authority::of_key(
        "STM7sw22HqsXbz7D2CmJfmMwt9rimtk518dRzsR1f8Cgw52dQR1pR"
            .parse()
            .unwrap(),
    );
    assert_eq!(world.read::<OwnerAuthority>(&stolen).0, new);
    assert_eq!(world.read::<ActiveAuthority>(&stolen).0, new);
    assert_eq!(world.read::<PostingAuthority>(&stolen).0, new);
    let entry: OwnerHistoryEntry = world.read((&stolen, 0));
    assert_eq!(
        (entry.authority, entry.replaced),
        (Authority::of_key(key(2)), Time(START + 3))
    );
    assert_eq!(world.account("aeico").last_owner_update, Time(START + 3));
    assert_eq!(world.read::<OwnerAuthority>(&spared).0, Authority::of_key(key(2)));
}

#[test]
fn treasuries_are_made_and_locked() {
    let mut world = World::mainnet(20).with(&["hive.fund"]);
    hardforks_at(&mut world, 35_921_786, START + 3);
    let made: AccountCore = world.account("steem.dao");
    assert_eq!(
        (made.created, made.mined, made.recovery_account),
        (Time(START + 3), true, name("steem.dao"))
    );
    assert_eq!(
        world.read::<OwnerAuthority>(&name("steem.dao")).0,
        Authority::closed()
    );
    // Somebody owned the second one; nobody does any more.
    let request = RecoveryRequest {
        expires: Time(START + 100),
        new_owner_authority: Authority::of_key(key(9)),
    };
    world.state.tables.write(&name("hive.fund"), &request).unwrap();
    hardforks_at(&mut world, 47_797_680, START + 6);
    let locked = world.account("hive.fund");
    assert_eq!(
        (locked.recovery_account, locked.memo_key),
        (name("hive.fund"), PublicKey::NULL)
    );
    assert_eq!(locked.last_owner_update, Time(0));
    assert_eq!(
        world.read::<PostingAuthority>(&name("hive.fund")).0,
        Authority::closed()
    );
    assert!(world.find::<RecoveryRequest>(&name("hive.fund")).is_none());
}

#[test]
fn hardfork_20_multiplies_the_fee_of_scheduled_witnesses() {
    let mut world = World::mainnet(19);
    hardforks_at(&mut world, 26_256_743, START);
    assert_eq!(world.read::<Witness>(&name("initminer")).account_creation_fee, 30);
}

#[test]
fn steem_closes_built_in_posting_authorities_with_hardfork_12() {
    let mut world = World::new(ChainSpec::steem_testnet(), 11);
    let of = |world: &mut World| {
        ["miners", "null", "temp"]
            .map(|account| world.read::<PostingAuthority>(&name(account)).0.weight_threshold)
    };
    assert_eq!(of(&mut world), [0, 0, 0]);
    let agreed = HardforkState {
        next_version: Version::new(0, 12, 0),
        next_time: Time(START),
    };
    world.state.tables.write((), &agreed).unwrap();
    hardforks_at(&mut world, 20, START);
    assert_eq!(of(&mut world), [1, 1, 1]);
}
