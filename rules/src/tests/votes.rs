//! Votes for witnesses and proxies.

use cairn_chain::operations::{AccountWitnessProxy, AccountWitnessVote, ChainProperties, WitnessUpdate};
use cairn_chain::{Asset, FeeAsset, Operation, Text, Time};

use super::world::{START, World, key, name};
use crate::error::OperationFault;
use crate::registers::{Witness, WitnessByIndex, WitnessVotes};

const GOVERNANCE: u32 = 5 * 86_400;

fn vote(account: &str, witness: &str, approve: bool) -> Operation<'static> {
    Operation::AccountWitnessVote(AccountWitnessVote {
        account: name(account),
        witness: name(witness),
        approve,
    })
}

fn proxy(account: &str, proxy: &str) -> Operation<'static> {
    Operation::AccountWitnessProxy(AccountWitnessProxy {
        account: name(account),
        proxy: name(proxy),
    })
}

fn witness(owner: &str, number: u8) -> Operation<'static> {
    Operation::WitnessUpdate(WitnessUpdate {
        owner: name(owner),
        url: Text(b"https://example.org"),
        block_signing_key: if number == 0 {
            cairn_chain::PublicKey::NULL
        } else {
            key(number)
        },
        props: ChainProperties {
            account_creation_fee: FeeAsset::hive(3_000),
            maximum_block_size: 65_536,
            hbd_interest_rate: 0,
        },
        fee: Asset::hive(0),
    })
}

#[test]
fn votes_are_added_and_removed_once() {
    let mut world = World::testnet(28);
    let (account, initminer) = (name("alice"), name("initminer"));
    world.does(&vote("alice", "initminer", true));
    let exists = OperationFault::VoteExists {
        account,
        witness: initminer,
    };
    assert_eq!(world.run(&vote("alice", "initminer", true)), Err(exists));
    assert_eq!(world.state.globals().witness_votes, 1);
    assert_eq!(
        world.run(&vote("alice", "bob", true)),
        Err(OperationFault::NoWitness(name("bob")))
    );
    world.does(&vote("alice", "initminer", false));
    let missing = OperationFault::NoVote {
        account,
        witness: initminer,
    };
    assert_eq!(world.run(&vote("alice", "initminer", false)), Err(missing));
    assert_eq!(world.state.globals().witness_votes, 0);
    assert!(world.find::<WitnessVotes>(&account).is_none());
}

#[test]
fn at_most_30_votes_since_hardfork_2() {
    let names: Vec<String> = (0..31).map(|number| format!("wit-{number}x")).collect();
    let borrowed: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut world = World::testnet(28).with(&borrowed);
    for owner in &borrowed {
        world.does(&witness(owner, 5));
    }
    for owner in &borrowed[..30] {
        world.does(&vote("alice", owner, true));
    }
    let fault = world.run(&vote("alice", borrowed[30], true));
    assert_eq!(
        fault,
        Err(OperationFault::TooManyVotes {
            account: name("alice"),
            limit: 30,
            found: 30
        })
    );
    world.hardfork(1);
    world.does(&vote("alice", borrowed[30], true));
    assert_eq!(world.state.globals().witness_votes, 31);
}

#[test]
fn a_proxy_takes_the_votes_away() {
    let mut world = World::testnet(28);
    world.does(&vote("alice", "initminer", true));
    world.does(&proxy("alice", "bob"));
    assert!(world.find::<WitnessVotes>(&name("alice")).is_none());
    assert_eq!(world.state.globals().witness_votes, 0);
    let fault = world.run(&vote("alice", "initminer", true));
    assert_eq!(
        fault,
        Err(OperationFault::HasProxy {
            account: name("alice"),
            proxy: name("bob")
        })
    );
    let same = OperationFault::SameProxy {
        account: name("alice"),
        proxy: name("bob"),
    };
    assert_eq!(world.run(&proxy("alice", "bob")), Err(same));
    world.does(&proxy("alice", ""));
    assert_eq!(
        world.run(&proxy("alice", "")),
        Err(OperationFault::NoProxy(name("alice")))
    );
    assert!(
        world.find::<WitnessVotes>(&name("alice")).is_none(),
        "the votes do not come back"
    );
}

#[test]
fn chains_of_proxies() {
    let mut world = World::testnet(28).with(&["erin", "fred"]);
    world.does(&proxy("dan", "erin"));
    world.does(&proxy("carol", "dan"));
    world.does(&proxy("bob", "carol"));
    // bob, carol, dan, erin are four; with alice they would be five.
    assert_eq!(
        world.run(&proxy("alice", "bob")),
        Err(OperationFault::ProxyChain { limit: 4 })
    );
    assert_eq!(
        world.run(&proxy("erin", "carol")),
        Err(OperationFault::ProxyLoop(name("erin")))
    );
    // A long chain below does not stop the account at the top.
    world.does(&proxy("erin", "fred"));
    assert_eq!(
        world.run(&proxy("alice", "nobody")),
        Err(OperationFault::NoAccount(name("nobody")))
    );
}

#[test]
fn governance_votes_expire_after_five_days_on_a_testnet() {
    let mut world = World::testnet(28);
    // Later than the first expiry of all, which is a year after hardfork 25.
    let now = 1_700_000_000;
    world.time(now);
    world.does(&vote("alice", "initminer", true));
    assert_eq!(world.account("alice").governance_expiry, Time(now + GOVERNANCE));
    world.time(now + 3);
    world.does(&proxy("bob", "carol"));
    world.end_block(now + GOVERNANCE - 1);
    assert_eq!(world.state.globals().witness_votes, 1);
    world.end_block(now + GOVERNANCE);
    assert_eq!(world.state.globals().witness_votes, 0);
    assert_eq!(world.account("alice").governance_expiry, Time(0));
    assert_eq!(world.account("bob").proxy, name("carol"));
    world.end_block(now + GOVERNANCE + 3);
    assert_eq!(world.account("bob").proxy, name(""));
}

#[test]
fn early_governance_votes_are_spread_over_half_a_year() {
    let mut world = World::mainnet(20);
    world.does(&vote("alice", "initminer", true));
    let year = 365 * 86_400;
    let first = 1_625_061_600 + year;
    assert_eq!(
        world.account("alice").governance_expiry,
        Time(first + (START + year) % (year / 2))
    );
    // Before hardfork 25 nothing expires, after it what is overdue does.
    world.end_block(first + year);
    assert_eq!(world.state.globals().witness_votes, 1);
    world.hardfork(25);
    world.end_block(first + year + 3);
    assert_eq!(world.state.globals().witness_votes, 0);
}

#[test]
fn witnesses_are_counted() {
    let mut world = World::testnet(28);
    world.does(&witness("alice", 5));
    world.does(&witness("bob", 0));
    let globals = *world.state.globals();
    assert_eq!((globals.witnesses, globals.enabled_witnesses), (3, 2));
    assert_eq!(world.read::<WitnessByIndex>(2).0, name("bob"));
    world.does(&witness("alice", 0));
    world.does(&witness("bob", 6));
    assert_eq!(world.state.globals().enabled_witnesses, 2);
    let alice: Witness = world.read(&name("alice"));
    assert_eq!(
        (alice.created, alice.account_creation_fee, alice.index),
        (Time(START), 3_000, 1)
    );
    assert_eq!(
        world.run(&witness("nobody", 5)),
        Err(OperationFault::NoAccount(name("nobody")))
    );
}
