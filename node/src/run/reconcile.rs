//! Bringing state and block log to a block that both have, at the start of a run.
//!
//! Each part heals itself first: the block log cuts its torn tail and makes its index again, the state is at its last
//! commit. Then the log is normally at the state's block or ahead of it, and its tail is applied again. When the log
//! has lost blocks that the state has, a run that has peers fetches them ([`Lag::Fetched`]); elsewhere, and when the log
//! has other blocks, the state goes back to the newest restore point that is on the log's chain. A state that is missing
//! is put back from there too. Every change is one line in the log; a second start finds nothing to do.

use anyhow::bail;
use cairn_block_log::BlockLog;
use cairn_rules::IdentityState;
use cairn_state::{RestorePoint, RestorePoints};
use cairn_sync::id_if_there;

use crate::data_dir::DataDir;

/// What becomes of a block log that lacks blocks which the state has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lag {
    /// It gets them from peers.
    Fetched,
    /// There are no peers: the state has to go back.
    Refused,
}

/// Puts the newest restore point in the place of a state that is missing: one that is on the log's chain, or above a
/// log that is to catch up. Without one nothing is done, and the state is made from genesis.
///
/// # Errors
/// When the restore points cannot be listed, or what an interrupted restore has left cannot be set right.
pub(super) fn replace_missing(
    data_dir: &DataDir,
    tag: &[u8; 32],
    log: Option<&BlockLog>,
    lag: Lag,
) -> anyhow::Result<()> {
    data_dir.settle_registers()?;
    if !data_dir.is_state_missing() {
        return Ok(());
    }
    let fits = |point: &RestorePoint| match log {
        None => true,
        Some(log) if point.number() > log.head_number().unwrap_or(0) => lag == Lag::Fetched,
        Some(log) => is_on_chain_of(log, point),
    };
    for point in data_dir
        .restore_points()
        .list()?
        .iter()
        .rev()
        .filter(|point| fits(point))
    {
        match cairn_state::restore(point, &data_dir.registers(), tag) {
            Ok(()) => {
                tracing::warn!(
                    target: "reconcile",
                    "{}: missing, made again from the restore point at block {}",
                    data_dir.registers().display(),
                    point.number()
                );
                return Ok(());
            }
            Err(error) => tracing::warn!(target: "reconcile", "{error}"),
        }
    }
    if log.is_some_and(|log| log.first_number() == Some(1)) {
        tracing::info!(
            target: "reconcile",
            "{}: missing, made from the block log",
            data_dir.registers().display()
        );
    }
    Ok(())
}

/// Puts the state back to a restore point if it is not on the log's chain, or behind the log's first block. A state that
/// no restore point helps is left as it is.
///
/// # Errors
/// When the log has another block in the place of the state's head, or begins above it, and there is no restore point on
/// the log's chain; or it cannot be restored.
pub(super) fn reconcile(
    state: IdentityState,
    log: &BlockLog,
    points: &RestorePoints,
    lag: Lag,
) -> anyhow::Result<IdentityState> {
    let head = state.head();
    let (first, log_head) = (log.first_number().unwrap_or(1), log.head_number().unwrap_or(0));
    let behind = head.number < first - 1;
    let reason = if behind {
        format!("the block log begins at block {first}")
    } else if head.number == 0 || (head.number > log_head && lag == Lag::Fetched) {
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
    let newest = points
        .list()?
        .into_iter()
        .rev()
        .find(|point| is_on_chain_of(log, point));
    match newest {
        Some(point) => {
            tracing::warn!(
                target: "reconcile",
                "{}: put {} from block {} to its restore point at block {}, because {reason}: {}",
                state.registers().store().dir().display(),
                if behind { "forward" } else { "back" },
                head.number,
                point.number(),
                log.path().display()
            );
            Ok(state.restore(&point)?)
        }
        None if head.number > log_head => Ok(state), // The writer says what can be done.
        None if behind => bail!(
            "the state is at block {}, but {reason}: {}. The blocks between are not here, and there is no restore point on \
             the log's chain. Nothing was changed. Put back the state, or the older files of the log; or move the log's \
             files elsewhere and start again, to fetch everything from peers",
            head.number,
            log.path().display()
        ),
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

fn is_on_chain_of(log: &BlockLog, point: &RestorePoint) -> bool {
    point
        .head
        .is_some_and(|head| id_if_there(log, head.number).is_some_and(|id| id.0 == head.id))
}
