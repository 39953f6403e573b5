//! Blocks that are taken back and applied again, in full validation, beside a state that only ever went forward.

#![allow(
    clippy::unwrap_used,
    missing_docs,
    reason = "a test that cannot go on shall stop"
)]

use std::path::Path;
use std::sync::Arc;

use cairn_chain::{ChainSpec, DecodedBlock};
use cairn_node::devnet::{self, BlocksOptions, ChainShape, blocks};
use cairn_rules::signatures::RecoveredKeys;
use cairn_rules::{IdentityState, Validation, signatures};
use cairn_state::{Registers, Store, StoreOptions};
use proptest::prelude::*;

const BLOCKS: u32 = 120;

struct Chain {
    spec: Arc<ChainSpec>,
    blocks: Vec<(DecodedBlock, RecoveredKeys)>,
    /// The digest after each block, from 0.
    digests: Vec<[u8; 32]>,
}

fn open(folder: &Path, spec: &Arc<ChainSpec>) -> IdentityState {
    let store = Store::open(folder, &StoreOptions::new(spec.chain_id().0)).unwrap();
    IdentityState::open(Registers::new(store).unwrap(), Arc::clone(spec)).unwrap()
}

fn durable_digest(state: &IdentityState) -> [u8; 32] {
    state.registers().store().digest().unwrap().digest
}

impl Chain {
    fn new() -> Self {
        let options = BlocksOptions {
            blocks: BLOCKS,
            shape: ChainShape::new(3),
            threads: 2,
            faults: Vec::new(),
        };
        let spec = Arc::new(devnet::chain_spec(options.shape.seed));
        let decoded = blocks(&options).map(|block| {
            let block = DecodedBlock::decode(block.bytes, spec.symbols).unwrap();
            let keys = signatures::recover(&block, &spec).unwrap();
            (block, keys)
        });
        let mut chain = Self {
            blocks: decoded.collect(),
            spec: Arc::clone(&spec),
            digests: Vec::new(),
        };
        let folder = tempfile::tempdir().unwrap();
        let mut forward = open(folder.path(), &spec);
        for number in 0..=BLOCKS {
            if number > 0 {
                chain.apply(&mut forward, number);
            }
            forward.commit().unwrap();
            chain.digests.push(durable_digest(&forward));
        }
        chain
    }

    fn apply(&self, state: &mut IdentityState, number: u32) {
        let (block, keys) = &self.blocks[number as usize - 1];
        state.apply_block(block, Validation::Full(keys)).unwrap();
        assert_eq!(state.head().id, block.id());
    }
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Apply(u32),
    Undo(u32),
    Irreversible(u32),
    Commit,
    Kill,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => (1u32..12).prop_map(Step::Apply),
        4 => (1u32..12).prop_map(Step::Undo),
        2 => (0u32..8).prop_map(Step::Irreversible),
        2 => Just(Step::Commit),
        1 => Just(Step::Kill),
    ]
}

fn walk(chain: &Chain, steps: &[Step]) {
    let folder = tempfile::tempdir().unwrap();
    let mut state = open(folder.path(), &chain.spec);
    state.commit().unwrap();
    state.set_undo_sessions(true);
    // The last block that cannot be taken back, and the last durable one.
    let (mut base, mut durable) = (0, 0);
    for step in steps {
        let head = state.head().number;
        match *step {
            Step::Apply(count) => {
                for number in head + 1..=(head + count).min(BLOCKS) {
                    chain.apply(&mut state, number);
                }
            }
            Step::Undo(count) => {
                for _ in 0..count {
                    let head = state.head().number;
                    assert_eq!(state.undo_block().unwrap(), head > base);
                    assert_eq!(state.head().number, (head.max(base + 1)) - 1);
                }
            }
            Step::Irreversible(behind) => {
                let number = head.saturating_sub(behind);
                state.irreversible(number);
                base = base.max(number);
            }
            Step::Commit => {
                state.commit().unwrap();
                durable = base;
                assert_eq!(
                    durable_digest(&state),
                    chain.digests[base as usize],
                    "durable {base}, head {head}"
                );
                let stored = state.registers().head().unwrap();
                assert_eq!(stored.number, base);
                if base > 0 {
                    assert_eq!(stored.id, chain.blocks[base as usize - 1].0.id().0);
                }
            }
            Step::Kill => {
                drop(state);
                state = open(folder.path(), &chain.spec);
                state.set_undo_sessions(true);
                assert_eq!(state.head().number, durable);
                base = durable;
            }
        }
        assert_eq!(state.undo_sessions() as u32, state.head().number - base);
    }
    // To the end of the chain, all of it irreversible: as if nothing had ever been taken back.
    for number in state.head().number + 1..=BLOCKS {
        chain.apply(&mut state, number);
    }
    state.irreversible(BLOCKS);
    state.commit().unwrap();
    assert_eq!(durable_digest(&state), chain.digests[BLOCKS as usize]);
    // The transactions that were taken back are not known as duplicates, and those that were not, are.
    let (block, keys) = &chain.blocks[BLOCKS as usize - 1];
    let transaction = &block.block().transactions[0];
    let again = state
        .try_transaction(transaction, &keys.transactions[0])
        .unwrap_err();
    assert!(again.to_string().contains("is in the chain already"), "{again}");
}

#[test]
fn taken_back_and_applied_again_is_as_if_it_had_only_gone_forward() {
    let chain = Chain::new();
    let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(24)
    });
    runner
        .run(&proptest::collection::vec(step(), 1..60), |steps| {
            walk(&chain, &steps);
            Ok(())
        })
        .unwrap();
}
