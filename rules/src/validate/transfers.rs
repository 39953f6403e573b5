//! Moving assets between accounts and between forms of one account.

use cairn_chain::AssetSymbol;
use cairn_chain::operations::{
    ClaimRewardBalance, DelegateVestingShares, RecurrentTransfer, SetWithdrawVestingRoute, Transfer,
    TransferFromSavings, TransferToSavings, TransferToVesting, WithdrawVesting,
};

use super::{Rules, ValidityError, fields};

/// Hours between two recurrent transfers.
const LEAST_RECURRENCE: i64 = 24;

/// How often a recurrent transfer must be repeated at least.
const LEAST_EXECUTIONS: i64 = 2;

pub(super) fn transfer(op: &Transfer<'_>) -> Result<(), ValidityError> {
    fields::name("from", op.from)?;
    fields::name("to", op.to)?;
    fields::not_vesting("amount", op.amount)?;
    fields::positive("amount", op.amount)?;
    fields::memo(op.memo)
}

pub(super) fn to_vesting(op: &TransferToVesting) -> Result<(), ValidityError> {
    fields::name("from", op.from)?;
    fields::symbol("amount", op.amount, AssetSymbol::Hive)?;
    // Nobody stands for the sender.
    fields::optional_name("to", op.to)?;
    fields::positive("amount", op.amount)
}

pub(super) fn withdraw_vesting(op: &WithdrawVesting, rules: &Rules<'_>) -> Result<(), ValidityError> {
    fields::name("account", op.account)?;
    fields::symbol("vesting_shares", op.vesting_shares, AssetSymbol::Vests)?;
    // History holds negative amounts.
    if rules.hardfork >= 20 {
        fields::not_negative("vesting_shares", op.vesting_shares)?;
    }
    Ok(())
}

pub(super) fn vesting_route(op: &SetWithdrawVestingRoute) -> Result<(), ValidityError> {
    fields::name("from_account", op.from_account)?;
    fields::name("to_account", op.to_account)?;
    fields::percent("percent", op.percent)
}

pub(super) fn delegate(op: &DelegateVestingShares) -> Result<(), ValidityError> {
    fields::name("delegator", op.delegator)?;
    fields::name("delegatee", op.delegatee)?;
    if op.delegator == op.delegatee {
        return Err(ValidityError::Relation {
            field: "delegatee",
            rule: "must differ from `delegator`",
        });
    }
    fields::symbol("vesting_shares", op.vesting_shares, AssetSymbol::Vests)?;
    fields::not_negative("vesting_shares", op.vesting_shares)
}

pub(super) fn claim_reward(op: &ClaimRewardBalance) -> Result<(), ValidityError> {
    fields::name("account", op.account)?;
    fields::symbol("reward_hive", op.reward_hive, AssetSymbol::Hive)?;
    fields::symbol("reward_hbd", op.reward_hbd, AssetSymbol::Hbd)?;
    fields::symbol("reward_vests", op.reward_vests, AssetSymbol::Vests)?;
    fields::not_negative("reward_hive", op.reward_hive)?;
    fields::not_negative("reward_hbd", op.reward_hbd)?;
    fields::not_negative("reward_vests", op.reward_vests)?;
    if op.reward_hive.amount == 0 && op.reward_hbd.amount == 0 && op.reward_vests.amount == 0 {
        return Err(ValidityError::NothingMoved {
            fields: "reward_hive, reward_hbd and reward_vests",
        });
    }
    Ok(())
}

pub(super) fn to_savings(op: &TransferToSavings<'_>) -> Result<(), ValidityError> {
    fields::name("from", op.from)?;
    fields::name("to", op.to)?;
    fields::positive("amount", op.amount)?;
    fields::liquid("amount", op.amount)?;
    fields::memo(op.memo)
}

pub(super) fn from_savings(op: &TransferFromSavings<'_>) -> Result<(), ValidityError> {
    fields::name("from", op.from)?;
    fields::name("to", op.to)?;
    fields::positive("amount", op.amount)?;
    fields::liquid("amount", op.amount)?;
    fields::memo(op.memo)
}

pub(super) fn recurrent(op: &RecurrentTransfer<'_>, rules: &Rules<'_>) -> Result<(), ValidityError> {
    rules.since(25)?;
    fields::name("from", op.from)?;
    fields::name("to", op.to)?;
    fields::not_vesting("amount", op.amount)?;
    // 0 ends a recurrent transfer.
    fields::not_negative("amount", op.amount)?;
    fields::range(
        "recurrence",
        op.recurrence.into(),
        LEAST_RECURRENCE,
        u16::MAX.into(),
    )?;
    fields::memo(op.memo)?;
    if op.from == op.to {
        return Err(ValidityError::Relation {
            field: "to",
            rule: "must differ from `from`",
        });
    }
    fields::range(
        "executions",
        op.executions.into(),
        LEAST_EXECUTIONS,
        u16::MAX.into(),
    )
}
