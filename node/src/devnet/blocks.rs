//! The blocks of a devnet, one after the other, made by several threads.
//!
//! ```text
//! plan (in order) -> write (any thread, any order) -> seal (in order) -> next()
//!        ^                                              |
//!        +----------- id of the reference block --------+
//! ```
//!
//! A block can be handed to a writer as soon as the block that its transactions refer to is sealed, which
//! lies some way behind ([`ChainShape::reference_lag`]). So at most that many blocks are in memory at once, and what comes out
//! does not depend on the number of threads.

use std::collections::VecDeque;
use std::num::NonZeroUsize;

use cairn_chain::BlockId;

use super::faults::FaultAt;
use super::keys::Keys;
use super::plan::{self, Planner};
use super::pool::OrderedPool;
use super::seal::{RawBlock, Sealer};
use super::shape::ChainShape;
use super::spec;
use super::write::{BodyWriter, Job, Written};

/// Which blocks to make.
#[derive(Debug, Clone)]
pub struct BlocksOptions {
    /// How many blocks, from block 1 on.
    pub blocks: u32,
    /// What the chain is like.
    pub shape: ChainShape,
    /// Threads that write and sign transactions; 0 takes as many as there are processors. The blocks do not
    /// depend on it.
    pub threads: usize,
    /// What shall be wrong with which blocks.
    pub faults: Vec<FaultAt>,
}

impl BlocksOptions {
    /// So many blocks of the first seed, mixed, by all processors.
    #[must_use]
    pub fn new(blocks: u32) -> Self {
        Self {
            blocks,
            shape: ChainShape::new(1),
            threads: 0,
            faults: Vec::new(),
        }
    }
}

/// Makes the blocks of a devnet in order. See [`Blocks`].
#[must_use]
pub fn blocks(options: &BlocksOptions) -> Blocks {
    Blocks::new(options)
}

/// An iterator over the blocks of a devnet.
pub struct Blocks {
    planner: Planner,
    pool: OrderedPool<Job, Written>,
    sealer: Sealer,
    /// Ids of the last sealed blocks; the first belongs to block `first_id`.
    ids: VecDeque<BlockId>,
    first_id: u32,
    last: u32,
    lag: u32,
    faults: Vec<FaultAt>,
}

impl Blocks {
    fn new(options: &BlocksOptions) -> Self {
        let shape = options.shape.in_range();
        let keys = Keys::new(shape.seed);
        let writer = BodyWriter {
            keys,
            chain_id: spec::chain_id(shape.seed),
        };
        Self {
            planner: Planner::new(shape),
            pool: OrderedPool::start(threads(options.threads), move || move |job| writer.write(job)),
            sealer: Sealer::new(keys),
            // Block 1 has nothing to refer to; its reference is never looked at.
            ids: VecDeque::from([BlockId::ZERO]),
            first_id: 0,
            last: options.blocks.min(spec::MAX_BLOCKS),
            lag: shape.reference_lag,
            faults: options.faults.clone(),
        }
    }

    /// Hands out every block whose reference block is sealed.
    fn fill(&mut self) {
        while self.planner.next_number() <= self.last {
            let reference = plan::reference(self.planner.next_number(), self.lag);
            // References never go back, so ids in front of this one are not needed any more.
            while self.first_id < reference && self.ids.len() > 1 {
                self.ids.pop_front();
                self.first_id += 1;
            }
            if self.first_id < reference {
                return;
            }
            let plan = self.planner.next_block();
            let fault = self
                .faults
                .iter()
                .find(|at| at.block == plan.number)
                .map(|at| at.fault);
            self.pool.submit(Job {
                plan,
                reference: self.ids[0],
                fault,
            });
        }
    }
}

impl Iterator for Blocks {
    type Item = RawBlock;

    fn next(&mut self) -> Option<RawBlock> {
        self.fill();
        let block = self.sealer.seal(self.pool.take()?);
        self.ids.push_back(self.sealer.previous());
        Some(block)
    }
}

/// The number of threads to start for a wish, where 0 stands for the number of processors.
pub(super) fn threads(wish: usize) -> usize {
    match wish {
        0 => std::thread::available_parallelism().map_or(1, NonZeroUsize::get),
        _ => wish,
    }
}
