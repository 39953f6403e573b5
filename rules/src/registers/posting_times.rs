//! When an account posted last; only the intervals between posts need it.
//!
//! Key: `01`, name, `06`. Value, 12 bytes: time of the last root post, of the last post, of the last post or edit;
//! 4 bytes each, 0 never. An account that never posted has no register.

use cairn_chain::{AccountName, Time};

use super::{AccountField, CorruptValue, Fields, Record, TableId, named_key};

/// Times of an account's last posts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PostingTimes {
    /// Last post that is nobody's reply; 0 never.
    pub last_root_post: Time,
    /// Last post or reply; 0 never.
    pub last_post: Time,
    /// Last post, reply or edit; 0 never.
    pub last_edit: Time,
}

impl Record for PostingTimes {
    type Owner<'a> = &'a AccountName;
    const NAME: &'static str = "posting times";

    fn key(owner: &AccountName, key: &mut Vec<u8>) {
        named_key(TableId::Account, owner, AccountField::PostingTimes as u8, key);
    }

    fn encode(&self, value: &mut Vec<u8>) {
        for time in [self.last_root_post, self.last_post, self.last_edit] {
            value.extend_from_slice(&time.0.to_le_bytes());
        }
    }

    fn decode(fields: &mut Fields<'_>) -> Result<Self, CorruptValue> {
        Ok(Self {
            last_root_post: fields.time()?,
            last_post: fields.time()?,
            last_edit: fields.time()?,
        })
    }
}
