//! `cairn log info` against the values that an independent program computed from the same logs.

use std::num::NonZeroUsize;
use std::path::Path;

use crate::fixtures::{LOGS, expected, hive_data};
use cairn_node::chain_choice;
use cairn_node::log_commands::info::info;
use cairn_node::log_commands::source::LogSource;
use serde_json::Value;

/// Keys that two of the expected files lack, because their makers did not recover 43,000 keys.
const KEYS_OF_SIGNERS: [&str; 4] = [
    "chain_id",
    "distinct_transaction_signing_keys",
    "transaction_signing_key_list_sha256",
    "transaction_signing_keys",
];

fn report(data: &Path, log: &str, chain: &str, threads: usize) -> Value {
    let chain = chain_choice::load(chain).unwrap();
    let source = LogSource::open_path(
        &data.join("logs").join(log),
        chain,
        Some(&data.join("dictionaries")),
    )
    .unwrap();
    info(&source, NonZeroUsize::new(threads).unwrap()).unwrap()
}

#[test]
fn every_log_gives_the_expected_values_in_the_expected_order() {
    let Some(data) = hive_data() else { return };
    for (name, log, chain) in LOGS {
        let expected = expected(&data, name);
        let mut found = report(&data, log, chain, 3);
        if expected.get("chain_id").is_none() {
            let object = found.as_object_mut().unwrap();
            KEYS_OF_SIGNERS
                .iter()
                .for_each(|key| assert!(object.shift_remove(*key).is_some(), "{name} {key}"));
        }
        // As text, so that the order of the keys is compared too.
        let text = |value: &Value| serde_json::to_string_pretty(value).unwrap();
        let (found, expected) = (text(&found), text(&expected));
        if found != expected {
            let differ: Vec<_> = expected
                .lines()
                .zip(found.lines())
                .filter(|(a, b)| a != b)
                .take(20)
                .collect();
            panic!("{name}: {differ:#?}");
        }
    }
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let Some(data) = hive_data() else { return };
    let one = report(&data, "testnet_pattern", "hive-testnet", 1);
    for threads in [2, 3, 16] {
        assert_eq!(
            report(&data, "testnet_pattern", "hive-testnet", threads),
            one,
            "{threads} threads"
        );
    }
}

#[test]
fn a_split_log_holds_what_the_log_holds_that_it_was_split_from() {
    let Some(data) = hive_data() else { return };
    let mut whole = expected(&data, "testnet_pattern");
    let mut split = report(&data, "derived_split", "hive-testnet", 2);
    // The parts are the same bytes with other offsets in the trailers: same size, other digest of the files.
    assert_ne!(split["file_sha256"], whole["file_sha256"]);
    whole["file_sha256"] = Value::Null;
    split["file_sha256"] = Value::Null;
    assert_eq!(split, whole);
}

#[test]
fn the_wrong_chain_is_an_error_that_names_the_place() {
    let Some(data) = hive_data() else { return };
    let chain = chain_choice::load("hive").unwrap();
    let source = LogSource::open_path(&data.join("logs/transaction_pattern"), chain, None);
    let error = source
        .map_err(|error| error.to_string())
        .and_then(|source| info(&source, NonZeroUsize::MIN).map_err(|error| format!("{error:#}")))
        .unwrap_err();
    assert!(error.contains("block_log") && error.contains("offset"), "{error}");
}
