//! A pending account recovery.
//!
//! Key: `01`, name of the account to recover, `08`. Value: time at which it expires (4), the new owner authority (see
//! `authority.rs`).

use cairn_chain::{AccountName, Authority, Time};

use super::authority::{decode_authority, encode_authority};
use super::{AccountField, CorruptValue, Fields, Record, TableId, named_key};

/// What the recovery account has asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecoveryRequest {
    /// When the request is dropped.
    pub expires: Time,
    /// The owner authority that the account is to have; canonical.
    pub new_owner_authority: Authority,
}

impl Record for RecoveryRequest {
    type Owner<'a> = &'a AccountName;
    const NAME: &'static str = "recovery request";

    fn key(owner: &AccountName, key: &mut Vec<u8>) {
        named_key(TableId::Account, owner, AccountField::RecoveryRequest as u8, key);
    }

    fn encode(&self, value: &mut Vec<u8>) {
        value.extend_from_slice(&self.expires.0.to_le_bytes());
        encode_authority(&self.new_owner_authority, value);
    }

    fn decode(fields: &mut Fields<'_>) -> Result<Self, CorruptValue> {
        Ok(Self {
            expires: fields.time()?,
            new_owner_authority: decode_authority(fields)?,
        })
    }
}
