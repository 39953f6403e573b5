//! Whole chains from block log files that are stored uncompressed, which take no more than their trailers to walk.

#![allow(
    clippy::unwrap_used,
    missing_docs,
    reason = "a test that cannot go on shall stop"
)]

mod common;

use std::collections::BTreeMap;

use cairn_chain::{
    BlockId, ChainSpec, DecodedBlock, Packing, Signature, SignedHeader, SymbolCounts, Transaction,
};
use common::{ListDigest, fixture, json};
use serde_json::{Value, json};

/// The blocks of an uncompressed log, walked from the end by the eight bytes behind each block.
fn blocks_of(log: &[u8]) -> Vec<&[u8]> {
    let mut blocks = Vec::new();
    let mut end = log.len();
    while end > 0 {
        let trailer = u64::from_le_bytes(log[end - 8..end].try_into().unwrap());
        assert_eq!(trailer >> 48, 0, "stored as is");
        let start = trailer as usize;
        blocks.push(&log[start..end - 8]);
        end = start;
    }
    blocks.reverse();
    blocks
}

#[derive(Default)]
struct Forms {
    fc: u64,
    hived: u64,
    low_s: u64,
}

impl Forms {
    fn add(&mut self, signature: &Signature) {
        self.fc += u64::from(signature.is_fc_canonical());
        self.hived += u64::from(signature.is_canonical());
        self.low_s += u64::from(signature.is_low_s());
    }
}

/// What the expected files hold and this crate can tell.
#[derive(Default)]
struct Report {
    transactions: u64,
    signatures: u64,
    unsigned: u64,
    operations: BTreeMap<&'static str, u64>,
    extensions: BTreeMap<&'static str, u64>,
    witness_keys: BTreeMap<String, u64>,
    packing: BTreeMap<&'static str, u64>,
    symbols: BTreeMap<&'static str, u64>,
    witness_forms: Forms,
    transaction_forms: Forms,
    ids: ListDigest,
    transaction_ids: ListDigest,
    transaction_keys: ListDigest,
}

impl Report {
    fn add(&mut self, block: &DecodedBlock, spec: &ChainSpec) {
        let header = &block.block().header;
        self.ids.add(&block.id().0);
        let key = header
            .witness_signature
            .recover(&header.witness_digest())
            .unwrap();
        *self.witness_keys.entry(key.to_string()).or_default() += 1;
        self.witness_forms.add(&header.witness_signature);
        for extension in &header.extensions {
            *self.extensions.entry(extension.name()).or_default() += 1;
        }
        for transaction in &block.block().transactions {
            self.add_transaction(transaction, spec, header);
        }
    }

    fn add_transaction(
        &mut self,
        transaction: &Transaction<'_>,
        spec: &ChainSpec,
        header: &SignedHeader<'_>,
    ) {
        self.transactions += 1;
        self.signatures += transaction.signatures.len() as u64;
        self.unsigned += u64::from(transaction.signatures.is_empty());
        self.transaction_ids.add(&transaction.id().0);
        let digest = transaction.signature_digest(&spec.chain_id_at(header.timestamp));
        for signature in &transaction.signatures {
            self.transaction_keys.add(&signature.recover(&digest).unwrap().0);
            self.transaction_forms.add(signature);
        }
        for operation in &transaction.operations {
            *self.operations.entry(operation.name()).or_default() += 1;
        }
        let packing = match transaction.packing() {
            Packing::None | Packing::Legacy => "legacy",
            Packing::Hf26 => "hf26",
            Packing::Mixed => "mixed",
        };
        *self.packing.entry(packing).or_default() += 1;
        let SymbolCounts {
            legacy_mainnet,
            legacy_testnet,
            hf26,
            ..
        } = *transaction.symbols_met();
        for (name, count) in [
            ("sym8", legacy_mainnet),
            ("sym8_test", legacy_testnet),
            ("sym4", hf26),
        ] {
            if count > 0 {
                *self.symbols.entry(name).or_default() += u64::from(count);
            }
        }
    }

    fn into_json(self) -> Value {
        let mut forms = json!({
            "witness_fc": self.witness_forms.fc,
            "witness_hived": self.witness_forms.hived,
            "witness_low_s": self.witness_forms.low_s,
            "tx_fc": self.transaction_forms.fc,
            "tx_hived": self.transaction_forms.hived,
            "tx_low_s": self.transaction_forms.low_s,
        });
        // The expected files leave out what was not met.
        forms.as_object_mut().unwrap().retain(|_, count| *count != 0);
        json!({
            "transaction_count": self.transactions,
            "signature_count": self.signatures,
            "transactions_without_signature": self.unsigned,
            "operation_counts": self.operations,
            "header_extensions": self.extensions,
            "witness_signing_keys": self.witness_keys,
            "transaction_pack_counts": self.packing,
            "notes": self.symbols,
            "signature_forms": forms,
            "id_list_sha256": self.ids.hex(),
            "transaction_id_list_sha256": self.transaction_ids.hex(),
            "transaction_signing_key_list_sha256": self.transaction_keys.hex(),
        })
    }
}

fn check(name: &str, spec: &ChainSpec) {
    let Some(path) = fixture(&format!("logs/{name}/block_log")) else {
        return;
    };
    let log = std::fs::read(path).unwrap();
    let mut previous = BlockId::ZERO;
    let mut report = Report::default();
    let mut count = 0u64;
    for bytes in blocks_of(&log) {
        let block = DecodedBlock::decode(bytes.to_vec(), spec.symbols).unwrap();
        block.check_merkle_root(spec).unwrap();
        assert_eq!(block.block().header.previous, previous);
        assert_eq!(block.number(), previous.number() + 1);
        previous = block.id();
        report.add(&block, spec);
        count += 1;
    }

    let expected = json(&format!("expected/{name}.json")).unwrap();
    assert_eq!(json!(previous), expected["head_block_id"]);
    assert_eq!(json!(count), expected["block_count"]);
    for (key, value) in report.into_json().as_object().unwrap() {
        // Chains without transactions have no entry for their keys.
        if let Some(expected) = expected.get(key) {
            assert_eq!(value, expected, "{name}: {key}");
        }
    }
    println!("{name}: {count} blocks");
}

#[test]
fn mirrornet_1k() {
    check("mirrornet_1k", &ChainSpec::hive_mirrornet());
}

#[test]
fn steemd_generated() {
    check("steemd_generated", &ChainSpec::steem_testnet());
}

#[test]
fn steemd_live() {
    check("steemd_live", &ChainSpec::steem_testnet());
}

#[test]
fn steemd_identity() {
    check("steemd_identity", &ChainSpec::steem_testnet());
}
