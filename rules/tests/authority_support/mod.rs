//! Accounts in a map, for the check to look up.

#![allow(dead_code, reason = "each test file uses a part")]

pub(crate) mod data;

use std::collections::BTreeMap;
use std::convert::Infallible;

use cairn_chain::{AccountName, Authority, PublicKey};
use cairn_rules::authority::{AuthorityRef, AuthoritySource, Level};

/// Owner, active and posting authority of each account, and signing keys of witnesses.
#[derive(Debug, Clone, Default)]
pub(crate) struct Accounts {
    pub(crate) authorities: BTreeMap<(AccountName, Level), Authority>,
    pub(crate) witnesses: BTreeMap<AccountName, PublicKey>,
    /// Look-ups so far.
    pub(crate) lookups: usize,
}

impl AuthoritySource for Accounts {
    type Error = Infallible;

    fn authority(&mut self, name: AccountName, level: Level) -> Result<Option<AuthorityRef<'_>>, Infallible> {
        self.lookups += 1;
        Ok(self.authorities.get(&(name, level)).map(AuthorityRef::from))
    }

    fn witness_key(&mut self, name: AccountName) -> Result<Option<PublicKey>, Infallible> {
        Ok(self.witnesses.get(&name).copied())
    }
}

/// An authority in the text form of the fixtures: `threshold/name:weight,.../STM...:weight,...`.
pub(crate) fn parse(text: &str) -> Authority {
    let mut parts = text.split('/');
    let weight_threshold = parts.next().unwrap().parse().unwrap();
    let members = |part: &str| -> Vec<(String, u16)> {
        let entries = part.split(',').filter(|entry| !entry.is_empty());
        let entry = |entry: &str| {
            let (member, weight) = entry.rsplit_once(':').unwrap();
            (member.to_owned(), weight.parse().unwrap())
        };
        entries.map(entry).collect()
    };
    let account_auths = members(parts.next().unwrap());
    let key_auths = members(parts.next().unwrap());
    Authority {
        weight_threshold,
        account_auths: account_auths
            .into_iter()
            .map(|(name, weight)| (AccountName::from(name.as_str()), weight))
            .collect(),
        key_auths: key_auths
            .into_iter()
            .map(|(key, weight)| (key.parse().unwrap(), weight))
            .collect(),
    }
}
