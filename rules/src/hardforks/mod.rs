//! When hardforks take effect, and what they do to identity state.
//!
//! Before the transactions of block 1 every hardfork whose time is not later than the block's is applied, in order. After
//! that hardforks take effect at the end of a block and hold from the next block on:
//!
//! * on mainnet at the blocks at which they did, as far as the chain specification lists them;
//! * else up to number 5 by time alone, and later ones when the scheduled witnesses have agreed on version and time
//!   ([`HardforkState`]) and the time has come. Hive's 23 comes by time alone too.
//!
//! Votes are counted when a schedule is drawn ([`crate::schedule::majority`]). Where stake decides about the schedule, those
//! who made the blocks of the last round are taken for the scheduled ones.

mod accounts_of_9;

use cairn_chain::{AccountName, Authority, PublicKey, Time};

use crate::checks::Undecided;
use crate::error::Stop;
use crate::evaluate::create::Authorities;
use crate::evaluate::{Evaluator, later, replace_owner};
use crate::registers::{
    AccountCore, ActiveAuthority, HardforkState, OwnerAuthority, PostingAuthority, RecoveryAccountChange,
    RecoveryRequest, TableError, Witness, WitnessActivity, WitnessByIndex,
};
use crate::schedule::Schedule;
use crate::schedule::draw::ROUND;
use crate::schedule::majority::{HardforkVote, agreed};
use accounts_of_9::ACCOUNTS_OF_9;

/// The last one that takes effect by time alone.
const LAST_BY_TIME: u8 = 5;

/// Hive's first, which hived applies without counting votes.
const FORCED: u8 = 23;

/// Seconds before a hardfork's time from which on votes are counted although the schedule is not known: two rounds. Earlier
/// counts change nothing, and each looks at every witness.
const COUNTING_TIME: u32 = 2 * 3 * ROUND;

/// The fund's account since hardfork 21.
const FIRST_TREASURY: AccountName = AccountName::new(b"steem.dao");

/// The fund's account since hardfork 24.
const TREASURY: AccountName = AccountName::new(b"hive.fund");

/// Accounts whose posting authority Steem opened at genesis and closed with hardfork 12.
const OPENED_ON_STEEM: [AccountName; 3] = [
    AccountName::new(b"miners"),
    AccountName::new(b"null"),
    AccountName::new(b"temp"),
];

/// What hardfork 20 multiplies the creation fee of the scheduled witnesses by.
const FEE_FACTOR: i64 = 30;

