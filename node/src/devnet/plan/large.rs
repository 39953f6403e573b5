//! Blocks that are as large as they may be.

use super::super::accounts::Signers;
use super::super::names::INITMINER;
use super::{Drafts, Planned, Planner, TransactionPlan};

/// Operations of 8 KiB in a transaction, and such transactions in a block: 2,072,000 bytes of the 2,097,152 that a
/// block may have.
const OPERATIONS: usize = 7;
const TRANSACTIONS: u32 = 36;

impl Planner {
    /// Fills a block to the brim.
    pub(super) fn plan_large(&mut self, number: u32) -> Vec<TransactionPlan> {
        let mut drafts = Drafts::new(number, self.now);
        while drafts.count() < TRANSACTIONS {
            let mut signers = Signers::default();
            self.accounts.sign_active(INITMINER, &mut signers);
            let mut operations = vec![Planned::LargeJson { account: INITMINER }; OPERATIONS];
            if number == 2 && drafts.count() == 0 {
                // Else such blocks would be too large as soon as the vote counts.
                operations[0] = Planned::WantLargeBlocks {
                    witness: INITMINER,
                    key: 0,
                };
            }
            drafts.push(operations, signers, &mut self.rng);
        }
        drafts.list
    }
}
