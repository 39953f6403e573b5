//! Recovery of stolen accounts.

use crate::authority::Authority;
use crate::extension::FutureExtension;
use crate::name::AccountName;
use crate::structure::packed_struct;

packed_struct! {
    /// The recovery account proposes a new owner authority for an account. A threshold of 0 takes a proposal back.
    pub struct RequestAccountRecovery {
        recovery_account: AccountName,
        account_to_recover: AccountName,
        new_owner_authority: Authority,
        extensions: Vec<FutureExtension>,
    }
}

packed_struct! {
    /// The owner accepts the proposed authority, proving ownership by a recent one. Signed by both authorities.
    pub struct RecoverAccount {
        account_to_recover: AccountName,
        new_owner_authority: Authority,
        recent_owner_authority: Authority,
        extensions: Vec<FutureExtension>,
    }
}

packed_struct! {
    /// Names another recovery account; takes effect after a delay.
    pub struct ChangeRecoveryAccount {
        account_to_recover: AccountName,
        new_recovery_account: AccountName,
        extensions: Vec<FutureExtension>,
    }
}

packed_struct! {
    /// Never valid.
    pub struct ResetAccount {
        reset_account: AccountName,
        account_to_reset: AccountName,
        new_owner_authority: Authority,
    }
}

packed_struct! {
    /// Never valid.
    pub struct SetResetAccount {
        account: AccountName,
        current_reset_account: AccountName,
        reset_account: AccountName,
    }
}
