//! Authorities: who must sign.

use crate::key::PublicKey;
use crate::name::AccountName;
use crate::structure::packed_struct;

packed_struct! {
    /// Accounts and keys with weights. It is satisfied when the weights of those that sign reach the threshold; a
    /// threshold of 0 is satisfied by nobody's signature.
    #[derive(Default)]
    pub struct Authority {
        /// Sum of weights that is needed.
        weight_threshold: u32,
        /// Accounts, each standing for its own authority, with their weights.
        account_auths: Vec<(AccountName, u16)>,
        /// Keys with their weights.
        key_auths: Vec<(PublicKey, u16)>,
    }
}

impl Authority {
    /// The authority of one key.
    #[must_use]
    pub fn of_key(key: PublicKey) -> Self {
        Self {
            weight_threshold: 1,
            account_auths: Vec::new(),
            key_auths: vec![(key, 1)],
        }
    }

    /// The authority of one account.
    #[must_use]
    pub fn of_account(name: AccountName) -> Self {
        Self {
            weight_threshold: 1,
            account_auths: vec![(name, 1)],
            key_auths: Vec::new(),
        }
    }

    /// Threshold 1 and no members: nobody can satisfy it.
    #[must_use]
    pub const fn closed() -> Self {
        Self {
            weight_threshold: 1,
            account_auths: Vec::new(),
            key_auths: Vec::new(),
        }
    }

    /// Threshold 0 and no members: anybody satisfies it, without a signature.
    #[must_use]
    pub const fn open() -> Self {
        Self {
            weight_threshold: 0,
            account_auths: Vec::new(),
            key_auths: Vec::new(),
        }
    }

    /// Number of accounts and keys.
    #[must_use]
    pub fn members(&self) -> usize {
        self.account_auths.len() + self.key_auths.len()
    }
}
