//! Creating and changing accounts, by hardfork.

use cairn_chain::operations::{
    AccountUpdate, AccountUpdate2, ClaimAccount, CreateClaimedAccount, DeclineVotingRights,
};
use cairn_chain::{Asset, Authority, ChainSpec, Operation, PublicKey, Text, Time};

use super::world::{START, World, creation, key, name};
use crate::error::OperationFault;
use crate::registers::{
    ActiveAuthority, JsonMetadata, OwnerAuthority, OwnerHistory, OwnerHistoryEntry, PostingAuthority,
    PostingJsonMetadata,
};

fn update(account: &str) -> AccountUpdate<'static> {
    AccountUpdate {
        account: name(account),
        owner: None,
        active: None,
        posting: None,
        memo_key: PublicKey::NULL,
        json_metadata: Text(b""),
    }
}

fn new_owner(account: &str, number: u8) -> Operation<'static> {
    Operation::AccountUpdate(AccountUpdate {
        owner: Some(Authority::of_key(key(number))),
        ..update(account)
    })
}

#[test]
fn recovery_account_of_new_accounts() {
    for (hardfork, creator, expected) in [
        (10, "alice", "steem"),
        (11, "alice", "alice"),
        (10, "temp", "steem"),
        (11, "temp", ""),
        (28, "temp", ""),
    ] {
        let mut world = World::testnet(hardfork);
        world.does(&Operation::AccountCreate(creation(creator, "erin", "")));
        assert_eq!(
            world.account("erin").recovery_account,
            name(expected),
            "hardfork {hardfork}, {creator}"
        );
        assert!(!world.account("erin").mined);
        assert_eq!(world.account("erin").created, Time(START));
    }
}

#[test]
fn names_are_given_once() {
    let mut world = World::testnet(28);
    let again = Operation::AccountCreate(creation("alice", "bob", ""));
    assert_eq!(world.run(&again), Err(OperationFault::AccountExists(name("bob"))));
    assert_eq!(
        world.run_reduced(&again),
        Err(OperationFault::AccountExists(name("bob")))
    );
    let nobody = Operation::AccountCreate(creation("nobody", "erin", ""));
    assert_eq!(world.run(&nobody), Err(OperationFault::NoAccount(name("nobody"))));
    // The effect does not need the creator.
    assert_eq!(world.run_reduced(&nobody), Ok(()));
    assert_eq!(
        world.run_reduced(&Operation::AccountCreate(creation("alice", "", ""))),
        Err(OperationFault::NoName)
    );
}

#[test]
fn members_of_a_new_authority_must_exist() {
    let mut world = World::testnet(28);
    let mut op = creation("alice", "erin", "");
    op.active = Authority::of_account(name("erin"));
    assert_eq!(
        world.run(&Operation::AccountCreate(op)),
        Err(OperationFault::NoAccount(name("erin")))
    );
    assert!(world.find::<OwnerAuthority>(&name("erin")).is_none());
}

#[test]
fn metadata_of_updates() {
    let with_json = AccountUpdate {
        json_metadata: Text(b"{}"),
        ..update("alice")
    };
    for (hardfork, copied) in [(20, true), (21, false)] {
        let mut world = World::testnet(hardfork);
        world.does(&Operation::AccountUpdate(with_json.clone()));
        assert_eq!(world.read::<JsonMetadata>(&name("alice")).0, b"{}");
        assert_eq!(
            world.find::<PostingJsonMetadata>(&name("alice")).is_some(),
            copied,
            "hardfork {hardfork}"
        );
        // Neither an empty text nor the null key clears anything.
        world.does(&Operation::AccountUpdate(update("alice")));
        assert_eq!(world.read::<JsonMetadata>(&name("alice")).0, b"{}");
        assert_eq!(world.account("alice").memo_key, key(3));
    }
}

#[test]
fn account_update2_changes_what_is_given() {
    let mut world = World::testnet(28);
    world.does(&Operation::AccountUpdate2(AccountUpdate2 {
        account: name("alice"),
        owner: None,
        active: Some(Authority::of_key(key(7))),
        posting: None,
        memo_key: Some(key(8)),
        json_metadata: Text(b""),
        posting_json_metadata: Text(b"[1]"),
        extensions: Vec::new(),
    }));
    assert_eq!(
        world.read::<ActiveAuthority>(&name("alice")).0,
        Authority::of_key(key(7))
    );
    assert_eq!(
        world.read::<PostingAuthority>(&name("alice")).0,
        Authority::of_key(key(2))
    );
    assert_eq!(world.account("alice").memo_key, key(8));
    assert!(world.find::<JsonMetadata>(&name("alice")).is_none());
    assert_eq!(world.read::<PostingJsonMetadata>(&name("alice")).0, b"[1]");
}

#[test]
fn missing_posting_members_are_left_out_before_15() {
    let posting = Authority {
        weight_threshold: 1,
        account_auths: vec![(name("bob"), 1), (name("nobody"), 2)],
        key_auths: Vec::new(),
    };
    let op = Operation::AccountUpdate(AccountUpdate {
        posting: Some(posting),
        ..update("alice")
    });
    for reduced in [false, true] {
        let mut world = World::testnet(14);
        if reduced {
            world.run_reduced(&op).unwrap();
        } else {
            world.does(&op);
        }
        let kept = world.read::<PostingAuthority>(&name("alice")).0;
        assert_eq!(kept.account_auths, [(name("bob"), 1)]);
    }
    assert_eq!(
        World::testnet(15).run(&op),
        Err(OperationFault::NoAccount(name("nobody")))
    );
}

