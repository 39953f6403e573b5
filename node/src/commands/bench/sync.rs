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

/// What is measured: the name in the result, and for people. A replay of somebody's log writes no log; a sync does, so
/// that the one without a log shows what the network alone costs.
const ROWS: [(&str, &str); 4] = [
    ("replay", "replay"),
    ("sync", "sync"),
    ("sync_no_log", "sync without a block log"),
    ("sync_unpinned", "sync, not pinned"),
];

/// One run as the process itself measured it.
#[derive(Clone, Copy, Debug)]
struct Run {
    seconds: f64,
    /// Processor time of the process, in seconds.
    cpu: f64,
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
            cpu: record["cpu_seconds"].as_f64().unwrap_or_default(),
            busy: (phase("processing_blocks") + phase("processing_transactions")) / total.max(1e-9),
        }
    }

    fn medians(runs: &[Self]) -> Self {
        let median = |value: fn(&Self) -> f64| super::median(runs.iter().map(value));
        Self {
            seconds: median(|run| run.seconds),
            cpu: median(|run| run.cpu),
            busy: median(|run| run.busy),
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

    let last = args.blocks.to_string();
    let run = |name: &str, config: &str, core, words: &[&str]| -> anyhow::Result<(Value, Run)> {
        let data = folder.join(name);
        local_nodes::write_config(&data, config)?;
        let words = [words, &["-d", text(&data)?, "--json"]].concat();
        let record = NodeProcess::start(None, core, &words)?.finish()?;
        std::fs::remove_dir_all(&data)?;
        let measured = Run::of(&record);
        Ok((record["state"]["digest"].clone(), measured))
    };
    let log = seed.join("blockchain");
    let (replay_words, sync_words) = (
        ["replay", "--block-log", text(&log)?],
        ["run", "--exit-at-block", &last],
    );
    let (replay_config, no_log) = (
        format!("{chain}{checkpoints}"),
        config.replace("block-log-split = -1", "block-log-split = 0"),
    );
    let mut runs: [Vec<Run>; 4] = Default::default();
    for _ in 0..args.rounds {
        let (replayed, replay) = run("replay", &replay_config, measured_core, &replay_words)?;
        let (synced, sync) = run("sync", &config, measured_core, &sync_words)?;
        let (unlogged, without_log) = run("sync-no-log", &no_log, measured_core, &sync_words)?;
        let (free, unpinned) = run("sync-free", &config, None, &sync_words)?;
        anyhow::ensure!(
            [&synced, &unlogged, &free] == [&replayed; 3],
            "replay and syncs end with different states: {replayed}, {synced}, {unlogged} and {free}"
        );
        for (all, one) in runs.iter_mut().zip([replay, sync, without_log, unpinned]) {
            all.push(one);
        }
    }
    seed_node.terminate()?;
    seed_node.finish()?;
    let mut result = json!({
        "blocks": args.blocks,
        "rounds": args.rounds,
        "compress": args.compress,
        "pinned": pinned,
    });
    let replay = Run::medians(&runs[0]);
    for ((name, _), runs) in ROWS.iter().zip(&runs) {
        let median = Run::medians(runs);
        result[format!("{name}_s")] = median.seconds.into();
        result[format!("{name}_cpu_s")] = median.cpu.into();
        result[format!("{name}_blocks_per_s")] = (f64::from(args.blocks) / median.seconds.max(1e-9)).into();
        result[format!("{name}_writer_busy")] = median.busy.into();
        result[format!("{name}_ratio")] = (median.seconds / replay.seconds.max(1e-9)).into();
        result[format!("{name}_cpu_ratio")] = (median.cpu / replay.cpu.max(1e-9)).into();
    }
    result["ratio"] = result["sync_ratio"].clone();
    Ok(result)
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
    let number = |name: &str, what: &str| result[format!("{name}_{what}")].as_f64().unwrap_or_default();
    let row = |(name, words): &(&str, &str)| {
        format!(
            "  {words:<26}{:>7.2} s {:>7.2} s CPU {:>7.0} blocks/s  writer busy {:>3.0}%  ratio {:.2}, CPU {:.2}\n",
            number(name, "s"),
            number(name, "cpu_s"),
            number(name, "blocks_per_s"),
            100.0 * number(name, "writer_busy"),
            number(name, "ratio"),
            number(name, "cpu_ratio"),
        )
    };
    let pinned = match result["pinned"].as_bool() {
        Some(true) => "pinned to one processor unless it says otherwise, the seed to another",
        _ => "not pinned",
    };
    let rows: String = ROWS.iter().map(row).collect();
    format!(
        "{} blocks, medians of {} rounds, {pinned}\n{rows}",
        result["blocks"], result["rounds"]
    )
}
