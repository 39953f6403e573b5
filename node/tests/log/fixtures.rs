//! Fixtures of the tests.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

/// The folder with the fixtures, unless it is missing.
pub(crate) fn hive_data() -> Option<PathBuf> {
    let folder = std::env::var_os("CAIRN_HIVE_DATA").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/hive"),
        PathBuf::from,
    );
    if folder.is_dir() {
        return Some(folder);
    }
    println!(
        "skipped: no fixtures at {} (see CAIRN_HIVE_DATA)",
        folder.display()
    );
    None
}

/// Expected file, log below `logs/`, chain.
pub(crate) const LOGS: &[(&str, &str, &str)] = &[
    ("derived_mainnet_700", "derived_mainnet_700", "hive"),
    ("derived_mixed", "derived_mixed", "hive-testnet"),
    (
        "derived_split_part_0001",
        "derived_split/block_log_part.0001",
        "hive-testnet",
    ),
    (
        "derived_split_part_0002",
        "derived_split/block_log_part.0002",
        "hive-testnet",
    ),
    (
        "derived_split_part_0003",
        "derived_split/block_log_part.0003",
        "hive-testnet",
    ),
    (
        "derived_split_part_0004",
        "derived_split/block_log_part.0004",
        "hive-testnet",
    ),
    ("hf28_tests", "hf28_tests", "hive-testnet"),
    ("hf28_upvoting", "hf28_upvoting", "hive-testnet"),
    ("hived", "hived/block_log", "hive-testnet"),
    ("mirrornet_1k", "mirrornet_1k", "hive-mirrornet"),
    (
        "op_account_witness_proxy",
        "op_account_witness_proxy",
        "hive-testnet",
    ),
    (
        "op_account_witness_vote",
        "op_account_witness_vote",
        "hive-testnet",
    ),
    (
        "op_update_proposal_votes",
        "op_update_proposal_votes",
        "hive-testnet",
    ),
    ("output_formatter", "output_formatter", "hive-testnet"),
    ("steemd_generated", "steemd_generated", "steem-testnet"),
    ("steemd_identity", "steemd_identity", "steem-testnet"),
    ("steemd_live", "steemd_live", "steem-testnet"),
    ("testnet_pattern", "testnet_pattern", "hive-testnet"),
    ("transaction_pattern", "transaction_pattern", "hive-testnet"),
];

/// What an independent program computed from a log.
pub(crate) fn expected(data: &Path, name: &str) -> Value {
    let text = fs::read_to_string(data.join(format!("expected/{name}.json"))).unwrap();
    serde_json::from_str(&text).unwrap()
}
