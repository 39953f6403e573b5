//! Extension points of the format.

use crate::block::HardforkVote;
use crate::name::AccountName;
use crate::structure::{packed_struct, packed_variant};
use crate::time::Time;
use crate::version::Version;

packed_struct! {
    /// Nothing: the empty alternative of a variant.
    #[derive(Copy, Default)]
    pub struct Void {}
}

packed_variant! {
    /// An extension with nothing in it: reserved room in operations and transactions. Normally there are none.
    #[derive(Copy)]
    pub enum FutureExtension {
        /// Nothing.
        0 Void(Void) = "void_t",
    }
}

packed_variant! {
    /// What a witness says about itself in a block's header.
    #[derive(Copy)]
    pub enum HeaderExtension {
        /// Nothing.
        0 Void(Void) = "void_t",
        /// The version that the witness runs.
        1 Version(Version) = "version",
        /// The hardfork that the witness votes for.
        2 HardforkVote(HardforkVote) = "hardfork_version_vote",
    }
}

packed_struct! {
    /// A share of a comment's reward.
    #[derive(Copy)]
    pub struct Beneficiary {
        /// Who gets it.
        account: AccountName,
        /// Share in 0.01 %.
        weight: u16,
    }
}

packed_struct! {
    /// Who shares in a comment's reward.
    pub struct CommentPayoutBeneficiaries {
        /// The shares. A list, not a set: the order is part of the bytes.
        beneficiaries: Vec<Beneficiary>,
    }
}

packed_variant! {
    /// Extension of `comment_options`.
    pub enum CommentOption {
        /// Who shares in the reward.
        0 Beneficiaries(CommentPayoutBeneficiaries) = "comment_payout_beneficiaries",
    }
}

packed_struct! {
    /// A new end of a proposal.
    #[derive(Copy)]
    pub struct ProposalEndDate {
        /// When payments end.
        end_date: Time,
    }
}

packed_variant! {
    /// Extension of `update_proposal`.
    #[derive(Copy)]
    pub enum ProposalOption {
        /// Nothing.
        0 Void(Void) = "void_t",
        /// A new end date.
        1 EndDate(ProposalEndDate) = "update_proposal_end_date",
    }
}

packed_struct! {
    /// Which of several recurrent transfers between the same two accounts is meant.
    #[derive(Copy)]
    pub struct RecurrentTransferPair {
        /// Number of the transfer, 0 for the first.
        pair_id: u8,
    }
}

packed_variant! {
    /// Extension of `recurrent_transfer`.
    #[derive(Copy)]
    pub enum RecurrentTransferOption {
        /// Nothing.
        0 Void(Void) = "void_t",
        /// Which transfer of a pair of accounts.
        1 PairId(RecurrentTransferPair) = "recurrent_transfer_pair_id",
    }
}
