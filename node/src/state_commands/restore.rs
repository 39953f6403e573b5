//! `cairn state restore`: the state goes back to a checkpoint.

use anyhow::anyhow;
use cairn_state::RestorePoint;
use serde_json::json;

use crate::cli::StateRestoreArgs;
use crate::data_dir::DataDir;
use crate::exit::{CommandError, ExitCode};
use crate::output;

/// Puts a restore point in the place of the state.
///
/// # Errors
/// When there is no such restore point (usage), it is not usable, or the state is in use.
pub fn execute(args: &StateRestoreArgs) -> Result<ExitCode, CommandError> {
    let data_dir = DataDir::new(&args.data_dir);
    let points = data_dir.restore_points();
    let list = points.list().map_err(anyhow::Error::new)?;
    let wanted = |point: &&RestorePoint| args.to.is_none_or(|number| number == point.number());
    let Some(point) = list.iter().rev().find(wanted) else {
        let there: Vec<_> = list.iter().map(|point| point.number().to_string()).collect();
        return Err(CommandError::usage(match (there.is_empty(), args.to) {
            (true, _) => anyhow!("there is no restore point in {}", points.dir().display()),
            (false, number) => anyhow!(
                "there is no restore point of block {} in {}, only of {}",
                number.unwrap_or_default(),
                points.dir().display(),
                there.join(" and ")
            ),
        }));
    };
    let before = data_dir.read_state().ok().and_then(|store| store.head());
    data_dir.restore_state(point)?;
    let id = point.head.map_or([0; 20], |head| head.id);
    let before = before.map(|head| head.number);
    if args.json {
        output::json_line(&json!({
            "head": { "number": point.number(), "id": hex::encode(id) },
            "head_before": before,
        }))?;
    } else {
        let before = before.map_or_else(
            || "an unreadable state".to_owned(),
            |number| format!("block {number}"),
        );
        output::text(&format!(
            "state restored from {before} to block {} {}; the next run applies the block log from there on again\n",
            point.number(),
            hex::encode(id)
        ))?;
    }
    Ok(ExitCode::Done)
}
