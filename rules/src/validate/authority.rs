//! Rules of an authority that stands in an operation.
//!
//! Members may be listed twice or unsorted in a block; hived counts and adds them up after it has put them into maps.

use cairn_chain::Authority;

use super::{Rules, ValidityError};
use crate::registers::canonical_authority;

/// Member accounts have the form of names.
pub(super) fn form(field: &'static str, authority: &Authority) -> Result<(), ValidityError> {
    match authority.account_auths.iter().find(|(name, _)| !name.is_valid()) {
        Some((name, _)) => Err(ValidityError::MemberName { field, name: *name }),
        None => Ok(()),
    }
}

/// Not more members than allowed.
pub(super) fn size(
    field: &'static str,
    authority: &Authority,
    rules: &Rules<'_>,
) -> Result<(), ValidityError> {
    let limit = rules.authority_members();
    // Canonical form has never more members, so that it need not be made for what is small enough.
    if authority.members() <= limit {
        return Ok(());
    }
    super::fields::at_most(field, canonical_authority(authority.clone()).members(), limit)
}

/// The weights can reach the threshold.
pub(super) fn possible(field: &'static str, authority: &Authority) -> Result<(), ValidityError> {
    let authority = canonical_authority(authority.clone());
    let threshold = authority.weight_threshold;
    let accounts = authority
        .account_auths
        .iter()
        .map(|(_, weight)| u64::from(*weight));
    let keys = authority.key_auths.iter().map(|(_, weight)| u64::from(*weight));
    let weights: u64 = accounts.chain(keys).sum();
    if weights < u64::from(threshold) {
        return Err(ValidityError::Impossible {
            field,
            weights,
            threshold,
        });
    }
    Ok(())
}

/// Some signature is needed.
pub(super) const fn not_open(field: &'static str, authority: &Authority) -> Result<(), ValidityError> {
    if authority.weight_threshold == 0 {
        Err(ValidityError::Open { field })
    } else {
        Ok(())
    }
}
