//! Bringing state and block log to a block that both have, at the start of a run.
//!
//! Each part heals itself first: the block log cuts its torn tail and makes its index again, the state is at its last
//! commit. Then the log is normally at the state's block or ahead of it, and its tail is applied again. When the log
//! has lost blocks that the state has, or has others, the state goes back to the newest restore point that is on the
//! log's chain. Every change is one line in the log; a second start finds nothing to do.

use anyhow::bail;
use cairn_block_log::BlockLog;
use cairn_rules::IdentityState;
use cairn_state::{RestorePoint, RestorePoints};
use cairn_sync::id_if_there;

/// Puts the state back to a restore point if it is not on the log's chain. A state that no restore point helps is
/// left as it is.
///
/// # Errors
/// When the log has another block in the place of the state's head and there is no restore point on the log's chain,
/// or it cannot be restored.
pub(super) fn reconcile(
    state: IdentityState,
    log: &BlockLog,
    points: &RestorePoints,
) -> anyhow::Result<IdentityState> {
    let head = state.head();
    let log_head = log.head_number().unwrap_or(0);
    let reason = if head.number == 0 {
        return Ok(state);
    } else if head.number > log_head {
        format!("the block log ends at block {log_head}")
    } else {
        match id_if_there(log, head.number) {
            Some(id) if id != head.id => format!("the block log has {id} as block {}", head.number),
            // What cannot be read is found by the replay, which says where it is.
            _ => return Ok(state),
        }
    };
    let on_the_logs_chain = |point: &RestorePoint| {
        point
            .head
            .is_some_and(|head| id_if_there(log, head.number).is_some_and(|id| id.0 == head.id))
    };
    let newest = points.list()?.into_iter().rev().find(on_the_logs_chain);
    match newest {
        Some(point) => {
            tracing::warn!(
                target: "reconcile",
                "{}: put back from block {} to its restore point at block {}, because {reason}: {}",
                state.registers().store().dir().display(),
                head.number,
                point.number(),
                log.path().display()
            );
            Ok(state.restore(&point)?)
        }
        None if head.number > log_head => Ok(state), // The writer says what can be done.
        None => bail!(
            "the state is at block {} with id {}, but {reason}: {}. There is no restore point on the log's chain. Nothing \
             was changed. Put back the block log that belongs to the state; or make the state again from this log, \
             --force-replay",
            head.number,
            head.id,
            log.path().display()
        ),
    }
}
