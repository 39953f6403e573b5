//! Nodes on this machine, for the commands that show or measure what two of them do with each other.

use std::cell::RefCell;
use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};
use cairn_block_log::Dictionaries;
use serde_json::Value;

use crate::devnet::{self, ChainShape, GenerateOptions};
use crate::progress::Progress;
use crate::run::open_foreign_log;

/// Lines of a node's log that are shown when it has failed.
const LAST_LINES: usize = 10;

/// Generates a chain of profile `mixed` into `folder`; the path of its specification.
///
/// # Errors
/// When the folder cannot be written.
pub fn generate(folder: &Path, blocks: u32, compress: bool) -> anyhow::Result<PathBuf> {
    let options = GenerateOptions {
        blocks,
        out: folder.to_owned(),
        shape: ChainShape::new(1),
        compress,
        threads: 0,
        faults: Vec::new(),
        broken: None,
        forks: Vec::new(),
    };
    let progress = RefCell::new(Progress::start("generating", "blocks", u64::from(blocks)));
    let generated = devnet::generate(&options, &|step| {
        progress.borrow_mut().set(u64::from(step.blocks));
    })?;
    Ok(generated.chain_spec_path)
}

/// Three lines for config.ini: a third of the way, two thirds, the last block.
///
/// # Errors
/// When the log cannot be read.
pub fn checkpoints(folder: &Path, spec: &Path, blocks: u32) -> anyhow::Result<String> {
    let chain = crate::chain_choice::load(text(spec)?)?;
    let log = open_foreign_log(
        &folder.join("blockchain"),
        &chain,
        &Arc::new(Dictionaries::none()),
        false,
    )?;
    let mut lines = String::new();
    for number in [blocks / 3, blocks * 2 / 3, blocks] {
        let id = cairn_sync::read_id(&log, number)?;
        writeln!(lines, "checkpoint = [{number},{id}]")?;
    }
    Ok(lines)
}

/// Writes config.ini; its path.
///
/// # Errors
/// When it cannot be written.
pub fn write_config(folder: &Path, config: &str) -> anyhow::Result<PathBuf> {
    fs::create_dir_all(folder)?;
    let path = folder.join("config.ini");
    fs::write(&path, config).with_context(|| format!("cannot write {}", path.display()))?;
    Ok(path)
}

/// A port that nobody listens on.
///
/// # Errors
/// When there is none.
pub fn free_port() -> anyhow::Result<u16> {
    let listener = TcpListener::bind(("127.0.0.1", 0)).context("no free port on loopback")?;
    Ok(listener.local_addr()?.port())
}

/// A path as an argument.
///
/// # Errors
/// When it is not UTF-8.
pub fn text(path: &Path) -> anyhow::Result<&str> {
    path.to_str()
        .with_context(|| format!("{} is not UTF-8", path.display()))
}

/// This program as a process of its own.
#[derive(Debug)]
pub struct NodeProcess {
    child: Child,
    stdout: thread::JoinHandle<std::io::Result<String>>,
    lines: crossbeam_channel::Receiver<String>,
}

impl NodeProcess {
    /// Starts it; its log lines are shown with `name` in front, if it has one. `core`: the one processor that it may use.
    ///
    /// # Errors
    /// When it cannot be started; pinning needs `taskset` (util-linux).
    pub fn start(name: Option<&'static str>, core: Option<u32>, arguments: &[&str]) -> anyhow::Result<Self> {
        let program = std::env::current_exe().context("where is this program?")?;
        let mut command = match core {
            None => Command::new(program),
            Some(core) => {
                let mut pinned = Command::new("taskset");
                pinned.args(["--cpu-list", &core.to_string()]).arg(program);
                pinned
            }
        };
        let mut child = command
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
                if let Some(name) = name {
                    eprintln!("   {name} | {line}");
                }
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

    /// Waits for a line of its log.
    ///
    /// # Errors
    /// When it does not come in time.
    pub fn wait_for(&mut self, text: &str, patience: Duration) -> anyhow::Result<()> {
        let deadline = Instant::now() + patience;
        loop {
            match self.lines.recv_deadline(deadline) {
                Ok(line) if line.contains(text) => return Ok(()),
                Ok(_) => {}
                Err(_) => bail!("the node did not say {text:?}; see its log above"),
            }
        }
    }

    /// Asks it to end.
    ///
    /// # Errors
    /// When it has ended already.
    pub fn terminate(&self) -> anyhow::Result<()> {
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

    /// Waits for its end; what `--json` printed.
    ///
    /// # Errors
    /// When it ended otherwise than well.
    pub fn finish(mut self) -> anyhow::Result<Value> {
        let status = self.child.wait()?;
        let Ok(text) = self.stdout.join() else {
            bail!("the node's output cannot be read")
        };
        let text = text?;
        if !status.success() {
            let log: Vec<String> = self.lines.try_iter().collect();
            let last = log.len().saturating_sub(LAST_LINES);
            bail!(
                "a node ended with {status}; it said last:\n{}",
                log[last..].join("\n")
            );
        }
        serde_json::from_str(text.lines().last().unwrap_or_default()).context("the node's record")
    }
}
