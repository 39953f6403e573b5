//! `cairn bench undo`: what undo sessions cost where none is needed.

use std::path::Path;

use anyhow::Context;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::median;
use crate::cli::BenchUndoArgs;
use crate::exit::CommandError;
use crate::local_nodes::{self, NodeProcess, text};
use crate::output;

/// Runs `cairn bench undo`.
///
/// # Errors
/// [`CommandError`].
pub(super) fn execute(args: &BenchUndoArgs) -> Result<(), CommandError> {
    let folder = TempDir::with_prefix("cairn-bench-").context("cannot make a temporary folder")?;
    let result = undo(args, folder.path())?;
    if args.json {
        output::json_line(&result)
    } else {
        output::text(&table(&result))
    }
}

fn undo(args: &BenchUndoArgs, folder: &Path) -> anyhow::Result<Value> {
    let seed = folder.join("seed");
    let spec = local_nodes::generate(&seed, args.blocks, false)?;
    let log = seed.join("blockchain");
    let checkpoints = local_nodes::checkpoints(&seed, &spec, args.blocks)?;
    let mut runs = [Vec::new(), Vec::new()];
    for round in 0..args.rounds {
        for (sessions, runs) in runs.iter_mut().enumerate() {
            let own = folder.join(format!("{round}-{sessions}"));
            let lines = format!(
                "chain = {}\nblock-log-split = -1\nundo-below-checkpoint = {sessions}\n{checkpoints}",
                spec.display()
            );
            local_nodes::write_config(&own, &lines)?;
            let words = ["replay", "-d", text(&own)?, "--block-log", text(&log)?, "--json"];
            runs.push(NodeProcess::start(None, None, &words)?.finish()?);
            std::fs::remove_dir_all(&own)?;
        }
    }
    let digest = &runs[0][0]["state"]["digest"];
    let same = runs.iter().flatten().all(|run| run["state"]["digest"] == *digest);
    anyhow::ensure!(same, "the runs end with different states: {runs:?}");
    let of = |runs: &[Value], key: &str| median(runs.iter().filter_map(|run| run[key].as_f64()));
    let side = |runs: &[Value]| {
        json!({
            "seconds": of(runs, "seconds"),
            "peak_memory_mib": of(runs, "peak_memory_bytes") / f64::from(1 << 20),
            "undo_sessions": of(runs, "undo_sessions"),
        })
    };
    Ok(json!({
        "blocks": args.blocks,
        "rounds": args.rounds,
        "without": side(&runs[0]),
        "with": side(&runs[1]),
        "time_ratio": of(&runs[1], "seconds") / of(&runs[0], "seconds").max(1e-9),
        "memory_ratio": of(&runs[1], "peak_memory_bytes") / of(&runs[0], "peak_memory_bytes").max(1.0),
    }))
}

fn table(result: &Value) -> String {
    let number = |value: &Value| value.as_f64().unwrap_or_default();
    let row = |what: &str, side: &Value| {
        format!(
            "  {what:<18}{:>8.2} s  {:>7.1} MiB at most  {:>8.0} sessions\n",
            number(&side["seconds"]),
            number(&side["peak_memory_mib"]),
            number(&side["undo_sessions"])
        )
    };
    format!(
        "{} blocks below a checkpoint, medians of {} rounds\n{}{}  ratio             {:>8.2}    {:>7.2}\n",
        result["blocks"],
        result["rounds"],
        row("without undo", &result["without"]),
        row("with undo", &result["with"]),
        number(&result["time_ratio"]),
        number(&result["memory_ratio"])
    )
}
