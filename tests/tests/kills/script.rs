//! How a chain grows before a node's eyes, with forks: step by step, what two peers have.

use std::collections::HashMap;
use std::time::{SystemTime, UNIX_EPOCH};

use cairn_chain::BlockId;
use cairn_node::devnet::{RawBlock, Step, Tree};
use cairn_tests::power_cut::Rng;

/// Most blocks that a switch to another fork takes back here.
const DEEPEST: usize = 5;
/// Blocks behind the trunk, up to the last step.
const GROWN: usize = 20;

pub(crate) struct Script {
    blocks: HashMap<BlockId, RawBlock>,
    /// The chains of the two peers; the longer one is where a node must go.
    steps: Vec<[Vec<BlockId>; 2]>,
    forks: usize,
}

impl Script {
    /// A chain whose last steps happen now: its second block comes after a very long pause.
    pub(crate) fn until_now(tree: &mut Tree, rng: &mut Rng) -> Self {
        const TRUNK: u32 = 70;
        // Room for the slots that siblings miss. The node is live behind the first ten blocks or so.
        const SECONDS: u64 = 3 * (TRUNK as u64 + GROWN as u64 + 10);
        let mut script = Self::empty();
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
        let first = script.add(tree.extend(BlockId::ZERO, &Step::default()).unwrap());
        let start = u64::from(script.blocks[&first].time.0);
        let missed = u32::try_from((now - SECONDS - start) / 3).unwrap();
        let step = Step { missed: Some(missed) };
        let second = script.add(tree.extend(first, &step).unwrap());
        let trunk = script.grow(tree, &[first, second], TRUNK as usize - 2);
        script.fork_and_grow(tree, rng, &trunk);
        script
    }

    /// A chain of so many blocks that ended years ago, and its forks.
    pub(crate) fn long_ago(tree: &mut Tree, rng: &mut Rng, trunk: usize) -> Self {
        let mut script = Self::empty();
        let trunk = script.grow(tree, &[], trunk);
        script.fork_and_grow(tree, rng, &trunk);
        script
    }

    fn empty() -> Self {
        Self {
            blocks: HashMap::new(),
            steps: Vec::new(),
            forks: 0,
        }
    }

    fn add(&mut self, block: RawBlock) -> BlockId {
        let id = block.id;
        self.blocks.insert(id, block);
        id
    }

    fn grow(&mut self, tree: &mut Tree, chain: &[BlockId], more: usize) -> Vec<BlockId> {
        let mut chain = chain.to_vec();
        for _ in 0..more {
            let parent = chain.last().copied().unwrap_or(BlockId::ZERO);
            // No slot is missed: the end of the chain is near the present.
            let step = Step { missed: Some(0) };
            let block = tree.extend(parent, &step).unwrap();
            chain.push(self.add(block));
        }
        chain
    }

    /// The chain grows block by block, now on one peer's branch, now on the other's.
    fn fork_and_grow(&mut self, tree: &mut Tree, rng: &mut Rng, trunk: &[BlockId]) {
        let end = trunk.len() + GROWN;
        let (mut ahead, mut chains) = (0, [trunk.to_vec(), trunk.to_vec()]);
        self.steps.push(chains.clone());
        while chains[ahead].len() < end {
            let behind = 1 - ahead;
            let main = chains[ahead].clone();
            if rng.percent(25) && main.len() > trunk.len() {
                let depth = rng.between(1, DEEPEST.min(main.len() - trunk.len()));
                let base = &main[..main.len() - depth];
                chains[behind] = self.grow(tree, base, depth + 1);
                ahead = behind;
                self.forks += 1;
            } else {
                chains[ahead] = self.grow(tree, &main, 1);
            }
            self.steps.push(chains.clone());
        }
    }

    pub(crate) fn steps(&self) -> usize {
        self.steps.len()
    }

    pub(crate) fn forks(&self) -> usize {
        self.forks
    }

    /// What the two peers have at a step.
    pub(crate) fn offers(&self, step: usize) -> [Vec<RawBlock>; 2] {
        let raw = |id: &BlockId| self.blocks[id].clone();
        [0, 1].map(|peer| self.steps[step][peer].iter().map(raw).collect())
    }

    /// Where a node is that has everything up to a step.
    pub(crate) fn head(&self, step: usize) -> BlockId {
        let ends = self.steps[step].iter().filter_map(|chain| chain.last());
        *ends.max_by_key(|id| id.number()).unwrap()
    }

    /// A block by the text of its id.
    pub(crate) fn find(&self, id: &str) -> Option<BlockId> {
        self.blocks.keys().copied().find(|known| known.to_string() == id)
    }

    /// All blocks from 1 to this one.
    pub(crate) fn way_to(&self, id: BlockId) -> Vec<&RawBlock> {
        let parent = |block: &&RawBlock| self.blocks.get(&block.previous);
        let mut way: Vec<_> = std::iter::successors(self.blocks.get(&id), parent).collect();
        way.reverse();
        way
    }
}
