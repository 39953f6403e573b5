//! Fixture logs, chains and states for the tests.

#![allow(dead_code, reason = "each test file uses a part of it")]

use std::path::{Path, PathBuf};
use std::sync::Arc;

use cairn_block_log::{BlockDecoder, BlockLog, Dictionaries};
use cairn_chain::{ChainSpec, DecodedBlock};
use cairn_rules::signatures::recover;
use cairn_rules::{IdentityState, RuleError, Validation};
use cairn_state::{Registers, Store, StoreOptions};
use serde_json::Value;
use tempfile::TempDir;

/// The folder with the fixtures; says so and gives nothing if it is not there.
pub(crate) fn data() -> Option<PathBuf> {
    let folder = match std::env::var_os("CAIRN_HIVE_DATA") {
        Some(folder) => PathBuf::from(folder),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/hive"),
    };
    if folder.is_dir() {
        return Some(folder);
    }
    println!(
        "skipped: no fixtures in {}; set CAIRN_HIVE_DATA",
        folder.display()
    );
    None
}

pub(crate) fn json(path: &Path) -> Value {
    let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_str(&text).unwrap()
}

/// The chain of a log.
pub(crate) fn spec_of(log: &str, profile: &str) -> Arc<ChainSpec> {
    let spec = match (log, profile) {
        ("hf28_upvoting", _) => ChainSpec::from_json(
            r#"{"genesis_time": 1699532261,
                "hardfork_schedule": [{"hardfork": 27, "block_num": 0}, {"hardfork": 28, "block_num": 2000}]}"#,
        )
        .unwrap(),
        ("op_account_witness_proxy", _) => ChainSpec::from_json(
            r#"{"genesis_time": 1700210126, "hardfork_schedule": [{"hardfork": 28, "block_num": 0}]}"#,
        )
        .unwrap(),
        (_, "mainnet") => ChainSpec::hive(),
        (_, "mirrornet") => ChainSpec::hive_mirrornet(),
        (_, "testnet") => ChainSpec::hive_testnet(),
        (_, "steem_testnet") => ChainSpec::steem_testnet(),
        (_, other) => panic!("unknown profile {other}"),
    };
    Arc::new(spec)
}

/// A log's blocks in order, decoded.
pub(crate) fn blocks(data: &Path, log: &str, spec: &ChainSpec) -> impl Iterator<Item = DecodedBlock> {
    let dictionaries = Arc::new(Dictionaries::load(&data.join("dictionaries")).unwrap());
    let mut decoder = BlockDecoder::new(Arc::clone(&dictionaries));
    let log = BlockLog::open(
        &data.join("logs").join(log),
        spec.blocks_per_log_part,
        dictionaries,
    )
    .unwrap();
    let symbols = spec.symbols;
    log.sequential(1)
        .map(move |stored| DecodedBlock::decode(decoder.decode(&stored.unwrap()).unwrap(), symbols).unwrap())
}

/// A state in a folder of its own.
pub(crate) struct TestState {
    pub(crate) state: IdentityState,
    pub(crate) folder: TempDir,
}

impl TestState {
    pub(crate) fn new(spec: &Arc<ChainSpec>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let state = IdentityState::open(registers(folder.path()), Arc::clone(spec)).unwrap();
        Self { state, folder }
    }

    /// Drops what was not committed and opens the store again.
    pub(crate) fn reopen(self) -> Self {
        let spec = Arc::clone(self.state.spec());
        drop(self.state);
        let state = IdentityState::open(registers(self.folder.path()), spec).unwrap();
        Self {
            state,
            folder: self.folder,
        }
    }

    pub(crate) fn apply_full(&mut self, block: &DecodedBlock) -> Result<(), RuleError> {
        let keys = recover(block, self.state.spec()).unwrap();
        self.state.apply_block(block, Validation::Full(&keys)).map(|_| ())
    }

    pub(crate) fn apply_reduced(&mut self, block: &DecodedBlock) -> Result<(), RuleError> {
        self.state.apply_block(block, Validation::Reduced).map(|_| ())
    }
}

pub(crate) fn registers(folder: &Path) -> Registers {
    Registers::new(Store::open(folder, &StoreOptions::new([1; 32])).unwrap()).unwrap()
}
