//! A chain with forks: every block can be extended, several times too.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use cairn_chain::BlockId;

use super::broken::Rule;
use super::seal::RawBlock;
use super::shape::ChainShape;
use super::tip::{Step, Tip};

/// All blocks of a chain with forks. The blocks follow from the shape and the sequence of calls.
///
/// The first child of a block goes on as the chain would without forks. Each further child begins a branch of its own,
/// which contradicts the others by itself: it creates accounts and posts of the same names with other keys and authors,
/// changes the keys of the same accounts, and its transactions refer to its own blocks.
///
/// A copy is cheap enough to build a common beginning once and many trees on it.
#[derive(Debug, Clone)]
pub struct Tree {
    nodes: HashMap<BlockId, Node>,
    branches: u32,
}

#[derive(Debug, Clone)]
struct Node {
    tip: Arc<Tip>,
    children: u32,
}

impl Node {
    fn new(tip: Tip) -> Self {
        Self {
            tip: Arc::new(tip),
            children: 0,
        }
    }
}

impl Tree {
    /// A chain without blocks. The first one is a child of [`BlockId::ZERO`].
    #[must_use]
    pub fn new(shape: ChainShape) -> Self {
        Self {
            nodes: HashMap::from([(BlockId::ZERO, Node::new(Tip::genesis(shape)))]),
            branches: 0,
        }
    }

    /// Makes a block on top of any block. `None` if the tree does not have that one.
    ///
    /// A further child of a block that has some shares no transaction with them; see [`Self::sibling`].
    pub fn extend(&mut self, parent: BlockId, step: &Step) -> Option<RawBlock> {
        self.sibling(parent, 0, step)
    }

    /// As [`Self::extend`], and if the parent has a child already, the new one begins with the first `shared`
    /// transactions of the first child. With `u32::MAX` it has exactly its transactions, in another slot.
    ///
    /// A block that would be equal to one in the tree misses another slot.
    pub fn sibling(&mut self, parent: BlockId, shared: u32, step: &Step) -> Option<RawBlock> {
        let node = self.nodes.get_mut(&parent)?;
        node.children += 1;
        let mut start = Tip::clone(&node.tip);
        if node.children > 1 {
            self.branches += 1;
            start.branch_off(self.branches, shared);
        }
        let mut missed = step.missed;
        loop {
            let mut tip = start.clone();
            let block = tip.grow(&Step { missed });
            if let Entry::Vacant(free) = self.nodes.entry(block.id) {
                free.insert(Node::new(tip));
                return Some(block);
            }
            missed = Some((block.time.0 - start.time().0) / cairn_chain::spec::BLOCK_INTERVAL);
        }
    }

    /// Makes a block that breaks a rule on top of any block. `None` if the tree does not have that one, or the rule cannot
    /// be broken there. The broken block can be extended as any other.
    pub fn break_rule(&mut self, parent: BlockId, rule: Rule) -> Option<RawBlock> {
        let mut tip = Tip::clone(&self.nodes.get(&parent)?.tip);
        let block = tip.break_rule(rule).ok()?;
        // A block that differs behind its header only has the id of the honest one, which is kept.
        self.nodes.entry(block.id).or_insert_with(|| Node::new(tip));
        Some(block)
    }

    /// Makes a branch of so many blocks on top of any block. Nothing if the tree does not have that one.
    pub fn grow(&mut self, parent: BlockId, blocks: u32) -> Vec<RawBlock> {
        let mut made = Vec::with_capacity(blocks as usize);
        let mut at = parent;
        for _ in 0..blocks {
            let Some(block) = self.extend(at, &Step::default()) else {
                break;
            };
            at = block.id;
            made.push(block);
        }
        made
    }

    /// The end of the branch that ends with this block.
    #[must_use]
    pub fn tip(&self, block: BlockId) -> Option<&Tip> {
        self.nodes.get(&block).map(|node| &*node.tip)
    }
}
