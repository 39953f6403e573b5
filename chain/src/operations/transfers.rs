//! Moving assets between accounts and between forms of one account.

use crate::asset::Asset;
use crate::extension::RecurrentTransferOption;
use crate::name::AccountName;
use crate::structure::packed_struct;
use crate::text::Text;

packed_struct! {
    /// Sends HIVE or HBD.
    pub struct Transfer<'a> {
        from: AccountName,
        to: AccountName,
        amount: Asset,
        memo: Text<'a>,
    }
}

packed_struct! {
    /// Turns HIVE into vesting shares.
    pub struct TransferToVesting {
        from: AccountName,
        /// Who gets the shares; empty for `from`.
        to: AccountName,
        amount: Asset,
    }
}

packed_struct! {
    /// Starts turning vesting shares back into HIVE, in weekly parts; 0 stops it.
    pub struct WithdrawVesting {
        account: AccountName,
        vesting_shares: Asset,
    }
}

packed_struct! {
    /// Sends a share of each weekly part to another account.
    pub struct SetWithdrawVestingRoute {
        from_account: AccountName,
        to_account: AccountName,
        /// In 0.01 %.
        percent: u16,
        auto_vest: bool,
    }
}

packed_struct! {
    /// Lends vesting shares.
    pub struct DelegateVestingShares {
        delegator: AccountName,
        delegatee: AccountName,
        /// The new total between the two, not a difference.
        vesting_shares: Asset,
    }
}

packed_struct! {
    /// Takes rewards that are ready.
    pub struct ClaimRewardBalance {
        account: AccountName,
        reward_hive: Asset,
        reward_hbd: Asset,
        reward_vests: Asset,
    }
}

packed_struct! {
    /// Moves HIVE or HBD into savings.
    pub struct TransferToSavings<'a> {
        from: AccountName,
        to: AccountName,
        amount: Asset,
        memo: Text<'a>,
    }
}

packed_struct! {
    /// Takes HIVE or HBD out of savings, after three days.
    pub struct TransferFromSavings<'a> {
        from: AccountName,
        request_id: u32,
        to: AccountName,
        amount: Asset,
        memo: Text<'a>,
    }
}

packed_struct! {
    /// Takes back a [`TransferFromSavings`] that is still waiting.
    pub struct CancelTransferFromSavings {
        from: AccountName,
        request_id: u32,
    }
}

packed_struct! {
    /// Sends the same amount again and again; an amount of 0 stops it.
    pub struct RecurrentTransfer<'a> {
        from: AccountName,
        to: AccountName,
        amount: Asset,
        memo: Text<'a>,
        /// In hours.
        recurrence: u16,
        /// How many times.
        executions: u16,
        extensions: Vec<RecurrentTransferOption>,
    }
}
