//! The end of one branch of a chain, from which it grows block by block.

use std::collections::VecDeque;

use cairn_chain::{BlockId, Time};

use super::keys::Keys;
use super::plan::{self, Planner};
use super::seal::{self, Header, RawBlock};
use super::shape::ChainShape;
use super::spec;
use super::write::{BodyWriter, merkle_root, packed_list};

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
        let plan = match step.missed {
            None => self.planner.next_block(),
            Some(missed) => self.planner.next_block_after(missed),
        };
        let previous = self.id();
        let back = plan.number - 1 - plan::reference(plan.number, self.lag);
        let reference = self.ids[self.ids.len() - 1 - back as usize];
        let transactions = self.writer.transactions(&plan, reference, false);
        let header = Header::of(&plan, previous, merkle_root(&transactions));
        let key = self.writer.keys.seed_of(plan.producer_key);
        let bytes = header.sealed(&key, &packed_list(&transactions));
        let id = seal::id(&bytes);
        if self.ids.len() > self.lag as usize {
            self.ids.pop_front();
        }
        self.ids.push_back(id);
        let operations = plan.transactions.iter().map(|t| t.operations.len() as u32).sum();
        RawBlock {
            number: plan.number,
            id,
            previous,
            time: Time(plan.time),
            witness: header.witness,
            bytes,
            transactions: plan.transactions.len() as u32,
            operations,
        }
    }
}
