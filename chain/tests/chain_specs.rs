//! Chain specifications: the built-in ones against known chains, and files.

#![allow(
    clippy::unwrap_used,
    missing_docs,
    reason = "a test that cannot go on shall stop"
)]

mod common;

use std::collections::BTreeMap;

use cairn_chain::spec::BUILT_IN;
use cairn_chain::{Authority, ChainId, ChainKind, ChainSpec, PrivateKey, SpecError, Symbols, Time, Version};
use common::json;
use sha2::{Digest, Sha256};

#[test]
fn the_built_in_chains() {
    for name in BUILT_IN {
        assert_eq!(ChainSpec::builtin(name).unwrap().name, name);
    }
    let error = ChainSpec::builtin("hivetestnet").unwrap_err();
    assert_eq!(
        error.to_string(),
        r#"no chain is called "hivetestnet"; built in are hive, hive-testnet, hive-mirrornet, steem-testnet"#
    );
}

#[test]
fn chain_ids() {
    let hive = ChainSpec::hive();
    let beeab0de = format!("beeab0de{}", "0".repeat(56));
    assert_eq!(hive.chain_id().to_string(), beeab0de);
    // By block time, up to and with the block that ended in hardfork 24.
    assert_eq!(hive.chain_id_at(Time(1_602_703_884)), ChainId::ZERO);
    assert_eq!(hive.chain_id_at(Time(1_602_703_885)), hive.chain_id());
    let mirrornet = ChainSpec::hive_mirrornet();
    assert_eq!(mirrornet.chain_id().to_string(), format!("42{}", "0".repeat(62)));
    assert_eq!(mirrornet.chain_id_at(Time(0)), mirrornet.chain_id());
    for spec in [ChainSpec::hive_testnet(), ChainSpec::steem_testnet()] {
        // The word was hashed with its length in front.
        assert_eq!(spec.chain_id().0[..], Sha256::digest(b"\x07testnet")[..]);
        assert_eq!(spec.chain_id_at(Time(0)), spec.chain_id());
    }
}

#[test]
fn first_keys() {
    assert_eq!(
        ChainSpec::hive().first_key.to_string(),
        "STM8GC13uCZbP44HzMLV6zPZGwVQ8Nt4Kji8PapsPiNq1BK153XTX"
    );
    let test_key = PrivateKey::from_seed(b"init_key").public_key();
    for spec in [
        ChainSpec::hive_testnet(),
        ChainSpec::hive_mirrornet(),
        ChainSpec::steem_testnet(),
    ] {
        assert_eq!(spec.first_key, test_key);
    }
    assert_eq!(
        ChainSpec::hive().hardfork_9_key.to_string(),
        "STM7sw22HqsXbz7D2CmJfmMwt9rimtk518dRzsR1f8Cgw52dQR1pR"
    );
}

#[test]
fn hardforks() {
    let hive = ChainSpec::hive();
    assert_eq!(hive.hardforks.count(), 28);
    assert_eq!(hive.hardfork_time(1).unwrap().to_string(), "2016-04-25T17:30:00");
    assert_eq!(hive.hardfork_time(28).unwrap().to_string(), "2025-11-19T13:00:00");
    assert_eq!((hive.hardfork_time(0), hive.hardfork_time(29)), (None, None));
    assert_eq!(hive.hardfork_block(1), Some(905_693));
    assert_eq!(hive.hardfork_block(24), Some(47_797_680));
    assert_eq!((hive.hardfork_block(0), hive.hardfork_block(28)), (None, None));
    // No hardfork is in force when mainnet starts, all that are due when a testnet does.
    assert_eq!(hive.hardforks.applied_at_start(Time(1_458_835_500)), 0);
    let testnet = ChainSpec::hive_testnet();
    assert_eq!(
        testnet.hardfork_time(28).unwrap().to_string(),
        "2023-02-08T01:00:00"
    );
    assert_eq!(testnet.hardforks.applied_at_start(Time(1_675_818_000)), 28);
    assert_eq!(testnet.hardforks.applied_at_start(Time(1_675_817_999)), 27);
    assert_eq!(testnet.hardfork_block(1), None);
    let steem = ChainSpec::steem_testnet();
    assert_eq!(steem.hardforks.count(), 24);
    for hardfork in 1..28 {
        assert!(
            hive.hardfork_time(hardfork) <= hive.hardfork_time(hardfork + 1),
            "{hardfork}"
        );
    }
    assert_eq!(hive.hardfork_version(23), Version::new(0, 23, 0));
    assert_eq!(hive.hardfork_version(24), Version::new(1, 24, 0));
    assert_eq!(steem.hardfork_version(24), Version::new(0, 24, 0));
}

