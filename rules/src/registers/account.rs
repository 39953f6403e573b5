//! What an account is, without its authorities and texts.
//!
//! Key: `01`, name, `00`. Value, 98 bytes:
//!
//! | offset | bytes | content |
//! |---|---|---|
//! | 0 | 4 | created, seconds since 1970 |
//! | 4 | 1 | flags: 1 mined, 2 may vote |
//! | 5 | 33 | memo key |
//! | 38 | 16 | recovery account; zeros: none |
//! | 54 | 16 | proxy; zeros: none |
//! | 70 | 4 | time of the last change of the owner authority, 0 never |
//! | 74 | 4 | time of the change before it, 0 never |
//! | 78 | 4 | time of the last recovery, 0 never |
//! | 82 | 4 | claimed accounts that were not created yet |
//! | 86 | 4 | governance votes expire at, 0 never |
//! | 90 | 8 | number of accounts created before it |

use cairn_chain::{AccountName, PublicKey, Time};

use super::{AccountField, CorruptValue, Fields, Record, TableId, named_key};

/// The small fields of an account. The register exists if and only if the account does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AccountCore {
    /// When it was created: the time of the block before that of the creation.
    pub created: Time,
    /// Whether it came from genesis or from mining.
    pub mined: bool,
    /// Whether it may vote: false once declining took effect.
    pub can_vote: bool,
    /// Key for encrypted memos.
    pub memo_key: PublicKey,
    /// The account that may start a recovery; empty: none.
    pub recovery_account: AccountName,
    /// The account that votes for it; empty: none.
    pub proxy: AccountName,
    /// Last change of the owner authority; 0 never.
    pub last_owner_update: Time,
    /// The change before that; 0 never.
    pub previous_owner_update: Time,
    /// Last recovery; 0 never.
    pub last_account_recovery: Time,
    /// Accounts that it has claimed and not created.
    pub claimed_accounts: u32,
    /// When its governance votes expire; 0 never.
    pub governance_expiry: Time,
    /// Accounts that were created before it.
    pub index: u64,
}

const MINED: u8 = 1;
const CAN_VOTE: u8 = 2;

impl AccountCore {
    /// An account that was just created.
    #[must_use]
    pub fn new(created: Time, mined: bool, memo_key: PublicKey, recovery_account: AccountName) -> Self {
        Self {
            created,
            mined,
            can_vote: true,
            memo_key,
            recovery_account,
            proxy: AccountName::EMPTY,
            last_owner_update: Time(0),
            previous_owner_update: Time(0),
            last_account_recovery: Time(0),
            claimed_accounts: 0,
            governance_expiry: Time(0),
            index: 0,
        }
    }
}

impl Record for AccountCore {
    type Owner<'a> = &'a AccountName;
    const NAME: &'static str = "account";

    fn key(owner: &AccountName, key: &mut Vec<u8>) {
        named_key(TableId::Account, owner, AccountField::Core as u8, key);
    }

    fn encode(&self, value: &mut Vec<u8>) {
        value.extend_from_slice(&self.created.0.to_le_bytes());
        value.push(u8::from(self.mined) * MINED + u8::from(self.can_vote) * CAN_VOTE);
        value.extend_from_slice(self.memo_key.as_bytes());
        value.extend_from_slice(self.recovery_account.padded());
        value.extend_from_slice(self.proxy.padded());
        value.extend_from_slice(&self.last_owner_update.0.to_le_bytes());
        value.extend_from_slice(&self.previous_owner_update.0.to_le_bytes());
        value.extend_from_slice(&self.last_account_recovery.0.to_le_bytes());
        value.extend_from_slice(&self.claimed_accounts.to_le_bytes());
        value.extend_from_slice(&self.governance_expiry.0.to_le_bytes());
        value.extend_from_slice(&self.index.to_le_bytes());
    }

    fn decode(fields: &mut Fields<'_>) -> Result<Self, CorruptValue> {
        let created = fields.time()?;
        let flags = fields.u8()?;
        if flags & !(MINED | CAN_VOTE) != 0 {
            return Err(fields.bad_number("flags 0 to 3", flags.into()));
        }
        Ok(Self {
            created,
            mined: flags & MINED != 0,
            can_vote: flags & CAN_VOTE != 0,
            memo_key: fields.public_key()?,
            recovery_account: fields.name()?,
            proxy: fields.name()?,
            last_owner_update: fields.time()?,
            previous_owner_update: fields.time()?,
            last_account_recovery: fields.time()?,
            claimed_accounts: fields.u32()?,
            governance_expiry: fields.time()?,
            index: fields.u64()?,
        })
    }
}
