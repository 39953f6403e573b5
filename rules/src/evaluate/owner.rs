//! Replacing an owner authority, with the history that a recovery needs.

use cairn_chain::{AccountName, Authority};

use super::{Evaluated, Evaluator, later};
use crate::registers::{AccountCore, OwnerAuthority, OwnerHistory, OwnerHistoryEntry};

/// Replaces the owner authority of an account whose core the caller writes. The old one goes into the owner history,
/// from the block on where that starts.
pub(crate) fn replace_owner(
    evaluator: &mut Evaluator<'_>,
    name: &AccountName,
    core: &mut AccountCore,
    owner: &Authority,
) -> Evaluated {
    let now = evaluator.now();
    if evaluator.globals.head_number >= evaluator.spec.limits.owner_history_start
        && let Some(OwnerAuthority(authority)) = evaluator.tables.read(name)?
    {
        let mut range = evaluator.tables.read::<OwnerHistory>(name)?.unwrap_or_default();
        let entry = OwnerHistoryEntry {
            sequence: evaluator.globals.owner_changes,
            replaced: now,
            authority,
        };
        evaluator.globals.owner_changes += 1;
        if range.first == range.next {
            let due = evaluator.history_due(&entry);
            evaluator.queues.owner_history.set(evaluator.tables, name, due)?;
        }
        evaluator.tables.write((name, range.next), &entry)?;
        // Wraps after 2^32 changes of one account; at one a block that takes 400 years.
        range.next = range.next.wrapping_add(1);
        evaluator.tables.write(name, &range)?;
    }
    core.previous_owner_update = core.last_owner_update;
    core.last_owner_update = now;
    evaluator.set_authority::<OwnerAuthority>(name, owner)
}

impl Evaluator<'_> {
    /// The earliest block time at which an entry is dropped: it must be *later* than the end of its time.
    pub(crate) fn history_due(&self, entry: &OwnerHistoryEntry) -> cairn_chain::Time {
        later(later(entry.replaced, self.spec.limits.owner_history_time), 1)
    }
}
