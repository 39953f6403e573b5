//! A pending change of the recovery account.
//!
//! Key: `01`, name of the account, `09`. Value, 20 bytes: the new recovery account (16), effective at (4).

use cairn_chain::{AccountName, Time};

use super::{AccountField, CorruptValue, Fields, Record, TableId, named_key};

/// What the account has asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecoveryAccountChange {
    /// The recovery account that it wants.
    pub new_recovery_account: AccountName,
    /// When it gets it.
    pub effective: Time,
}

impl Record for RecoveryAccountChange {
    type Owner<'a> = &'a AccountName;
    const NAME: &'static str = "change of recovery account";

    fn key(owner: &AccountName, key: &mut Vec<u8>) {
        named_key(
            TableId::Account,
            owner,
            AccountField::RecoveryAccountChange as u8,
            key,
        );
    }

    fn encode(&self, value: &mut Vec<u8>) {
        value.extend_from_slice(self.new_recovery_account.padded());
        value.extend_from_slice(&self.effective.0.to_le_bytes());
    }

    fn decode(fields: &mut Fields<'_>) -> Result<Self, CorruptValue> {
        Ok(Self {
            new_recovery_account: fields.name()?,
            effective: fields.time()?,
        })
    }
}
