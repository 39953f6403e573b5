//! Proposals to the fund.

use cairn_chain::operations::{CreateProposal, RemoveProposal, UpdateProposal, UpdateProposalVotes};
use cairn_chain::{Asset, AssetSymbol, Text};

use super::{Rules, ValidityError, fields};

/// Bytes of a proposal's subject.
const SUBJECT_LIMIT: usize = 80;

/// Proposals that one operation may name.
const IDS_LIMIT: usize = 5;

fn content(daily_pay: Asset, subject: Text<'_>, permlink: Text<'_>) -> Result<(), ValidityError> {
    fields::not_negative("daily_pay", daily_pay)?;
    fields::symbol("daily_pay", daily_pay, AssetSymbol::Hbd)?;
    fields::not_empty("subject", subject.len())?;
    fields::at_most("subject", subject.len(), SUBJECT_LIMIT)?;
    fields::utf8("subject", subject.as_bytes())?;
    fields::not_empty("permlink", permlink.len())?;
    fields::permlink("permlink", permlink)
}

/// hived keeps the ids as a set.
fn ids(ids: &[i64]) -> Result<(), ValidityError> {
    fields::not_empty("proposal_ids", ids.len())?;
    if ids.len() <= IDS_LIMIT {
        return Ok(());
    }
    let mut distinct = ids.to_vec();
    distinct.sort_unstable();
    distinct.dedup();
    fields::at_most("proposal_ids", distinct.len(), IDS_LIMIT)
}

pub(super) fn create(op: &CreateProposal<'_>, rules: &Rules<'_>) -> Result<(), ValidityError> {
    rules.since(21)?;
    fields::name("creator", op.creator)?;
    fields::name("receiver", op.receiver)?;
    if op.end_date <= op.start_date {
        return Err(ValidityError::Relation {
            field: "end_date",
            rule: "must be after `start_date`",
        });
    }
    content(op.daily_pay, op.subject, op.permlink)
}

pub(super) fn update(op: &UpdateProposal<'_>, rules: &Rules<'_>) -> Result<(), ValidityError> {
    rules.since(24)?;
    fields::name("creator", op.creator)?;
    fields::range("proposal_id", op.proposal_id, 0, i64::MAX)?;
    content(op.daily_pay, op.subject, op.permlink)
}

pub(super) fn votes(op: &UpdateProposalVotes, rules: &Rules<'_>) -> Result<(), ValidityError> {
    rules.since(21)?;
    fields::name("voter", op.voter)?;
    ids(&op.proposal_ids)
}

pub(super) fn remove(op: &RemoveProposal, rules: &Rules<'_>) -> Result<(), ValidityError> {
    rules.since(21)?;
    fields::name("proposal_owner", op.proposal_owner)?;
    ids(&op.proposal_ids)
}