impl Evaluator<'_> {
    /// Before the transactions of block 1: applies the hardforks whose time has come when that block is made. Every
    /// witness counts as running the last one, and as having voted for it.
    pub(crate) fn hardforks_of_first_block(&mut self, time: Time) -> Result<(), Stop> {
        let last = self.spec.hardforks.applied_at_start(time);
        for hardfork in 1..=last {
            self.apply_hardfork(hardfork)?;
        }
        if last == 0 {
            return Ok(());
        }
        let version = self.spec.hardfork_version(last);
        for index in 0..self.globals.witnesses {
            let WitnessByIndex(name) = self.tables.require(index)?;
            let mut activity = self.tables.require::<WitnessActivity>(&name)?;
            activity.running_version = version;
            activity.hardfork_vote = version;
            activity.hardfork_time = self.spec.hardforks.time(last).unwrap_or_default();
            self.tables.write(&name, &activity)?;
        }
        Ok(())
    }

    /// At the end of a block, which is the head already: applies the hardforks that take effect with it.
    pub(crate) fn hardforks_of_block(&mut self) -> Result<(), Stop> {
        while self.hardfork() < self.spec.hardforks.count() && self.is_due(self.hardfork() + 1)? {
            self.apply_hardfork(self.hardfork() + 1)?;
        }
        Ok(())
    }

    fn is_due(&mut self, next: u8) -> Result<bool, TableError> {
        if let Some(block) = self.spec.hardforks.block(next) {
            return Ok(self.globals.head_number >= block);
        }
        match self.spec.hardforks.time(next) {
            Some(time) if time <= self.now() => {}
            _ => return Ok(false),
        }
        if next <= LAST_BY_TIME || self.is_forced(next) {
            return Ok(true);
        }
        let agreed = self.tables.read::<HardforkState>(())?;
        let version = self.spec.hardfork_version(next);
        Ok(agreed.is_some_and(|agreed| agreed.next_version == version && agreed.next_time <= self.now()))
    }

    fn is_forced(&self, hardfork: u8) -> bool {
        hardfork == FORCED && !self.spec.is_steem()
    }

    /// Counts the votes of the scheduled witnesses at the end of a round, and stores what they agree on.
    pub(crate) fn count_hardfork_votes(
        &mut self,
        hardfork: u8,
        scheduled: &Schedule,
    ) -> Result<(), TableError> {
        let next = hardfork + 1;
        let by_block = self.spec.hardforks.block(next).is_some();
        if hardfork < LAST_BY_TIME || by_block || self.is_forced(next) || next > self.spec.hardforks.count() {
            return Ok(());
        }
        let votes = match scheduled {
            Schedule::Known(list) => self.votes_of(list)?,
            Schedule::Unknown { .. } => {
                let time = self.spec.hardforks.time(next).unwrap_or(Time(u32::MAX));
                if later(self.now(), COUNTING_TIME) < time {
                    return Ok(());
                }
                self.votes_of_producers()?
            }
        };
        let present = self.tables.read::<HardforkState>(())?;
        let counted = agreed(&votes).map(|vote| HardforkState {
            next_version: vote.version,
            next_time: vote.time,
        });
        match counted {
            _ if counted == present => Ok(()),
            Some(agreed) => self.tables.write((), &agreed),
            None => self.tables.remove::<HardforkState>(()),
        }
    }

    fn votes_of(&mut self, witnesses: &[AccountName]) -> Result<Vec<HardforkVote>, TableError> {
        let mut votes = Vec::with_capacity(witnesses.len());
        for name in witnesses {
            if let Some(activity) = self.tables.read::<WitnessActivity>(name)? {
                votes.push(HardforkVote {
                    version: activity.hardfork_vote,
                    time: activity.hardfork_time,
                });
            }
        }
        Ok(votes)
    }

    /// Votes of the witnesses who made the last round's blocks.
    fn votes_of_producers(&mut self) -> Result<Vec<HardforkVote>, TableError> {
        let facts = self.roster.facts(self.tables, self.globals)?.to_vec();
        let mut votes = Vec::new();
        for fact in facts {
            let activity = self.tables.require::<WitnessActivity>(&fact.name)?;
            if activity.last_block.saturating_add(ROUND) > self.globals.head_number && activity.last_block > 0
            {
                votes.push(HardforkVote {
                    version: activity.hardfork_vote,
                    time: activity.hardfork_time,
                });
            }
        }
        Ok(votes)
    }

    fn apply_hardfork(&mut self, hardfork: u8) -> Result<(), Stop> {
        self.globals.hardfork = hardfork;
        self.schedule.note_hardfork(hardfork);
        match hardfork {
            9 => self.replace_authorities_of_9(),
            12 if self.spec.is_steem() => self.close_opened(),
            20 => self.multiply_creation_fees(),
            21 => self.lock_treasury(&FIRST_TREASURY),
            24 if !self.spec.is_steem() => self.lock_treasury(&TREASURY),
            _ => Ok(()),
        }
    }

    /// The accounts whose keys were stolen in July 2016 get a key that their owners could recover from.
    fn replace_authorities_of_9(&mut self) -> Result<(), Stop> {
        let authority = Authority::of_key(self.spec.hardfork_9_key);
        for name in ACCOUNTS_OF_9 {
            let name = AccountName::from(name);
            let Some(mut core) = self.tables.read::<AccountCore>(&name)? else {
                continue;
            };
            replace_owner(self, &name, &mut core, &authority)?;
            self.tables.write(&name, &core)?;
            self.set_authority::<ActiveAuthority>(&name, &authority)?;
            self.set_authority::<PostingAuthority>(&name, &authority)?;
        }
        Ok(())
    }

    fn close_opened(&mut self) -> Result<(), Stop> {
        for name in OPENED_ON_STEEM {
            self.set_authority::<PostingAuthority>(&name, &Authority::closed())?;
        }
        Ok(())
    }

    /// The fund's account: made if it does not exist, and out of everybody's reach from here on.
    fn lock_treasury(&mut self, name: &AccountName) -> Result<(), Stop> {
        let closed = Authority::closed();
        let mut core = match self.tables.read::<AccountCore>(name)? {
            Some(core) => core,
            None => {
                let core = self.new_core(true, PublicKey::NULL, *name);
                self.add_account(name, core, Some(&Authorities::all(&closed)))?;
                self.tables.require(name)?
            }
        };
        core.memo_key = PublicKey::NULL;
        core.recovery_account = *name;
        self.tables.write(name, &core)?;
        self.set_authority::<OwnerAuthority>(name, &closed)?;
        self.set_authority::<ActiveAuthority>(name, &closed)?;
        self.set_authority::<PostingAuthority>(name, &closed)?;
        self.tables.remove::<RecoveryRequest>(name)?;
        self.queues.recovery_requests.remove(self.tables, name)?;
        self.tables.remove::<RecoveryAccountChange>(name)?;
        self.queues.recovery_changes.remove(self.tables, name)?;
        Ok(())
    }

    /// The creation fee that the scheduled witnesses vote for is multiplied.
    fn multiply_creation_fees(&mut self) -> Result<(), Stop> {
        let list = match self.schedule.current() {
            Schedule::Known(list) => list.clone(),
            Schedule::Unknown { .. } => {
                self.checks.undecided(Undecided::ScheduledCreationFee);
                return Ok(());
            }
        };
        for name in list {
            if let Some(mut witness) = self.tables.read::<Witness>(&name)? {
                witness.account_creation_fee = witness.account_creation_fee.saturating_mul(FEE_FACTOR);
                self.tables.write(&name, &witness)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accounts_of_9() {
        assert_eq!(ACCOUNTS_OF_9.len(), 151);
        assert!(ACCOUNTS_OF_9.is_sorted());
        for name in ACCOUNTS_OF_9 {
            assert!(AccountName::from(name).is_valid(), "{name}");
        }
    }
}
