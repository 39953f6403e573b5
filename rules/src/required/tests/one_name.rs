//! Operations that require one account at one level, which is most of them.

use cairn_chain::operations::*;
use cairn_chain::{Asset, Authority, Operation, OperationKind, PublicKey, Text, Time};

use super::{active, name, of, owner, posting, props};

/// The operations whose requirement is one fixed field: who is required is called `signer`, all others have other names.
#[test]
fn one_name_at_one_level() {
    let (signer, else_) = (name("signer"), name("else"));
    let (asset, text, time) = (Asset::hive(1), Text::from("text"), Time(1));
    let authority = || Authority::of_account(name("member"));
    let (null, extensions) = (PublicKey::NULL, Vec::new);
    let price = Price {
        base: Asset::hbd(1),
        quote: Asset::hive(1),
    };
    let by_posting = [
        Operation::Vote(Vote {
            voter: signer,
            author: else_,
            permlink: text,
            weight: 1,
        }),
        Operation::Comment(Comment {
            parent_author: else_,
            parent_permlink: text,
            author: signer,
            permlink: text,
            title: text,
            body: text,
            json_metadata: text,
        }),
        Operation::DeleteComment(DeleteComment {
            author: signer,
            permlink: text,
        }),
        Operation::CommentOptions(CommentOptions {
            author: signer,
            permlink: text,
            max_accepted_payout: asset,
            percent_hbd: 0,
            allow_votes: true,
            allow_curation_rewards: true,
            extensions: Vec::new(),
        }),
        Operation::ClaimRewardBalance(ClaimRewardBalance {
            account: signer,
            reward_hive: asset,
            reward_hbd: asset,
            reward_vests: asset,
        }),
    ];
    let by_owner = [
        Operation::ChangeRecoveryAccount(ChangeRecoveryAccount {
            account_to_recover: signer,
            new_recovery_account: else_,
            extensions: extensions(),
        }),
        Operation::DeclineVotingRights(DeclineVotingRights {
            account: signer,
            decline: true,
        }),
    ];
    let by_active = [
        Operation::Transfer(Transfer {
            from: signer,
            to: else_,
            amount: asset,
            memo: text,
        }),
        Operation::TransferToVesting(TransferToVesting {
            from: signer,
            to: else_,
            amount: asset,
        }),
        Operation::TransferToSavings(TransferToSavings {
            from: signer,
            to: else_,
            amount: asset,
            memo: text,
        }),
        Operation::TransferFromSavings(TransferFromSavings {
            from: signer,
            request_id: 1,
            to: else_,
            amount: asset,
            memo: text,
        }),
        Operation::CancelTransferFromSavings(CancelTransferFromSavings {
            from: signer,
            request_id: 1,
        }),
        Operation::RecurrentTransfer(RecurrentTransfer {
            from: signer,
            to: else_,
            amount: asset,
            memo: text,
            recurrence: 24,
            executions: 2,
            extensions: Vec::new(),
        }),
        Operation::EscrowTransfer(EscrowTransfer {
            from: signer,
            to: else_,
            hbd_amount: asset,
            hive_amount: asset,
            escrow_id: 1,
            agent: else_,
            fee: asset,
            json_meta: text,
            ratification_deadline: time,
            escrow_expiration: time,
        }),
        Operation::EscrowApprove(EscrowApprove {
            from: else_,
            to: else_,
            agent: else_,
            who: signer,
            escrow_id: 1,
            approve: true,
        }),
        Operation::EscrowDispute(EscrowDispute {
            from: else_,
            to: else_,
            agent: else_,
            who: signer,
            escrow_id: 1,
        }),
        Operation::EscrowRelease(EscrowRelease {
            from: else_,
            to: else_,
            agent: else_,
            who: signer,
            receiver: else_,
            escrow_id: 1,
            hbd_amount: asset,
            hive_amount: asset,
        }),
        Operation::WithdrawVesting(WithdrawVesting {
            account: signer,
            vesting_shares: asset,
        }),
        Operation::SetWithdrawVestingRoute(SetWithdrawVestingRoute {
            from_account: signer,
            to_account: else_,
            percent: 1,
            auto_vest: true,
        }),
        Operation::DelegateVestingShares(DelegateVestingShares {
            delegator: signer,
            delegatee: else_,
            vesting_shares: asset,
        }),
        Operation::Convert(Convert {
            owner: signer,
            requestid: 1,
            amount: asset,
        }),
        Operation::CollateralizedConvert(CollateralizedConvert {
            owner: signer,
            requestid: 1,
            amount: asset,
        }),
        Operation::LimitOrderCreate(LimitOrderCreate {
            owner: signer,
            orderid: 1,
            amount_to_sell: asset,
            min_to_receive: asset,
            fill_or_kill: true,
            expiration: time,
        }),
        Operation::LimitOrderCreate2(LimitOrderCreate2 {
            owner: signer,
            orderid: 1,
            amount_to_sell: asset,
            exchange_rate: price,
            fill_or_kill: true,
            expiration: time,
        }),
        Operation::LimitOrderCancel(LimitOrderCancel {
            owner: signer,
            orderid: 1,
        }),
        Operation::AccountCreate(AccountCreate {
            fee: asset,
            creator: signer,
            new_account_name: else_,
            owner: authority(),
            active: authority(),
            posting: authority(),
            memo_key: null,
            json_metadata: text,
        }),
        Operation::AccountCreateWithDelegation(AccountCreateWithDelegation {
            fee: asset,
            delegation: asset,
            creator: signer,
            new_account_name: else_,
            owner: authority(),
            active: authority(),
            posting: authority(),
            memo_key: null,
            json_metadata: text,
            extensions: extensions(),
        }),
        Operation::ClaimAccount(ClaimAccount {
            creator: signer,
            fee: asset,
            extensions: extensions(),
        }),
        Operation::CreateClaimedAccount(CreateClaimedAccount {
            creator: signer,
            new_account_name: else_,
            owner: authority(),
            active: authority(),
            posting: authority(),
            memo_key: null,
            json_metadata: text,
            extensions: extensions(),
        }),
        Operation::RequestAccountRecovery(RequestAccountRecovery {
            recovery_account: signer,
            account_to_recover: else_,
            new_owner_authority: authority(),
            extensions: extensions(),
        }),
        Operation::ResetAccount(ResetAccount {
            reset_account: signer,
            account_to_reset: else_,
            new_owner_authority: authority(),
        }),
        Operation::WitnessUpdate(WitnessUpdate {
            owner: signer,
            url: text,
            block_signing_key: null,
            props: props(),
            fee: asset,
        }),
        Operation::FeedPublish(FeedPublish {
            publisher: signer,
            exchange_rate: price,
        }),
        Operation::AccountWitnessVote(AccountWitnessVote {
            account: signer,
            witness: else_,
            approve: true,
        }),
        Operation::AccountWitnessProxy(AccountWitnessProxy {
            account: signer,
            proxy: else_,
        }),
        Operation::CreateProposal(CreateProposal {
            creator: signer,
            receiver: else_,
            start_date: time,
            end_date: time,
            daily_pay: asset,
            subject: text,
            permlink: text,
            extensions: extensions(),
        }),
        Operation::UpdateProposal(UpdateProposal {
            proposal_id: 0,
            creator: signer,
            daily_pay: asset,
            subject: text,
            permlink: text,
            extensions: Vec::new(),
        }),
        Operation::UpdateProposalVotes(UpdateProposalVotes {
            voter: signer,
            proposal_ids: vec![1],
            approve: true,
            extensions: extensions(),
        }),
        Operation::RemoveProposal(RemoveProposal {
            proposal_owner: signer,
            proposal_ids: vec![1],
            extensions: extensions(),
        }),
    ];
    let mut kinds = std::collections::BTreeSet::new();
    for (list, expected) in [
        (&by_posting[..], posting(&["signer"])),
        (&by_owner[..], owner(&["signer"])),
        (&by_active[..], active(&["signer"])),
    ] {
        for operation in list {
            assert_eq!(of(operation), expected, "{}", operation.kind());
            kinds.insert(operation.kind());
        }
    }
    // The rest has tests of its own below.
    let rest = [
        OperationKind::AccountUpdate,
        OperationKind::AccountUpdate2,
        OperationKind::RecoverAccount,
        OperationKind::SetResetAccount,
        OperationKind::WitnessSetProperties,
        OperationKind::WitnessBlockApprove,
        OperationKind::Custom,
        OperationKind::CustomJson,
        OperationKind::CustomBinary,
        OperationKind::Pow,
        OperationKind::Pow2,
    ];
    assert_eq!(kinds.len() + rest.len(), OperationKind::ALL.len());
    assert!(rest.iter().all(|kind| !kinds.contains(kind)));
}
