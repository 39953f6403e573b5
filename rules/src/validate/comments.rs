//! Comments and votes on them.

use cairn_chain::operations::{Comment, CommentOptions, DeleteComment, Vote};
use cairn_chain::{AssetSymbol, CommentOption};

use super::fields::FULL_PERCENT;
use super::{ValidityError, fields};

/// Bytes of a comment's title.
const TITLE_LIMIT: usize = 255;

/// Entries of a list of beneficiaries.
const BENEFICIARY_LIMIT: usize = 127;

pub(super) fn vote(op: &Vote<'_>) -> Result<(), ValidityError> {
    fields::name("voter", op.voter)?;
    fields::name("author", op.author)?;
    fields::range("weight", op.weight.into(), -FULL_PERCENT, FULL_PERCENT)?;
    fields::permlink("permlink", op.permlink)
}

/// The letters of a permlink are a rule for new comments only, which state decides.
pub(super) fn comment(op: &Comment<'_>) -> Result<(), ValidityError> {
    fields::at_most("title", op.title.len(), TITLE_LIMIT)?;
    fields::utf8("title", op.title.as_bytes())?;
    fields::not_empty("body", op.body.len())?;
    fields::utf8("body", op.body.as_bytes())?;
    fields::optional_name("parent_author", op.parent_author)?;
    fields::name("author", op.author)?;
    fields::permlink("parent_permlink", op.parent_permlink)?;
    fields::permlink("permlink", op.permlink)?;
    fields::metadata("json_metadata", op.json_metadata)
}

pub(super) fn delete(op: &DeleteComment<'_>) -> Result<(), ValidityError> {
    fields::permlink("permlink", op.permlink)?;
    fields::name("author", op.author)
}

pub(super) fn options(op: &CommentOptions<'_>) -> Result<(), ValidityError> {
    fields::name("author", op.author)?;
    fields::percent("percent_hbd", op.percent_hbd)?;
    fields::symbol("max_accepted_payout", op.max_accepted_payout, AssetSymbol::Hbd)?;
    fields::not_negative("max_accepted_payout", op.max_accepted_payout)?;
    fields::permlink("permlink", op.permlink)?;
    // hived keeps extensions as a set with one element of each kind; there is one kind.
    match op.extensions.first() {
        Some(CommentOption::Beneficiaries(shares)) => beneficiaries(shares),
        None => Ok(()),
    }
}

fn beneficiaries(shares: &cairn_chain::CommentPayoutBeneficiaries) -> Result<(), ValidityError> {
    let shares = &shares.beneficiaries;
    fields::not_empty("beneficiaries", shares.len())?;
    fields::at_most("beneficiaries", shares.len(), BENEFICIARY_LIMIT)?;
    for share in shares {
        fields::name("beneficiaries", share.account)?;
        fields::percent("beneficiaries", share.weight)?;
    }
    let sum = shares.iter().map(|share| i64::from(share.weight)).sum();
    fields::range("beneficiaries", sum, 0, FULL_PERCENT)?;
    if !shares.is_sorted_by(|a, b| a.account < b.account) {
        return Err(ValidityError::Relation {
            field: "beneficiaries",
            rule: "names must ascend",
        });
    }
    Ok(())
}
