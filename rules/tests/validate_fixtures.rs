//! Validity, required authorities and recovered keys over real blocks, and over transactions that a real node judged.

#![allow(
    clippy::unwrap_used,
    missing_docs,
    reason = "a test that cannot go on shall stop"
)]

#[path = "authority_support/data.rs"]
mod data;

use std::collections::BTreeMap;

use cairn_chain::{ChainSpec, DecodedBlock, PublicKey, Transaction};
use cairn_rules::signatures::{RecoverError, recover};
use cairn_rules::{required, validate};
use serde_json::Value;

fn transaction_bytes(entry: &Value) -> Vec<u8> {
    hex::decode(entry["transaction"].as_str().unwrap()).unwrap()
}

/// The last hardfork in force while a mainnet block is applied: those that took effect at the end of an earlier one.
fn mainnet_hardfork(spec: &ChainSpec, block: u32) -> u8 {
    (1..=28)
        .rev()
        .find(|hardfork| spec.hardfork_block(*hardfork).is_some_and(|end| end < block))
        .unwrap_or(0)
}

/// Decodes blocks, checks every operation, and recovers every key.
fn check_blocks(file: &str, expected: &str, spec: &ChainSpec, hardfork: impl Fn(u32) -> u8) {
    let (Some(blocks), Some(expected)) = (data::json(file), data::json(expected)) else {
        return;
    };
    let mut operations: BTreeMap<&str, u64> = BTreeMap::new();
    let mut witness_keys: BTreeMap<String, u64> = BTreeMap::new();
    let mut listed: BTreeMap<u64, &Value> = BTreeMap::new();
    // One fixture is an object with counts beside the list, the other the list alone.
    for block in expected["blocks"].as_array().or(expected.as_array()).unwrap() {
        listed.insert(block["number"].as_u64().unwrap(), block);
    }
    let (mut transactions, mut keys, mut compared) = (0, 0, 0);
    for entry in blocks.as_array().unwrap() {
        let block =
            DecodedBlock::decode(hex::decode(entry["hex"].as_str().unwrap()).unwrap(), spec.symbols).unwrap();
        let recovered = recover(&block, spec).unwrap();
        *witness_keys.entry(recovered.witness.to_string()).or_default() += 1;
        assert_eq!(recovered.transactions.len(), block.block().transactions.len());
        for (transaction, found) in block.block().transactions.iter().zip(&recovered.transactions) {
            transactions += 1;
            keys += found.len();
            let required = required::of_transaction(transaction).unwrap();
            assert_eq!(required.is_empty(), found.is_empty(), "block {}", block.number());
            for operation in &transaction.operations {
                *operations.entry(operation.kind().name()).or_default() += 1;
                let verdict = validate::operation(operation, hardfork(block.number()), spec);
                assert_eq!(verdict, Ok(()), "block {}: {operation:?}", block.number());
            }
        }
        if let Some(listed) = listed.get(&u64::from(block.number())) {
            assert_eq!(
                listed["signing_key"].as_str(),
                Some(recovered.witness.to_string().as_str())
            );
            for (listed, found) in listed["transactions"]
                .as_array()
                .unwrap()
                .iter()
                .zip(&recovered.transactions)
            {
                let found: Vec<_> = found.iter().map(PublicKey::to_string).collect();
                let expected: Vec<_> = listed["signing_keys"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .map(|key| key.as_str().unwrap())
                    .collect();
                assert_eq!(found, expected, "block {}", block.number());
                compared += found.len();
            }
        }
    }
    println!("{file}: {transactions} transactions, {keys} keys ({compared} compared), {operations:?}");
    assert_eq!(compared, keys);
    if expected.is_array() {
        assert_eq!(
            (transactions, blocks.as_array().unwrap().len()),
            (60, expected.as_array().unwrap().len())
        );
        return;
    }
    assert_eq!(expected["transaction_count"].as_u64(), Some(transactions));
    assert_eq!(expected["signature_count"].as_u64(), Some(keys as u64));
    let counts = |value: &Value| -> BTreeMap<String, u64> {
        value
            .as_object()
            .unwrap()
            .iter()
            .map(|(key, count)| (key.clone(), count.as_u64().unwrap()))
            .collect()
    };
    assert_eq!(counts(&expected["witness_signing_keys"]), witness_keys);
    let operations: BTreeMap<_, _> = operations
        .iter()
        .map(|(name, count)| ((*name).to_owned(), *count))
        .collect();
    assert_eq!(counts(&expected["operation_counts"]), operations);
}

#[test]
fn mainnet_blocks() {
    let spec = ChainSpec::hive();
    check_blocks(
        "mainnet/blocks.json",
        "expected/mainnet_blocks.json",
        &spec,
        |block| mainnet_hardfork(&spec, block),
    );
}

#[test]
fn mirrornet_blocks() {
    check_blocks(
        "mirrornet/blocks.json",
        "expected/mirrornet_blocks.json",
        &ChainSpec::hive_mirrornet(),
        |_| 28,
    );
}

/// What a real node accepted is valid; what it refused for a rule of validity is refused; what it refused for any other
/// reason keeps the rules of validity.
#[test]
fn transactions_that_a_real_node_judged() {
    let Some(file) = data::json("vectors/identity_transactions.json") else {
        return;
    };
    let spec = ChainSpec::steem_testnet();
    // Rules that need no state, which the fixtures' author met while applying the operation.
    let by_itself = [
        "not after hardfork 20",
        "account_update: authority size",
        "feed direction",
    ];
    let mut counts: BTreeMap<&str, u32> = BTreeMap::new();
    let mut wrong = Vec::new();
    for entry in file["transactions"].as_array().unwrap() {
        let bytes = transaction_bytes(entry);
        let why = entry["why"].as_str().unwrap_or("accepted");
        let Ok(transaction) = Transaction::unpack_exact(&bytes, spec.symbols) else {
            // A name that is too long for its field.
            assert!(why.starts_with("invalid operation: name"), "{why}");
            *counts.entry("not decoded").or_default() += 1;
            continue;
        };
        let verdict = transaction
            .operations
            .iter()
            .try_for_each(|operation| validate::operation(operation, 24, &spec));
        let expect_refusal =
            why.starts_with("invalid operation") || by_itself.iter().any(|rule| why.contains(rule));
        let label = match (&verdict, expect_refusal) {
            (Ok(()), false) if why == "accepted" => "accepted",
            (Ok(()), false) => "valid, refused for another reason",
            (Err(_), true) => "refused",
            // The name is longer than its field, which cuts it: cairn_chain keeps the first 16 bytes.
            (Ok(()), true) if why.contains("'abcdefghijklmnopq'") => "cut",
            // The fixtures name state as the reason where this is found before.
            (Err(_), false) if why.contains("request authority") => "refused before state",
            _ => {
                wrong.push(format!(
                    "after block {}: {why}: {verdict:?}",
                    entry["after_block"]
                ));
                "wrong"
            }
        };
        *counts.entry(label).or_default() += 1;
    }
    println!("{counts:?}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(counts["accepted"], 180);
}

#[test]
fn wallet_transactions_are_valid() {
    let Some(file) = data::json("vectors/transactions.json") else {
        return;
    };
    let spec = ChainSpec::hive_testnet();
    for entry in file.as_array().unwrap() {
        let bytes = hex::decode(entry["hex"].as_str().unwrap()).unwrap();
        let transaction = Transaction::unpack_exact(&bytes, spec.symbols).unwrap();
        for operation in &transaction.operations {
            assert_eq!(
                validate::operation(operation, 27, &spec),
                Ok(()),
                "{}",
                entry["name"]
            );
        }
        assert!(!required::of_transaction(&transaction).unwrap().is_empty());
    }
}

/// A signature without a key is found with its place.
#[test]
fn broken_signatures_are_named() {
    let Some(blocks) = data::json("mainnet/blocks.json") else {
        return;
    };
    let spec = ChainSpec::hive();
    let blocks = blocks.as_array().unwrap();
    let find = |number: u64| blocks.iter().find(|block| block["number"] == number).unwrap();
    let bytes = hex::decode(find(22_576_890)["hex"].as_str().unwrap()).unwrap();
    let block = DecodedBlock::decode(bytes.clone(), spec.symbols).unwrap();
    let signed = block
        .block()
        .transactions
        .iter()
        .position(|transaction| !transaction.signatures.is_empty())
        .unwrap();
    // The last 65 bytes of a transaction are its last signature; R above the curve's order is no coordinate.
    let transaction = block.block().transactions[signed].bytes();
    let start = bytes
        .windows(transaction.len())
        .position(|window| window == transaction)
        .unwrap();
    let end = start + transaction.len();
    let mut broken = bytes.clone();
    broken[end - 64..end - 32].fill(0xff);
    let broken = DecodedBlock::decode(broken, spec.symbols).unwrap();
    let error = recover(&broken, &spec).unwrap_err();
    let last = block.block().transactions[signed].signatures.len() - 1;
    match error {
        RecoverError::Transaction {
            block: 22_576_890,
            transaction,
            signature,
            ..
        } => {
            assert_eq!((transaction, signature), (signed, last));
        }
        other => panic!("{other:?}"),
    }

    let mut broken = bytes;
    let signature = block.block().header.witness_signature;
    let start = broken
        .windows(65)
        .position(|window| window == signature.0)
        .unwrap();
    broken[start + 1..start + 33].fill(0xff);
    let broken = DecodedBlock::decode(broken, spec.symbols).unwrap();
    assert!(matches!(
        recover(&broken, &spec),
        Err(RecoverError::Witness {
            block: 22_576_890,
            ..
        })
    ));
}
