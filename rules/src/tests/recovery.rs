//! Recovery of accounts: requests, their end, and the proof of former ownership.

use cairn_chain::operations::{AccountUpdate, ChangeRecoveryAccount, RecoverAccount, RequestAccountRecovery};
use cairn_chain::{Authority, Operation, PublicKey, Text, Time};

use super::world::{START, World, key, name};
use crate::checks::Undecided;
use crate::error::OperationFault;
use crate::registers::{AccountCore, OwnerAuthority, OwnerHistory, RecoveryAccountChange, RecoveryRequest};

fn request(by: &str, authority: Authority) -> Operation<'static> {
    Operation::RequestAccountRecovery(RequestAccountRecovery {
        recovery_account: name(by),
        account_to_recover: name("alice"),
        new_owner_authority: authority,
        extensions: Vec::new(),
    })
}

fn recover(new: u8, recent: u8) -> Operation<'static> {
    Operation::RecoverAccount(RecoverAccount {
        account_to_recover: name("alice"),
        new_owner_authority: Authority::of_key(key(new)),
        recent_owner_authority: Authority::of_key(key(recent)),
        extensions: Vec::new(),
    })
}

fn stolen(world: &mut World) {
    world.does(&Operation::AccountUpdate(AccountUpdate {
        account: name("alice"),
        owner: Some(Authority::of_key(key(66))),
        active: None,
        posting: None,
        memo_key: PublicKey::NULL,
        json_metadata: Text(b""),
    }));
}

#[test]
fn a_stolen_account_is_recovered() {
    let mut world = World::testnet(28);
    stolen(&mut world);
    assert_eq!(
        world.run(&recover(9, 2)),
        Err(OperationFault::NoRecoveryRequest(name("alice")))
    );
    world.does(&request("initminer", Authority::of_key(key(9))));
    assert_eq!(world.run(&recover(8, 2)), Err(OperationFault::OtherThanRequested));
    assert_eq!(
        world.run(&recover(9, 5)),
        Err(OperationFault::NotInHistory(name("alice")))
    );
    world.time(START + 5);
    world.does(&recover(9, 2));
    assert_eq!(
        world.read::<OwnerAuthority>(&name("alice")).0,
        Authority::of_key(key(9))
    );
    let core: AccountCore = world.account("alice");
    assert_eq!(core.last_account_recovery, Time(START + 5));
    assert_eq!(
        (core.last_owner_update, core.previous_owner_update),
        (Time(START + 5), Time(START))
    );
    assert!(world.find::<RecoveryRequest>(&name("alice")).is_none());
    // Not again within 6 seconds, since hardfork 12.
    world.does(&request("initminer", Authority::of_key(key(10))));
    world.time(START + 11);
    assert!(matches!(
        world.run(&recover(10, 2)),
        Err(OperationFault::TooSoon { seconds: 6, .. })
    ));
    world.time(START + 12);
    world.does(&recover(10, 2));
}

#[test]
fn who_may_request() {
    let mut world = World::testnet(28);
    let fault = world.run(&request("bob", Authority::of_key(key(9))));
    let (account, expected, found) = (name("alice"), name("initminer"), name("bob"));
    assert_eq!(
        fault,
        Err(OperationFault::NotRecoveryAccount {
            account,
            expected,
            found
        })
    );

    // Without a recovery account it is the witness with the most votes, which takes stake to know.
    let mut core = world.account("alice");
    core.recovery_account = name("");
    world.state.tables.write(&name("alice"), &core).unwrap();
    world.does(&request("bob", Authority::of_key(key(9))));
    assert_eq!(
        world.state.checks().undecided[&Undecided::RecoveryByTopWitness],
        1
    );
}

#[test]
fn requests_are_replaced_and_cancelled() {
    let mut world = World::testnet(28);
    assert_eq!(
        world.run(&request("initminer", Authority::open())),
        Err(OperationFault::OpenAuthority)
    );
    world.does(&request("initminer", Authority::of_key(key(9))));
    world.time(START + 3);
    world.does(&request("initminer", Authority::of_key(key(10))));
    let pending: RecoveryRequest = world.read(&name("alice"));
    assert_eq!(pending.new_owner_authority, Authority::of_key(key(10)));
    assert_eq!(pending.expires, Time(START + 15));
    world.end_block(START + 14);
    assert!(world.find::<RecoveryRequest>(&name("alice")).is_some());
    world.does(&request("initminer", Authority::open()));
    assert!(world.find::<RecoveryRequest>(&name("alice")).is_none());
    world.end_block(START + 15);
}

#[test]
fn a_request_expires_at_the_end_of_the_block_at_its_time() {
    let mut world = World::testnet(28);
    stolen(&mut world);
    world.does(&request("initminer", Authority::of_key(key(9))));
    // An operation in that very block still sees it: its "now" is the time of the block before.
    world.end_block(START + 11);
    assert_eq!(
        world.run(&recover(9, 5)),
        Err(OperationFault::NotInHistory(name("alice")))
    );
    world.end_block(START + 12);
    assert_eq!(
        world.run(&recover(9, 2)),
        Err(OperationFault::NoRecoveryRequest(name("alice")))
    );
}

#[test]
fn owner_history_is_dropped_when_the_time_is_past() {
    let mut world = World::testnet(28);
    stolen(&mut world);
    world.end_block(START + 60);
    assert!(
        world.find::<OwnerHistory>(&name("alice")).is_some(),
        "exactly at the end it is still there"
    );
    world.end_block(START + 61);
    assert!(world.find::<OwnerHistory>(&name("alice")).is_none());
}

#[test]
fn recovery_account_changes_after_its_time() {
    let to = |account: &str| {
        Operation::ChangeRecoveryAccount(ChangeRecoveryAccount {
            account_to_recover: name("alice"),
            new_recovery_account: name(account),
            extensions: Vec::new(),
        })
    };
    let mut world = World::testnet(28);
    assert_eq!(
        world.run(&to("nobody")),
        Err(OperationFault::NoAccount(name("nobody")))
    );
    world.does(&to("bob"));
    world.time(START + 10);
    // A second request starts the time again,
    world.does(&to("carol"));
    world.end_block(START + 69);
    assert_eq!(world.account("alice").recovery_account, name("initminer"));
    // and one that names the present recovery account cancels it.
    world.does(&to("initminer"));
    assert!(world.find::<RecoveryAccountChange>(&name("alice")).is_none());
    world.end_block(START + 200);
    assert_eq!(world.account("alice").recovery_account, name("initminer"));
    // With nothing pending the same name makes a request.
    world.does(&to("initminer"));
    assert!(world.find::<RecoveryAccountChange>(&name("alice")).is_some());
    world.does(&to("carol"));
    world.end_block(START + 260);
    assert_eq!(world.account("alice").recovery_account, name("carol"));
}
