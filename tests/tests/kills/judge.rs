//! A state that only ever goes forward.

use std::path::Path;
use std::sync::Arc;

use cairn_chain::{ChainSpec, DecodedBlock};
use cairn_node::devnet::{self, RawBlock};
use cairn_rules::signatures;
use cairn_rules::{IdentityState, Validation};
use cairn_state::{Registers, Store, StoreOptions};
use tempfile::TempDir;

pub(crate) struct Judge {
    spec: Arc<ChainSpec>,
    state: IdentityState,
    _folder: TempDir,
}

impl Judge {
    pub(crate) fn new() -> Self {
        let folder = match Path::new("/dev/shm").is_dir() {
            true => TempDir::new_in("/dev/shm").unwrap(),
            false => TempDir::new().unwrap(),
        };
        let spec = Arc::new(devnet::chain_spec(1));
        let store = Store::open(folder.path(), &StoreOptions::new(spec.chain_id().0)).unwrap();
        Self {
            state: IdentityState::open(Registers::new(store).unwrap(), Arc::clone(&spec)).unwrap(),
            spec,
            _folder: folder,
        }
    }

    /// Applies what it has not of a chain from block 1 on, which must be on its own.
    pub(crate) fn go_to(&mut self, chain: &[&RawBlock]) {
        let done = self.state.head();
        if done.number > 0 {
            assert_eq!(
                chain[done.number as usize - 1].id,
                done.id,
                "what was irreversible was replaced"
            );
        }
        for raw in &chain[done.number as usize..] {
            let block = DecodedBlock::decode(raw.bytes.clone(), self.spec.symbols).unwrap();
            let keys = signatures::recover(&block, &self.spec).unwrap();
            self.state.apply_block(&block, Validation::Full(&keys)).unwrap();
        }
        self.state.commit().unwrap();
    }

    pub(crate) fn digest(&self) -> String {
        hex::encode(self.state.registers().store().digest().unwrap().digest)
    }
}
