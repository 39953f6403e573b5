//! The chain specification of a devnet, as it is written beside the log.

use cairn_chain::spec::BLOCK_INTERVAL;
use cairn_chain::{ChainId, ChainSpec};
use serde_json::json;
use sha2::{Digest, Sha256};

/// 2024-01-01T00:00:00Z. On the grid of 3 s, behind the last date that a hardfork's rules name, and far
/// enough in the past that twenty million blocks fit before the end of 2025.
pub(super) const GENESIS_TIME: u32 = 1_704_067_200;

/// Most blocks that a devnet can have before its times pass 2^32 - 1 (with some room for expirations).
pub const MAX_BLOCKS: u32 = 800_000_000;

/// Hive's newest hardfork: all are in force from block 1 on, unless an older one is asked for.
pub(super) const LAST_HARDFORK: u8 = 28;

/// A hardfork that does not come before the last block that a devnet can have.
const NEVER: u32 = MAX_BLOCKS;

/// The version that knows this hardfork, as witnesses report it: 1.28.0.
pub(super) fn version(hardfork: u8) -> u32 {
    (1 << 24) | (u32::from(hardfork) << 16)
}

/// The time of block `number`; block 0 stands for genesis.
pub(super) fn block_time(number: u32) -> u32 {
    GENESIS_TIME + number * BLOCK_INTERVAL
}

/// The chain id of the devnet with this seed: SHA-256 of a text that holds the seed, so that the transactions
/// of one devnet are worth nothing on another.
pub(super) fn chain_id(seed: u64) -> ChainId {
    ChainId(Sha256::digest(format!("cairn devnet {seed}")).into())
}

/// The name of the devnet with this seed.
pub(super) fn name(seed: u64) -> String {
    format!("devnet-{seed}")
}

/// The text of the specification, which `ChainSpec::from_json` reads.
pub(super) fn text(seed: u64, hardfork: u8) -> String {
    let mut schedule = vec![json!({ "hardfork": hardfork, "block_num": 1 })];
    if hardfork < LAST_HARDFORK {
        schedule.push(json!({ "hardfork": LAST_HARDFORK, "block_num": NEVER }));
    }
    let spec = json!({
        "name": name(seed),
        "base": "hive-testnet",
        "chain_id": hex::encode(chain_id(seed).0),
        "genesis_time": GENESIS_TIME,
        "hardfork_schedule": schedule,
    });
    format!("{spec:#}\n")
}

/// The specification, as a node has it that read the text.
pub(super) fn chain(seed: u64, hardfork: u8) -> ChainSpec {
    ChainSpec::from_json(&text(seed, hardfork)).expect("this module writes what is read there")
}
