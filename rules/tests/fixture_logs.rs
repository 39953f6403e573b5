//! Every fixture log, from genesis to its head, in both modes: the state must be the one that an independent program gets,
//! and the same in both modes. What this cannot find: faults in rules that no log needs.

#![allow(clippy::unwrap_used, missing_docs, reason = "a test fails by panicking")]

mod support;

use std::path::Path;

use cairn_chain::DecodedBlock;
use cairn_rules::checks::Exemption;
use cairn_rules::identity::{IdentityReport, Section, canonical, canonical_with};
use cairn_rules::signatures::recover;
use cairn_rules::{RuleError, TransactionFault};
use serde_json::Value;
use support::{TestState, blocks, data, json, spec_of};

struct Replayed {
    report: IdentityReport,
    lines: Vec<Vec<String>>,
    state: TestState,
}

fn replay(data: &Path, log: &str, profile: &str, full: bool) -> Replayed {
    let spec = spec_of(log, profile);
    let mut test = TestState::new(&spec);
    for block in blocks(data, log, &spec) {
        block.check_merkle_root(&spec).unwrap();
        let applied = if full {
            test.apply_full(&block)
        } else {
            test.apply_reduced(&block)
        };
        applied.unwrap_or_else(|error| panic!("{log}: {error}"));
    }
    test.state.commit().unwrap();
    let mut lines = vec![Vec::new(); Section::ALL.len()];
    let report = canonical_with(test.state.registers().store(), |section, line| {
        lines[section as usize].push(String::from_utf8_lossy(line).into_owned());
        Ok(())
    })
    .unwrap();
    Replayed {
        report,
        lines,
        state: test,
    }
}

fn compare(log: &str, expected: &Value, replayed: &Replayed) {
    let report = &replayed.report;
    assert_eq!(u64::from(report.head_number), expected["head_block_num"], "{log}");
    assert_eq!(report.head_id.to_string(), expected["head_block_id"], "{log}");
    assert_eq!(
        u64::from(report.head_time.0),
        expected["head_block_time"],
        "{log}"
    );
    assert_eq!(u64::from(report.hardfork), expected["hardfork"], "{log}");
    for section in Section::ALL {
        let name = section.name();
        let lines = &replayed.lines[section as usize];
        // Some lines in full, so that a difference says where it is.
        let list = match section {
            Section::Accounts => "account_lines".to_owned(),
            Section::Witnesses => "witness_lines".to_owned(),
            Section::Comments => "comment_lines".to_owned(),
            _ => format!("{name}_lines"),
        };
        for line in expected[&list].as_array().into_iter().flatten() {
            let line = line.as_str().unwrap();
            let key = line.split('|').next();
            let near: Vec<_> = lines
                .iter()
                .filter(|found| found.split('|').next() == key)
                .collect();
            assert!(
                lines.iter().any(|found| found == line),
                "{log}, {name}: {line} expected, {near:#?} found"
            );
        }
        let digest = report.section(section);
        assert_eq!(digest.count, expected[name]["count"], "{log}, {name}");
        assert_eq!(
            hex::encode(digest.sha256),
            expected[name]["sha256"],
            "{log}, {name}: {lines:#?}"
        );
    }
    assert_eq!(
        hex::encode(report.identity_sha256),
        expected["identity_sha256"],
        "{log}"
    );
    assert_eq!(
        hex::encode(report.tapos_ring_sha256),
        expected["tapos_ring_sha256"],
        "{log}"
    );
    assert_eq!(report.accounts_mined, expected["accounts_mined"], "{log}");
}

fn compare_checks(log: &str, expected: &Value, replayed: &Replayed) {
    let checks = replayed.state.state.checks();
    let found = &expected["checks"];
    assert_eq!(
        replayed.report.known_transactions, expected["known_transactions"],
        "{log}"
    );
    assert_eq!(
        replayed.state.state.known_transactions() as u64,
        expected["known_transactions"],
        "{log}"
    );
    assert_eq!(
        checks.blocks_signed, found["blocks_signed_by_the_witness_key_in_state"],
        "{log}"
    );
    assert_eq!(
        checks.transactions, found["transactions_authority_checked"],
        "{log}"
    );
    assert_eq!(checks.signatures, found["signatures_recovered"], "{log}");
    assert_eq!(checks.reference_blocks, found["reference_block_matched"], "{log}");
    assert_eq!(
        checks.reference_blocks_of_first, found["reference_block_not_checked_block_1"],
        "{log}"
    );
    let open = checks.exempt.get(&Exemption::OpenAuthority).copied().unwrap_or(0);
    let expected_open = found["transactions_exempt_or_special"][Exemption::OpenAuthority.reason()]
        .as_u64()
        .unwrap_or(0);
    assert_eq!(open, expected_open, "{log}");
    let satisfied = &found["authorities_satisfied"];
    for (name, count) in [
        ("posting by posting", checks.satisfied.posting_by_posting),
        ("posting by active", checks.satisfied.posting_by_active),
        ("posting by owner", checks.satisfied.posting_by_owner),
        ("active by active", checks.satisfied.active_by_active),
        ("active by owner", checks.satisfied.active_by_owner),
        ("owner by owner", checks.satisfied.owner_by_owner),
        ("other", checks.satisfied.other),
    ] {
        assert_eq!(count, satisfied[name].as_u64().unwrap_or(0), "{log}: {name}");
    }
    println!(
        "{log}: {} blocks signed, {} slots checked ({} by the other program), {} transactions' authorities checked, \
         exempt {:?}, undecided {:?}",
        checks.blocks_signed,
        checks.slots,
        found["slots_checked_against_schedule"],
        checks.transactions,
        checks.exempt,
        checks.undecided,
    );
    assert!(
        checks.slots >= found["slots_checked_against_schedule"].as_u64().unwrap(),
        "{log}: slots"
    );
}

