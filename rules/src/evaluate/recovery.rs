//! Recovery of stolen accounts.

use cairn_chain::operations::{ChangeRecoveryAccount, RecoverAccount, RequestAccountRecovery};
use cairn_chain::{AccountName, Authority, ChainKind};

use super::owner::replace_owner;
use super::{Evaluated, Evaluator, later};
use crate::checks::Undecided;
use crate::error::{OperationFault, Stop};
use crate::registers::{
    OwnerHistory, OwnerHistoryEntry, RecoveryAccountChange, RecoveryRequest, canonical_authority,
};

/// Members that the authority of a new recovery request may have; mirrornet's converter adds one to each authority.
const fn max_members(kind: ChainKind) -> usize {
    if matches!(kind, ChainKind::Mirrornet) {
        41
    } else {
        40
    }
}

impl Evaluator<'_> {
    pub(super) fn request_account_recovery(&mut self, op: &RequestAccountRecovery) -> Evaluated {
        let account = self.account(&op.account_to_recover)?;
        if self.full {
            if account.recovery_account.is_empty() {
                self.checks.undecided(Undecided::RecoveryByTopWitness);
            } else if account.recovery_account != op.recovery_account {
                return Err(OperationFault::NotRecoveryAccount {
                    account: op.account_to_recover,
                    expected: account.recovery_account,
                    found: op.recovery_account,
                }
                .into());
            }
        }
        let authority = canonical_authority(op.new_owner_authority.clone());
        let is_pending = self.tables.has::<RecoveryRequest>(&op.account_to_recover)?;
        if is_pending && authority.weight_threshold == 0 {
            return self.drop_request(&op.account_to_recover);
        }
        if self.full && !is_pending {
            if authority.weight_threshold == 0 {
                return Err(OperationFault::OpenAuthority.into());
            }
            let found = authority.members();
            let limit = max_members(self.spec.kind);
            if found > limit {
                return Err(OperationFault::TooManyMembers { limit, found }.into());
            }
            self.members_exist(&authority)?;
        }
        let expires = later(self.now(), self.spec.limits.recovery_request_time);
        let request = RecoveryRequest {
            expires,
            new_owner_authority: authority,
        };
        self.tables.write(&op.account_to_recover, &request)?;
        Ok(self
            .queues
            .recovery_requests
            .set(self.tables, &op.account_to_recover, expires)?)
    }

    fn drop_request(&mut self, name: &AccountName) -> Evaluated {
        self.tables.remove::<RecoveryRequest>(name)?;
        Ok(self.queues.recovery_requests.remove(self.tables, name)?)
    }

    pub(super) fn recover_account(&mut self, op: &RecoverAccount) -> Evaluated {
        let name = &op.account_to_recover;
        let mut core = self.account(name)?;
        if self.hardfork() >= 12 {
            let limit = self.spec.limits.recovery_interval;
            self.longer_ago("recovery", core.last_account_recovery, limit)?;
        }
        if self.full {
            let request: RecoveryRequest = self
                .tables
                .read(name)?
                .ok_or(OperationFault::NoRecoveryRequest(*name))?;
            if request.new_owner_authority != canonical_authority(op.new_owner_authority.clone()) {
                return Err(OperationFault::OtherThanRequested.into());
            }
            let recent = canonical_authority(op.recent_owner_authority.clone());
            if !self.is_in_history(name, &recent)? {
                return Err(OperationFault::NotInHistory(*name).into());
            }
        }
        self.drop_request(name)?;
        replace_owner(self, name, &mut core, &op.new_owner_authority)?;
        core.last_account_recovery = self.now();
        Ok(self.tables.write(name, &core)?)
    }

    /// Whether an authority was the account's owner authority, as far back as the history goes.
    fn is_in_history(&mut self, name: &AccountName, authority: &Authority) -> Result<bool, Stop> {
        let Some(range) = self.tables.read::<OwnerHistory>(name)? else {
            return Ok(false);
        };
        for number in range.first..range.next {
            if self
                .tables
                .require::<OwnerHistoryEntry>((name, number))?
                .authority
                == *authority
            {
                return Ok(true);
            }
        }
        Ok(false)
    }

    pub(super) fn change_recovery_account(&mut self, op: &ChangeRecoveryAccount) -> Evaluated {
        let core = self.account(&op.account_to_recover)?;
        self.accounts_exist(&[op.new_recovery_account])?;
        let is_pending = self.tables.has::<RecoveryAccountChange>(&op.account_to_recover)?;
        if is_pending && op.new_recovery_account == core.recovery_account {
            self.tables
                .remove::<RecoveryAccountChange>(&op.account_to_recover)?;
            return Ok(self
                .queues
                .recovery_changes
                .remove(self.tables, &op.account_to_recover)?);
        }
        let effective = later(self.now(), self.spec.limits.recovery_change_delay);
        let change = RecoveryAccountChange {
            new_recovery_account: op.new_recovery_account,
            effective,
        };
        self.tables.write(&op.account_to_recover, &change)?;
        Ok(self
            .queues
            .recovery_changes
            .set(self.tables, &op.account_to_recover, effective)?)
    }
}
