//! The operations: what transactions do.
//!
//! One table, at the end of this file, lists all fifty with their index; the structures are in the files below, their
//! fields in the order in which they are packed. The order is that of the reflection lines of hived's sources, which
//! differs from the order of its declarations for the escrow operations and `limit_order_create2`.
//!
//! Indices from 50 on are virtual operations, which hived makes while it applies a block. They are never part of one, and
//! bytes with such an index are refused.

#![allow(
    missing_docs,
    reason = "fields have the names of the protocol; those that need a word have it"
)]

mod accounts;
mod comments;
mod custom;
mod escrow;
mod kind;
mod market;
mod mining;
mod proposals;
mod recovery;
mod transfers;
mod witnesses;

pub use accounts::*;
pub use comments::*;
pub use custom::*;
pub use escrow::*;
pub use kind::{OperationKind, UnknownOperation};
pub use market::*;
pub use mining::*;
pub use proposals::*;
pub use recovery::*;
pub use transfers::*;
pub use witnesses::*;

use crate::structure::packed_variant;

/// The table of operations, for macros that need one thing for each: calls `$macro!` with a line
/// `index Name(Type) = "json name"` for each operation, in order of their indices.
macro_rules! for_each_operation {
    ($macro:ident) => {
        $macro! {
            0 Vote(Vote<'a>) = "vote_operation",
            1 Comment(Comment<'a>) = "comment_operation",
            2 Transfer(Transfer<'a>) = "transfer_operation",
            3 TransferToVesting(TransferToVesting) = "transfer_to_vesting_operation",
            4 WithdrawVesting(WithdrawVesting) = "withdraw_vesting_operation",
            5 LimitOrderCreate(LimitOrderCreate) = "limit_order_create_operation",
            6 LimitOrderCancel(LimitOrderCancel) = "limit_order_cancel_operation",
            7 FeedPublish(FeedPublish) = "feed_publish_operation",
            8 Convert(Convert) = "convert_operation",
            9 AccountCreate(AccountCreate<'a>) = "account_create_operation",
            10 AccountUpdate(AccountUpdate<'a>) = "account_update_operation",
            11 WitnessUpdate(WitnessUpdate<'a>) = "witness_update_operation",
            12 AccountWitnessVote(AccountWitnessVote) = "account_witness_vote_operation",
            13 AccountWitnessProxy(AccountWitnessProxy) = "account_witness_proxy_operation",
            14 Pow(Pow) = "pow_operation",
            15 Custom(Custom<'a>) = "custom_operation",
            16 WitnessBlockApprove(WitnessBlockApprove) = "witness_block_approve_operation",
            17 DeleteComment(DeleteComment<'a>) = "delete_comment_operation",
            18 CustomJson(CustomJson<'a>) = "custom_json_operation",
            19 CommentOptions(CommentOptions<'a>) = "comment_options_operation",
            20 SetWithdrawVestingRoute(SetWithdrawVestingRoute) = "set_withdraw_vesting_route_operation",
            21 LimitOrderCreate2(LimitOrderCreate2) = "limit_order_create2_operation",
            22 ClaimAccount(ClaimAccount) = "claim_account_operation",
            23 CreateClaimedAccount(CreateClaimedAccount<'a>) = "create_claimed_account_operation",
            24 RequestAccountRecovery(RequestAccountRecovery) = "request_account_recovery_operation",
            25 RecoverAccount(RecoverAccount) = "recover_account_operation",
            26 ChangeRecoveryAccount(ChangeRecoveryAccount) = "change_recovery_account_operation",
            27 EscrowTransfer(EscrowTransfer<'a>) = "escrow_transfer_operation",
            28 EscrowDispute(EscrowDispute) = "escrow_dispute_operation",
            29 EscrowRelease(EscrowRelease) = "escrow_release_operation",
            30 Pow2(Pow2) = "pow2_operation",
            31 EscrowApprove(EscrowApprove) = "escrow_approve_operation",
            32 TransferToSavings(TransferToSavings<'a>) = "transfer_to_savings_operation",
            33 TransferFromSavings(TransferFromSavings<'a>) = "transfer_from_savings_operation",
            34 CancelTransferFromSavings(CancelTransferFromSavings) = "cancel_transfer_from_savings_operation",
            35 CustomBinary(CustomBinary<'a>) = "custom_binary_operation",
            36 DeclineVotingRights(DeclineVotingRights) = "decline_voting_rights_operation",
            37 ResetAccount(ResetAccount) = "reset_account_operation",
            38 SetResetAccount(SetResetAccount) = "set_reset_account_operation",
            39 ClaimRewardBalance(ClaimRewardBalance) = "claim_reward_balance_operation",
            40 DelegateVestingShares(DelegateVestingShares) = "delegate_vesting_shares_operation",
            41 AccountCreateWithDelegation(AccountCreateWithDelegation<'a>) = "account_create_with_delegation_operation",
            42 WitnessSetProperties(WitnessSetProperties<'a>) = "witness_set_properties_operation",
            43 AccountUpdate2(AccountUpdate2<'a>) = "account_update2_operation",
            44 CreateProposal(CreateProposal<'a>) = "create_proposal_operation",
            45 UpdateProposalVotes(UpdateProposalVotes) = "update_proposal_votes_operation",
            46 RemoveProposal(RemoveProposal) = "remove_proposal_operation",
            47 UpdateProposal(UpdateProposal<'a>) = "update_proposal_operation",
            48 CollateralizedConvert(CollateralizedConvert) = "collateralized_convert_operation",
            49 RecurrentTransfer(RecurrentTransfer<'a>) = "recurrent_transfer_operation",
        }
    };
}

macro_rules! define_operation {
    ($($index:literal $name:ident($type:ty) = $json:literal,)*) => {
        packed_variant! {
            /// An operation, borrowing its texts from the block.
            pub enum Operation<'a> {
                $(#[doc = concat!("`", $json, "`")] $index $name($type) = $json,)*
            }
        }

        impl Operation<'_> {
            /// Which operation it is, without its content.
            #[must_use]
            pub const fn kind(&self) -> OperationKind {
                match self {
                    $(Self::$name(_) => OperationKind::$name,)*
                }
            }
        }
    };
}

for_each_operation!(define_operation);

pub(crate) use for_each_operation;

#[cfg(test)]
mod tests;
