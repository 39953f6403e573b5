//! Witnesses and votes for them.

use cairn_chain::FeeSymbol;
use cairn_chain::operations::{AccountWitnessProxy, AccountWitnessVote, ChainProperties, WitnessUpdate};

use super::fields::{FULL_PERCENT, MOST_CREATION_FEE};
use super::{Rules, ValidityError, fields};

/// Bytes of a witness's url.
pub(super) const URL_LIMIT: usize = 2_048;

/// Least that a witness may want as the size of blocks, in bytes.
pub(super) const LEAST_BLOCK_SIZE: i64 = 65_536;

/// Most that a witness may want as the size of blocks, in bytes.
pub(super) const MOST_BLOCK_SIZE: i64 = 2_097_152;

/// Properties of the chain as a witness wants them. `proper_symbol`: the malformed symbols of history are refused.
pub(super) fn properties(
    props: &ChainProperties,
    proper_symbol: bool,
    rules: &Rules<'_>,
) -> Result<(), ValidityError> {
    let fee = props.account_creation_fee;
    if proper_symbol && fee.symbol != FeeSymbol::Hive {
        return Err(ValidityError::FeeSymbol {
            field: "account_creation_fee",
        });
    }
    fields::range(
        "account_creation_fee",
        fee.amount,
        rules.spec.limits.min_account_creation_fee,
        MOST_CREATION_FEE,
    )?;
    fields::range(
        "maximum_block_size",
        props.maximum_block_size.into(),
        LEAST_BLOCK_SIZE,
        MOST_BLOCK_SIZE,
    )?;
    fields::range(
        "hbd_interest_rate",
        props.hbd_interest_rate.into(),
        0,
        FULL_PERCENT,
    )
}

pub(super) fn url(url: &[u8]) -> Result<(), ValidityError> {
    fields::at_most("url", url.len(), URL_LIMIT)?;
    fields::not_empty("url", url.len())?;
    fields::utf8("url", url)
}

pub(super) fn update(op: &WitnessUpdate<'_>, rules: &Rules<'_>) -> Result<(), ValidityError> {
    fields::name("owner", op.owner)?;
    url(op.url.as_bytes())?;
    fields::not_negative("fee", op.fee)?;
    properties(&op.props, rules.hardfork >= 14, rules)
}

pub(super) fn vote(op: &AccountWitnessVote) -> Result<(), ValidityError> {
    fields::name("account", op.account)?;
    fields::name("witness", op.witness)
}

pub(super) fn proxy(op: &AccountWitnessProxy) -> Result<(), ValidityError> {
    fields::name("account", op.account)?;
    fields::optional_name("proxy", op.proxy)?;
    if op.proxy == op.account {
        return Err(ValidityError::Relation {
            field: "proxy",
            rule: "must differ from `account`",
        });
    }
    Ok(())
}
