//! Authorities as bytes.

use cairn_chain::Authority;

use super::super::accounts::{Held, Shape};
use super::super::keys::{KeyName, Keys, Role};
use super::super::names;
use super::super::plan::AuthorityChange;

/// The owner, active or posting authority of an account.
pub(super) fn held(keys: Keys, account: u32, role: Role, held: Held) -> Authority {
    let key = |role| keys.public(KeyName::new(account, role, held.generation));
    let mut authority = Authority::of_key(key(role));
    match held.shape {
        Shape::OneKey => {}
        Shape::OneKeyOr(other) => authority.account_auths.push((names::account(other), 1)),
        Shape::TwoKeys => {
            authority.weight_threshold = 2;
            authority.key_auths.push((key(Role::SecondActive), 1));
            // hived writes authorities sorted by key.
            authority.key_auths.sort_unstable_by_key(|(key, _)| *key);
        }
    }
    authority
}

/// The authority that an update sets, if it sets one.
pub(super) fn change(keys: Keys, account: u32, role: Role, change: AuthorityChange) -> Option<Authority> {
    match change {
        AuthorityChange::Keep => None,
        AuthorityChange::Set(new) => Some(held(keys, account, role, new)),
    }
}
