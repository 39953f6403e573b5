//! The record at the end of a run: the last line on standard output with `--json`.

use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use cairn_chain::BlockId;
use cairn_rules::checks::Checks;
use cairn_sync::stats::{Meter, PhaseTimes};
use cairn_sync::writer::ChainWriter;
use serde::Serialize;

/// The last applied block.
#[derive(Debug, Serialize)]
pub struct HeadRecord {
    number: u32,
    id: String,
    time: String,
}

/// The registers.
#[derive(Debug, Serialize)]
pub struct StateRecord {
    registers: u64,
    bytes: u64,
    /// Root of the register trie. Missing when no trie is kept, or as below.
    root: Option<String>,
    /// Missing when there was no time for it: the run was asked to end.
    digest: Option<String>,
}

/// Whether to read all registers for their digest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DigestWish {
    /// Nobody will look at it.
    Skip,
    /// However long it takes.
    Whole,
    /// If it is done by then.
    Until(Instant),
}

/// What a run did. The keys are a contract: none is renamed or removed.
#[derive(Debug, Serialize)]
pub struct FinalRecord {
    /// Why it ended: `done`, `stopped` or `failed`.
    pub ended: &'static str,
    /// The fault, when it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The chain's name.
    pub chain: String,
    /// The last applied block that is kept: above the last checkpoint the last irreversible one.
    pub head: HeadRecord,
    /// Applied blocks above it, which could still be taken back: they are fetched again by the next run.
    pub reversible_blocks: usize,
    /// Blocks applied by this run.
    pub blocks: u64,
    /// Transactions in them.
    pub transactions: u64,
    /// Operations in them.
    pub operations: u64,
    /// Blocks that were put into the block log and not applied: the state had them.
    pub blocks_logged: u64,
    /// Bytes of blocks and headers that peers have sent to this run, whatever became of them.
    pub received_bytes: u64,
    /// Time from the first block wanted to the last commit.
    pub seconds: f64,
    /// Processor time of the process until now, in seconds.
    pub cpu_seconds: f64,
    /// Reached by this run, ascending.
    pub checkpoints_reached: Vec<(u32, BlockIdText)>,
    /// Configured, above the head.
    pub checkpoints_ahead: usize,
    /// Undo sessions opened by this run.
    pub undo_sessions: u64,
    /// Switches to another fork.
    pub fork_switches: u64,
    /// Last block that a crash cannot lose.
    pub durable_block: u32,
    /// Most memory that the process had at a time, where the system tells (Linux).
    pub peak_memory_bytes: Option<u64>,
    /// The registers after the run.
    pub state: StateRecord,
    /// Where the writer's time went, in seconds.
    pub writer: PhaseTimes,
    /// What was checked above the last checkpoint, or everywhere with `--validate-during-replay`: checks that were done,
    /// including those for blocks that were taken back later or refused. `blocks` counts each block of the chain once.
    pub validation: Checks,
}

/// A block id as hex text.
#[derive(Debug, Serialize)]
pub struct BlockIdText(String);

impl From<BlockId> for BlockIdText {
    fn from(id: BlockId) -> Self {
        Self(id.to_string())
    }
}

/// How a run ended.
#[derive(Debug)]
pub struct RunFacts {
    /// See [`FinalRecord::ended`].
    pub ended: &'static str,
    /// See [`FinalRecord::error`].
    pub error: Option<String>,
    /// See [`FinalRecord::seconds`].
    pub elapsed: Duration,
    /// Time by phase over the run.
    pub writer: PhaseTimes,
}

impl FinalRecord {
    /// Gathers the facts. The digest reads every register, which takes its time on a large state.
    ///
    /// # Errors
    /// When the state cannot be read.
    pub fn gather(
        chain: &ChainWriter,
        name: &str,
        meter: &Meter,
        facts: RunFacts,
        wish: DigestWish,
    ) -> anyhow::Result<Self> {
        // Before the digest, which is no part of the run.
        let cpu_seconds = cpu_seconds().unwrap_or_default();
        let head = chain.kept_head();
        let store = chain.state().registers().store();
        let digest = match wish {
            DigestWish::Skip => None,
            DigestWish::Whole => Some(store.digest()?),
            DigestWish::Until(end) => {
                let digest = store.digest_until(end)?;
                if digest.is_none() {
                    tracing::warn!(target: "run", "shutdown: the record is without the digest of the state, which takes too long");
                }
                digest
            }
        };
        let registers = chain.state().registers();
        let root = match wish {
            DigestWish::Skip => Ok(None),
            DigestWish::Whole => registers.root(None),
            DigestWish::Until(end) => registers.root(Some(end)),
        };
        let root = root.unwrap_or_else(|error| {
            tracing::warn!(target: "run", "the record is without the root of the state: {error}");
            None
        });
        let counts = store.counts();
        Ok(Self {
            ended: facts.ended,
            error: facts.error,
            chain: name.to_owned(),
            head: HeadRecord {
                number: head.number,
                id: head.id.to_string(),
                time: head.time.to_string(),
            },
            reversible_blocks: chain.reversible_len(),
            blocks: meter.blocks.load(Relaxed) - meter.logged.load(Relaxed),
            transactions: meter.transactions.load(Relaxed),
            operations: meter.operations.load(Relaxed),
            blocks_logged: meter.logged.load(Relaxed),
            received_bytes: meter.received_bytes.load(Relaxed),
            seconds: facts.elapsed.as_secs_f64(),
            cpu_seconds,
            checkpoints_reached: chain
                .reached()
                .map(|point| (point.number, point.id.into()))
                .collect(),
            checkpoints_ahead: chain
                .checkpoints()
                .iter()
                .filter(|point| point.number > head.number)
                .count(),
            undo_sessions: meter.undo_sessions.load(Relaxed),
            fork_switches: meter.fork_switches.load(Relaxed),
            durable_block: meter.durable.load(Relaxed),
            peak_memory_bytes: peak_memory(),
            state: StateRecord {
                registers: digest.map_or(counts.registers, |digest| digest.registers),
                bytes: digest.map_or(counts.bytes, |digest| digest.bytes),
                root: root.map(|root| root.root.to_string()),
                digest: digest.map(|digest| hex::encode(digest.digest)),
            },
            writer: facts.writer,
            validation: chain.state().checks().clone(),
        })
    }

    /// The summary for people, one line.
    pub fn summary(&self) -> String {
        let rate = if self.seconds > 0.0 {
            self.blocks as f64 / self.seconds
        } else {
            0.0
        };
        format!(
            "head block {} ({}), {} blocks and {} transactions in {:.3} s ({rate:.0} blocks/s), {} checkpoints reached",
            self.head.number,
            self.head.time,
            self.blocks,
            self.transactions,
            self.seconds,
            self.checkpoints_reached.len()
        )
    }
}

/// VmHWM of /proc/self/status.
fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes << 10)
}

/// Unit of times in `/proc`: `USER_HZ`, which Linux keeps at 100 whatever the kernel's own rate is.
const TICKS_PER_SECOND: f64 = 100.0;

/// Time in user and system mode of all threads of this process, those that have ended included.
fn cpu_seconds() -> Option<f64> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    // The name, in parentheses, may hold anything.
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks = |index: usize| fields.get(index)?.parse::<f64>().ok();
    Some((ticks(11)? + ticks(12)?) / TICKS_PER_SECOND)
}
