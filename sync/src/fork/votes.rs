//! Which block is irreversible.

use cairn_chain::{AccountName, BlockId};
use cairn_rules::Finality;

use super::database::{ForkBlock, ForkDatabase};

impl<B: ForkBlock> ForkDatabase<B> {
    /// A witness has made a block that was applied.
    pub(super) fn note_vote(&mut self, witness: AccountName, id: BlockId) {
        let newest = self.newest.entry(witness).or_insert(id);
        if id.number() > newest.number() {
            *newest = id;
        }
    }

    /// Counts anew, after blocks have gone that may have been somebody's newest.
    pub(super) fn recount(&mut self) {
        let newest = std::mem::take(&mut self.newest);
        let voting = self.held.values().filter(|held| held.votes);
        let mut votes: Vec<(AccountName, BlockId)> = voting
            .map(|held| (held.block.witness(), held.block.id()))
            .collect();
        // Of two blocks of one witness at one height the one stays that was counted before.
        votes.sort_unstable_by_key(|(witness, id)| (id.number(), newest.get(witness) != Some(id), *id));
        for (witness, id) in votes {
            self.note_vote(witness, id);
        }
    }

    /// The number up to which the main branch is irreversible; never below the root.
    ///
    /// As in hived the newest block of a witness, whatever branch it is on, is its vote for that block and all its
    /// ancestors. Unlike hived, only blocks that were applied [with a vote](Self::applied) count: any peer can send a block
    /// that bears a witness's name.
    pub fn irreversible(&self, finality: &Finality) -> u32 {
        let root = self.root.number();
        let (mut votes, needed): (Vec<u32>, usize) = match finality {
            Finality::Depth(depth) => return self.head().number().saturating_sub(*depth).max(root),
            Finality::Votes { witnesses, needed } => {
                let newest = witnesses.iter().filter_map(|witness| self.newest.get(witness));
                (newest.map(|id| self.fork_point(id)).collect(), *needed)
            }
            Finality::Producers { needed, within } => {
                let oldest = self.head().number().saturating_sub(*within);
                let newest = self.newest.values().filter(|id| id.number() > oldest);
                (newest.map(|id| self.fork_point(id)).collect(), *needed)
            }
        };
        if needed == 0 || votes.len() < needed {
            return root;
        }
        let (_, confirmed, _) = votes.select_nth_unstable_by(needed - 1, |left, right| right.cmp(left));
        (*confirmed).max(root)
    }

    /// Number of the last block that the branch of a held block has in common with the main branch.
    fn fork_point(&self, id: &BlockId) -> u32 {
        let mut at = *id;
        while !self.is_on_main(&at) {
            match self.get(&at) {
                Some(block) => at = block.previous(),
                None => return self.root.number(),
            }
        }
        at.number()
    }
}
