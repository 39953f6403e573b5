//! The end of one branch of a chain, from which it grows block by block.

use std::collections::VecDeque;

use cairn_chain::{Block, BlockId, Symbols, Time};

use super::accounts::Signers;
use super::broken::{self, CannotBreak, Draft, Rule, Surroundings};
use super::keys::Keys;
use super::names;
use super::plan::{self, BlockPlan, Planner};
use super::seal::{self, Header, RawBlock};
use super::shape::ChainShape;
use super::spec;
use super::write::{BodyWriter, merkle_root};

/// What the next block is to be like; by default what follows from the seed.
#[derive(Debug, Clone, Copy, Default)]
pub struct Step {
    /// Slots that are missed before it.
    pub missed: Option<u32>,
}

/// The end of a branch.
///
/// A tip makes the same blocks as [`blocks`](super::blocks()) of the same shape, one at a time in the caller's thread. A
/// copy of it grows on its own: the same blocks again, or others after [`Tip::branch_off`].
#[derive(Debug, Clone)]
pub struct Tip {
    planner: Planner,
    writer: BodyWriter,
    /// Ids of the last blocks, as many as transactions may refer to; the newest is the last.
    ids: VecDeque<BlockId>,
    lag: u32,
    /// The first transaction of the last block that has one.
    earlier: Option<Earlier>,
}

impl Tip {
    /// The start of a chain: before block 1.
    #[must_use]
    pub fn genesis(shape: ChainShape) -> Self {
        let shape = shape.in_range();
        let writer = BodyWriter {
            keys: Keys::new(shape.seed),
            chain_id: spec::chain_id(shape.seed),
        };
        Self {
            planner: Planner::new(shape),
            writer,
            ids: VecDeque::from([BlockId::ZERO]),
            lag: shape.reference_lag,
            earlier: None,
        }
    }

    /// Number of the last block; 0 before the first.
    #[must_use]
    pub fn number(&self) -> u32 {
        self.planner.next_number() - 1
    }

    /// Id of the last block; zeros before the first.
    #[must_use]
    pub fn id(&self) -> BlockId {
        self.ids.back().copied().unwrap_or(BlockId::ZERO)
    }

    /// Time of the last block; that of genesis before the first.
    #[must_use]
    pub fn time(&self) -> Time {
        Time(self.planner.now())
    }

    /// Goes another way from here than the tip that this one is a copy of: a branch with a number of its own, from 1.
    /// The next block begins with the first `shared` transactions of the other's, or with all of them, and differs
    /// otherwise: in what is done, in the keys that accounts get, in the slots that are missed.
    pub fn branch_off(&mut self, branch: u32, shared: u32) {
        self.planner.branch_off(branch, shared);
    }

    /// Makes the next block.
    pub fn grow(&mut self, step: &Step) -> RawBlock {
        let planned = self.plan(step);
        let draft = self.draft(&planned);
        self.push(&planned, draft.sealed(), seal::counts(&planned.plan, None))
    }

    /// Makes the next block so that it breaks a rule, and only that one. What grows on it later is what a careless
    /// witness would make.
    ///
    /// [`Rule::WitnessSwitchedOff`] is broken by a block behind one that [`Self::prepare`] has made.
    ///
    /// # Errors
    ///
    /// [`CannotBreak`]; the tip is as before.
    pub fn break_rule(&mut self, rule: Rule) -> Result<RawBlock, CannotBreak> {
        self.sealed_by_rule(rule, true)
    }

    /// Makes the next block as [`Self::break_rule`] does, but so that it keeps the rule: with the same additions, as near
    /// to the broken ones as they can be.
    ///
    /// # Errors
    ///
    /// [`CannotBreak`], as for the broken block.
    pub fn keep_rule(&mut self, rule: Rule) -> Result<RawBlock, CannotBreak> {
        self.sealed_by_rule(rule, false)
    }

