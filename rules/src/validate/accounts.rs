//! Creation and update of accounts.

use cairn_chain::operations::{
    AccountCreate, AccountCreateWithDelegation, AccountUpdate, AccountUpdate2, ClaimAccount,
    CreateClaimedAccount, DeclineVotingRights,
};
use cairn_chain::{AssetSymbol, Authority};

use super::{Rules, ValidityError, authority, fields};

fn new_authorities(
    owner: &Authority,
    active: &Authority,
    posting: &Authority,
    rules: &Rules<'_>,
) -> Result<(), ValidityError> {
    for (field, value) in [("owner", owner), ("active", active), ("posting", posting)] {
        authority::form(field, value)?;
        authority::size(field, value, rules)?;
    }
    Ok(())
}

fn given_authorities(
    owner: Option<&Authority>,
    active: Option<&Authority>,
    posting: Option<&Authority>,
    rules: &Rules<'_>,
) -> Result<(), ValidityError> {
    for (field, value) in [("owner", owner), ("active", active), ("posting", posting)] {
        if let Some(value) = value {
            authority::size(field, value, rules)?;
        }
    }
    Ok(())
}

pub(super) fn create(op: &AccountCreate<'_>, rules: &Rules<'_>) -> Result<(), ValidityError> {
    fields::name("new_account_name", op.new_account_name)?;
    fields::creation_fee(op.fee)?;
    new_authorities(&op.owner, &op.active, &op.posting, rules)?;
    fields::metadata("json_metadata", op.json_metadata)
}

pub(super) fn create_with_delegation(
    op: &AccountCreateWithDelegation<'_>,
    rules: &Rules<'_>,
) -> Result<(), ValidityError> {
    rules.until(20)?;
    fields::name("new_account_name", op.new_account_name)?;
    fields::name("creator", op.creator)?;
    fields::creation_fee(op.fee)?;
    fields::symbol("delegation", op.delegation, AssetSymbol::Vests)?;
    fields::not_negative("delegation", op.delegation)?;
    new_authorities(&op.owner, &op.active, &op.posting, rules)?;
    fields::metadata("json_metadata", op.json_metadata)
}

pub(super) fn claim(op: &ClaimAccount, rules: &Rules<'_>) -> Result<(), ValidityError> {
    rules.since(20)?;
    fields::name("creator", op.creator)?;
    fields::creation_fee(op.fee)?;
    fields::at_most("extensions", op.extensions.len(), 0)
}

pub(super) fn create_claimed(op: &CreateClaimedAccount<'_>, rules: &Rules<'_>) -> Result<(), ValidityError> {
    rules.since(20)?;
    fields::name("creator", op.creator)?;
    fields::name("new_account_name", op.new_account_name)?;
    new_authorities(&op.owner, &op.active, &op.posting, rules)?;
    fields::metadata("json_metadata", op.json_metadata)?;
    fields::at_most("extensions", op.extensions.len(), 0)
}

/// Neither the form of members' names is checked here (they must exist, which is checked later), nor, before hardfork 20,
/// their number: history holds larger authorities.
pub(super) fn update(op: &AccountUpdate<'_>, rules: &Rules<'_>) -> Result<(), ValidityError> {
    fields::name("account", op.account)?;
    if rules.hardfork >= 20 {
        given_authorities(op.owner.as_ref(), op.active.as_ref(), op.posting.as_ref(), rules)?;
    }
    fields::metadata("json_metadata", op.json_metadata)
}

pub(super) fn update2(op: &AccountUpdate2<'_>, rules: &Rules<'_>) -> Result<(), ValidityError> {
    rules.since(21)?;
    fields::name("account", op.account)?;
    given_authorities(op.owner.as_ref(), op.active.as_ref(), op.posting.as_ref(), rules)?;
    fields::metadata("json_metadata", op.json_metadata)?;
    fields::metadata("posting_json_metadata", op.posting_json_metadata)
}

pub(super) fn decline_voting_rights(
    op: &DeclineVotingRights,
    rules: &Rules<'_>,
) -> Result<(), ValidityError> {
    rules.since(14)?;
    fields::name("account", op.account)
}
