//! The check against cases whose outcome hived's own unit tests demand, and more of an independent implementation.

#![allow(
    clippy::unwrap_used,
    missing_docs,
    reason = "a test that cannot go on shall stop"
)]

mod authority_support;

use authority_support::{Accounts, data, parse};
use cairn_chain::{AccountName, ChainKind, PublicKey};
use cairn_rules::authority::{CheckError, Level, RuleSet, check};
use cairn_rules::required::RequiredAuthorities;
use serde_json::Value;

fn names(required: &Value, level: &str) -> Vec<AccountName> {
    let names = required[level].as_array().into_iter().flatten();
    names
        .map(|name| AccountName::from(name.as_str().unwrap()))
        .collect()
}

fn outcome(case: &Value) -> &'static str {
    let number = |name: &str| u32::try_from(case["rules"][name].as_u64().unwrap()).unwrap();
    let rules = RuleSet {
        depth: number("depth"),
        members: number("members"),
        accounts: number("accounts"),
        strict_and_mixed: case["rules"]["strict_and_mixed"].as_bool().unwrap(),
        redundant_signatures: case["rules"]["redundant"].as_bool().unwrap(),
    };
    let mut accounts = Accounts::default();
    for (name, authorities) in case["accounts"].as_object().unwrap() {
        for (level, field) in [
            (Level::Owner, "owner"),
            (Level::Active, "active"),
            (Level::Posting, "posting"),
        ] {
            let authority = parse(authorities[field].as_str().unwrap());
            accounts
                .authorities
                .insert((AccountName::from(name.as_str()), level), authority);
        }
    }
    let required = &case["required"];
    let known = ["owner", "active", "posting", "other"];
    assert!(
        required
            .as_object()
            .unwrap()
            .keys()
            .all(|level| known.contains(&level.as_str())),
        "{required}"
    );
    let other: Vec<_> = required["other"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|text| parse(text.as_str().unwrap()))
        .collect();
    let required = RequiredAuthorities::new(
        &names(required, "owner"),
        &names(required, "active"),
        &names(required, "posting"),
        &[],
        &other,
    );
    let keys: Vec<PublicKey> = case["keys"]
        .as_array()
        .unwrap()
        .iter()
        .map(|key| key.as_str().unwrap().parse().unwrap())
        .collect();
    match check(&rules, &required, &keys, &mut accounts) {
        Ok(_) => "ok",
        Err(CheckError::Refused(failure)) => failure.kind(),
        Err(other) => panic!("{other}"),
    }
}

#[test]
fn all_published_cases_have_their_outcome() {
    let Some(file) = data::json("vectors/authority_cases.json") else {
        return;
    };
    let cases = file["cases"].as_array().unwrap();
    let mut wrong = Vec::new();
    for case in cases {
        let (found, expected) = (outcome(case), case["expect"].as_str().unwrap());
        if found != expected {
            wrong.push(format!("{}: {expected} expected, {found} found", case["name"]));
        }
    }
    println!("{} cases, {} wrong", cases.len(), wrong.len());
    assert_eq!(cases.len(), 203);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn rules_follow_the_hardfork() {
    let before_20 = RuleSet {
        depth: 2,
        members: 0,
        accounts: 0,
        strict_and_mixed: false,
        redundant_signatures: false,
    };
    let before_28 = RuleSet {
        members: 40,
        accounts: 125,
        ..before_20
    };
    let since_28 = RuleSet {
        strict_and_mixed: true,
        redundant_signatures: true,
        ..before_28
    };
    for (hardfork, expected) in [
        (0, before_20),
        (19, before_20),
        (20, before_28),
        (27, before_28),
        (28, since_28),
        (29, since_28),
    ] {
        assert_eq!(
            RuleSet::at(hardfork, ChainKind::Mainnet),
            expected,
            "hardfork {hardfork}"
        );
    }
    assert_eq!(RuleSet::at(20, ChainKind::Mirrornet).members, 41);
}