    /// Makes the block before one that is to break this rule. Only [`Rule::WitnessSwitchedOff`] needs one of a special
    /// kind: the next block's witness removes its key.
    pub fn prepare(&mut self, rule: Rule) -> RawBlock {
        let planned = self.plan(&Step::default());
        let mut draft = self.draft(&planned);
        if rule == Rule::WitnessSwitchedOff {
            let next = self.planner.clone().next_block().producer;
            let mut signers = Signers::default();
            self.planner.accounts().sign_active(next, &mut signers);
            let keys = signers.keys().iter();
            let keys = keys.map(|key| self.writer.keys.seed_of(*key)).collect();
            draft.switch_off(names::account(next), keys, &self.surroundings(&planned));
        }
        let bytes = draft.sealed();
        let counts = counted(&bytes);
        self.push(&planned, bytes, counts)
    }

    fn sealed_by_rule(&mut self, rule: Rule, broken: bool) -> Result<RawBlock, CannotBreak> {
        let mut tip = self.clone();
        let planned = tip.plan(&Step::default());
        let bytes = broken::seal(rule, broken, tip.draft(&planned), &tip.surroundings(&planned))?;
        let counts = counted(&bytes);
        let block = tip.push(&planned, bytes, counts);
        *self = tip;
        Ok(block)
    }

    fn plan(&mut self, step: &Step) -> Planned {
        let now = self.planner.now();
        let plan = match step.missed {
            None => self.planner.next_block(),
            Some(missed) => self.planner.next_block_after(missed),
        };
        let back = plan.number - 1 - plan::reference(plan.number, self.lag);
        let reference = self.ids[self.ids.len() - 1 - back as usize];
        let transactions = self.writer.transactions(&plan, reference, false);
        Planned {
            plan,
            now,
            transactions,
        }
    }

    fn draft(&self, planned: &Planned) -> Draft {
        let transactions = planned.transactions.clone();
        Draft {
            number: planned.plan.number,
            header: Header::of(&planned.plan, self.id(), merkle_root(&transactions)),
            key: self.writer.keys.seed_of(planned.plan.producer_key),
            transactions,
        }
    }

    fn surroundings(&self, planned: &Planned) -> Surroundings<'_> {
        let other = self.planner.other_witness(planned.plan.producer);
        let earlier = self.earlier.as_ref();
        let earlier = earlier.filter(|earlier| earlier.expiration > planned.now);
        Surroundings {
            chain_id: self.writer.chain_id,
            hardfork: planned.plan.hardfork,
            now: planned.now,
            earlier: earlier.map(|earlier| earlier.bytes.as_slice()),
            other_witness: other.map(|(account, key)| (account, self.writer.keys.seed_of(key))),
        }
    }

    /// Takes a block over as the last one. `counts`: its transactions and operations.
    fn push(&mut self, planned: &Planned, bytes: Vec<u8>, counts: (u32, u32)) -> RawBlock {
        let previous = self.id();
        let block = RawBlock::of(bytes, previous, planned.plan.number, counts);
        if self.ids.len() > self.lag as usize {
            self.ids.pop_front();
        }
        self.ids.push_back(block.id);
        if let (Some(bytes), Some(plan)) = (planned.transactions.first(), planned.plan.transactions.first()) {
            self.earlier = Some(Earlier {
                bytes: bytes.clone(),
                expiration: plan.expiration,
            });
        }
        block
    }
}

/// Transactions and operations of a block; none of one that cannot be read.
fn counted(bytes: &[u8]) -> (u32, u32) {
    let Ok(block) = Block::unpack_exact(bytes, Symbols::Testnet) else {
        return (0, 0);
    };
    let operations = block.transactions.iter().map(|t| t.operations.len() as u32);
    (block.transactions.len() as u32, operations.sum())
}

/// A block that is planned and written, and not closed.
struct Planned {
    plan: BlockPlan,
    /// Time of the block before.
    now: u32,
    transactions: Vec<Vec<u8>>,
}

/// A transaction of an earlier block.
#[derive(Debug, Clone)]
struct Earlier {
    bytes: Vec<u8>,
    expiration: u32,
}
