//! Which block is irreversible.

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap};

use cairn_chain::{AccountName, BlockId};
use cairn_rules::Finality;

use super::database::{ForkBlock, ForkDatabase};

/// A block in the order of preference: the higher one, of equally high ones the one that was applied first.
type Ballot = (u32, Reverse<u64>, BlockId);

/// The applied blocks of each witness.
#[derive(Debug, Default)]
pub(super) struct Votes {
    by_witness: HashMap<AccountName, BTreeSet<Ballot>>,
    cast: u64,
}

impl Votes {
    /// A witness has made a block that was applied. Gives its place in the order of such blocks.
    pub(super) fn cast(&mut self, witness: AccountName, id: BlockId) -> u64 {
        let cast = self.cast;
        self.cast += 1;
        let ballot = (id.number(), Reverse(cast), id);
        self.by_witness.entry(witness).or_default().insert(ballot);
        cast
    }

    /// The block is gone.
    pub(super) fn withdraw(&mut self, witness: &AccountName, id: BlockId, cast: u64) {
        let Some(ballots) = self.by_witness.get_mut(witness) else {
            return;
        };
        ballots.remove(&(id.number(), Reverse(cast), id));
        if ballots.is_empty() {
            self.by_witness.remove(witness);
        }
    }

    /// The highest applied block of a witness.
    fn newest(&self, witness: &AccountName) -> Option<&BlockId> {
        newest(self.by_witness.get(witness)?)
    }

    /// That of each witness.
    fn all_newest(&self) -> impl Iterator<Item = &BlockId> {
        self.by_witness.values().filter_map(newest)
    }
}

fn newest(ballots: &BTreeSet<Ballot>) -> Option<&BlockId> {
    ballots.last().map(|(_, _, id)| id)
}

impl<B: ForkBlock> ForkDatabase<B> {
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
                let newest = witnesses.iter().filter_map(|witness| self.votes.newest(witness));
                (newest.map(|id| self.fork_point(id)).collect(), *needed)
            }
            Finality::Producers { needed, within } => {
                let oldest = self.head().number().saturating_sub(*within);
                let newest = self.votes.all_newest().filter(|id| id.number() > oldest);
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
