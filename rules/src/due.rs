//! What happens at the end of a block because its time has come.
//!
//! In this order: recovery requests expire, owner history is dropped, recovery accounts change, voting rights are lost,
//! governance votes expire. "Now" is the block's own time. Each queue is asked first whether anything is due, which costs
//! a comparison.

use cairn_chain::{AccountName, Time};

use crate::evaluate::Evaluator;
use crate::registers::{
    AccountCore, DeclinedVotingRequest, OwnerHistory, OwnerHistoryEntry, Proposal, ProposalVotes,
    RecoveryAccountChange, RecoveryRequest, TableError,
};

/// Votes for proposals that may still be removed in this block.
struct Budget(u32);

impl Evaluator<'_> {
    /// Does everything that is due. The head must be the block already.
    pub(crate) fn do_what_is_due(&mut self) -> Result<(), TableError> {
        let now = self.now();
        self.expire_recovery_requests(now)?;
        self.drop_owner_history(now)?;
        self.change_recovery_accounts(now)?;
        self.decline_voting(now)?;
        if self.hardfork() >= 25 {
            self.expire_governance(now)?;
        }
        Ok(())
    }

    fn expire_recovery_requests(&mut self, now: Time) -> Result<(), TableError> {
        while let Some((_, name)) = self.queues.recovery_requests.first_due(self.tables, now)? {
            self.queues.recovery_requests.remove(self.tables, &name)?;
            self.tables.remove::<RecoveryRequest>(&name)?;
        }
        Ok(())
    }

    fn drop_owner_history(&mut self, now: Time) -> Result<(), TableError> {
        while let Some((_, name)) = self.queues.owner_history.first_due(self.tables, now)? {
            let mut range = self.tables.require::<OwnerHistory>(&name)?;
            self.tables.remove::<OwnerHistoryEntry>((&name, range.first))?;
            range.first = range.first.wrapping_add(1);
            if range.first == range.next {
                self.tables.remove::<OwnerHistory>(&name)?;
                self.queues.owner_history.remove(self.tables, &name)?;
            } else {
                let next = self.tables.require::<OwnerHistoryEntry>((&name, range.first))?;
                let due = self.history_due(&next);
                self.tables.write(&name, &range)?;
                self.queues.owner_history.set(self.tables, &name, due)?;
            }
        }
        Ok(())
    }

    fn change_recovery_accounts(&mut self, now: Time) -> Result<(), TableError> {
        while let Some((_, name)) = self.queues.recovery_changes.first_due(self.tables, now)? {
            self.queues.recovery_changes.remove(self.tables, &name)?;
            let change = self.tables.require::<RecoveryAccountChange>(&name)?;
            let mut core = self.tables.require::<AccountCore>(&name)?;
            core.recovery_account = change.new_recovery_account;
            self.tables.write(&name, &core)?;
            self.tables.remove::<RecoveryAccountChange>(&name)?;
        }
        Ok(())
    }

    fn decline_voting(&mut self, now: Time) -> Result<(), TableError> {
        let mut budget = self.budget();
        while let Some((_, name)) = self.queues.declined_voting.first_due(self.tables, now)? {
            if self.hardfork() >= 28 && !self.remove_proposal_votes(&name, &mut budget)? {
                break;
            }
            self.queues.declined_voting.remove(self.tables, &name)?;
            let mut core = self.tables.require::<AccountCore>(&name)?;
            self.clear_proxy_and_votes(&name, &mut core)?;
            core.can_vote = false;
            self.tables.write(&name, &core)?;
            self.tables.remove::<DeclinedVotingRequest>(&name)?;
        }
        Ok(())
    }

    fn expire_governance(&mut self, now: Time) -> Result<(), TableError> {
        let mut budget = self.budget();
        while let Some((_, name)) = self.queues.governance.first_due(self.tables, now)? {
            if !self.remove_proposal_votes(&name, &mut budget)? {
                break;
            }
            self.queues.governance.remove(self.tables, &name)?;
            let mut core = self.tables.require::<AccountCore>(&name)?;
            self.clear_proxy_and_votes(&name, &mut core)?;
            core.governance_expiry = Time(0);
            self.tables.write(&name, &core)?;
        }
        Ok(())
    }

    fn budget(&self) -> Budget {
        Budget(self.spec.limits.proposal_vote_removals)
    }

    /// Removes an account's votes for proposals that still exist, as far as the budget goes. Whether all are gone.
    fn remove_proposal_votes(&mut self, name: &AccountName, budget: &mut Budget) -> Result<bool, TableError> {
        let Some(mut votes) = self.tables.read::<ProposalVotes>(name)? else {
            return Ok(true);
        };
        let mut ids = votes.proposals().to_vec().into_iter();
        let mut all = true;
        for id in ids.by_ref() {
            if self.tables.has::<Proposal>(id)? {
                let Some(left) = budget.0.checked_sub(1) else {
                    all = false;
                    break;
                };
                budget.0 = left;
            }
            votes.remove(id);
        }
        self.tables.write(name, &votes)?;
        Ok(all)
    }
}
