//! Generated chains under full validation, by the rules that a node applies to any chain.

#![allow(
    clippy::unwrap_used,
    missing_docs,
    reason = "a test that cannot go on shall stop"
)]

use std::sync::Arc;

use cairn_chain::DecodedBlock;
use cairn_node::devnet::{self, BlocksOptions, ChainShape, Fault, FaultAt, Profile, blocks};
use cairn_rules::{IdentityState, RuleError, Validation, signatures};
use cairn_state::{Registers, Store, StoreOptions};

/// A state that was given blocks up to its first refusal.
struct Replayed {
    state: IdentityState,
    refused: Option<RuleError>,
    // Removed with the state.
    _folder: tempfile::TempDir,
}

fn replay(options: &BlocksOptions) -> Replayed {
    let folder = tempfile::tempdir().unwrap();
    let spec = Arc::new(devnet::chain_spec(options.shape.seed));
    let store = Store::open(folder.path(), &StoreOptions::new(spec.chain_id().0)).unwrap();
    let mut state = IdentityState::open(Registers::new(store).unwrap(), Arc::clone(&spec)).unwrap();
    let mut refused = None;
    for block in blocks(options) {
        let block = DecodedBlock::decode(block.bytes, spec.symbols).unwrap();
        let keys = signatures::recover(&block, &spec).unwrap();
        if let Err(error) = state.apply_block(&block, Validation::Full(&keys)) {
            refused = Some(error);
            break;
        }
    }
    Replayed {
        state,
        refused,
        _folder: folder,
    }
}

fn options(blocks: u32, profile: Profile, faults: Vec<FaultAt>) -> BlocksOptions {
    BlocksOptions {
        blocks,
        shape: ChainShape {
            profile,
            ..ChainShape::new(8)
        },
        threads: 2,
        faults,
    }
}

#[test]
fn a_mixed_chain_passes_full_validation() {
    let replayed = replay(&options(1500, Profile::Mixed, Vec::new()));
    assert!(replayed.refused.is_none(), "{:?}", replayed.refused);
    assert_eq!(replayed.state.head().number, 1500);

    // Nothing passed because it was not looked at.
    let checks = replayed.state.checks();
    println!("{checks:?}");
    assert_eq!((checks.blocks_signed, checks.slots), (1500, 1500));
    assert!(checks.transactions > 60_000 && checks.transactions == checks.reference_blocks);
    assert!(
        checks.signatures > checks.transactions,
        "some transactions need two signatures"
    );
    assert!(checks.exempt.is_empty() && checks.undecided.is_empty());
    let satisfied = checks.satisfied;
    assert!(satisfied.posting_by_posting > satisfied.active_by_active && satisfied.active_by_active > 10_000);
    assert!(satisfied.owner_by_owner > 100 && satisfied.other > 100 && satisfied.nested > 1000);
}

#[test]
fn an_empty_chain_passes_full_validation() {
    let replayed = replay(&options(2000, Profile::Empty, Vec::new()));
    assert!(replayed.refused.is_none(), "{:?}", replayed.refused);
    assert_eq!(replayed.state.head().number, 2000);
}

#[test]
fn a_fork_passes_full_validation_too() {
    let fork = vec![FaultAt {
        block: 60,
        fault: Fault::Fork,
    }];
    let replayed = replay(&options(300, Profile::Mixed, fork));
    assert!(replayed.refused.is_none(), "{:?}", replayed.refused);
    assert_eq!(replayed.state.head().number, 300);
}

#[test]
fn a_chain_of_large_blocks_passes_full_validation() {
    let replayed = replay(&options(6, Profile::Large, Vec::new()));
    assert!(replayed.refused.is_none(), "{:?}", replayed.refused);
    assert_eq!(replayed.state.head().number, 6);
    assert_eq!(replayed.state.checks().transactions, 5 * 36);
}

#[test]
fn a_chain_is_refused_where_it_was_spoiled() {
    for fault in [Fault::WitnessSignature, Fault::ForeignTransactionSignature] {
        let replayed = replay(&options(120, Profile::Mixed, vec![FaultAt { block: 60, fault }]));
        assert!(replayed.refused.is_some(), "{fault:?}");
        assert_eq!(replayed.state.head().number, 59, "{fault:?}");
    }
    let replayed = replay(&options(
        120,
        Profile::Mixed,
        vec![FaultAt {
            block: 60,
            fault: Fault::Replaced,
        }],
    ));
    assert_eq!(
        replayed.state.head().number,
        60,
        "the next block does not link to the replaced one"
    );
}
