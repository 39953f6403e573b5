//! What the side branches may take.

use std::collections::HashSet;

use cairn_chain::BlockId;

use super::database::{ForkBlock, ForkDatabase};

/// Linked blocks beside the main branch that are held: as many as the main branch may have.
pub const MAX_SIDE_BLOCKS: usize = 10_000;
/// Bytes that they may have.
pub const MAX_SIDE_BYTES: usize = 256 << 20;

impl<B: ForkBlock> ForkDatabase<B> {
    /// Lets go of tips beside the main branch once there is too much.
    ///
    /// An eighth of the room is made free at a time, so that the look at all blocks which that takes is one in more than a
    /// thousand blocks.
    pub(super) fn bound_side_branches(&mut self) {
        if self.exceeds(MAX_SIDE_BLOCKS, MAX_SIDE_BYTES) {
            self.make_room();
        }
    }

    fn exceeds(&self, blocks: usize, bytes: usize) -> bool {
        self.side_len() > blocks || self.side_bytes > bytes
    }

    /// The tips that have been here longest go first, and when all have gone, what has become a tip by that. A branch
    /// that is longer than the main one stays: it is about to be tried.
    fn make_room(&mut self) {
        let winner = self.longer().and_then(|id| self.route(&id));
        let winner: HashSet<BlockId> =
            winner.map_or_else(HashSet::new, |route| route.branch.into_iter().collect());
        let spare = |database: &Self, id: &BlockId| {
            database.children(*id).next().is_none() && !database.is_on_main(id) && !winner.contains(id)
        };
        let held = self.held.iter().filter(|(id, _)| spare(self, id));
        let mut tips: Vec<(u64, BlockId)> = held.map(|(id, held)| (held.arrival, *id)).collect();
        while !tips.is_empty() {
            tips.sort_unstable();
            let mut bared = Vec::new();
            for (_, tip) in tips {
                if !self.exceeds(MAX_SIDE_BLOCKS / 8 * 7, MAX_SIDE_BYTES / 8 * 7) {
                    return;
                }
                let Some(block) = self.remove(&tip) else { continue };
                let parent = block.previous();
                if let Some(held) = self.held.get(&parent)
                    && spare(self, &parent)
                {
                    bared.push((held.arrival, parent));
                }
            }
            tips = bared;
        }
    }
}
