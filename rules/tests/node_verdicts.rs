//! 294 signed transactions and what a real Steem node said about each, at the height at which it was asked.

#![allow(clippy::unwrap_used, missing_docs, reason = "a test fails by panicking")]

mod support;

use std::collections::BTreeMap;

use cairn_chain::Transaction;
use support::{TestState, blocks, data, json, spec_of};

#[test]
fn verdicts_of_a_node() {
    let Some(data) = data() else { return };
    let cases = json(&data.join("vectors/identity_transactions.json"));
    let log = cases["log"].as_str().unwrap();
    let spec = spec_of(log, "steem_testnet");
    let mut by_height: BTreeMap<u64, Vec<_>> = BTreeMap::new();
    for (index, case) in cases["transactions"].as_array().unwrap().iter().enumerate() {
        by_height
            .entry(case["after_block"].as_u64().unwrap())
            .or_default()
            .push((index, case));
    }
    let mut test = TestState::new(&spec);
    let (mut accepted, mut refused, mut wrong) = (0, 0, Vec::new());
    for block in blocks(&data, log, &spec) {
        test.apply_full(&block).unwrap();
        for (index, case) in by_height.remove(&u64::from(block.number())).unwrap_or_default() {
            let bytes = hex::decode(case["transaction"].as_str().unwrap()).unwrap();
            let transaction = Transaction::unpack_exact(&bytes, spec.symbols).unwrap();
            let digest = transaction.signature_digest(&spec.chain_id());
            let keys: Vec<_> = transaction
                .signatures
                .iter()
                .map(|signature| signature.recover(&digest).unwrap())
                .collect();
            let before = test.state.head();
            let verdict = test.state.try_transaction(&transaction, &keys);
            assert_eq!(test.state.head(), before);
            match &verdict {
                Ok(()) => accepted += 1,
                Err(error) => {
                    refused += 1;
                    println!("{index}: {error} | {}", case["why"]);
                }
            }
            if verdict.is_ok() != (case["verdict"] == "accepted") {
                wrong.push(format!(
                    "{index} ({}): node {}, here {verdict:?}",
                    case["what"], case["verdict"]
                ));
            }
        }
    }
    assert!(by_height.is_empty());
    println!("{accepted} accepted, {refused} refused");
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert_eq!((accepted, refused), (180, 114));
}
