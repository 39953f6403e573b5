//! A pending declining of voting rights.
//!
//! Key: `01`, name of the account, `0b`. Value, 4 bytes: effective at.

use cairn_chain::{AccountName, Time};

use super::{AccountField, CorruptValue, Fields, Record, TableId, named_key};

/// What the account has asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DeclinedVotingRequest {
    /// When it loses its right to vote, for good.
    pub effective: Time,
}

impl Record for DeclinedVotingRequest {
    type Owner<'a> = &'a AccountName;
    const NAME: &'static str = "declined voting rights";

    fn key(owner: &AccountName, key: &mut Vec<u8>) {
        named_key(
            TableId::Account,
            owner,
            AccountField::DeclinedVotingRequest as u8,
            key,
        );
    }

    fn encode(&self, value: &mut Vec<u8>) {
        value.extend_from_slice(&self.effective.0.to_le_bytes());
    }

    fn decode(fields: &mut Fields<'_>) -> Result<Self, CorruptValue> {
        Ok(Self {
            effective: fields.time()?,
        })
    }
}
