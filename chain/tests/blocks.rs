//! Real blocks of mainnet and mirrornet, against what an independent program computed for them.

#![allow(
    clippy::unwrap_used,
    missing_docs,
    reason = "a test that cannot go on shall stop"
)]

mod common;

use std::collections::BTreeMap;

use cairn_chain::{
    Block, ChainSpec, DecodedBlock, HeaderExtension, Packing, PublicKey, SignedHeader, Transaction,
    block_json,
};
use common::{ListDigest, bytes, json, packed_again};
use serde_json::{Value, json};

/// Totals over a set of blocks, in the form of the expected file.
#[derive(Default)]
struct Totals {
    blocks: u64,
    transactions: u64,
    signatures: u64,
    operations: BTreeMap<String, u64>,
    keys: BTreeMap<String, u64>,
    ids: ListDigest,
    transaction_ids: ListDigest,
}

fn packing_name(packing: Packing) -> &'static str {
    match packing {
        Packing::None | Packing::Legacy => "legacy",
        Packing::Hf26 => "hf26",
        Packing::Mixed => "mixed",
    }
}

fn transaction_report(transaction: &Transaction<'_>, spec: &ChainSpec, block: &Block<'_>) -> Value {
    let digest = transaction.signature_digest(&spec.chain_id_at(block.header.timestamp));
    let keys = transaction
        .signatures
        .iter()
        .map(|signature| signature.recover(&digest).unwrap());
    let names = transaction
        .operations
        .iter()
        .map(|operation| operation.kind().name());
    json!({
        "id": transaction.id(),
        "merkle_digest": transaction.merkle_digest(),
        "pack": packing_name(transaction.packing()),
        "sig_digest": digest,
        "signing_keys": keys.collect::<Vec<PublicKey>>(),
        "operations": names.collect::<Vec<_>>(),
    })
}

fn extension_report(extension: &HeaderExtension) -> Value {
    let text = match extension {
        HeaderExtension::Void(_) => String::new(),
        HeaderExtension::Version(version) => version.to_string(),
        HeaderExtension::HardforkVote(vote) => {
            return json!([extension.name(), { "hf_version": vote.hf_version, "hf_time": vote.hf_time }]);
        }
    };
    json!([extension.name(), text])
}

fn block_report(block: &DecodedBlock, spec: &ChainSpec) -> Value {
    let header = &block.block().header;
    let report = |transaction| transaction_report(transaction, spec, block.block());
    json!({
        "number": block.number(),
        "id": block.id(),
        "timestamp": header.timestamp,
        "witness": header.witness,
        "signing_key": header.witness_signature.recover(&header.witness_digest()).unwrap(),
        "header_digest": header.witness_digest(),
        "transaction_merkle_root": block.block().compute_merkle_root(),
        "extensions": header.extensions.iter().map(extension_report).collect::<Vec<_>>(),
        "transactions": block.block().transactions.iter().map(report).collect::<Vec<_>>(),
    })
}

/// Decodes every block, packs it again, and gives reports and totals.
fn read(file: &str, spec: &ChainSpec) -> Option<(BTreeMap<u64, Value>, Totals)> {
    let mut reports = BTreeMap::new();
    let mut totals = Totals::default();
    for entry in json(file)?.as_array().unwrap() {
        let raw = bytes(&entry["hex"]);
        let number = entry["number"].as_u64().unwrap();
        let block = DecodedBlock::decode(raw.clone(), spec.symbols)
            .unwrap_or_else(|error| panic!("{number}: {error}"));

        assert_eq!(json!(block.id()), entry["id"], "{number}");
        assert_eq!(u64::from(block.number()), number);
        block.check_merkle_root(spec).unwrap();
        let (header, header_size) = SignedHeader::unpack_prefix(&raw).unwrap();
        assert_eq!(header, block.block().header, "{number}");
        assert_eq!(header.bytes(), &raw[..header_size], "{number}");

        // A block may hold transactions of both forms, so that it is put together from its parts.
        let mut again = packed_again(&block.block().header, Packing::None, spec.symbols);
        again.extend(packed_again(
            &vec![0u8; block.block().transactions.len()],
            Packing::None,
            spec.symbols,
        ));
        again.truncate(again.len() - block.block().transactions.len());
        for transaction in &block.block().transactions {
            let packed = packed_again(transaction, transaction.packing(), spec.symbols);
            assert_eq!(packed, transaction.bytes(), "{number}");
            again.extend(packed);
        }
        assert_eq!(again, raw, "{number}");

        let report = block_report(&block, spec);
        totals.add(&block, &report);
        reports.insert(number, report);
    }
    Some((reports, totals))
}

impl Totals {
    fn add(&mut self, block: &DecodedBlock, report: &Value) {
        self.blocks += 1;
        self.ids.add(&block.id().0);
        *self
            .keys
            .entry(report["signing_key"].as_str().unwrap().to_owned())
            .or_default() += 1;
        for transaction in &block.block().transactions {
            self.transactions += 1;
            self.signatures += transaction.signatures.len() as u64;
            self.transaction_ids.add(&transaction.id().0);
            for operation in &transaction.operations {
                *self.operations.entry(operation.name().to_owned()).or_default() += 1;
            }
        }
    }
}

