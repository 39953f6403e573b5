//! What operations do to the state.
//!
//! [`Evaluator::operation`] is one `match` over all operations without a catch-all: a new operation does not compile
//! until it is decided what it does. Operations that touch balances only have no effect here; of them full validation
//! checks that the accounts they name exist.
//!
//! "Now" is the time of the block before the one that is applied.
//!
//! The rules that an operation must keep by itself, hardforks that bring or end it included, are [`crate::validate`]'s.
//!
//! In reduced validation only the effect is evaluated: what must exist for the effect to make sense is demanded, the
//! other rules are not looked at.

mod accounts;
mod comments;
pub(crate) mod create;
mod mining;
mod owner;
mod proposals;
mod recovery;
mod votes;
mod witnesses;

use cairn_chain::{AccountName, ChainSpec, Operation, Time};

use crate::checks::{Checks, Undecided};
use crate::error::{OperationFault, Stop};
use crate::queues::Queues;
use crate::registers::{AccountCore, Comment, CommentId, Globals, Mining, Tables, Witness};
use crate::roster::Roster;
use crate::schedule::ScheduleState;

pub(crate) use owner::replace_owner;

/// Everything that an operation may read and change.
pub(crate) struct Evaluator<'a> {
    pub(crate) tables: &'a mut Tables,
    pub(crate) globals: &'a mut Globals,
    pub(crate) mining: &'a mut Mining,
    pub(crate) schedule: &'a mut ScheduleState,
    pub(crate) roster: &'a mut Roster,
    pub(crate) queues: &'a mut Queues,
    pub(crate) checks: &'a mut Checks,
    pub(crate) spec: &'a ChainSpec,
    /// Whether the rules that the effect does not need are checked.
    pub(crate) full: bool,
}

/// The result of an operation.
pub(crate) type Evaluated = Result<(), Stop>;