fn check(log: &str) {
    let Some(data) = data() else { return };
    let expected = json(&data.join("expected").join(format!("identity_{log}.json")));
    let profile = expected["profile"].as_str().unwrap();
    let full = replay(&data, log, profile, true);
    compare(log, &expected, &full);
    compare_checks(log, &expected, &full);
    let reduced = replay(&data, log, profile, false);
    compare(log, &expected, &reduced);
    assert_eq!(
        reduced.report.known_transactions, 0,
        "{log}: reduced validation knows no transactions"
    );
    let digest = |replayed: &Replayed| replayed.state.state.registers().store().digest().unwrap();
    assert_eq!(
        digest(&full),
        digest(&reduced),
        "{log}: registers after full and reduced validation"
    );
    assert!(reduced.report.accounts_mined > 0);
}

macro_rules! logs {
    ($($name:ident)*) => {$(
        #[test]
        fn $name() {
            check(stringify!($name));
        }
    )*};
}

logs! {
    derived_mainnet_700
    derived_mixed
    derived_split
    hf28_tests
    hf28_upvoting
    hived
    mirrornet_1k
    op_account_witness_proxy
    op_account_witness_vote
    op_update_proposal_votes
    output_formatter
    steemd_generated
    steemd_identity
    steemd_live
    testnet_pattern
    transaction_pattern
}

/// Steem's logs under the rules of a Hive testnet: another genesis, other limits. The other program applies what it can:
/// a transaction whose signatures do not do (the account has other keys by then) is applied and counted, one with an
/// operation that is refused is left out. So here, with blocks in reduced validation, as their witnesses run too old a
/// version.
fn check_under_hive_rules(log: &str) {
    let Some(data) = data() else { return };
    let whole = json(&data.join("expected").join(format!("identity_{log}.json")));
    let expected = &whole["the_same_log_under_hive_testnet_rules"];
    let spec = spec_of(log, "testnet");
    let mut test = TestState::new(&spec);
    let (mut unauthorized, mut refused) = (0, 0);
    for block in blocks(&data, log, &spec) {
        if let [only] = block.block().transactions.as_slice() {
            let keys = recover(&block, &spec).unwrap();
            match test.state.try_transaction(only, &keys.transactions[0]) {
                Ok(()) => {}
                Err(RuleError::Transaction {
                    fault: TransactionFault::Authority(_),
                    ..
                }) => unauthorized += 1,
                Err(RuleError::Operation { .. }) => {
                    refused += 1;
                    // The same block, and the same id, without its transaction.
                    let emptied = [block.block().header.bytes(), &[0]].concat();
                    let emptied = DecodedBlock::decode(emptied, spec.symbols).unwrap();
                    assert_eq!(emptied.id(), block.id());
                    test.apply_reduced(&emptied).unwrap();
                    continue;
                }
                Err(other) => panic!("{log}: {other}"),
            }
        }
        test.apply_reduced(&block).unwrap();
    }
    test.state.commit().unwrap();
    let report = canonical(test.state.registers().store()).unwrap();
    for section in [Section::Accounts, Section::Witnesses] {
        let digest = report.section(section);
        assert_eq!(
            digest.count,
            expected[section.name()]["count"],
            "{log}, {}",
            section.name()
        );
        assert_eq!(
            hex::encode(digest.sha256),
            expected[section.name()]["sha256"],
            "{log}, {}",
            section.name()
        );
    }
    assert_eq!(
        hex::encode(report.identity_sha256),
        expected["identity_sha256"],
        "{log}"
    );
    assert_eq!(
        unauthorized,
        expected["transactions_failed"].as_u64().unwrap(),
        "{log}"
    );
    // The change of an owner authority within 6 seconds, which Steem's testnet allows.
    assert_eq!(refused, u64::from(log == "steemd_identity"), "{log}");
}

#[test]
fn steemd_generated_under_hive_rules() {
    check_under_hive_rules("steemd_generated");
}

#[test]
fn steemd_identity_under_hive_rules() {
    check_under_hive_rules("steemd_identity");
}

#[test]
fn steemd_live_under_hive_rules() {
    check_under_hive_rules("steemd_live");
}
