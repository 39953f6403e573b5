//! The end of a round: a schedule is drawn, miners leave the queue, votes for hardforks and block sizes are counted.

use cairn_chain::AccountName;

use crate::evaluate::Evaluator;
use crate::registers::{TableError, Tables, VotedBlockSizes, Witness};
use crate::schedule::{Dequeued, RoundInput, Schedule, WitnessCounts, WitnessFact};

impl Evaluator<'_> {
    /// Lets the schedule move on after a block, which is the head already. `hardfork`: the last one before the block.
    pub(crate) fn end_round(&mut self, hardfork: u8) -> Result<(), TableError> {
        let round = RoundInput {
            hardfork,
            miner_voting_block: self.spec.limits.early_chain_blocks,
            votes_exist: self.globals.witness_votes > 0,
            counts: WitnessCounts {
                total: self.globals.witnesses as usize,
                enabled: self.globals.enabled_witnesses as usize,
                mining_counter: self.mining.queued.into(),
                queue_is_empty: self.mining.waiting == 0,
                queue_is_known: self.mining.queue_known,
            },
        };
        let (roster, tables, globals) = (&mut *self.roster, &mut *self.tables, &*self.globals);
        let facts = || roster.facts(tables, globals).map(<[WitnessFact]>::to_vec);
        let Some(ended) = self.schedule.end_of_block(&round, facts)? else {
            return Ok(());
        };
        match &ended.dequeued {
            Dequeued::Known(miners) => miners.iter().try_for_each(|name| self.dequeue(name))?,
            Dequeued::Unknown => self.mining.queue_known = false,
        }
        self.count_block_size_votes()?;
        self.count_hardfork_votes(hardfork, &ended.counted)
    }

    /// Notes which size the scheduled witnesses want for blocks, where it is known who they are.
    fn count_block_size_votes(&mut self) -> Result<(), TableError> {
        let lists = [self.schedule.current(), self.schedule.for_irreversibility()];
        let [Schedule::Known(current), Schedule::Known(drawn)] = lists else {
            if self.tables.has::<VotedBlockSizes>(())? {
                self.tables.remove::<VotedBlockSizes>(())?;
            }
            return Ok(());
        };
        let found = match (
            median_vote(self.tables, current)?,
            median_vote(self.tables, drawn)?,
        ) {
            (Some(current), Some(drawn)) => Some(current.max(drawn)),
            _ => None,
        };
        let before = self.tables.read(())?.unwrap_or(VotedBlockSizes::NONE);
        self.tables.write((), &before.then(found))
    }

    /// Takes a miner off the queue.
    fn dequeue(&mut self, name: &AccountName) -> Result<(), TableError> {
        let present = self.tables.require::<Witness>(name)?;
        self.mining.queued = self.mining.queued.saturating_sub(1);
        self.mining.waiting = self
            .mining
            .waiting
            .saturating_sub(u32::from(present.queue_number != 0));
        let dequeued = Witness {
            queue_number: 0,
            ..present
        };
        self.store_witness(name, Some(&present), &dequeued)
    }
}

/// The median of these witnesses' votes for the size of blocks; of an even number of votes the larger of the two in the
/// middle. `None` if one of them does not exist.
fn median_vote(tables: &mut Tables, witnesses: &[AccountName]) -> Result<Option<u32>, TableError> {
    let mut votes = Vec::with_capacity(witnesses.len());
    for name in witnesses {
        let Some(witness) = tables.read::<Witness>(name)? else {
            return Ok(None);
        };
        votes.push(witness.maximum_block_size);
    }
    votes.sort_unstable();
    Ok(votes.get(votes.len() / 2).copied())
}
