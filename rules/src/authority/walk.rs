//! The walk of one authority.
//!
//! ```text
//! walk(authority, depth):
//!   total = 0, members = 0
//!   for each key:      signed? mark it, total += weight, total >= threshold: success
//!                      members += 1; the limit of members is reached: failure
//!   for each account:  approved before?     total += weight, total >= threshold: success
//!                      else at full depth?  skip it; it is no member
//!                      else visited = limit of accounts: failure
//!                      else visited += 1, walk its authority at depth + 1;
//!                           on success it is approved, total += weight, total >= threshold: success
//!                      members += 1; the limit of members is reached: failure
//!   success if total >= threshold
//! ```
//!
//! The limit of members is tested after a member was counted, so of 40 the fortieth may still decide, and a threshold of
//! 0 fails with 40 members that do not sign.

use std::collections::BTreeSet;

use cairn_chain::AccountName;

use super::keys::SigningKeys;
use super::{AuthorityFailure, AuthorityRef, AuthoritySource, CheckError, Level, RuleSet};

/// Members that one check may look at: some seconds of work. With the limits of hardfork 20 a transaction of 2 MiB cannot
/// come near it on any chain that can exist; without them only a chain made for the purpose can.
pub const WORK_LIMIT: u64 = 50_000_000;

/// State of a check: what was met, approved, and visited so far.
pub(super) struct Walker<'a, S> {
    pub(super) source: &'a mut S,
    pub(super) keys: SigningKeys<'a>,
    /// Which authority of a member account is looked at: posting or active.
    pub(super) members_by: Level,
    /// Accounts that count against [`RuleSet::accounts`].
    pub(super) visited: u32,
    /// Member accounts whose own authority was satisfied in this phase.
    pub(super) approved: BTreeSet<AccountName>,
    /// Whether a member account ever was.
    pub(super) nested: bool,
    rules: &'a RuleSet,
    steps: u64,
}

/// What the keys of an authority decided.
enum ByKeys {
    Done(bool),
    /// Nothing yet: the weight so far and the members looked at.
    Open {
        total: u32,
        members: u32,
    },
}

impl<'a, S: AuthoritySource> Walker<'a, S> {
    pub(super) fn new(rules: &'a RuleSet, keys: SigningKeys<'a>, source: &'a mut S) -> Self {
        Self {
            source,
            keys,
            members_by: Level::Posting,
            visited: 0,
            approved: BTreeSet::new(),
            nested: false,
            rules,
            steps: 0,
        }
    }

    /// Walks an authority of a required account.
    pub(super) fn walk_account(
        &mut self,
        name: AccountName,
        level: Level,
    ) -> Result<bool, CheckError<S::Error>> {
        self.walk_named(name, level, 0)
    }

    /// Walks an explicit authority.
    pub(super) fn walk_explicit(
        &mut self,
        authority: AuthorityRef<'_>,
    ) -> Result<bool, CheckError<S::Error>> {
        match by_keys(authority, &mut self.keys, self.rules, &mut self.steps)? {
            ByKeys::Done(success) => Ok(success),
            ByKeys::Open { total, members } => {
                let accounts: Vec<_> = authority.accounts().collect();
                self.walk_members(&accounts, authority.weight_threshold(), total, members, 0)
            }
        }
    }

    fn walk_named(
        &mut self,
        name: AccountName,
        level: Level,
        depth: u32,
    ) -> Result<bool, CheckError<S::Error>> {
        let authority = self
            .source
            .authority(name, level)
            .map_err(CheckError::Source)?
            .ok_or(AuthorityFailure::UnknownAccount(name))?;
        let (total, members) = match by_keys(authority, &mut self.keys, self.rules, &mut self.steps)? {
            ByKeys::Done(success) => return Ok(success),
            ByKeys::Open { total, members } => (total, members),
        };
        let threshold = authority.weight_threshold();
        // The source is needed for the members, so this authority has to be let go. It has members that are accounts.
        let accounts: Vec<_> = authority.accounts().collect();
        self.walk_members(&accounts, threshold, total, members, depth)
    }

    fn walk_members(
        &mut self,
        accounts: &[(AccountName, u16)],
        threshold: u32,
        mut total: u32,
        mut members: u32,
        depth: u32,
    ) -> Result<bool, CheckError<S::Error>> {
        for (name, weight) in accounts {
            count_step(&mut self.steps)?;
            if !self.approved.contains(name) {
                if depth >= self.rules.depth {
                    continue;
                }
                if self.rules.accounts > 0 && self.visited >= self.rules.accounts {
                    return Ok(false);
                }
                self.visited = self.visited.saturating_add(1);
                if self.walk_named(*name, self.members_by, depth + 1)? {
                    self.approved.insert(*name);
                    self.nested = true;
                    if add(&mut total, *weight, threshold) {
                        return Ok(true);
                    }
                }
            } else if add(&mut total, *weight, threshold) {
                return Ok(true);
            }
            members += 1;
            if self.rules.members > 0 && members >= self.rules.members {
                return Ok(false);
            }
        }
        Ok(total >= threshold)
    }
}

/// Goes through the keys of an authority. Decided, too, when there are no accounts behind them.
fn by_keys<E>(
    authority: AuthorityRef<'_>,
    keys: &mut SigningKeys<'_>,
    rules: &RuleSet,
    steps: &mut u64,
) -> Result<ByKeys, CheckError<E>> {
    let threshold = authority.weight_threshold();
    let mut total = 0;
    let mut members = 0;
    for (key, weight) in authority.keys() {
        count_step(steps)?;
        if keys.meet(&key) && add(&mut total, weight, threshold) {
            return Ok(ByKeys::Done(true));
        }
        members += 1;
        if rules.members > 0 && members >= rules.members {
            return Ok(ByKeys::Done(false));
        }
    }
    if authority.account_count() == 0 {
        return Ok(ByKeys::Done(total >= threshold));
    }
    Ok(ByKeys::Open { total, members })
}

/// Adds a weight; says whether that is enough. Sums are 32 bits wide and wrap, as in hived.
const fn add(total: &mut u32, weight: u16, threshold: u32) -> bool {
    *total = total.wrapping_add(weight as u32);
    *total >= threshold
}

fn count_step<E>(steps: &mut u64) -> Result<(), CheckError<E>> {
    *steps += 1;
    if *steps > WORK_LIMIT {
        return Err(CheckError::TooMuchWork { steps: *steps });
    }
    Ok(())
}