impl Evaluator<'_> {
    /// Time of the last applied block.
    pub(crate) fn now(&self) -> Time {
        self.globals.head_time
    }

    pub(crate) fn hardfork(&self) -> u8 {
        self.globals.hardfork
    }

    /// Evaluates one operation.
    pub(crate) fn operation(&mut self, operation: &Operation<'_>) -> Evaluated {
        use Operation as Op;
        match operation {
            // Accounts.
            Op::AccountCreate(op) => self.account_create(op),
            Op::AccountCreateWithDelegation(op) => self.account_create_with_delegation(op),
            Op::ClaimAccount(op) => self.claim_account(op),
            Op::CreateClaimedAccount(op) => self.create_claimed_account(op),
            Op::AccountUpdate(op) => self.account_update(op),
            Op::AccountUpdate2(op) => self.account_update2(op),
            Op::RequestAccountRecovery(op) => self.request_account_recovery(op),
            Op::RecoverAccount(op) => self.recover_account(op),
            Op::ChangeRecoveryAccount(op) => self.change_recovery_account(op),
            Op::DeclineVotingRights(op) => self.decline_voting_rights(op),

            // Witnesses, mining, governance.
            Op::WitnessUpdate(op) => self.witness_update(op),
            Op::WitnessSetProperties(op) => self.witness_set_properties(op),
            Op::FeedPublish(op) => self.feed_publish(op),
            Op::AccountWitnessVote(op) => self.account_witness_vote(op),
            Op::AccountWitnessProxy(op) => self.account_witness_proxy(op),
            Op::Pow(op) => self.pow(op),
            Op::Pow2(op) => self.pow2(op),
            Op::CreateProposal(op) => self.create_proposal(op),
            Op::UpdateProposal(op) => self.update_proposal(op),
            Op::RemoveProposal(op) => self.remove_proposal(op),
            Op::UpdateProposalVotes(op) => self.update_proposal_votes(op),

            // Comments.
            Op::Comment(op) => self.comment(op),
            Op::DeleteComment(op) => self.delete_comment(op),

            // No effect on identity state; the accounts and comments that they name must exist.
            Op::CommentOptions(op) => self.comment_options(op),
            Op::Vote(op) => self.vote(op),
            Op::Transfer(op) => self.accounts_exist(&[op.from, op.to]),
            // Without a receiver the sender receives.
            Op::TransferToVesting(op) if op.to.is_empty() => self.accounts_exist(&[op.from]),
            Op::TransferToVesting(op) => self.accounts_exist(&[op.from, op.to]),
            Op::WithdrawVesting(op) => self.accounts_exist(&[op.account]),
            Op::SetWithdrawVestingRoute(op) => self.accounts_exist(&[op.from_account, op.to_account]),
            Op::DelegateVestingShares(op) => self.accounts_exist(&[op.delegator, op.delegatee]),
            Op::ClaimRewardBalance(op) => self.accounts_exist(&[op.account]),
            Op::TransferToSavings(op) => self.accounts_exist(&[op.from, op.to]),
            Op::TransferFromSavings(op) => self.accounts_exist(&[op.from, op.to]),
            Op::CancelTransferFromSavings(op) => self.accounts_exist(&[op.from]),
            Op::RecurrentTransfer(op) => self.accounts_exist(&[op.from, op.to]),
            Op::LimitOrderCreate(op) => self.accounts_exist(&[op.owner]),
            Op::LimitOrderCreate2(op) => self.accounts_exist(&[op.owner]),
            Op::LimitOrderCancel(op) => self.accounts_exist(&[op.owner]),
            Op::Convert(op) => self.accounts_exist(&[op.owner]),
            Op::CollateralizedConvert(op) => self.accounts_exist(&[op.owner]),
            Op::EscrowTransfer(op) => self.accounts_exist(&[op.from, op.to, op.agent]),
            Op::EscrowApprove(op) => self.accounts_exist(&[op.from, op.to, op.agent, op.who]),
            Op::EscrowDispute(op) => self.accounts_exist(&[op.from, op.to, op.agent, op.who]),
            Op::EscrowRelease(op) => self.accounts_exist(&[op.from, op.to, op.agent, op.who, op.receiver]),

            // No effect, and no account but those whose authority was checked.
            Op::Custom(_) | Op::CustomJson(_) => Ok(()),

            // Refused by their own rules, whatever the hardfork.
            Op::CustomBinary(_)
            | Op::ResetAccount(_)
            | Op::SetResetAccount(_)
            | Op::WitnessBlockApprove(_) => Ok(()),
        }
    }

    /// In full validation: all of these accounts exist.
    fn accounts_exist(&mut self, names: &[AccountName]) -> Evaluated {
        if self.full {
            for name in names {
                self.account_exists(name)?;
            }
        }
        Ok(())
    }

    /// The account exists.
    fn account_exists(&mut self, name: &AccountName) -> Evaluated {
        if self.tables.has::<AccountCore>(name)? {
            Ok(())
        } else {
            Err(OperationFault::NoAccount(*name).into())
        }
    }

    /// Reads an account that must exist.
    fn account(&mut self, name: &AccountName) -> Result<AccountCore, Stop> {
        self.tables
            .read(name)?
            .ok_or_else(|| OperationFault::NoAccount(*name).into())
    }

    /// Reads a witness that must exist.
    fn witness(&mut self, name: &AccountName) -> Result<Witness, Stop> {
        self.tables
            .read(name)?
            .ok_or_else(|| OperationFault::NoWitness(*name).into())
    }

    /// In full validation: the comment exists.
    fn comment_exists(&mut self, author: &AccountName, permlink: &[u8]) -> Evaluated {
        if !self.full {
            return Ok(());
        }
        match self.tables.read::<Comment>(CommentId { author, permlink })? {
            None => Err(no_comment(author, permlink)),
            Some(comment) if comment.flags.deletion_undecided => {
                self.checks.undecided(Undecided::CommentExistence);
                Ok(())
            }
            Some(_) => Ok(()),
        }
    }

    /// In full validation: something that was done last at `last` (0: never) was more than `seconds` ago.
    fn longer_ago(&self, what: &'static str, last: Time, seconds: u32) -> Evaluated {
        if self.full && !is_longer_ago(self.now(), last, seconds) {
            return Err(OperationFault::TooSoon {
                what,
                seconds,
                last,
                now: self.now(),
            }
            .into());
        }
        Ok(())
    }
}

/// Whether more than `seconds` lie between two times.
pub(crate) fn is_longer_ago(now: Time, last: Time, seconds: u32) -> bool {
    u64::from(now.0) > u64::from(last.0) + u64::from(seconds)
}

/// A time later, and the last one of all instead of beyond it.
pub(crate) fn later(time: Time, seconds: u32) -> Time {
    Time(time.0.saturating_add(seconds))
}

fn no_comment(author: &AccountName, permlink: &[u8]) -> Stop {
    OperationFault::NoComment {
        author: *author,
        permlink: String::from_utf8_lossy(permlink).into_owned(),
    }
    .into()
}
