//! `cairn state restore`: the state goes back to a checkpoint.

use std::sync::Arc;

use anyhow::anyhow;
use cairn_block_log::{BlockLogWriter, CutPolicy, Dictionaries, SetAside, WriterOptions};
use cairn_state::RestorePoint;
use serde_json::json;

use crate::cli::StateRestoreArgs;
use crate::data_dir::DataDir;
use crate::exit::{CommandError, ExitCode};
use crate::output;
use crate::run::{FolderLock, present_layout, refuse_pruned};

/// Puts a restore point in the place of the state.
///
/// # Errors
/// When there is no restore point, or not the one named (usage), it is not usable, or the state is in use.
pub fn execute(args: &StateRestoreArgs) -> Result<ExitCode, CommandError> {
    let data_dir = DataDir::new(&args.data_dir);
    if args.to == Some(0) {
        return begin_anew(&data_dir, args);
    }
    let points = data_dir.restore_points();
    let list = points.list().map_err(anyhow::Error::new)?;
    let wanted = |point: &&RestorePoint| args.to.is_none_or(|number| number == point.number());
    let Some(point) = list.iter().rev().find(wanted) else {
        let there: Vec<_> = list.iter().map(|point| point.number().to_string()).collect();
        return Err(match args.to.filter(|_| !there.is_empty()) {
            None => CommandError::Failed(anyhow!(
                "there is no restore point in {}; --to 0 goes back to the beginning",
                points.dir().display()
            )),
            Some(number) => CommandError::usage(anyhow!(
                "there is no restore point of block {number} in {}, only of {}; --to 0 goes back to the beginning",
                points.dir().display(),
                there.join(" and ")
            )),
        });
    };
    let _lock = FolderLock::take(data_dir.root()).map_err(anyhow::Error::new)?;
    let before = data_dir.read_state().ok().and_then(|store| store.head());
    let cut = data_dir.restore_state(point, || match args.cut_log {
        true => cut_log(&data_dir, args, point.number()),
        false => Ok(None),
    })?;
    let cut = cut.map(|kept| (kept.first, kept.last));
    let id = point.head.map_or([0; 20], |head| head.id);
    tell(args, before.map(|head| head.number), (point.number(), id), cut)
}

/// Removes the state; the next run makes it again.
fn begin_anew(data_dir: &DataDir, args: &StateRestoreArgs) -> Result<ExitCode, CommandError> {
    let _lock = FolderLock::take(data_dir.root()).map_err(anyhow::Error::new)?;
    let before = data_dir.read_state().ok().and_then(|store| store.head());
    // First what the next run needs to begin with another chain; a state without a log is one that peers go on from.
    let cut = match args.cut_log {
        true => cut_log(data_dir, args, 0)?,
        false => {
            // The state would be gone, and nothing here could make it again.
            own_log(data_dir, args)?.map_or(Ok(()), |log| refuse_pruned(&log.reader()))?;
            None
        }
    };
    data_dir.remove_state()?;
    let cut = cut.map(|kept| (kept.first, kept.last));
    tell(args, before.map(|head| head.number), (0, [0; 20]), cut)
}

fn tell(
    args: &StateRestoreArgs,
    before: Option<u32>,
    (number, id): (u32, [u8; 20]),
    cut: Option<(u32, u32)>,
) -> Result<ExitCode, CommandError> {
    if args.json {
        output::json_line(&json!({
            "head": { "number": number, "id": hex::encode(id) },
            "head_before": before,
            "blocks_cut": cut,
        }))?;
    } else {
        let before = before.map_or_else(
            || "an unreadable state".to_owned(),
            |number| format!("block {number}"),
        );
        let rest = match cut {
            Some((first, last)) => {
                format!("blocks {first} to {last} were cut off the block log and are kept beside it")
            }
            None => "the next run applies the block log from there on again".to_owned(),
        };
        output::text(&format!(
            "state restored from {before} to block {number} {}; {rest}\n",
            hex::encode(id)
        ))?;
    }
    Ok(ExitCode::Done)
}

/// Cuts the node's own block log behind a block. `None`: it has no block behind it.
fn cut_log(data_dir: &DataDir, args: &StateRestoreArgs, head: u32) -> anyhow::Result<Option<SetAside>> {
    let Some(mut log) = own_log(data_dir, args)? else {
        return Ok(None);
    };
    let kept = log.set_aside_after(head)?;
    log.close()?;
    Ok(kept)
}

/// The node's own block log. `None`: there is none.
fn own_log(data_dir: &DataDir, args: &StateRestoreArgs) -> anyhow::Result<Option<BlockLogWriter>> {
    let folder = data_dir.blockchain();
    let chain = data_dir
        .recorded_chain()?
        .ok_or_else(|| anyhow!("the chain of {} is not recorded", data_dir.root().display()))?;
    let Some(layout) = present_layout(&folder, chain.blocks_per_log_part) else {
        return Ok(None);
    };
    let dictionaries = match &args.zstd_dictionaries {
        Some(folder) => Dictionaries::load(folder)?,
        None => Dictionaries::none(),
    };
    let options = WriterOptions {
        layout,
        chain: &chain,
        dictionaries: Arc::new(dictionaries),
        cut: CutPolicy::Torn,
    };
    let (log, _) = BlockLogWriter::open(&folder, &options)?;
    Ok(Some(log))
}
