//! The order in which requirements are checked.

use cairn_chain::{AccountName, PublicKey};

use super::keys::SigningKeys;
use super::walk::Walker;
use super::{AuthorityFailure, AuthoritySource, CheckError, Level, RuleSet, Satisfied};
use crate::required::RequiredAuthorities;

/// Checks the signatures of a transaction. `keys` are the recovered keys, in any order.
///
/// # Errors
/// [`CheckError::Refused`] with the first requirement that is not met, in hived's order; the source's own error; or
/// [`CheckError::TooMuchWork`].
pub fn check<S: AuthoritySource>(
    rules: &RuleSet,
    required: &RequiredAuthorities,
    keys: &[PublicKey],
    source: &mut S,
) -> Result<Satisfied, CheckError<S::Error>> {
    let keys = SigningKeys::new(keys)?;
    let unsigned = keys.is_empty();
    let mut check = Check {
        walker: Walker::new(rules, keys, source),
        rules,
        satisfied: Satisfied::default(),
    };
    if rules.strict_and_mixed {
        check.posting_strict(required)?;
        check.others(required)?;
    } else if required.posting().is_empty() {
        check.others(required)?;
    } else {
        check.posting_alone(required)?;
    }
    if !rules.redundant_signatures
        && let Some(key) = check.walker.keys.first_unmet()
    {
        return Err(AuthorityFailure::UnusedSignature(key).into());
    }
    let mut satisfied = check.satisfied;
    satisfied.nested = check.walker.nested;
    satisfied.without_signature = unsigned && satisfied.requirements() > 0;
    Ok(satisfied)
}

struct Check<'a, S> {
    walker: Walker<'a, S>,
    rules: &'a RuleSet,
    satisfied: Satisfied,
}

impl<S: AuthoritySource> Check<'_, S> {
    /// Posting before hardfork 28: nothing else beside it, and the higher authorities stand in.
    fn posting_alone(&mut self, required: &RequiredAuthorities) -> Result<(), CheckError<S::Error>> {
        if required.has_more_than_posting() {
            return Err(AuthorityFailure::MixedWithPosting.into());
        }
        self.walker.members_by = Level::Posting;
        for name in required.posting() {
            if self.required_account(*name, Level::Posting)? {
                self.satisfied.posting_by_posting += 1;
            } else if self.fallback(*name, Level::Active)? {
                self.satisfied.posting_by_active += 1;
            } else if self.fallback(*name, Level::Owner)? {
                self.satisfied.posting_by_owner += 1;
            } else {
                return Err(AuthorityFailure::MissingPosting(*name).into());
            }
        }
        Ok(())
    }

    /// Posting since hardfork 28.
    fn posting_strict(&mut self, required: &RequiredAuthorities) -> Result<(), CheckError<S::Error>> {
        self.walker.members_by = Level::Posting;
        for name in required.posting() {
            if !self.required_account(*name, Level::Posting)? {
                return Err(AuthorityFailure::MissingPosting(*name).into());
            }
            self.satisfied.posting_by_posting += 1;
        }
        Ok(())
    }

    /// Explicit authorities, active, owner, witness.
    fn others(&mut self, required: &RequiredAuthorities) -> Result<(), CheckError<S::Error>> {
        self.walker.members_by = Level::Active;
        self.walker.approved.clear();
        for (index, authority) in required.other().iter().enumerate() {
            self.start_uncounted();
            if !self.walker.walk_explicit(authority.into())? {
                return Err(AuthorityFailure::MissingOther { index }.into());
            }
            self.satisfied.other += 1;
        }
        for name in required.active() {
            if self.required_account(*name, Level::Active)? {
                self.satisfied.active_by_active += 1;
            } else if !self.rules.strict_and_mixed && self.fallback(*name, Level::Owner)? {
                self.satisfied.active_by_owner += 1;
            } else {
                return Err(AuthorityFailure::MissingActive(*name).into());
            }
        }
        for name in required.owner() {
            if !self.fallback(*name, Level::Owner)? {
                return Err(AuthorityFailure::MissingOwner(*name).into());
            }
            self.satisfied.owner_by_owner += 1;
        }
        for name in required.witness() {
            let key = self
                .walker
                .source
                .witness_key(*name)
                .map_err(CheckError::Source)?;
            if !key.is_some_and(|key| self.walker.keys.meet(&key)) {
                return Err(AuthorityFailure::MissingWitness(*name).into());
            }
            self.satisfied.witness += 1;
        }
        Ok(())
    }

    /// A required name at the level that the phase looks at: approved already as somebody's member, or by its own
    /// authority. It must exist in either case.
    fn required_account(&mut self, name: AccountName, level: Level) -> Result<bool, CheckError<S::Error>> {
        if self.walker.approved.contains(&name) {
            return Ok(true);
        }
        self.walker.visited = if self.rules.strict_and_mixed {
            self.walker.visited.saturating_add(1)
        } else {
            1
        };
        self.walker.walk_account(name, level)
    }

    /// An owner authority, or a higher authority that stands in: always walked.
    fn fallback(&mut self, name: AccountName, level: Level) -> Result<bool, CheckError<S::Error>> {
        self.start_uncounted();
        self.walker.walk_account(name, level)
    }

    /// Before hardfork 28 each walk counts its accounts anew; since then the count is the transaction's.
    fn start_uncounted(&mut self) {
        if !self.rules.strict_and_mixed {
            self.walker.visited = 0;
        }
    }
}
