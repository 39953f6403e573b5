//! Proposals to the fund; since hardfork 21.

use crate::asset::Asset;
use crate::extension::{FutureExtension, ProposalOption};
use crate::name::AccountName;
use crate::structure::packed_struct;
use crate::text::Text;
use crate::time::Time;

packed_struct! {
    /// Asks for daily pay.
    pub struct CreateProposal<'a> {
        creator: AccountName,
        receiver: AccountName,
        start_date: Time,
        end_date: Time,
        /// In HBD.
        daily_pay: Asset,
        subject: Text<'a>,
        /// Of the post that describes the proposal.
        permlink: Text<'a>,
        extensions: Vec<FutureExtension>,
    }
}

packed_struct! {
    /// Changes a proposal; since hardfork 24.
    pub struct UpdateProposal<'a> {
        proposal_id: i64,
        creator: AccountName,
        /// In HBD.
        daily_pay: Asset,
        subject: Text<'a>,
        permlink: Text<'a>,
        extensions: Vec<ProposalOption>,
    }
}

packed_struct! {
    /// Votes for proposals, or takes votes back.
    pub struct UpdateProposalVotes {
        voter: AccountName,
        proposal_ids: Vec<i64>,
        approve: bool,
        extensions: Vec<FutureExtension>,
    }
}

packed_struct! {
    /// Removes proposals.
    pub struct RemoveProposal {
        proposal_owner: AccountName,
        proposal_ids: Vec<i64>,
        extensions: Vec<FutureExtension>,
    }
}