/// Every fixture chain starts with the hardforks that its spec says, by the time of its block 1.
#[test]
fn hardforks_that_the_fixture_chains_started_with() {
    for (name, spec) in fixture_chains() {
        let Some(expected) = json(&format!("expected/identity_{name}.json")) else {
            return;
        };
        let log = json(&format!("expected/{name}.json"))
            .or_else(|| json("expected/derived_split_part_0001.json"))
            .unwrap();
        let block_1: Time = log["first_timestamp"].as_str().unwrap().parse().unwrap();
        assert_eq!(
            u64::from(spec.hardforks.applied_at_start(block_1)),
            expected["hardfork"],
            "{name}"
        );
        assert_eq!(expected["genesis_time"], spec.genesis_time.seconds(), "{name}");
    }
}

fn fixture_chains() -> Vec<(&'static str, ChainSpec)> {
    let upvoting = r#"{"name": "upvoting", "genesis_time": 1699532261,
        "hardfork_schedule": [{"hardfork": 27, "block_num": 1}, {"hardfork": 28, "block_num": 2000}]}"#;
    let proxy = r#"{"genesis_time": 1700210126, "hardfork_schedule": [{"hardfork": 28, "block_num": 1}]}"#;
    vec![
        ("derived_mainnet_700", ChainSpec::hive()),
        ("mirrornet_1k", ChainSpec::hive_mirrornet()),
        ("hf28_tests", ChainSpec::hive_testnet()),
        ("hived", ChainSpec::hive_testnet()),
        ("output_formatter", ChainSpec::hive_testnet()),
        ("testnet_pattern", ChainSpec::hive_testnet()),
        ("transaction_pattern", ChainSpec::hive_testnet()),
        ("hf28_upvoting", ChainSpec::from_json(upvoting).unwrap()),
        ("op_account_witness_proxy", ChainSpec::from_json(proxy).unwrap()),
        ("steemd_generated", ChainSpec::steem_testnet()),
        ("steemd_live", ChainSpec::steem_testnet()),
        ("steemd_identity", ChainSpec::steem_testnet()),
    ]
}

/// An authority in the text form of the expected files.
fn text(authority: Option<&Authority>) -> String {
    let Some(authority) = authority else {
        return String::new();
    };
    let accounts: Vec<String> = authority
        .account_auths
        .iter()
        .map(|(name, weight)| format!("{name}:{weight}"))
        .collect();
    let keys: Vec<String> = authority
        .key_auths
        .iter()
        .map(|(key, weight)| format!("{key}:{weight}"))
        .collect();
    format!(
        "{}/{}/{}",
        authority.weight_threshold,
        accounts.join(","),
        keys.join(",")
    )
}

/// Accounts that no transaction touched are at the end what they were at genesis, as far as hardforks left them alone.
#[test]
fn genesis_accounts_and_witnesses_of_the_fixture_chains() {
    for (name, spec) in fixture_chains() {
        let Some(expected) = json(&format!("expected/identity_{name}.json")) else {
            return;
        };
        let lines: BTreeMap<&str, Vec<&str>> = expected["account_lines"]
            .as_array()
            .unwrap()
            .iter()
            .map(|line| line.as_str().unwrap().split('|').collect::<Vec<_>>())
            .map(|fields| (fields[0], fields))
            .collect();
        let accounts = spec.genesis_accounts();
        let mut compared = 0;
        for account in &accounts {
            let account_name = account.name.to_string();
            let Some(line) = lines.get(&account_name[..]) else {
                continue;
            };
            let owner = text(account.owner_and_active.as_ref());
            let is_changed_by_hardforks = spec.is_steem() && expected["hardfork"] != 0;
            if account_name != "steem.dao" || !is_changed_by_hardforks {
                assert_eq!([&owner, &owner], [line[1], line[2]], "{name}: {account_name}");
            }
            if !is_changed_by_hardforks {
                assert_eq!(text(account.posting.as_ref()), line[3], "{name}: {account_name}");
            }
            assert_eq!(account.memo_key.to_string(), line[4], "{name}: {account_name}");
            assert_eq!(
                account.created.seconds().to_string(),
                line[9],
                "{name}: {account_name}"
            );
            compared += 1;
        }
        assert!(compared >= 4, "{name}: {compared} compared");
        if let Some(mined) = expected["accounts_mined"].as_u64() {
            assert_eq!(accounts.len() as u64, mined, "{name}");
        }
        let witness = &spec.genesis_witnesses()[0];
        let lines = expected["witness_lines"].as_array().unwrap();
        let line = lines
            .iter()
            .map(|line| line.as_str().unwrap())
            .find(|line| line.starts_with("initminer|"))
            .unwrap();
        let props = &witness.props;
        let start = format!(
            "{}|{}||0|{}|{}|{}|{}|{}|",
            witness.name,
            witness.signing_key,
            props.account_creation_fee.amount,
            props.maximum_block_size,
            props.hbd_interest_rate,
            witness.account_subsidy_budget,
            witness.account_subsidy_decay
        );
        assert!(line.starts_with(&start), "{name}: {line}");
    }
}