#[test]
fn temp_cannot_be_updated() {
    let fault = World::testnet(28).run(&Operation::AccountUpdate(update("temp")));
    assert_eq!(fault, Err(OperationFault::FixedAccount(name("temp"))));
}

#[test]
fn owner_is_changed_once_an_hour() {
    // More than 60 minutes on mainnet, since hardfork 11.
    for (hardfork, seconds, allowed) in [
        (10, 0, true),
        (11, 0, false),
        (11, 3_600, false),
        (11, 3_601, true),
        (25, 3_600, false),
    ] {
        let mut world = World::mainnet(hardfork);
        world.does(&new_owner("alice", 10));
        world.time(START + seconds);
        let again = world.run(&new_owner("alice", 11));
        assert_eq!(again.is_ok(), allowed, "hardfork {hardfork}, {seconds} s");
        if !allowed {
            assert!(matches!(
                again,
                Err(OperationFault::TooSoon { seconds: 3_600, .. })
            ));
        }
    }
}

#[test]
fn owner_is_changed_twice_an_hour_since_26() {
    let mut world = World::mainnet(26);
    world.does(&new_owner("alice", 10));
    world.time(START + 3);
    world.does(&new_owner("alice", 11));
    world.time(START + 3_600);
    assert!(world.run(&new_owner("alice", 12)).is_err());
    world.time(START + 3_601);
    world.does(&new_owner("alice", 12));
    let core = world.account("alice");
    assert_eq!(
        (core.last_owner_update, core.previous_owner_update),
        (Time(START + 3_601), Time(START + 3))
    );
    // Reduced validation does not look at the limit.
    world.run_reduced(&new_owner("alice", 13)).unwrap();
}

#[test]
fn steem_has_no_owner_limit() {
    let mut world = World::new(ChainSpec::steem_testnet(), 20).with(&["alice"]);
    world.does(&new_owner("alice", 10));
    world.does(&new_owner("alice", 11));
}

#[test]
fn old_owner_goes_into_history() {
    let mut world = World::mainnet(28);
    for number in 10..13 {
        world.does(&new_owner("alice", number));
        world.time(world.now() + 3_601);
    }
    let range: OwnerHistory = world.read(&name("alice"));
    assert_eq!((range.first, range.next), (0, 3));
    let entry: OwnerHistoryEntry = world.read((&name("alice"), 1));
    assert_eq!(entry.authority, Authority::of_key(key(10)));
    assert_eq!((entry.sequence, entry.replaced), (1, Time(START + 3_601)));

    // Before the history starts nothing goes into it, but the times are set.
    let mut early = World::mainnet(10);
    early.state.memory.globals.head_number = 3_186_476;
    early.does(&new_owner("alice", 10));
    assert!(early.find::<OwnerHistory>(&name("alice")).is_none());
    assert_eq!(early.account("alice").last_owner_update, Time(START));
    early.state.memory.globals.head_number = 3_186_477;
    early.does(&new_owner("alice", 11));
    assert!(early.find::<OwnerHistory>(&name("alice")).is_some());
}

#[test]
fn claimed_accounts() {
    let mut world = World::testnet(28);
    let claim = ClaimAccount {
        creator: name("alice"),
        fee: Asset::hive(3),
        extensions: Vec::new(),
    };
    let of = |account: &str| {
        let op = creation("alice", account, "");
        Operation::CreateClaimedAccount(CreateClaimedAccount {
            creator: op.creator,
            new_account_name: op.new_account_name,
            owner: op.owner,
            active: op.active,
            posting: op.posting,
            memo_key: op.memo_key,
            json_metadata: Text(b""),
            extensions: Vec::new(),
        })
    };
    assert_eq!(
        world.run(&of("erin")),
        Err(OperationFault::NoClaimedAccount(name("alice")))
    );
    world.does(&Operation::ClaimAccount(claim.clone()));
    world.does(&Operation::ClaimAccount(claim));
    world.does(&of("erin"));
    assert_eq!(world.account("alice").claimed_accounts, 1);
    assert_eq!(world.account("erin").recovery_account, name("alice"));
}

#[test]
fn declining_voting_rights() {
    let of = |decline| {
        Operation::DeclineVotingRights(DeclineVotingRights {
            account: name("alice"),
            decline,
        })
    };
    let mut world = World::testnet(28);
    assert_eq!(
        world.run(&of(false)),
        Err(OperationFault::NotDeclining(name("alice")))
    );
    world.does(&of(true));
    assert_eq!(world.run(&of(true)), Err(OperationFault::Declined(name("alice"))));
    world.does(&of(false));
    world.end_block(START + 60);
    assert!(world.account("alice").can_vote);
    world.does(&of(true));
    world.end_block(START + 119);
    assert!(world.account("alice").can_vote);
    world.end_block(START + 120);
    assert!(!world.account("alice").can_vote);
    assert_eq!(world.run(&of(true)), Err(OperationFault::Declined(name("alice"))));
}
