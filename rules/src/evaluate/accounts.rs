//! Creating and changing accounts.

use cairn_chain::operations::{
    AccountCreate, AccountCreateWithDelegation, AccountUpdate, AccountUpdate2, ClaimAccount,
    CreateClaimedAccount, DeclineVotingRights,
};
use cairn_chain::{AccountName, Authority, PublicKey, Text};

use super::create::{Authorities, TEMP_ACCOUNT};
use super::owner::replace_owner;
use super::{Evaluated, Evaluator, is_longer_ago, later};
use crate::checks::Undecided;
use crate::error::{OperationFault, Stop};
use crate::registers::{
    AccountCore, ActiveAuthority, DeclinedVotingRequest, JsonMetadata, PostingAuthority, PostingJsonMetadata,
};

impl Evaluator<'_> {
    pub(super) fn account_create(&mut self, op: &AccountCreate<'_>) -> Evaluated {
        let authorities = Authorities {
            owner: &op.owner,
            active: &op.active,
            posting: &op.posting,
        };
        self.create_account(
            &op.creator,
            &op.new_account_name,
            &authorities,
            op.memo_key,
            op.json_metadata,
        )
    }

    pub(super) fn account_create_with_delegation(
        &mut self,
        op: &AccountCreateWithDelegation<'_>,
    ) -> Evaluated {
        let authorities = Authorities {
            owner: &op.owner,
            active: &op.active,
            posting: &op.posting,
        };
        self.create_account(
            &op.creator,
            &op.new_account_name,
            &authorities,
            op.memo_key,
            op.json_metadata,
        )
    }

    fn create_account(
        &mut self,
        creator: &AccountName,
        name: &AccountName,
        authorities: &Authorities<'_>,
        memo_key: PublicKey,
        json_metadata: Text<'_>,
    ) -> Evaluated {
        self.accounts_exist(&[*creator])?;
        self.all_members_exist(authorities)?;
        let core = self.new_core(false, memo_key, self.recovery_of_created(creator));
        self.add_account(name, core, Some(authorities))?;
        Ok(self
            .tables
            .write_bytes::<JsonMetadata>(name, json_metadata.as_bytes())?)
    }

    pub(super) fn claim_account(&mut self, op: &ClaimAccount) -> Evaluated {
        if self.full && op.fee.amount == 0 {
            self.checks.undecided(Undecided::SubsidisedClaim);
        }
        let mut creator = self.account(&op.creator)?;
        creator.claimed_accounts = creator.claimed_accounts.saturating_add(1);
        Ok(self.tables.write(&op.creator, &creator)?)
    }

    pub(super) fn create_claimed_account(&mut self, op: &CreateClaimedAccount<'_>) -> Evaluated {
        let mut creator = self.account(&op.creator)?;
        creator.claimed_accounts = creator
            .claimed_accounts
            .checked_sub(1)
            .ok_or(OperationFault::NoClaimedAccount(op.creator))?;
        let authorities = Authorities {
            owner: &op.owner,
            active: &op.active,
            posting: &op.posting,
        };
        self.create_account(
            &op.creator,
            &op.new_account_name,
            &authorities,
            op.memo_key,
            op.json_metadata,
        )?;
        Ok(self.tables.write(&op.creator, &creator)?)
    }

    pub(super) fn account_update(&mut self, op: &AccountUpdate<'_>) -> Evaluated {
        let mut core = self.changeable_account(&op.account)?;
        self.owner_limit(&core, op.owner.as_ref())?;
        let kept_posting = match &op.posting {
            // Before hardfork 15 members that do not exist are left out, an effect of two accounts' updates.
            Some(posting) if self.hardfork() < 15 => Some(self.existing_members(posting)?),
            other => other.clone(),
        };
        self.update_authorities(
            &op.account,
            &mut core,
            op.owner.as_ref(),
            op.active.as_ref(),
            kept_posting.as_ref(),
        )?;
        if !op.memo_key.is_null() {
            core.memo_key = op.memo_key;
        }
        self.tables.write(&op.account, &core)?;
        if !op.json_metadata.is_empty() {
            self.tables
                .write_bytes::<JsonMetadata>(&op.account, op.json_metadata.as_bytes())?;
            if self.hardfork() < 21 {
                self.tables
                    .write_bytes::<PostingJsonMetadata>(&op.account, op.json_metadata.as_bytes())?;
            }
        }
        Ok(())
    }

    pub(super) fn account_update2(&mut self, op: &AccountUpdate2<'_>) -> Evaluated {
        let mut core = self.changeable_account(&op.account)?;
        self.owner_limit(&core, op.owner.as_ref())?;
        let (owner, active, posting) = (op.owner.as_ref(), op.active.as_ref(), op.posting.as_ref());
        self.update_authorities(&op.account, &mut core, owner, active, posting)?;
        if let Some(memo_key) = op.memo_key
            && !memo_key.is_null()
        {
            core.memo_key = memo_key;
        }
        self.tables.write(&op.account, &core)?;
        if !op.json_metadata.is_empty() {
            self.tables
                .write_bytes::<JsonMetadata>(&op.account, op.json_metadata.as_bytes())?;
        }
        if !op.posting_json_metadata.is_empty() {
            let text = op.posting_json_metadata.as_bytes();
            self.tables
                .write_bytes::<PostingJsonMetadata>(&op.account, text)?;
        }
        Ok(())
    }

    /// Reads an account that is to be changed: it exists, and is not the one that anybody may act for.
    fn changeable_account(&mut self, name: &AccountName) -> Result<AccountCore, Stop> {
        let core = self.account(name)?;
        if self.full && *name == TEMP_ACCOUNT {
            return Err(OperationFault::FixedAccount(*name).into());
        }
        Ok(core)
    }

    /// In full validation, since hardfork 11: the last change of the owner authority was long enough ago; since 26 it is
    /// enough if the one before was.
    fn owner_limit(&self, core: &AccountCore, owner: Option<&Authority>) -> Evaluated {
        let Some(limit) = self.spec.limits.owner_update_interval else {
            return Ok(());
        };
        if owner.is_none() || self.hardfork() < 11 {
            return Ok(());
        }
        if self.hardfork() >= 26 && is_longer_ago(self.now(), core.previous_owner_update, limit) {
            return Ok(());
        }
        self.longer_ago("change of the owner authority", core.last_owner_update, limit)
    }

    /// Replaces the authorities that are given.
    fn update_authorities(
        &mut self,
        name: &AccountName,
        core: &mut AccountCore,
        owner: Option<&Authority>,
        active: Option<&Authority>,
        posting: Option<&Authority>,
    ) -> Evaluated {
        for authority in [owner, active, posting].into_iter().flatten() {
            self.members_exist(authority)?;
        }
        if let Some(owner) = owner {
            replace_owner(self, name, core, owner)?;
        }
        if let Some(active) = active {
            self.set_authority::<ActiveAuthority>(name, active)?;
        }
        if let Some(posting) = posting {
            self.set_authority::<PostingAuthority>(name, posting)?;
        }
        Ok(())
    }

    /// The authority without the accounts that do not exist.
    fn existing_members(&mut self, authority: &Authority) -> Result<Authority, Stop> {
        let mut kept = authority.clone();
        kept.account_auths.clear();
        for member in &authority.account_auths {
            if self.tables.has::<AccountCore>(&member.0)? {
                kept.account_auths.push(*member);
            }
        }
        Ok(kept)
    }

    pub(super) fn decline_voting_rights(&mut self, op: &DeclineVotingRights) -> Evaluated {
        let core = self.account(&op.account)?;
        // Steem lets an account repeat it.
        if self.full && !core.can_vote && !self.spec.limits.declining_may_repeat {
            return Err(OperationFault::Declined(op.account).into());
        }
        let is_pending = self.tables.has::<DeclinedVotingRequest>(&op.account)?;
        if op.decline {
            if self.full && is_pending {
                return Err(OperationFault::Declined(op.account).into());
            }
            let effective = later(self.now(), self.spec.limits.declined_voting_delay);
            self.tables
                .write(&op.account, &DeclinedVotingRequest { effective })?;
            Ok(self
                .queues
                .declined_voting
                .set(self.tables, &op.account, effective)?)
        } else {
            if self.full && !is_pending {
                return Err(OperationFault::NotDeclining(op.account).into());
            }
            self.tables.remove::<DeclinedVotingRequest>(&op.account)?;
            Ok(self.queues.declined_voting.remove(self.tables, &op.account)?)
        }
    }
}