#[test]
fn an_empty_file_is_the_testnet() {
    assert_eq!(ChainSpec::from_json("{}").unwrap(), ChainSpec::hive_testnet());
    let steem = ChainSpec::from_json(r#"{"base": "steem-testnet"}"#).unwrap();
    assert_eq!(steem, ChainSpec::steem_testnet());
}

#[test]
fn every_key_counts() {
    let spec = ChainSpec::from_json(
        r#"{
            "name": "devnet",
            "base": "hive-mirrornet",
            "chain_id": "44",
            "initminer_key": "STM5P8syqoj7itoDjbtDvCMCb5W3BNJtUjws9v7TDNZKqBLmp3pQW",
            "blocks_per_log_part": 100,
            "genesis_time": 1700000000,
            "hardfork_schedule": [{"hardfork": 2, "block_num": 0}, {"hardfork": 20, "block_num": 20}],
            "init_witnesses": ["witness-0", "witness-1"],
            "hive_owner_update_limit": 9,
            "min_root_comment_interval": 30,
            "init_supply": 410000000000,
            "hbd_init_supply": 30000000000,
            "initial_vesting": {"vests_per_hive": 1800, "hive_amount": 170000000000},
            "generate_missed_block_operations": false,
            "hf_21_stall_block": 0
        }"#,
    )
    .unwrap();
    assert_eq!(spec.name, "devnet");
    assert_eq!(
        (spec.kind, spec.symbols),
        (ChainKind::Mirrornet, Symbols::Mainnet)
    );
    assert_eq!(spec.chain_id().to_string(), format!("44{}", "0".repeat(62)));
    assert_eq!(
        spec.first_key.to_string(),
        "STM5P8syqoj7itoDjbtDvCMCb5W3BNJtUjws9v7TDNZKqBLmp3pQW"
    );
    assert_eq!(spec.hardfork_9_key, spec.first_key);
    assert_eq!(spec.blocks_per_log_part, 100);
    assert_eq!(spec.genesis_time, Time(1_700_000_000));
    let times: Vec<u32> = [1, 2, 3, 20]
        .map(|hardfork| spec.hardfork_time(hardfork).unwrap().seconds())
        .to_vec();
    assert_eq!(
        times,
        [1_700_000_000, 1_700_000_000, 1_700_000_060, 1_700_000_060]
    );
    assert_eq!(spec.hardfork_time(21), ChainSpec::hive().hardfork_time(21));
    assert_eq!(spec.hardfork_block(21), None);
    assert_eq!(
        (spec.limits.owner_update_interval, spec.limits.recovery_interval),
        (Some(9), 9)
    );
    assert_eq!(spec.limits.root_comment_interval, 30);
    let names: Vec<String> = spec
        .genesis_witnesses()
        .iter()
        .map(|witness| witness.name.to_string())
        .collect();
    assert_eq!(names, ["initminer", "witness-0", "witness-1"]);
    let names: Vec<String> = spec
        .genesis_accounts()
        .iter()
        .map(|account| account.name.to_string())
        .collect();
    assert_eq!(
        names,
        [
            "miners",
            "null",
            "temp",
            "initminer",
            "witness-0",
            "witness-1",
            "steem"
        ]
    );
}

