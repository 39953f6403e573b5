//! Former owner authorities of an account, with which a recovery proves that the account was its owner's.
//!
//! Entries are added at one end and expire at the other, so each is a register of its own, numbered from 0 an account:
//!
//! * range, key `01`, name, `0a`; value, 8 bytes: number of the oldest entry (4), number of the next (4). No register
//!   without entries.
//! * entry, key `02`, name, number (4, big-endian); value: how many owner authorities of all accounts were replaced
//!   before this one (8), when it was replaced (4), the authority (see `authority.rs`).

use cairn_chain::{AccountName, Authority, Time};

use super::authority::{decode_authority, encode_authority};
use super::{AccountField, CorruptValue, Fields, Record, TableId, named_key};

/// Which entries an account has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct OwnerHistory {
    /// Number of the oldest entry.
    pub first: u32,
    /// Number that the next entry gets; above `first`.
    pub next: u32,
}

impl Record for OwnerHistory {
    type Owner<'a> = &'a AccountName;
    const NAME: &'static str = "range of the owner history";

    fn key(owner: &AccountName, key: &mut Vec<u8>) {
        named_key(TableId::Account, owner, AccountField::OwnerHistory as u8, key);
    }

    fn encode(&self, value: &mut Vec<u8>) {
        value.extend_from_slice(&self.first.to_le_bytes());
        value.extend_from_slice(&self.next.to_le_bytes());
    }

    fn decode(fields: &mut Fields<'_>) -> Result<Self, CorruptValue> {
        let range = Self {
            first: fields.u32()?,
            next: fields.u32()?,
        };
        if range.next <= range.first {
            return Err(fields.bad_number("a number above the first entry's", range.next.into()));
        }
        Ok(range)
    }
}

/// A former owner authority.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnerHistoryEntry {
    /// Owner authorities of all accounts that were replaced before this one.
    pub sequence: u64,
    /// When it was replaced.
    pub replaced: Time,
    /// The authority; canonical.
    pub authority: Authority,
}

impl OwnerHistoryEntry {
    /// The account in the key of an entry, `None` for another table's key.
    #[must_use]
    pub fn owner_of(key: &[u8]) -> Option<AccountName> {
        match key {
            [table, name @ .., _, _, _, _] if *table == TableId::OwnerHistory as u8 && name.len() == 16 => {
                Some(AccountName::new(name))
            }
            _ => None,
        }
    }
}

impl Record for OwnerHistoryEntry {
    type Owner<'a> = (&'a AccountName, u32);
    const NAME: &'static str = "entry of the owner history";

    fn key((account, number): (&AccountName, u32), key: &mut Vec<u8>) {
        key.push(TableId::OwnerHistory as u8);
        key.extend_from_slice(account.padded());
        key.extend_from_slice(&number.to_be_bytes());
    }

    fn encode(&self, value: &mut Vec<u8>) {
        value.extend_from_slice(&self.sequence.to_le_bytes());
        value.extend_from_slice(&self.replaced.0.to_le_bytes());
        encode_authority(&self.authority, value);
    }

    fn decode(fields: &mut Fields<'_>) -> Result<Self, CorruptValue> {
        Ok(Self {
            sequence: fields.u64()?,
            replaced: fields.time()?,
            authority: decode_authority(fields)?,
        })
    }
}
