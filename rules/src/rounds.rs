//! The end of a round: a schedule is drawn, miners leave the queue, votes for hardforks are counted.

use cairn_chain::AccountName;

use crate::evaluate::Evaluator;
use crate::registers::{TableError, Witness};
use crate::schedule::{Dequeued, RoundInput, WitnessCounts, WitnessFact};

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
        self.count_hardfork_votes(hardfork, &ended.counted)
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
