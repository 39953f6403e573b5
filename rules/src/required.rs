//! Which authorities an operation requires.
//!
//! An operation names accounts whose owner, active or posting authority (or, for a witness, signing key) must have
//! signed, and rarely an explicit authority that stands in the operation itself. A transaction requires what all its
//! operations require together: four sets of names, and the explicit authorities in the order of the operations.
//!
//! The names are not checked for form here; a name that does not exist makes the check fail.

use cairn_chain::operations::Pow2Work;
use cairn_chain::{AccountName, Authority, Operation, Transaction};

use crate::registers::canonical_authority;
use crate::validate::witness_properties;

/// Account whose authority nobody can satisfy.
const NULL_ACCOUNT: AccountName = AccountName::new(b"null");

/// A sorted set of names. One name, by far the most frequent case, needs no allocation.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Names {
    one: Option<AccountName>,
    /// All names, when there are two or more.
    many: Vec<AccountName>,
}

impl Names {
    /// Adds a name; the order is made by [`Self::sort`].
    fn add(&mut self, name: AccountName) {
        match self.one {
            None => self.one = Some(name),
            Some(one) if self.many.is_empty() => {
                if one != name {
                    self.many.extend([one, name]);
                }
            }
            // Operations of one transaction mostly require the same account; the rest is for `sort`.
            Some(_) if self.many.last() == Some(&name) => {}
            Some(_) => self.many.push(name),
        }
    }

    fn sort(&mut self) {
        self.many.sort_unstable();
        self.many.dedup();
        // Equal sets are equal, in whatever order their names came.
        self.one = self.many.first().copied().or(self.one);
    }

    fn as_slice(&self) -> &[AccountName] {
        if self.many.is_empty() {
            self.one.as_slice()
        } else {
            &self.many
        }
    }
}

/// What has to be satisfied by a transaction's signatures.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RequiredAuthorities {
    owner: Names,
    active: Names,
    posting: Names,
    witness: Names,
    other: Vec<Authority>,
}

/// An operation whose requirements cannot be read; the transaction is invalid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum RequiredError {
    /// The property `key` of `witness_set_properties` is no public key.
    #[error("operation {index}: witness_set_properties: property `key` is no public key")]
    SigningKeyProperty {
        /// Position of the operation in its transaction; 0 for a single operation.
        index: usize,
    },
}

impl RequiredAuthorities {
    /// Requirements from lists of names in any order, and explicit authorities. For tools and tests.
    #[must_use]
    pub fn new(
        owner: &[AccountName],
        active: &[AccountName],
        posting: &[AccountName],
        witness: &[AccountName],
        other: &[Authority],
    ) -> Self {
        let set = |names: &[AccountName]| {
            let mut set = Names::default();
            names.iter().for_each(|name| set.add(*name));
            set.sort();
            set
        };
        Self {
            owner: set(owner),
            active: set(active),
            posting: set(posting),
            witness: set(witness),
            other: other.iter().cloned().map(canonical_authority).collect(),
        }
    }

    /// Accounts whose owner authority is required, sorted.
    #[must_use]
    pub fn owner(&self) -> &[AccountName] {
        self.owner.as_slice()
    }

    /// Accounts whose active authority is required, sorted.
    #[must_use]
    pub fn active(&self) -> &[AccountName] {
        self.active.as_slice()
    }

    /// Accounts whose posting authority is required, sorted.
    #[must_use]
    pub fn posting(&self) -> &[AccountName] {
        self.posting.as_slice()
    }

    /// Witnesses whose signing key is required, sorted.
    #[must_use]
    pub fn witness(&self) -> &[AccountName] {
        self.witness.as_slice()
    }

    /// Explicit authorities in the order of the operations, each in canonical form.
    #[must_use]
    pub fn other(&self) -> &[Authority] {
        &self.other
    }

    /// Whether anything but posting is required.
    #[must_use]
    pub fn has_more_than_posting(&self) -> bool {
        !(self.owner().is_empty()
            && self.active().is_empty()
            && self.witness().is_empty()
            && self.other.is_empty())
    }

    /// Whether nothing is required, so that no signature is needed (`pow`).
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.posting().is_empty() && !self.has_more_than_posting()
    }

    fn sorted(mut self) -> Self {
        self.owner.sort();
        self.active.sort();
        self.posting.sort();
        self.witness.sort();
        self
    }
}

/// What one operation requires.
///
/// # Errors
/// [`RequiredError`], with index 0.
pub fn authorities(operation: &Operation<'_>) -> Result<RequiredAuthorities, RequiredError> {
    let mut required = RequiredAuthorities::default();
    add(operation, 0, &mut required)?;
    Ok(required.sorted())
}

/// What the operations of a transaction require together.
///
/// # Errors
/// [`RequiredError`] of the first operation whose requirements cannot be read.
pub fn of_transaction(transaction: &Transaction<'_>) -> Result<RequiredAuthorities, RequiredError> {
    let mut required = RequiredAuthorities::default();
    for (index, operation) in transaction.operations.iter().enumerate() {
        add(operation, index, &mut required)?;
    }
    Ok(required.sorted())
}

