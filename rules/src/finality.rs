//! What makes a block irreversible.
//!
//! Nothing of it is in the blocks: each node works it out from the blocks that it has seen. In hived a block that three
//! quarters of the scheduled witnesses have built on can never be taken back, before the mining era's end one that lies a
//! round below the head. Who is scheduled is known only as far as the schedule can be followed without stake.

use cairn_chain::AccountName;

use crate::registers::{TableError, WitnessActivity};
use crate::schedule::draw::{ROUND, Schedule};
use crate::state::IdentityState;

/// Of a schedule's entries this many in a hundred need not have built on a block: hived's
/// `100 - HIVE_IRREVERSIBLE_THRESHOLD`.
const DISPENSABLE_PERCENT: usize = 25;

/// What a block needs to become irreversible.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Finality {
    /// It lies this many blocks below the head.
    Depth(u32),
    /// Witnesses of the schedule have built on it.
    Votes {
        /// The scheduled ones, each once, by name.
        witnesses: Vec<AccountName>,
        /// How many of them.
        needed: usize,
    },
    /// The schedule depends on stake. Different witnesses have built on it; which ones count is for the caller to say.
    Producers {
        /// How many. One more than of a known schedule: the entry that changes from round to round may be counted twice.
        needed: usize,
        /// Only blocks this near to the head count: those of two rounds.
        within: u32,
    },
}

impl Finality {
    /// What the schedule asks for.
    fn of(schedule: &Schedule) -> Self {
        match schedule {
            Schedule::Known(list) => {
                let mut witnesses = list.clone();
                witnesses.sort_unstable();
                witnesses.dedup();
                // As in hived: the threshold is that of the list's length, the voters are its different names.
                let needed = witnesses.len().saturating_sub(dispensable(list.len())).max(1);
                Self::Votes { witnesses, needed }
            }
            Schedule::Unknown { size, .. } => {
                let size = usize::from(*size).max(1);
                Self::Producers {
                    needed: (size - dispensable(size) + 1).min(size),
                    within: 2 * ROUND,
                }
            }
        }
    }
}

fn dispensable(scheduled: usize) -> usize {
    scheduled * DISPENSABLE_PERCENT / 100
}

impl IdentityState {
    /// The last block of a witness up to the head; 0 when it has made none.
    ///
    /// # Errors
    ///
    /// [`TableError`] if the state cannot be read.
    pub fn last_block_of(&mut self, witness: &AccountName) -> Result<u32, TableError> {
        let activity = self.tables.read::<WitnessActivity>(witness)?;
        Ok(activity.map_or(0, |activity| activity.last_block))
    }

    /// What blocks up to the head need to become irreversible.
    #[must_use]
    pub fn finality(&self) -> Finality {
        if self.head().number < self.spec.limits.early_chain_blocks {
            Finality::Depth(ROUND)
        } else {
            Finality::of(self.schedule().for_irreversibility())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::Undecidable;

    fn names(count: usize) -> Vec<AccountName> {
        (0..count)
            .map(|n| AccountName::from(format!("witness{n:02}").as_str()))
            .collect()
    }

    fn needed(finality: &Finality) -> usize {
        match finality {
            Finality::Depth(_) => 0,
            Finality::Votes { needed, .. } | Finality::Producers { needed, .. } => *needed,
        }
    }

    #[test]
    fn three_quarters_are_needed_rounded_up() {
        for (scheduled, expected) in [(1, 1), (2, 2), (3, 3), (4, 3), (5, 4), (20, 15), (21, 16)] {
            let finality = Finality::of(&Schedule::Known(names(scheduled)));
            assert_eq!(needed(&finality), expected, "of {scheduled}");
        }
    }

    #[test]
    fn a_name_that_stands_twice_is_one_voter_and_counts_twice_for_the_threshold() {
        // The first lists of a chain: initminer at first twice.
        let name = names(1)[0];
        assert_eq!(needed(&Finality::of(&Schedule::Known(vec![name, name]))), 1);
        let mut list = names(20);
        list.push(list[0]);
        // 20 names less 5 of 21 entries.
        assert_eq!(needed(&Finality::of(&Schedule::Known(list))), 15);
    }

    #[test]
    fn without_the_schedule_one_more_is_needed() {
        let unknown = |size| {
            Finality::of(&Schedule::Unknown {
                size,
                distinct: true,
                reason: Undecidable::Votes,
            })
        };
        assert_eq!((needed(&unknown(21)), needed(&unknown(1))), (17, 1));
    }
}
