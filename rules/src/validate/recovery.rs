//! Recovery of stolen accounts.

use cairn_chain::operations::{ChangeRecoveryAccount, RecoverAccount, RequestAccountRecovery};

use super::{ValidityError, authority, fields};
use crate::registers::canonical_authority;

/// An impossible authority is refused in every case that state distinguishes: it has a threshold above 0, so that it
/// cannot cancel a request.
pub(super) fn request(op: &RequestAccountRecovery) -> Result<(), ValidityError> {
    fields::name("recovery_account", op.recovery_account)?;
    fields::name("account_to_recover", op.account_to_recover)?;
    authority::form("new_owner_authority", &op.new_owner_authority)?;
    authority::possible("new_owner_authority", &op.new_owner_authority)
}

pub(super) fn recover(op: &RecoverAccount) -> Result<(), ValidityError> {
    fields::name("account_to_recover", op.account_to_recover)?;
    let (new, recent) = (&op.new_owner_authority, &op.recent_owner_authority);
    if canonical_authority(new.clone()) == canonical_authority(recent.clone()) {
        return Err(ValidityError::Relation {
            field: "new_owner_authority",
            rule: "must differ from `recent_owner_authority`",
        });
    }
    authority::possible("new_owner_authority", new)?;
    authority::possible("recent_owner_authority", recent)?;
    authority::not_open("new_owner_authority", new)?;
    authority::form("new_owner_authority", new)?;
    authority::form("recent_owner_authority", recent)
}

pub(super) fn change_account(op: &ChangeRecoveryAccount) -> Result<(), ValidityError> {
    fields::name("account_to_recover", op.account_to_recover)?;
    fields::name("new_recovery_account", op.new_recovery_account)
}
