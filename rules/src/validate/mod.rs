//! The rules that an operation must keep by itself, without any state.
//!
//! [`operation`] has one arm for each of the fifty operations, so that a new one does not compile without a decision;
//! the rules are in one small file per family. They are the rules that hived has today for all of history: where a rule
//! came with a hardfork, because older blocks break it, `hardfork` (the number of the last one that is in force) decides.
//!
//! Not here, since state or time is needed: whether accounts, comments or members of authorities exist, permlink letters
//! of a *new* comment ([`fields::is_new_permlink`] has the rule), rate limits, balances, expirations.
//!
//! # What cannot be decided
//!
//! Three things are accepted although hived may refuse them; each is a matter of a program's corner cases or costly to
//! check, and none was seen in real data:
//!
//! * JSON of which only the beginning is JSON, and integers beyond 64 bits: hived's fast parser accepts some of it,
//!   depending on its version ([`json::verdict`] says [`json::Verdict::Undecided`]);
//! * the solution of an equihash proof of work (its parameters, seed and summary are checked);
//! * nothing else.

mod accounts;
mod authority;
mod comments;
mod custom;
mod error;
mod escrow;
pub mod fields;
pub mod json;
mod market;
mod mining;
mod proposals;
mod recovery;
mod transfers;
pub mod witness_properties;
mod witnesses;

use cairn_chain::{ChainKind, ChainSpec, Operation};

pub use error::ValidityError;

/// What the rules depend on besides the operation.
#[derive(Debug, Clone, Copy)]
struct Rules<'s> {
    /// Number of the last hardfork in force.
    hardfork: u8,
    spec: &'s ChainSpec,
}

impl Rules<'_> {
    fn since(&self, hardfork: u8) -> Result<(), ValidityError> {
        if self.hardfork >= hardfork {
            return Ok(());
        }
        Err(ValidityError::NotYet {
            since: hardfork,
            hardfork: self.hardfork,
        })
    }

    fn until(&self, hardfork: u8) -> Result<(), ValidityError> {
        if self.hardfork < hardfork {
            return Ok(());
        }
        Err(ValidityError::NoLonger {
            until: hardfork,
            hardfork: self.hardfork,
        })
    }

    /// Accounts and keys that an authority may have, and names that a custom operation may require. The converter that
    /// makes mirrornet's blocks adds one.
    const fn authority_members(&self) -> usize {
        match self.spec.kind {
            ChainKind::Mirrornet => 41,
            _ => 40,
        }
    }
}

/// Checks an operation's own rules. `hardfork` is the number of the last hardfork in force.
///
/// # Errors
/// The first rule that is broken; in a transaction it makes the transaction invalid, in a block the block.
pub fn operation(operation: &Operation<'_>, hardfork: u8, spec: &ChainSpec) -> Result<(), ValidityError> {
    use Operation as Op;
    let rules = &Rules { hardfork, spec };
    match operation {
        Op::Vote(op) => comments::vote(op),
        Op::Comment(op) => comments::comment(op),
        Op::DeleteComment(op) => comments::delete(op),
        Op::CommentOptions(op) => comments::options(op),

        Op::Transfer(op) => transfers::transfer(op),
        Op::TransferToVesting(op) => transfers::to_vesting(op),
        Op::WithdrawVesting(op) => transfers::withdraw_vesting(op, rules),
        Op::SetWithdrawVestingRoute(op) => transfers::vesting_route(op),
        Op::DelegateVestingShares(op) => transfers::delegate(op),
        Op::ClaimRewardBalance(op) => transfers::claim_reward(op),
        Op::TransferToSavings(op) => transfers::to_savings(op),
        Op::TransferFromSavings(op) => transfers::from_savings(op),
        Op::CancelTransferFromSavings(op) => fields::name("from", op.from),
        Op::RecurrentTransfer(op) => transfers::recurrent(op, rules),

        Op::EscrowTransfer(op) => escrow::transfer(op),
        Op::EscrowApprove(op) => escrow::approve(op),
        Op::EscrowDispute(op) => escrow::dispute(op),
        Op::EscrowRelease(op) => escrow::release(op),

        Op::LimitOrderCreate(op) => market::create(op),
        Op::LimitOrderCreate2(op) => market::create2(op),
        Op::LimitOrderCancel(op) => fields::name("owner", op.owner),
        Op::FeedPublish(op) => market::feed(op, rules),
        Op::Convert(op) => market::convert(op),
        Op::CollateralizedConvert(op) => market::collateralized_convert(op, rules),

        Op::AccountCreate(op) => accounts::create(op, rules),
        Op::AccountCreateWithDelegation(op) => accounts::create_with_delegation(op, rules),
        Op::ClaimAccount(op) => accounts::claim(op, rules),
        Op::CreateClaimedAccount(op) => accounts::create_claimed(op, rules),
        Op::AccountUpdate(op) => accounts::update(op, rules),
        Op::AccountUpdate2(op) => accounts::update2(op, rules),
        Op::DeclineVotingRights(op) => accounts::decline_voting_rights(op, rules),

        Op::RequestAccountRecovery(op) => recovery::request(op),
        Op::RecoverAccount(op) => recovery::recover(op),
        Op::ChangeRecoveryAccount(op) => recovery::change_account(op),
        Op::ResetAccount(_) | Op::SetResetAccount(_) => Err(ValidityError::NeverValid),

        Op::WitnessUpdate(op) => witnesses::update(op, rules),
        Op::WitnessSetProperties(op) => witness_properties::check(op, rules),
        Op::AccountWitnessVote(op) => witnesses::vote(op),
        Op::AccountWitnessProxy(op) => witnesses::proxy(op),
        // Travels between nodes, and stands in no block.
        Op::WitnessBlockApprove(_) => Err(ValidityError::NeverValid),

        Op::CreateProposal(op) => proposals::create(op, rules),
        Op::UpdateProposal(op) => proposals::update(op, rules),
        Op::UpdateProposalVotes(op) => proposals::votes(op, rules),
        Op::RemoveProposal(op) => proposals::remove(op, rules),

        Op::Custom(op) => custom::custom(op, rules),
        Op::CustomJson(op) => custom::json(op, rules),
        Op::CustomBinary(_) => Err(ValidityError::NeverValid),

        Op::Pow(op) => mining::pow(op, rules),
        Op::Pow2(op) => mining::pow2(op, rules),
    }
}

#[cfg(test)]
mod tests;
