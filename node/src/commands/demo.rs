//! `cairn demo`: the main job as its user would do it, with two processes on this machine.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, ensure};
use serde_json::Value;
use tempfile::TempDir;

use crate::cli::DemoArgs;
use crate::exit::{CommandError, ExitCode};
use crate::local_nodes::{self, NodeProcess, free_port, text};
use crate::output;

/// How long the seed may take to replay its chain and to listen.
const SEED_PATIENCE: Duration = Duration::from_secs(300);

/// Generates a chain, seeds it, bootstraps a fresh node, and shows what happened.
///
/// # Errors
/// [`CommandError`].
pub fn execute(args: &DemoArgs) -> Result<ExitCode, CommandError> {
    let scratch = match &args.dir {
        Some(_) => None,
        None => Some(TempDir::with_prefix("cairn-demo-").context("cannot make a temporary folder")?),
    };
    let folder = match (&args.dir, &scratch) {
        (Some(dir), _) => dir.clone(),
        (None, Some(scratch)) => scratch.path().to_owned(),
        (None, None) => PathBuf::new(),
    };
    let demo = Demo {
        folder,
        blocks: args.blocks,
    };
    let text = demo.show()?;
    output::text(&text)?;
    Ok(ExitCode::Done)
}

struct Demo {
    folder: PathBuf,
    blocks: u32,
}

impl Demo {
    fn show(&self) -> anyhow::Result<String> {
        let (seed, fresh) = (self.folder.join("seed"), self.folder.join("fresh"));
        ensure!(
            !fresh.exists(),
            "{} exists already: give an empty folder",
            fresh.display()
        );

        say(&format!(
            "1. A chain of {} blocks, real keys and signatures, into {}",
            self.blocks,
            seed.display()
        ));
        let spec = local_nodes::generate(&seed, self.blocks, true)?;

        say("2. A seed node on it (its own process)");
        let port = free_port()?;
        write_config(
            &seed,
            &format!("chain = {}\np2p-endpoint = 127.0.0.1:{port}\n", spec.display()),
        )?;
        let mut seed_node = NodeProcess::start(
            Some("seed "),
            None,
            &["run", "-d", text(&seed)?, "--json", "--block-log-split", "-1"],
        )?;
        seed_node.wait_for("Listening on", SEED_PATIENCE)?;

        say("3. A fresh node with three checkpoints in its config.ini");
        let checkpoints = local_nodes::checkpoints(&seed, &spec, self.blocks)?;
        let config = format!(
            "chain = {}\np2p-seed-node = 127.0.0.1:{port}\nblock-log-split = -1\nstats-interval = 1\n{checkpoints}",
            spec.display()
        );
        write_config(&fresh, &config)?;
        let number = self.blocks.to_string();
        let fresh_node = NodeProcess::start(
            Some("fresh"),
            None,
            &["run", "-d", text(&fresh)?, "--exit-at-block", &number, "--json"],
        )?;
        let fresh_record = fresh_node.finish()?;

        say("4. The seed is asked to end (SIGTERM), and both are compared");
        seed_node.terminate()?;
        let seed_record = seed_node.finish()?;
        self.table(&seed_record, &fresh_record)
    }

    fn table(&self, seed: &Value, fresh: &Value) -> anyhow::Result<String> {
        let same = seed["state"]["digest"] == fresh["state"]["digest"] && seed["head"] == fresh["head"];
        let seconds = fresh["seconds"].as_f64().unwrap_or_default();
        let share = |phase: &str| {
            let total: f64 = fresh["writer"]
                .as_object()
                .map_or(0.0, |phases| phases.values().filter_map(Value::as_f64).sum());
            100.0 * fresh["writer"][phase].as_f64().unwrap_or_default() / total.max(1e-9)
        };
        let reached = fresh["checkpoints_reached"].as_array().map_or(0, Vec::len);
        let digest = |record: &Value| record["state"]["digest"].as_str().unwrap_or("none").to_owned();
        let mut out = String::from("\n");
        let mut row = |name: &str, value: String| writeln!(out, "  {name:<22}{value}");
        row(
            "head block",
            format!(
                "{} {}",
                fresh["head"]["number"],
                fresh["head"]["id"].as_str().unwrap_or("")
            ),
        )?;
        row("blocks", format!("{} in {seconds:.2} s", fresh["blocks"]))?;
        row(
            "blocks/s",
            format!(
                "{:.0}",
                fresh["blocks"].as_f64().unwrap_or_default() / seconds.max(1e-9)
            ),
        )?;
        row("transactions", fresh["transactions"].to_string())?;
        row("checkpoints reached", format!("{reached} of 3"))?;
        row("undo sessions", fresh["undo_sessions"].to_string())?;
        row(
            "writer waited",
            format!("{:.1}% of the time for work", share("waiting_for_work")),
        )?;
        row(
            "writer worked",
            format!("{:.1}% of the time on blocks", share("processing_blocks")),
        )?;
        row("state of the seed", digest(seed))?;
        row("state of the new node", digest(fresh))?;
        row("equal", if same { "yes".into() } else { "NO".into() })?;
        out +=
            "\nNext: `cairn replay --help`, `cairn log verify --help`, config.ini.example, docs/design.md\n";
        ensure!(
            same && reached == 3,
            "the fresh node differs from its seed:\n{out}"
        );
        Ok(out)
    }
}

fn say(text: &str) {
    eprintln!("\n{text}");
}

fn write_config(folder: &Path, config: &str) -> anyhow::Result<()> {
    let path = local_nodes::write_config(folder, config)?;
    for line in config.lines() {
        eprintln!("   {}: {line}", path.display());
    }
    Ok(())
}
