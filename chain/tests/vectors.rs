//! Single transactions and operations from hived's wallet and from other projects' tests.

#![allow(
    clippy::unwrap_used,
    missing_docs,
    reason = "a test that cannot go on shall stop"
)]

mod common;

use cairn_chain::{
    AssetPacking, ChainSpec, Operation, Packer, Packing, PublicKey, Reader, Symbols, Transaction, Unpack,
};
use common::{bytes, json, packed_again, packing_named, symbols};
use serde_json::{Value, json};

/// The transaction's JSON without its signatures.
fn unsigned_json(transaction: &Transaction<'_>) -> Value {
    let mut value = serde_json::to_value(transaction).unwrap();
    value.as_object_mut().unwrap().shift_remove("signatures").unwrap();
    value
}

#[test]
fn wallet_transactions_in_both_forms() {
    let Some(vectors) = json("vectors/transactions.json") else {
        return;
    };
    let chain = ChainSpec::hive_testnet().chain_id();
    let vectors = vectors.as_array().unwrap();
    for vector in vectors {
        let name = &vector["name"];
        let raw = bytes(&vector["hex"]);
        let transaction = Transaction::unpack_exact(&raw, Symbols::Testnet).unwrap();
        assert_eq!(json!(transaction.id()), vector["transaction_id"], "{name}");
        // Compared as text, since the order of the fields counts too.
        assert_eq!(
            unsigned_json(&transaction).to_string(),
            vector["json"].to_string(),
            "{name}"
        );
        let digest = transaction.signature_digest(&chain);
        let keys: Vec<PublicKey> = transaction
            .signatures
            .iter()
            .map(|s| s.recover(&digest).unwrap())
            .collect();
        assert_eq!(json!(keys), vector["signing_keys"], "{name}");

        let form = packing_named(&vector["wallet"]);
        assert_eq!(
            Packer::pack_one(&transaction, form, Symbols::Testnet),
            raw,
            "{name}"
        );
        let has_assets = vector["has_assets"].as_bool().unwrap();
        let expected = match form {
            _ if !has_assets => Packing::None,
            AssetPacking::Legacy => Packing::Legacy,
            AssetPacking::Hf26 => Packing::Hf26,
        };
        assert_eq!(transaction.packing(), expected, "{name}");
    }
    println!("{} transactions", vectors.len());
}

/// The same transaction in both forms differs in its bytes and not in its content.
#[test]
fn both_forms_of_a_transaction_have_the_same_content() {
    let Some(vectors) = json("vectors/transactions.json") else {
        return;
    };
    let mut pairs = 0;
    let vectors = vectors.as_array().unwrap();
    for hf26 in vectors
        .iter()
        .filter(|vector| vector["wallet"] == "hf26" && vector["has_assets"] == true)
    {
        let is_partner = |vector: &&Value| vector["wallet"] == "legacy" && vector["name"] == hf26["name"];
        for legacy in vectors
            .iter()
            .filter(is_partner)
            .filter(|legacy| legacy["json"] == hf26["json"])
        {
            let (legacy, hf26) = (bytes(&legacy["hex"]), bytes(&hf26["hex"]));
            let one = Transaction::unpack_exact(&legacy, Symbols::Testnet).unwrap();
            let other = Transaction::unpack_exact(&hf26, Symbols::Testnet).unwrap();
            assert_ne!(one.unsigned_bytes(), other.unsigned_bytes());
            assert_eq!(one.operations, other.operations);
            pairs += 1;
        }
    }
    assert!(pairs > 10, "{pairs} pairs");
}

#[test]
fn packed_operations() {
    let Some(vectors) = json("vectors/operations.json") else {
        return;
    };
    let vectors = vectors.as_array().unwrap();
    for vector in vectors {
        let raw = bytes(&vector["hex"]);
        let mut reader = Reader::new(&raw, Symbols::Mainnet);
        let operation = Operation::unpack(&mut reader).unwrap();
        reader.finish().unwrap();
        assert_eq!(json!(operation.name()), vector["operation"]);
        assert_eq!(json!(operation.index()), vector["index"]);
        assert_eq!(json!(operation.kind().index()), vector["index"]);
        assert_eq!(json!(operation.kind().name()), vector["operation"]);
        let packed = Packer::pack_one(&operation, packing_named(&vector["pack"]), Symbols::Mainnet);
        assert_eq!(packed, raw, "{}", vector["json"]);
        assert_eq!(serde_json::to_value(&operation).unwrap(), vector["json"]);
    }
    println!("{} operations", vectors.len());
}

#[test]
fn transactions_known_by_their_id() {
    let Some(vectors) = json("vectors/transaction_ids.json") else {
        return;
    };
    let vectors = vectors.as_array().unwrap();
    for vector in vectors {
        let symbols = symbols(vector["testnet_symbols"].as_bool().unwrap());
        let raw = bytes(&vector["hex"]);
        let transaction = Transaction::unpack_exact(&raw, symbols).unwrap();
        assert_eq!(json!(transaction.id()), vector["id"], "{}", vector["source"]);
        let packed = Packer::pack_one(&transaction, packing_named(&vector["pack"]), symbols);
        assert_eq!(packed, raw, "{}", vector["source"]);
        // The other network's spelling is not understood.
        if transaction.symbols_met().legacy_mainnet + transaction.symbols_met().legacy_testnet > 0 {
            let other = common::symbols(!vector["testnet_symbols"].as_bool().unwrap());
            Transaction::unpack_exact(&raw, other).unwrap_err();
        }
    }
    println!("{} transactions", vectors.len());
}

#[test]
fn transactions_tried_on_a_node_pack_again() {
    let Some(vectors) = json("vectors/identity_transactions.json") else {
        return;
    };
    let vectors = vectors["transactions"].as_array().unwrap();
    let mut inexact = Vec::new();
    for vector in vectors {
        let raw = bytes(&vector["transaction"]);
        let transaction = Transaction::unpack_exact(&raw, Symbols::Testnet).unwrap();
        let again = packed_again(&transaction, transaction.packing(), Symbols::Testnet);
        assert_eq!(again == raw, transaction.packs_to_same_bytes(), "{vector}");
        if again != raw {
            inexact.push(&vector["what"]);
        }
    }
    // One of them has a name of 17 characters.
    assert_eq!(inexact, ["name abcdefghijklmnopq"]);
    println!("{} transactions", vectors.len());
}