#[test]
fn mainnet_blocks_are_what_they_are_known_to_be() {
    let spec = ChainSpec::hive();
    let Some((reports, totals)) = read("mainnet/blocks.json", &spec) else {
        return;
    };
    let expected = json("expected/mainnet_blocks.json").unwrap();
    for block in expected["blocks"].as_array().unwrap() {
        assert_eq!(&reports[&block["number"].as_u64().unwrap()], block);
    }
    let found = json!({
        "block_count": totals.blocks,
        "transaction_count": totals.transactions,
        "signature_count": totals.signatures,
        "operation_counts": totals.operations,
        "id_list_sha256": totals.ids.hex(),
        "transaction_id_list_sha256": totals.transaction_ids.hex(),
        "witness_signing_keys": totals.keys,
    });
    for (key, value) in found.as_object().unwrap() {
        assert_eq!(value, &expected[key], "{key}");
    }
    println!(
        "{} mainnet blocks, {} compared in full",
        totals.blocks,
        expected["blocks"].as_array().unwrap().len()
    );
}

#[test]
fn mirrornet_blocks_are_what_they_are_known_to_be() {
    let spec = ChainSpec::hive_mirrornet();
    let Some((reports, totals)) = read("mirrornet/blocks.json", &spec) else {
        return;
    };
    let expected = json("expected/mirrornet_blocks.json").unwrap();
    let expected = expected.as_array().unwrap();
    assert_eq!(expected.len() as u64, totals.blocks);
    for block in expected {
        let mut report = reports[&block["number"].as_u64().unwrap()].clone();
        report
            .as_object_mut()
            .unwrap()
            .shift_remove("extensions")
            .unwrap();
        assert_eq!(&report, block);
    }
    println!(
        "{} mirrornet blocks, {} transactions",
        totals.blocks, totals.transactions
    );
}

#[test]
fn a_block_prints_as_block_api_prints_it() {
    let Some(blocks) = json("mirrornet/blocks.json") else {
        return;
    };
    let block = DecodedBlock::decode(bytes(&blocks[1]["hex"]), ChainSpec::hive_mirrornet().symbols).unwrap();
    let printed = serde_json::to_value(block_json(&block).unwrap()).unwrap();
    let keys: Vec<&String> = printed.as_object().unwrap().keys().collect();
    // The block's own fields in packing order, then what block_api adds.
    assert_eq!(
        keys,
        [
            "previous",
            "timestamp",
            "witness",
            "transaction_merkle_root",
            "extensions",
            "witness_signature",
            "transactions",
            "block_id",
            "signing_key",
            "transaction_ids"
        ]
    );
    assert_eq!(printed["block_id"], blocks[1]["id"]);
    assert_eq!(
        printed["signing_key"],
        "STM6LLegbAgLAy28EHrffBVuANFWcFgmqRMW13wBmTExqFE9SCkg4"
    );
    assert_eq!(printed["timestamp"], "2025-07-08T23:09:27");
    let transactions = printed["transactions"].as_array().unwrap();
    assert_eq!(
        transactions.len(),
        printed["transaction_ids"].as_array().unwrap().len()
    );
    let keys: Vec<&String> = transactions[0].as_object().unwrap().keys().collect();
    assert_eq!(
        keys,
        [
            "ref_block_num",
            "ref_block_prefix",
            "expiration",
            "operations",
            "extensions",
            "signatures"
        ]
    );
    assert_eq!(transactions[0]["operations"][0]["type"], "vote_operation");
}

/// Mainnet block 4999984 holds an order that expires at `ffffffff`.
#[test]
fn a_time_beyond_2038_prints_as_one_before_1970() {
    let Some(blocks) = json("mainnet/blocks.json") else {
        return;
    };
    let entry = blocks
        .as_array()
        .unwrap()
        .iter()
        .find(|block| block["number"] == 4_999_984)
        .unwrap();
    let block = DecodedBlock::decode(bytes(&entry["hex"]), ChainSpec::hive().symbols).unwrap();
    let printed = serde_json::to_string(&block_json(&block).unwrap()).unwrap();
    assert!(printed.contains(r#""expiration":"1969-12-31T23:59:59""#));
}

/// The body belongs to the header: an altered transaction leaves the id alone and breaks the Merkle root.
#[test]
fn an_altered_transaction_breaks_the_merkle_root_and_not_the_id() {
    let spec = ChainSpec::hive();
    let Some(blocks) = json("mainnet/blocks.json") else {
        return;
    };
    let entry = blocks
        .as_array()
        .unwrap()
        .iter()
        .find(|block| block["number"] == 1092)
        .unwrap();
    let mut raw = bytes(&entry["hex"]);
    // The last bytes: interest rate of the last transaction's properties, its extensions, its signatures.
    let interest_rate = raw.len() - 4;
    raw[interest_rate] ^= 1;
    let block = DecodedBlock::decode(raw, spec.symbols).unwrap();
    assert_eq!(json!(block.id()), entry["id"]);
    let mismatch = block.check_merkle_root(&spec).unwrap_err();
    assert_eq!(mismatch.block, 1092);
    assert_eq!(mismatch.header, block.block().header.transaction_merkle_root);
    assert_eq!(mismatch.computed, block.block().compute_merkle_root());
}
