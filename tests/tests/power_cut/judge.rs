//! The state after each block, by a walk over a log that only goes forward and knows neither checkpoints nor forks.

use std::path::Path;
use std::sync::Arc;

use cairn_block_log::{BlockDecoder, BlockLog, Dictionaries};
use cairn_chain::{ChainSpec, DecodedBlock};
use cairn_rules::{IdentityState, Validation};
use cairn_state::{Registers, Store, StoreOptions};
use serde_json::{Value, json};
use tempfile::TempDir;

/// What a run's record says of the state after block 1, after block 2 and so on.
pub(crate) fn states(log: &Path, spec: &Arc<ChainSpec>, memory: &Path) -> Vec<Value> {
    let folder = TempDir::new_in(memory).unwrap();
    let store = Store::open(folder.path(), &StoreOptions::new(spec.chain_id().0)).unwrap();
    let mut state = IdentityState::open(Registers::new(store).unwrap(), Arc::clone(spec)).unwrap();
    let dictionaries = Arc::new(Dictionaries::none());
    let log = BlockLog::open(log, spec.blocks_per_log_part, Arc::clone(&dictionaries)).unwrap();
    let mut decoder = BlockDecoder::new(dictionaries);
    let mut states = Vec::new();
    for stored in log.sequential(1) {
        let stored = stored.unwrap();
        let raw = decoder.view(stored.compression, &stored.bytes).unwrap();
        let block = DecodedBlock::decode(raw.to_vec(), spec.symbols).unwrap();
        assert_eq!(block.number() as usize, states.len() + 1);
        state.apply_block(&block, Validation::Reduced).unwrap();
        state.commit().unwrap();
        let store = state.registers().store();
        let digest = store.digest().unwrap();
        states.push(json!({
            "registers": digest.registers,
            "bytes": digest.bytes,
            "root": store.compute_root(|_| {}).unwrap().root.to_string(),
            "digest": hex::encode(digest.digest),
        }));
    }
    states
}