/// The table. One arm for each operation, so that a new one does not compile without a decision.
fn add(
    operation: &Operation<'_>,
    index: usize,
    required: &mut RequiredAuthorities,
) -> Result<(), RequiredError> {
    use Operation as Op;
    match operation {
        Op::Vote(op) => required.posting.add(op.voter),
        Op::Comment(op) => required.posting.add(op.author),
        Op::DeleteComment(op) => required.posting.add(op.author),
        Op::CommentOptions(op) => required.posting.add(op.author),
        Op::ClaimRewardBalance(op) => required.posting.add(op.account),

        Op::Transfer(op) => required.active.add(op.from),
        Op::TransferToVesting(op) => required.active.add(op.from),
        Op::TransferToSavings(op) => required.active.add(op.from),
        Op::TransferFromSavings(op) => required.active.add(op.from),
        Op::CancelTransferFromSavings(op) => required.active.add(op.from),
        Op::RecurrentTransfer(op) => required.active.add(op.from),
        Op::EscrowTransfer(op) => required.active.add(op.from),
        Op::EscrowApprove(op) => required.active.add(op.who),
        Op::EscrowDispute(op) => required.active.add(op.who),
        Op::EscrowRelease(op) => required.active.add(op.who),
        Op::WithdrawVesting(op) => required.active.add(op.account),
        Op::SetWithdrawVestingRoute(op) => required.active.add(op.from_account),
        Op::DelegateVestingShares(op) => required.active.add(op.delegator),
        Op::Convert(op) => required.active.add(op.owner),
        Op::CollateralizedConvert(op) => required.active.add(op.owner),
        Op::LimitOrderCreate(op) => required.active.add(op.owner),
        Op::LimitOrderCreate2(op) => required.active.add(op.owner),
        Op::LimitOrderCancel(op) => required.active.add(op.owner),

        Op::AccountCreate(op) => required.active.add(op.creator),
        Op::AccountCreateWithDelegation(op) => required.active.add(op.creator),
        Op::ClaimAccount(op) => required.active.add(op.creator),
        Op::CreateClaimedAccount(op) => required.active.add(op.creator),
        Op::AccountUpdate(op) => {
            if op.owner.is_some() {
                required.owner.add(op.account);
            } else {
                required.active.add(op.account);
            }
        }
        Op::AccountUpdate2(op) => {
            if op.owner.is_some() {
                required.owner.add(op.account);
            } else if op.active.is_some()
                || op.posting.is_some()
                || op.memo_key.is_some()
                || !op.json_metadata.is_empty()
            {
                required.active.add(op.account);
            } else {
                required.posting.add(op.account);
            }
        }

        Op::RequestAccountRecovery(op) => required.active.add(op.recovery_account),
        Op::RecoverAccount(op) => {
            required
                .other
                .push(canonical_authority(op.new_owner_authority.clone()));
            required
                .other
                .push(canonical_authority(op.recent_owner_authority.clone()));
        }
        Op::ChangeRecoveryAccount(op) => required.owner.add(op.account_to_recover),
        Op::DeclineVotingRights(op) => required.owner.add(op.account),
        Op::ResetAccount(op) => required.active.add(op.reset_account),
        // Never valid, so that its requirement never matters.
        Op::SetResetAccount(op) => {
            if op.current_reset_account.is_empty() {
                required.posting.add(op.account);
            } else {
                required.owner.add(op.account);
            }
        }

        Op::WitnessUpdate(op) => required.active.add(op.owner),
        Op::WitnessSetProperties(op) => match witness_properties::find(op, b"key") {
            Some(bytes) => {
                let key = witness_properties::signing_key(bytes)
                    .ok_or(RequiredError::SigningKeyProperty { index })?;
                required.other.push(Authority::of_key(key));
            }
            // Cannot be satisfied.
            None => required.other.push(Authority::of_account(NULL_ACCOUNT)),
        },
        Op::FeedPublish(op) => required.active.add(op.publisher),
        Op::AccountWitnessVote(op) => required.active.add(op.account),
        Op::AccountWitnessProxy(op) => required.active.add(op.account),
        Op::WitnessBlockApprove(op) => required.witness.add(op.witness),

        Op::CreateProposal(op) => required.active.add(op.creator),
        Op::UpdateProposal(op) => required.active.add(op.creator),
        Op::UpdateProposalVotes(op) => required.active.add(op.voter),
        Op::RemoveProposal(op) => required.active.add(op.proposal_owner),

        Op::Custom(op) => op
            .required_auths
            .iter()
            .for_each(|name| required.active.add(*name)),
        Op::CustomJson(op) => {
            op.required_auths
                .iter()
                .for_each(|name| required.active.add(*name));
            op.required_posting_auths
                .iter()
                .for_each(|name| required.posting.add(*name));
        }
        Op::CustomBinary(op) => {
            op.required_owner_auths
                .iter()
                .for_each(|name| required.owner.add(*name));
            op.required_active_auths
                .iter()
                .for_each(|name| required.active.add(*name));
            op.required_posting_auths
                .iter()
                .for_each(|name| required.posting.add(*name));
            required
                .other
                .extend(op.required_auths.iter().cloned().map(canonical_authority));
        }

        Op::Pow(_) => {}
        Op::Pow2(op) => match op.new_owner_key {
            Some(key) => required.other.push(Authority::of_key(key)),
            None => required.active.add(match &op.work {
                Pow2Work::Hash(work) => work.input.worker_account,
                Pow2Work::Equihash(work) => work.input.worker_account,
            }),
        },
    }
    Ok(())
}

#[cfg(test)]
mod tests;
