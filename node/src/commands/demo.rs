//! `cairn demo`: the main job as its user would do it, with two processes on this machine.

use std::cell::RefCell;
use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};
use serde_json::Value;
use tempfile::TempDir;

use crate::cli::DemoArgs;
use crate::devnet::{self, GenerateOptions, Profile};
use crate::exit::{CommandError, ExitCode};
use crate::output;
use crate::progress::Progress;
use crate::run::open_foreign_log;

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
        let spec = self.generate(&seed)?;

        say("2. A seed node on it (its own process)");
        let port = free_port()?;
        write_config(
            &seed,
            &format!("chain = {}\np2p-endpoint = 127.0.0.1:{port}\n", spec.display()),
        )?;
        let mut seed_node = Node::start(
            "seed ",
            &["run", "-d", text(&seed)?, "--json", "--block-log-split", "-1"],
        )?;
        seed_node.wait_for("Listening on", SEED_PATIENCE)?;

        say("3. A fresh node with three checkpoints in its config.ini");
        let checkpoints = self.checkpoints(&seed, &spec)?;
        let config = format!(
            "chain = {}\np2p-seed-node = 127.0.0.1:{port}\nblock-log-split = -1\nstats-interval = 1\n{checkpoints}",
            spec.display()
        );
        write_config(&fresh, &config)?;
        let number = self.blocks.to_string();
        let fresh_node = Node::start(
            "fresh",
            &["run", "-d", text(&fresh)?, "--exit-at-block", &number, "--json"],
        )?;
        let fresh_record = fresh_node.finish()?;

        say("4. The seed is asked to end (SIGTERM), and both are compared");
        seed_node.terminate()?;
        let seed_record = seed_node.finish()?;
        self.table(&seed_record, &fresh_record)
    }

    fn generate(&self, seed: &Path) -> anyhow::Result<PathBuf> {
        let options = GenerateOptions {
            blocks: self.blocks,
            out: seed.to_owned(),
            profile: Profile::Mixed,
            seed: 1,
            compress: true,
            threads: 0,
            faults: Vec::new(),
        };
        let progress = RefCell::new(Progress::start("generating", "blocks", u64::from(self.blocks)));
        let generated = devnet::generate(&options, &|step| {
            progress.borrow_mut().set(u64::from(step.blocks));
        })?;
        Ok(generated.chain_spec_path)
    }

    fn checkpoints(&self, seed: &Path, spec: &Path) -> anyhow::Result<String> {
        let chain = crate::chain_choice::load(text(spec)?)?;
        let dictionaries = std::sync::Arc::new(cairn_block_log::Dictionaries::none());
        let log = open_foreign_log(&seed.join("blockchain"), &chain, &dictionaries)?;
        let mut lines = String::new();
        for number in [self.blocks / 3, self.blocks * 2 / 3, self.blocks] {
            let id = cairn_sync::read_id(&log, number)?;
            writeln!(lines, "checkpoint = [{number},{id}]")?;
        }
        Ok(lines)
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

/// A node as a process of its own; its log lines are shown with its name in front.
struct Node {
    child: Child,
    stdout: thread::JoinHandle<std::io::Result<String>>,
    lines: crossbeam_channel::Receiver<String>,
}

impl Node {
    fn start(name: &'static str, arguments: &[&str]) -> anyhow::Result<Self> {
        let program = std::env::current_exe().context("where is this program?")?;
        let mut child = Command::new(program)
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .context("cannot start a node")?;
        let (Some(mut stdout), Some(stderr)) = (child.stdout.take(), child.stderr.take()) else {
            bail!("a node without output");
        };
        let (sender, lines) = crossbeam_channel::unbounded();
        thread::spawn(move || {
            for line in BufReader::new(stderr).lines().map_while(Result::ok) {
                eprintln!("   {name} | {line}");
                // Nobody listens any more once the expected line has come.
                let _ = sender.send(line);
            }
        });
        let stdout = thread::spawn(move || {
            let mut text = String::new();
            stdout.read_to_string(&mut text).map(|_| text)
        });
        Ok(Self { child, stdout, lines })
    }

    fn wait_for(&mut self, text: &str, patience: Duration) -> anyhow::Result<()> {
        let deadline = Instant::now() + patience;
        loop {
            match self.lines.recv_deadline(deadline) {
                Ok(line) if line.contains(text) => return Ok(()),
                Ok(_) => {}
                Err(_) => bail!("the node did not say {text:?}; see its log above"),
            }
        }
    }

    fn terminate(&self) -> anyhow::Result<()> {
        let status = Command::new("kill")
            .arg(self.child.id().to_string())
            .status()
            .context("cannot run kill")?;
        ensure!(
            status.success(),
            "the node has ended before its time; see its log above"
        );
        Ok(())
    }

    fn finish(mut self) -> anyhow::Result<Value> {
        let status = self.child.wait()?;
        let Ok(text) = self.stdout.join() else {
            bail!("the node's output cannot be read")
        };
        let text = text?;
        ensure!(
            status.success(),
            "the node ended with {status}; see its log above"
        );
        serde_json::from_str(text.lines().last().unwrap_or_default()).context("the node's record")
    }
}

fn say(text: &str) {
    eprintln!("\n{text}");
}

fn text(path: &Path) -> anyhow::Result<&str> {
    path.to_str()
        .with_context(|| format!("{} is not UTF-8", path.display()))
}

fn free_port() -> anyhow::Result<u16> {
    let listener = TcpListener::bind(("127.0.0.1", 0)).context("no free port on loopback")?;
    Ok(listener.local_addr()?.port())
}

fn write_config(folder: &Path, config: &str) -> anyhow::Result<()> {
    fs::create_dir_all(folder)?;
    let path = folder.join("config.ini");
    fs::write(&path, config).with_context(|| format!("cannot write {}", path.display()))?;
    for line in config.lines() {
        eprintln!("   {}: {line}", path.display());
    }
    Ok(())
}
