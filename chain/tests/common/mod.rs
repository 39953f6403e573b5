//! Finding and reading the fixtures.

#![allow(dead_code, reason = "each test file uses a part")]

use std::path::PathBuf;

use cairn_chain::{AssetPacking, Pack, Packer, Packing, Symbols};
use serde_json::Value;
use sha2::{Digest, Sha256};

/// A file of the fixtures, or nothing, with a line that says so, if there are no fixtures on this machine.
pub(crate) fn fixture(path: &str) -> Option<PathBuf> {
    let folder = std::env::var_os("CAIRN_HIVE_DATA").map_or_else(
        || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../shared/hive"),
        PathBuf::from,
    );
    if !folder.is_dir() {
        println!(
            "skipped: no fixtures in {}; set CAIRN_HIVE_DATA to their folder",
            folder.display()
        );
        return None;
    }
    Some(folder.join(path))
}

/// A JSON file of the fixtures.
pub(crate) fn json(path: &str) -> Option<Value> {
    let path = fixture(path)?;
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    Some(serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display())))
}

/// The bytes behind a hexadecimal JSON string.
pub(crate) fn bytes(value: &Value) -> Vec<u8> {
    hex::decode(value.as_str().unwrap()).unwrap()
}

/// Packs a value again, in the form that it was read in.
pub(crate) fn packed_again(value: &impl Pack, packing: Packing, symbols: Symbols) -> Vec<u8> {
    Packer::pack_one(value, packing.for_packing().expect("one form only"), symbols)
}

/// The names that the fixtures give to forms of packing.
pub(crate) fn packing_named(name: &Value) -> AssetPacking {
    match name.as_str().unwrap() {
        "legacy" => AssetPacking::Legacy,
        "hf26" => AssetPacking::Hf26,
        other => panic!("packing {other}"),
    }
}

/// The network's spelling of symbols, as the fixtures say it.
pub(crate) fn symbols(testnet: bool) -> Symbols {
    if testnet {
        Symbols::Testnet
    } else {
        Symbols::Mainnet
    }
}

/// SHA-256 over parts, in hexadecimal digits.
#[derive(Default)]
pub(crate) struct ListDigest(Sha256);

impl ListDigest {
    pub(crate) fn add(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    pub(crate) fn hex(self) -> String {
        hex::encode(self.0.finalize())
    }
}
