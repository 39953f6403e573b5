//! The three authorities of an account, each a register of its own.
//!
//! Key: `01`, name, `01` owner, `02` active, `03` posting. Value, which the check reads without decoding it
//! ([`AuthorityRef::from_packed`](crate::authority::AuthorityRef::from_packed)):
//!
//! | bytes | content |
//! |---|---|
//! | 4 | threshold |
//! | 4 | number of accounts |
//! | 4 | number of keys |
//! | 18 each | account: name (16), weight (2) |
//! | 35 each | key: key (33), weight (2) |
//!
//! hived keeps authorities as sorted maps, in which two entries for one name or key collapse into one, whose weight is
//! that of the first. Here too ([`canonical_authority`]): accounts are sorted by the bytes of their names, keys by
//! their 33 bytes, and the order matters for the authority check.

use cairn_chain::{AccountName, Authority};

use super::{AccountField, CorruptValue, Fields, Record, TableId, named_key};

const ACCOUNT_SIZE: usize = 16 + 2;
const KEY_SIZE: usize = 33 + 2;

/// An authority as a map holds it: sorted, one entry for a name or key.
#[must_use]
pub fn canonical_authority(mut authority: Authority) -> Authority {
    if !is_canonical(&authority) {
        // Stable sorts, so that the first of equal entries stays in front and survives.
        authority.account_auths.sort_by_key(|(name, _)| *name);
        authority.account_auths.dedup_by_key(|(name, _)| *name);
        authority.key_auths.sort_by_key(|(key, _)| *key);
        authority.key_auths.dedup_by_key(|(key, _)| *key);
    }
    authority
}

fn is_canonical(authority: &Authority) -> bool {
    authority
        .account_auths
        .is_sorted_by(|left, right| left.0 < right.0)
        && authority.key_auths.is_sorted_by(|left, right| left.0 < right.0)
}

/// Appends the value of an authority that is canonical.
pub(crate) fn encode_authority(authority: &Authority, value: &mut Vec<u8>) {
    value.extend_from_slice(&authority.weight_threshold.to_le_bytes());
    for count in [authority.account_auths.len(), authority.key_auths.len()] {
        // A block of 2 MiB holds fewer entries than a u32 counts.
        value.extend_from_slice(&u32::try_from(count).unwrap_or(u32::MAX).to_le_bytes());
    }
    for (name, weight) in &authority.account_auths {
        value.extend_from_slice(name.padded());
        value.extend_from_slice(&weight.to_le_bytes());
    }
    for (key, weight) in &authority.key_auths {
        value.extend_from_slice(key.as_bytes());
        value.extend_from_slice(&weight.to_le_bytes());
    }
}

/// Reads an authority's value.
pub(crate) fn decode_authority(fields: &mut Fields<'_>) -> Result<Authority, CorruptValue> {
    let weight_threshold = fields.u32()?;
    let accounts = fields.u32()?;
    let keys = fields.u32()?;
    let needed = u64::from(accounts) * ACCOUNT_SIZE as u64 + u64::from(keys) * KEY_SIZE as u64;
    if needed > fields.remaining() as u64 {
        return Err(fields.bad_number("counts that fit", needed));
    }
    let mut authority = Authority {
        weight_threshold,
        account_auths: Vec::with_capacity(accounts as usize),
        key_auths: Vec::with_capacity(keys as usize),
    };
    for _ in 0..accounts {
        authority.account_auths.push((fields.name()?, fields.u16()?));
    }
    for _ in 0..keys {
        authority.key_auths.push((fields.public_key()?, fields.u16()?));
    }
    if !is_canonical(&authority) {
        return Err(fields.bad_number("entries in ascending order", 0));
    }
    Ok(authority)
}

/// An authority in state.
pub trait StoredAuthority: Record {
    /// Wraps an authority that is canonical.
    fn from_authority(authority: Authority) -> Self;

    /// The authority.
    fn into_authority(self) -> Authority;
}

macro_rules! authorities {
    ($($(#[$meta:meta])* $name:ident($field:ident) = $label:literal;)*) => {$(
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub struct $name(pub Authority);

        impl Record for $name {
            type Owner<'a> = &'a AccountName;
            const NAME: &'static str = $label;

            fn key(owner: &AccountName, key: &mut Vec<u8>) {
                named_key(TableId::Account, owner, AccountField::$field as u8, key);
            }

            fn encode(&self, value: &mut Vec<u8>) {
                encode_authority(&self.0, value);
            }

            fn decode(fields: &mut Fields<'_>) -> Result<Self, CorruptValue> {
                decode_authority(fields).map(Self)
            }
        }

        impl StoredAuthority for $name {
            fn from_authority(authority: Authority) -> Self {
                Self(authority)
            }

            fn into_authority(self) -> Authority {
                self.0
            }
        }
    )*};
}

authorities! {
    /// The owner authority: changes the authorities.
    OwnerAuthority(Owner) = "owner authority";
    /// The active authority: moves money, votes for witnesses.
    ActiveAuthority(Active) = "active authority";
    /// The posting authority: posts and votes for posts.
    PostingAuthority(Posting) = "posting authority";
}
