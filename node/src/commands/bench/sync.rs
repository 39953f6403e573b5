//! `cairn bench sync`: whole runs, measured from outside.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::Context;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::cli::BenchSyncArgs;
use crate::exit::CommandError;
use crate::local_nodes::{self, NodeProcess, free_port, text};
use crate::output;

/// How long the seed may take to replay its chain and to listen.
const SEED_PATIENCE: Duration = Duration::from_secs(600);
/// Processor of the measured process, and of the seed.
const CORES: (u32, u32) = (0, 1);

/// Runs `cairn bench sync`.
///
/// # Errors
/// [`CommandError`].
pub(super) fn execute(args: &BenchSyncArgs) -> Result<(), CommandError> {
    let folder = TempDir::with_prefix("cairn-bench-").context("cannot make a temporary folder")?;
    let result = sync(args, folder.path())?;
    if args.json {
        output::json_line(&result)
    } else {
        output::text(&table(&result))
    }
}

/// One run as the process itself measured it.
#[derive(Clone, Copy, Debug)]
struct Run {
    seconds: f64,
    /// Share of the time that the writer worked on blocks.
    busy: f64,
}

impl Run {
    fn of(record: &Value) -> Self {
        let phase = |name: &str| record["writer"][name].as_f64().unwrap_or_default();
        let phases = record["writer"].as_object();
        let total: f64 = phases.map_or(0.0, |phases| phases.values().filter_map(Value::as_f64).sum());
        Self {
            seconds: record["seconds"].as_f64().unwrap_or_default(),
            busy: (phase("processing_blocks") + phase("processing_transactions")) / total.max(1e-9),
        }
    }
}

fn sync(args: &BenchSyncArgs, folder: &Path) -> anyhow::Result<Value> {
    let seed = folder.join("seed");
    let spec = local_nodes::generate(&seed, args.blocks, args.compress)?;
    let pinned = can_pin();
    let (measured_core, seed_core) = (pinned.then_some(CORES.0), pinned.then_some(CORES.1));
    let port = free_port()?;
    let chain = format!("chain = {}\nblock-log-split = -1\n", spec.display());
    local_nodes::write_config(&seed, &format!("{chain}p2p-endpoint = 127.0.0.1:{port}\n"))?;
    let mut seed_node = NodeProcess::start(None, seed_core, &["run", "-d", text(&seed)?, "--json"])?;
    seed_node.wait_for("Listening on", SEED_PATIENCE)?;
    let checkpoints = local_nodes::checkpoints(&seed, &spec, args.blocks)?;
    let compression = format!("enable-block-log-compression = {}\n", u8::from(args.compress));
    let config = format!("{chain}{compression}p2p-seed-node = 127.0.0.1:{port}\n{checkpoints}");

    let (mut replays, mut syncs) = (Vec::new(), Vec::new());
    let (log, last) = (seed.join("blockchain"), args.blocks.to_string());
    for round in 0..args.rounds {
        let replayed = folder.join(format!("replay-{round}"));
        local_nodes::write_config(&replayed, &format!("{chain}{checkpoints}"))?;
        let words = [
            "replay",
            "-d",
            text(&replayed)?,
            "--block-log",
            text(&log)?,
            "--json",
        ];
        let replay = NodeProcess::start(None, measured_core, &words)?.finish()?;
        let synced = folder.join(format!("sync-{round}"));
        local_nodes::write_config(&synced, &config)?;
        let words = ["run", "-d", text(&synced)?, "--exit-at-block", &last, "--json"];
        let sync = NodeProcess::start(None, measured_core, &words)?.finish()?;
        anyhow::ensure!(
            replay["state"]["digest"] == sync["state"]["digest"],
            "replay and sync end with different states: {} and {}",
            replay["state"]["digest"],
            sync["state"]["digest"]
        );
        replays.push(Run::of(&replay));
        syncs.push(Run::of(&sync));
        std::fs::remove_dir_all(&replayed)?;
        std::fs::remove_dir_all(&synced)?;
    }
    seed_node.terminate()?;
    seed_node.finish()?;
    let median = |runs: &[Run], value: fn(&Run) -> f64| super::median(runs.iter().map(value));
    let (replay_s, sync_s) = (
        median(&replays, |run| run.seconds),
        median(&syncs, |run| run.seconds),
    );
    let blocks = f64::from(args.blocks);
    Ok(json!({
        "blocks": args.blocks,
        "rounds": args.rounds,
        "compress": args.compress,
        "pinned": pinned,
        "replay_s": replay_s,
        "replay_blocks_per_s": blocks / replay_s.max(1e-9),
        "replay_writer_busy": median(&replays, |run| run.busy),
        "sync_s": sync_s,
        "sync_blocks_per_s": blocks / sync_s.max(1e-9),
        "sync_writer_busy": median(&syncs, |run| run.busy),
        "ratio": sync_s / replay_s.max(1e-9),
    }))
}

/// Whether processes can be pinned here: `taskset` is installed and there are two processors.
pub(super) fn can_pin() -> bool {
    let mut probe = Command::new("taskset");
    probe.args(["--cpu-list", &format!("{},{}", CORES.0, CORES.1), "true"]);
    let status = probe.stdout(Stdio::null()).stderr(Stdio::null()).status();
    let two = std::thread::available_parallelism().is_ok_and(|cores| cores.get() >= 2);
    two && status.is_ok_and(|status| status.success())
}

fn table(result: &Value) -> String {
    let number = |name: &str| result[name].as_f64().unwrap_or_default();
    let row = |what: &str, name: &str| {
        format!(
            "  {what:<10}{:>8.2} s  {:>8.0} blocks/s  writer busy {:>3.0}%\n",
            number(&format!("{name}_s")),
            number(&format!("{name}_blocks_per_s")),
            100.0 * number(&format!("{name}_writer_busy"))
        )
    };
    let pinned = match result["pinned"].as_bool() {
        Some(true) => "pinned to one processor, the seed to another",
        _ => "not pinned",
    };
    format!(
        "{} blocks, medians of {} rounds, {pinned}\n{}{}  ratio     {:>8.2}\n",
        result["blocks"],
        result["rounds"],
        row("replay", "replay"),
        row("sync", "sync"),
        number("ratio")
    )
}
