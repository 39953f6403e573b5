//! Where the check looks accounts up.

use cairn_chain::{AccountName, Authority, PublicKey};

/// Bytes of one account member in packed form: the name padded to 16 bytes, the weight (u16, little-endian).
const ACCOUNT_ENTRY: usize = 18;

/// Bytes of one key member in packed form: the key, the weight (u16, little-endian).
const KEY_ENTRY: usize = 35;

/// Bytes before the members in packed form: threshold, number of accounts, number of keys (u32 each).
const HEADER: usize = 12;

/// The three authorities of an account.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// The highest: may change all three.
    Owner,
    /// Moves funds, votes for witnesses.
    Active,
    /// Posts and votes for posts.
    Posting,
}

/// Looks accounts up in the state before the transaction. `None`: there is no such account (witness).
pub trait AuthoritySource {
    /// Why a look-up can fail.
    type Error;

    /// One of an account's authorities.
    ///
    /// # Errors
    /// The state could not be read.
    fn authority(&mut self, name: AccountName, level: Level)
    -> Result<Option<AuthorityRef<'_>>, Self::Error>;

    /// A witness's signing key (the null key: switched off).
    ///
    /// # Errors
    /// The state could not be read.
    fn witness_key(&mut self, name: AccountName) -> Result<Option<PublicKey>, Self::Error>;
}

/// An authority that is only looked at: decoded, or the value of its register as it stands there.
///
/// Members must be sorted and distinct, as [`canonical_authority`](crate::registers::canonical_authority) makes them.
#[derive(Debug, Clone, Copy)]
pub struct AuthorityRef<'a>(Form<'a>);

#[derive(Debug, Clone, Copy)]
enum Form<'a> {
    Decoded(&'a Authority),
    Packed {
        threshold: u32,
        accounts: &'a [[u8; ACCOUNT_ENTRY]],
        keys: &'a [[u8; KEY_ENTRY]],
    },
}

impl<'a> From<&'a Authority> for AuthorityRef<'a> {
    fn from(authority: &'a Authority) -> Self {
        Self(Form::Decoded(authority))
    }
}

impl<'a> AuthorityRef<'a> {
    /// Looks at the value of an authority's register without decoding it: threshold u32, number of accounts u32, number
    /// of keys u32 (little-endian all), then 18 bytes an account (name padded with zeros, weight u16), then 35 bytes a
    /// key (key, weight u16). `None`, if the bytes are not exactly one such value.
    #[must_use]
    pub fn from_packed(bytes: &'a [u8]) -> Option<Self> {
        let (header, members) = bytes.split_first_chunk::<HEADER>()?;
        let mut numbers = header
            .as_chunks::<4>()
            .0
            .iter()
            .map(|number| u32::from_le_bytes(*number));
        let (threshold, accounts, keys) = (numbers.next()?, numbers.next()?, numbers.next()?);
        let accounts_size = usize::try_from(accounts).ok()?.checked_mul(ACCOUNT_ENTRY)?;
        let (accounts, rest) = members.split_at_checked(accounts_size)?;
        if Some(rest.len()) != usize::try_from(keys).ok()?.checked_mul(KEY_ENTRY) {
            return None;
        }
        Some(Self(Form::Packed {
            threshold,
            accounts: accounts.as_chunks().0,
            keys: rest.as_chunks().0,
        }))
    }

    /// The sum of weights that satisfies it.
    #[must_use]
    pub const fn weight_threshold(&self) -> u32 {
        match self.0 {
            Form::Decoded(authority) => authority.weight_threshold,
            Form::Packed { threshold, .. } => threshold,
        }
    }

    /// Number of account members.
    #[must_use]
    pub const fn account_count(&self) -> usize {
        match self.0 {
            Form::Decoded(authority) => authority.account_auths.len(),
            Form::Packed { accounts, .. } => accounts.len(),
        }
    }

    /// Number of key members.
    #[must_use]
    pub const fn key_count(&self) -> usize {
        match self.0 {
            Form::Decoded(authority) => authority.key_auths.len(),
            Form::Packed { keys, .. } => keys.len(),
        }
    }

    /// The account at `index`, with its weight.
    #[must_use]
    pub fn account(&self, index: usize) -> Option<(AccountName, u16)> {
        match self.0 {
            Form::Decoded(authority) => authority.account_auths.get(index).copied(),
            Form::Packed { accounts, .. } => {
                let (name, weight) = accounts.get(index)?.split_first_chunk::<16>()?;
                Some((AccountName::new(name), u16::from_le_bytes(*weight.first_chunk()?)))
            }
        }
    }

    /// The key at `index`, with its weight.
    #[must_use]
    pub fn key(&self, index: usize) -> Option<(PublicKey, u16)> {
        match self.0 {
            Form::Decoded(authority) => authority.key_auths.get(index).copied(),
            Form::Packed { keys, .. } => {
                let (key, weight) = keys.get(index)?.split_first_chunk::<33>()?;
                Some((PublicKey(*key), u16::from_le_bytes(*weight.first_chunk()?)))
            }
        }
    }

    /// The accounts in order, with their weights.
    pub fn accounts(&self) -> impl Iterator<Item = (AccountName, u16)> + 'a {
        let authority = *self;
        (0..authority.account_count()).map_while(move |index| authority.account(index))
    }

    /// The keys in order, with their weights.
    pub fn keys(&self) -> impl Iterator<Item = (PublicKey, u16)> + 'a {
        let authority = *self;
        (0..authority.key_count()).map_while(move |index| authority.key(index))
    }

    /// A decoded copy.
    #[must_use]
    pub fn to_authority(&self) -> Authority {
        Authority {
            weight_threshold: self.weight_threshold(),
            account_auths: self.accounts().collect(),
            key_auths: self.keys().collect(),
        }
    }
}
