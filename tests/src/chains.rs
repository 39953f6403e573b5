//! Chains for tests of what happens at the head.

use std::time::{SystemTime, UNIX_EPOCH};

use cairn_chain::{AccountName, BlockId};
use cairn_node::devnet::{ChainShape, RawBlock, Step, Tree};

/// The chain of the [yards](crate::zoo::Yard), small blocks, all of its witnesses, no slot missed.
#[must_use]
pub fn tree() -> Tree {
    Tree::new(ChainShape {
        witnesses: 21,
        missed_slots: 0,
        ..ChainShape::small(1)
    })
}

/// The last block's id.
///
/// # Panics
/// When there is none.
#[must_use]
pub fn tip(chain: &[RawBlock]) -> BlockId {
    chain.last().expect("a block").id
}

/// A branch on `parent` made by these witnesses alone: the others miss their turns.
///
/// # Panics
/// When the tree does not have the parent.
pub fn faction(tree: &mut Tree, parent: BlockId, blocks: u32, of: &[AccountName]) -> Vec<RawBlock> {
    let mut branch: Vec<RawBlock> = Vec::new();
    for _ in 0..blocks {
        let at = branch.last().map_or(parent, |block| block.id);
        let tip = tree.tip(at).expect("a block of the tree").clone();
        let by = |missed: u32| tip.clone().grow(&Step { missed: Some(missed) }).witness;
        let missed = (0..60).find(|missed| of.contains(&by(*missed)));
        branch.push(tree.extend(at, &Step { missed }).expect("a block of the tree"));
    }
    branch
}

/// A chain that ends about `before` seconds before now: its second block comes after a very long pause.
///
/// # Panics
/// When the clock is wrong by decades.
pub fn until_now(tree: &mut Tree, blocks: u32, before: u64) -> Vec<RawBlock> {
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .expect("after 1970")
        .as_secs()
        - before;
    let mut chain = tree.grow(BlockId::ZERO, 1);
    let start = u64::from(chain[0].time.0);
    let missed = (now - start) / 3 - u64::from(blocks);
    let step = Step {
        missed: Some(u32::try_from(missed).expect("not so many")),
    };
    chain.push(tree.extend(tip(&chain), &step).expect("a block of the tree"));
    chain.extend(tree.grow(tip(&chain), blocks - 2));
    chain
}
