//! `cairn log decode` on real blocks of mainnet and mirrornet, and on anything else.

use std::fs;
use std::path::Path;

use crate::fixtures::hive_data;
use cairn_node::chain_choice;
use cairn_node::log_commands::decode::decode;
use proptest::prelude::*;
use serde_json::Value;

fn blocks(data: &Path, file: &str) -> Vec<(u64, String, String)> {
    let list: Value = serde_json::from_str(&fs::read_to_string(data.join(file)).unwrap()).unwrap();
    let text = |block: &Value, key: &str| block[key].as_str().unwrap().to_owned();
    let blocks = list.as_array().unwrap().iter();
    blocks
        .map(|block| {
            (
                block["number"].as_u64().unwrap(),
                text(block, "id"),
                text(block, "hex"),
            )
        })
        .collect()
}

#[test]
fn real_blocks_have_their_published_ids() {
    let Some(data) = hive_data() else { return };
    for (file, chain) in [
        ("mainnet/blocks.json", "hive"),
        ("mirrornet/blocks.json", "hive-mirrornet"),
    ] {
        let chain = chain_choice::load(chain).unwrap();
        for (number, id, hex) in blocks(&data, file) {
            let raw = hex::decode(&hex).unwrap();
            let with_blanks = format!("  {}\n{}\n", &hex[..10], &hex[10..]);
            let decoded = decode(&raw, &chain).unwrap();
            assert_eq!(
                decode(with_blanks.as_bytes(), &chain).unwrap(),
                decoded,
                "{number}"
            );
            assert_eq!(decoded["number"], number);
            assert_eq!(decoded["id"], id.as_str(), "{number}");
            assert_eq!(decoded["block_id"], id.as_str(), "{number}");
            assert_eq!(decoded["merkle_ok"], true, "{number}");
            assert_eq!(decoded["previous"].as_str().map(str::len), Some(40));
            assert_eq!(
                decoded["computed_merkle_root"],
                decoded["transaction_merkle_root"]
            );
            let transactions = decoded["transactions"].as_array().unwrap().len();
            assert_eq!(decoded["transaction_ids"].as_array().unwrap().len(), transactions);
        }
    }
}

#[test]
fn a_changed_body_is_shown_and_called_wrong() {
    let Some(data) = hive_data() else { return };
    let chain = chain_choice::load("hive").unwrap();
    let (_, id, hex) = blocks(&data, "mainnet/blocks.json")
        .into_iter()
        .find(|block| block.0 == 4_999_990)
        .unwrap();
    let mut raw = hex::decode(hex).unwrap();
    *raw.last_mut().unwrap() ^= 1;
    let decoded = decode(&raw, &chain).unwrap();
    assert_eq!(decoded["id"], id.as_str());
    assert_eq!(decoded["merkle_ok"], false);
    assert_ne!(
        decoded["computed_merkle_root"],
        decoded["transaction_merkle_root"]
    );
}

#[test]
fn what_is_no_block_is_refused() {
    let chain = chain_choice::load("hive").unwrap();
    for input in [
        &b""[..],
        b"\n",
        b"00",
        b"zz",
        &[0; 119],
        &vec![0; 2 * 1024 * 1024 + 1],
    ] {
        let error = decode(input, &chain).unwrap_err();
        assert!(format!("{error:#}").len() > 10, "{error:#}");
    }
}

proptest! {
    #[test]
    fn any_bytes_are_decoded_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        let chain = chain_choice::load("hive-testnet").unwrap();
        let _ = decode(&bytes, &chain);
    }
}
