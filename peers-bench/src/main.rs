//! Cairn's state engine beside others: the same batches, made durable by each in turn, in one run.
//!
//! ```text
//! cairn-bench [REGISTERS [BATCH [ROUNDS [DIR]]]]      1000000 10000 20, the folder of temporary files
//! ```
//!
//! Registers with keys of 32 and values of 64 bytes are loaded; then each batch changes existing ones (nine operations in
//! ten) and adds new ones. The engines take turns with every batch, so that all have the same machine. Printed are
//! medians: the time until the root is known, and until the batch is on the disk too.

mod cairn;
mod jmt;
mod nomt;
#[path = "../../node/src/commands/bench/state/workload.rs"]
mod workload;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::Context;
use workload::{Key, Value, Workload};

/// Registers of a batch while loading.
const LOAD: u64 = 100_000;
/// Registers that each engine reads.
const READS: usize = 100_000;

/// What a batch took.
#[derive(Clone, Copy)]
struct Took {
    /// From the batch to its root.
    root: Duration,
    /// From the batch until it was on the disk and its root known.
    durable: Duration,
}

/// One that keeps registers, with a root over them.
trait Engine {
    fn name(&self) -> &'static str;

    /// Makes a batch durable. It is sorted by key and has no key twice.
    fn batch(&mut self, batch: &[(Key, Value)]) -> anyhow::Result<Took>;

    /// Whether there is a register.
    fn read(&mut self, key: &Key) -> anyhow::Result<bool>;
}

/// An engine and what it took.
struct Entry {
    engine: Box<dyn Engine>,
    load: Duration,
    took: Vec<Took>,
    read: Duration,
}

fn main() -> anyhow::Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let number = |at: usize, default: u32| match words.get(at) {
        Some(word) => word.parse().with_context(|| format!("`{word}` is not a number")),
        None => Ok(default),
    };
    let (registers, batch, rounds) = (number(0, 1_000_000)?, number(1, 10_000)?, number(2, 20)?);
    let top = words.get(3).map_or_else(std::env::temp_dir, PathBuf::from);
    let folder = tempfile::TempDir::with_prefix_in("cairn-peers-", top)?;
    let engines: [Box<dyn Engine>; 3] = [
        Box::new(cairn::Cairn::open(&folder.path().join("cairn"))?),
        Box::new(nomt::Peer::open(&folder.path().join("nomt"))?),
        Box::new(jmt::Peer::open(&folder.path().join("jmt"))?),
    ];
    let mut entries = engines.map(|engine| Entry {
        engine,
        load: Duration::ZERO,
        took: Vec::new(),
        read: Duration::ZERO,
    });
    let mut workload = Workload::new();
    let mut loaded = 0;
    while loaded < u64::from(registers) {
        let some = workload.load(LOAD.min(u64::from(registers) - loaded));
        loaded += some.len() as u64;
        for entry in &mut entries {
            entry.load += entry.engine.batch(&some)?.durable;
        }
    }
    for round in 0..rounds {
        let some = workload.batch(batch as usize, round);
        for entry in &mut entries {
            entry.took.push(entry.engine.batch(&some)?);
        }
    }
    for keys in workload.reads(READS).chunks(1_000) {
        for entry in &mut entries {
            let start = Instant::now();
            for key in keys {
                anyhow::ensure!(entry.engine.read(key)?, "{} lost a register", entry.engine.name());
            }
            entry.read += start.elapsed();
        }
    }
    print(&entries, registers, batch, rounds);
    Ok(())
}

fn print(entries: &[Entry], registers: u32, batch: u32, rounds: u32) {
    println!(
        "{registers} registers, {rounds} batches of {batch} operations; medians of a batch, and times ours"
    );
    println!(
        "{:<36}{:>8}{:>10}{:>7}{:>12}{:>7}{:>12}",
        "", "load s", "root ms", "", "durable ms", "", "reads/s"
    );
    let median = |entry: &Entry, of: fn(&Took) -> Duration| {
        let mut times: Vec<f64> = entry
            .took
            .iter()
            .map(|took| of(took).as_secs_f64() * 1e3)
            .collect();
        times.sort_by(f64::total_cmp);
        times.get(times.len() / 2).copied().unwrap_or_default()
    };
    let root = |entry: &Entry| median(entry, |took| took.root);
    let durable = |entry: &Entry| median(entry, |took| took.durable);
    for entry in entries {
        println!(
            "{:<36}{:>8.2}{:>10.2}{:>7.1}{:>12.2}{:>7.1}{:>12.0}",
            entry.engine.name(),
            entry.load.as_secs_f64(),
            root(entry),
            root(entry) / root(&entries[0]),
            durable(entry),
            durable(entry) / durable(&entries[0]),
            READS as f64 / entry.read.as_secs_f64(),
        );
    }
}