/// Each mistake has an error that names the key.
#[test]
fn mistakes_are_told() {
    let refused = |text: &str| {
        let error = ChainSpec::from_json(text).unwrap_err();
        let source = std::error::Error::source(&error)
            .map(|source| format!(": {source}"))
            .unwrap_or_default();
        format!("{error}{source}")
    };
    let cases = [
        (
            "",
            "the chain specification is not valid: EOF while parsing a value at line 1 column 0",
        ),
        (
            "[]",
            "the chain specification is not valid: invalid length 0, expected an object with the keys",
        ),
        (
            r#"{"genesis-time": 1}"#,
            "the chain specification is not valid: unknown field `genesis-time`",
        ),
        (
            r#"{"genesis_time": "2016"}"#,
            "the chain specification is not valid: invalid type: string",
        ),
        (
            r#"{"genesis_time": -1}"#,
            "the chain specification is not valid: invalid value: integer `-1`, expected u32",
        ),
        (
            r#"{"genesis_time": 4294967296}"#,
            "the chain specification is not valid: invalid value: integer",
        ),
        (
            r#"{"base": "mainnet"}"#,
            "the chain specification's base: no chain is called \"mainnet\"",
        ),
        (
            r#"{"base": "hive"}"#,
            "a chain specification cannot start from hive",
        ),
        (
            r#"{"hardfork_schedule": [{"hardfork": 0, "block_num": 1}]}"#,
            "hardfork_schedule: hardforks 1 to 28 can be given, found 0",
        ),
        (
            r#"{"base": "steem-testnet", "hardfork_schedule": [{"hardfork": 25, "block_num": 1}]}"#,
            "hardfork_schedule: hardforks 1 to 24 can be given, found 25",
        ),
        (
            r#"{"hardfork_schedule": [{"hardfork": 5, "block_num": 1}, {"hardfork": 5, "block_num": 2}]}"#,
            "hardfork_schedule: hardforks in ascending order expected, found 5 behind 5",
        ),
        (
            r#"{"hardfork_schedule": [{"hardfork": 5, "block_num": 4294967295}]}"#,
            "hardfork_schedule: hardfork 5 at block 4294967295 would be after the year 2106",
        ),
        (
            r#"{"genesis_time": 4294967290, "hardfork_schedule": [{"hardfork": 5, "block_num": 2}]}"#,
            "hardfork_schedule: hardfork 5 at block 2 would be after the year 2106",
        ),
        (
            r#"{"hardfork_schedule": [{"hardfork": 5, "block": 1}]}"#,
            "the chain specification is not valid: unknown field `block`",
        ),
        (
            r#"{"init_witnesses": ["Bob"]}"#,
            "init_witnesses: \"Bob\" is not a name for a new account",
        ),
        (
            r#"{"init_witnesses": ["temp"]}"#,
            "init_witnesses: \"temp\" is not a name for a new account",
        ),
        (
            r#"{"init_witnesses": ["abc", "abc"]}"#,
            "init_witnesses: \"abc\" is not a name for a new account",
        ),
        (
            r#"{"init_witnesses": ["abcdefghijklmnopq"]}"#,
            "init_witnesses: \"abcdefghijklmnopq\" is not a name",
        ),
        (
            r#"{"chain_id": ""}"#,
            "chain_id: 2 to 64 hexadecimal digits expected, an even number of them, found \"\"",
        ),
        (
            r#"{"chain_id": "4"}"#,
            "chain_id: 2 to 64 hexadecimal digits expected",
        ),
        (
            r#"{"chain_id": "xy"}"#,
            "chain_id: 2 to 64 hexadecimal digits expected",
        ),
        (
            r#"{"initminer_key": "STM6"}"#,
            "initminer_key: the public key \"STM6\" holds 1 bytes",
        ),
        (
            r#"{"blocks_per_log_part": 0}"#,
            "blocks_per_log_part: at least 1 expected, found 0",
        ),
        (
            r#"{"hive_owner_update_limit": 5}"#,
            "hive_owner_update_limit: at least 6 seconds and a multiple of 3 expected",
        ),
        (
            r#"{"hive_owner_update_limit": 7}"#,
            "hive_owner_update_limit: at least 6 seconds and a multiple of 3 expected",
        ),
    ];
    for (text, message) in cases {
        let found = refused(text);
        assert!(
            found.starts_with(message),
            "{text}\n found {found}\n expected {message}"
        );
    }
    let long = format!(r#"{{"chain_id": "{}"}}"#, "0".repeat(66));
    assert!(matches!(
        ChainSpec::from_json(&long),
        Err(SpecError::ChainId { .. })
    ));
}
