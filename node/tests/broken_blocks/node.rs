//! A state that a block is offered to.

use std::sync::Arc;

use cairn_chain::DecodedBlock;
use cairn_node::devnet::{ChainShape, RawBlock, Rule, Step, Tip};
use cairn_rules::signatures;
use cairn_rules::{IdentityState, Validation};
use cairn_state::{Registers, Store, StoreOptions};

use crate::refusal::Refusal;

/// Blocks before the one that is tried: all witnesses are at work, and the schedule was drawn three times, so that the size
/// that they vote for is known.
pub(crate) const BLOCKS: u32 = 66;

/// A state at block [`BLOCKS`], and the end of the chain that it follows.
pub(crate) struct Node {
    state: IdentityState,
    tip: Tip,
    /// Of the registers.
    digest: [u8; 32],
    _folder: tempfile::TempDir,
}

impl Node {
    pub(crate) fn new(hardfork: u8) -> Self {
        let shape = ChainShape {
            hardfork,
            ..ChainShape::small(5)
        };
        let folder = tempfile::tempdir().unwrap();
        let spec = Arc::new(shape.spec());
        let store = Store::open(folder.path(), &StoreOptions::new(spec.chain_id().0)).unwrap();
        let state = IdentityState::open(Registers::new(store).unwrap(), spec).unwrap();
        let mut node = Self {
            state,
            tip: Tip::genesis(shape),
            digest: [0; 32],
            _folder: folder,
        };
        for _ in 0..BLOCKS {
            let block = node.tip.grow(&Step::default());
            node.offer(&block).unwrap();
        }
        assert_eq!(node.state.globals().hardfork, hardfork);
        node.state.set_undo_sessions(true);
        node.digest = node.durable_digest();
        node
    }

    pub(crate) fn offer(&mut self, block: &RawBlock) -> Result<(), Refusal> {
        let spec = Arc::clone(self.state.spec());
        let decoded = DecodedBlock::decode(block.bytes.clone(), spec.symbols).map_err(Refusal::Bytes)?;
        decoded.check_merkle_root(&spec).map_err(Refusal::Merkle)?;
        let keys = signatures::recover(&decoded, &spec).map_err(Refusal::Signature)?;
        let applied = self.state.apply_block(&decoded, Validation::Full(&keys));
        applied.map(drop).map_err(Refusal::Rule)
    }

    pub(crate) fn durable_digest(&mut self) -> [u8; 32] {
        self.state.commit().unwrap();
        self.state.registers().store().digest().unwrap().digest
    }

    /// The state is that after block [`BLOCKS`].
    pub(crate) fn is_as_before(&mut self) -> bool {
        self.state.head().id == self.tip.id()
            && self.state.known_transactions() > 0
            && self.durable_digest() == self.digest
    }

    /// Offers a block that keeps the rule, then one that breaks it. `None` where the rule cannot be broken.
    pub(crate) fn try_rule(&mut self, rule: Rule) -> Option<Refusal> {
        let (mut keeping, mut breaking) = (self.tip.clone(), self.tip.clone());
        let kept = keeping.keep_rule(rule).ok()?;
        if let Err(refusal) = self.offer(&kept) {
            panic!("{rule}: the block that keeps it is refused: {refusal:?}");
        }
        assert!(self.state.undo_block().unwrap());
        assert!(
            self.is_as_before(),
            "{rule}: taking the kept block back leaves a trace"
        );
        let known = self.state.known_transactions();

        let prepared = rule == Rule::WitnessSwitchedOff;
        if prepared {
            let block = breaking.prepare(rule);
            self.offer(&block).unwrap();
        }
        let broken = breaking.break_rule(rule).unwrap();
        let refusal = match self.offer(&broken) {
            Ok(()) => panic!("{rule}: the block that breaks it is accepted"),
            Err(refusal) => refusal,
        };
        if prepared {
            assert_eq!(self.state.head().number, BLOCKS + 1);
            assert!(self.state.undo_block().unwrap());
        }
        assert!(self.is_as_before(), "{rule}: the refused block leaves a trace");
        assert_eq!(self.state.known_transactions(), known);
        refusal.is_placed(&broken);
        Some(refusal)
    }
}
