//! `cairn bench state`: the state engine under a load of batches.

use std::fs;
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::Context;
use cairn_state::trie::{LeafBatch, NodeHash, Trie};
use cairn_state::{Head, Path as StatePath, Registers, Store, StoreOptions, TrieOptions};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::workload::{Key, Workload};
use crate::cli::BenchStateArgs;
use crate::exit::CommandError;
use crate::output;
use crate::progress::Progress;

/// Registers of a batch while loading.
const LOAD: u64 = 100_000;
/// Keys that are read at once, and of which the keys are made before the clock runs.
const READS: usize = 10_000;
/// Registers of a batch read.
const BATCH_READ: usize = 100;
const MIB: f64 = 1_048_576.0;

/// Runs `cairn bench state`.
///
/// # Errors
/// [`CommandError`].
pub(super) fn execute(args: &BenchStateArgs) -> Result<(), CommandError> {
    let top = args.dir.clone().unwrap_or_else(std::env::temp_dir);
    let folder = TempDir::with_prefix_in("cairn-bench-", &top)
        .with_context(|| format!("cannot make a temporary folder in {}", top.display()))?;
    let result = measure(args, folder.path())?;
    if args.json {
        output::json_line(&result)
    } else {
        output::text(&table(&result))
    }
}

/// What a batch took.
#[derive(Clone, Copy, Debug, Default)]
struct Batch {
    /// To set the registers.
    apply: Duration,
    /// From the values to the root.
    root: Duration,
    /// Until it was on the disk.
    commit: Duration,
}

impl Batch {
    fn total(&self) -> Duration {
        self.apply + self.root + self.commit
    }
}

fn measure(args: &BenchStateArgs, folder: &Path) -> anyhow::Result<Value> {
    let mut workload = Workload::new();
    let mut state = State::open(folder, args.threads)?;
    let load = state.load(&mut workload, u64::from(args.registers))?;
    let batches: Vec<Batch> = (0..args.rounds)
        .map(|round| state.batch(&workload.batch(args.batch as usize, round)))
        .collect::<Result<_, _>>()?;
    let seconds: f64 = batches.iter().map(|batch| batch.total().as_secs_f64()).sum();
    let operations = f64::from(args.batch) * f64::from(args.rounds);
    let reads = state.reads(&mut workload, args.reads as usize)?;
    let trie = state.trie.memory().bytes as f64 / state.trie.counts().registers as f64;
    let cache = state.registers.cache_stats();
    let root = state.trie.root();
    let peak = peak_memory();
    let disk = folder_size(folder).context("cannot measure the folder of the state")?;
    // As a node does it: the trie follows the commits in a thread of its own.
    let mut side = state.beside()?;
    anyhow::ensure!(
        side.root()? == root,
        "the trie and the one made from the registers have different roots"
    );
    let beside: Vec<Duration> = (0..args.rounds)
        .map(|round| side.batch(&workload.batch(args.batch as usize, args.rounds + round)))
        .collect::<Result<_, _>>()?;
    Ok(json!({
        "registers": args.registers,
        "batch": args.batch,
        "rounds": args.rounds,
        "reads": args.reads,
        "threads": args.threads,
        "load_s": load.as_secs_f64(),
        "updates_per_s": operations / seconds.max(1e-9),
        "apply_ms": median(batches.iter().map(|batch| batch.apply)),
        "root_ms": median(batches.iter().map(|batch| batch.root)),
        "commit_ms": median(batches.iter().map(|batch| batch.commit)),
        "total_ms": median(batches.iter().map(Batch::total)),
        "beside_total_ms": median(beside.into_iter()),
        "reads_per_s": reads.single,
        "batch_reads_per_s": reads.batch,
        "store_reads_per_s": reads.store_single,
        "store_batch_reads_per_s": reads.store_batch,
        "trie_bytes_per_register": trie,
        "cache_bytes_per_register": cache.memory_bytes as f64 / (cache.entries.max(1)) as f64,
        "disk_mib": disk as f64 / MIB,
        "peak_rss_mib": peak.map(|bytes| bytes as f64 / MIB),
    }))
}

/// Reads a second, in each way.
struct Reads {
    /// From the registers in memory, one after the other.
    single: f64,
    /// The same, many at once.
    batch: f64,
    /// From RocksDB, one after the other.
    store_single: f64,
    /// The same, many at once.
    store_batch: f64,
}

/// The engine, and how many batches it has had.
struct State {
    registers: Registers,
    trie: Trie,
    leaves: LeafBatch,
    number: u32,
}

impl State {
    fn open(folder: &Path, threads: u32) -> anyhow::Result<Self> {
        let store = Store::open(folder, &StoreOptions::new([0xbe; 32]))?;
        let mut trie = Trie::new();
        trie.set_threads(threads as usize);
        Ok(Self {
            registers: Registers::new(store)?,
            trie,
            leaves: LeafBatch::new(),
            number: 0,
        })
    }

    fn load(&mut self, workload: &mut Workload, count: u64) -> anyhow::Result<Duration> {
        let mut progress = Progress::start("loading", "registers", count);
        let mut taken = Duration::ZERO;
        let mut done = 0;
        while done < count {
            let batch = workload.load(LOAD.min(count - done));
            done += batch.len() as u64;
            taken += self.batch(&batch)?.total();
            progress.set(done);
        }
        Ok(taken)
    }

    fn batch(&mut self, batch: &[(Key, [u8; 64])]) -> anyhow::Result<Batch> {
        self.number += 1;
        let start = Instant::now();
        for (key, value) in batch {
            self.registers.set(key, value)?;
        }
        let apply = start.elapsed();
        let start = Instant::now();
        self.leaves.clear();
        for (key, value) in batch {
            self.leaves.set(StatePath::of(key), key.len(), value);
        }
        self.trie.update(self.leaves.changes())?;
        let root = start.elapsed();
        let start = Instant::now();
        self.registers.commit(head(self.number))?;
        let commit = start.elapsed();
        Ok(Batch { apply, root, commit })
    }

    /// Gives up the trie for one that the registers keep themselves.
    fn beside(mut self) -> anyhow::Result<Beside> {
        drop(self.trie);
        self.registers.keep_trie(TrieOptions {
            file: None,
            ..TrieOptions::in_file("")
        })?;
        Ok(Beside {
            registers: self.registers,
            number: self.number,
        })
    }

    fn reads(&mut self, workload: &mut Workload, count: usize) -> anyhow::Result<Reads> {
        let mut times = [Duration::ZERO; 4];
        let mut progress = Progress::start("reading", "registers", count as u64);
        let mut done = 0;
        let mut found = 0;
        while done < count {
            let keys = workload.reads(READS.min(count - done));
            // Interleaved, so that the four ways are measured under the same load of the machine.
            let start = Instant::now();
            for key in &keys {
                found += usize::from(self.registers.get(key)?.is_some());
            }
            times[0] += start.elapsed();
            let keys = workload.reads(keys.len());
            let start = Instant::now();
            for keys in keys.chunks(BATCH_READ) {
                found += self.registers.get_many(keys)?.iter().flatten().count();
            }
            times[1] += start.elapsed();
            let keys = workload.reads(keys.len());
            let store = self.registers.store();
            let start = Instant::now();
            for key in &keys {
                found += usize::from(store.get(key)?.is_some());
            }
            times[2] += start.elapsed();
            let keys = workload.reads(keys.len());
            let start = Instant::now();
            for keys in keys.chunks(BATCH_READ) {
                found += store.get_many(keys)?.iter().flatten().count();
            }
            times[3] += start.elapsed();
            done += keys.len();
            progress.set(done as u64);
        }
        anyhow::ensure!(
            found == times.len() * done,
            "{found} of {} registers were found: the state engine has lost some",
            times.len() * done
        );
        let [single, batch, store_single, store_batch] =
            times.map(|time| done as f64 / time.as_secs_f64().max(1e-9));
        Ok(Reads {
            single,
            batch,
            store_single,
            store_batch,
        })
    }
}

/// The engine with a trie that follows the commits.
struct Beside {
    registers: Registers,
    number: u32,
}

impl Beside {
    fn root(&self) -> anyhow::Result<NodeHash> {
        let root = self.registers.root(None)?;
        Ok(root.context("the registers keep no trie")?.root)
    }

    /// What a batch takes from the first change until it is on the disk and its root is known.
    fn batch(&mut self, batch: &[(Key, [u8; 64])]) -> anyhow::Result<Duration> {
        self.number += 1;
        let start = Instant::now();
        for (key, value) in batch {
            self.registers.set(key, value)?;
        }
        self.registers.commit(head(self.number))?;
        self.root()?;
        Ok(start.elapsed())
    }
}

fn head(number: u32) -> Head {
    Head { number, id: [0; 20] }
}

/// The median, in milliseconds.
fn median(times: impl Iterator<Item = Duration>) -> f64 {
    super::median(times.map(|time| time.as_secs_f64() * 1e3))
}

/// Bytes of the files in a folder.
fn folder_size(folder: &Path) -> io::Result<u64> {
    fs::read_dir(folder)?.try_fold(0, |sum, entry| Ok(sum + entry?.metadata()?.len()))
}

/// The most resident memory that this process ever had, in bytes, where the system tells.
fn peak_memory() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.split_whitespace().next()?.parse::<u64>().ok()? * 1024)
}

fn table(result: &Value) -> String {
    let mut text = format!(
        "{} registers, {} batches of {} operations, {} thread{} for the trie\n",
        result["registers"],
        result["rounds"],
        result["batch"],
        result["threads"],
        if result["threads"] == 1 { "" } else { "s" },
    );
    for (name, what, unit, digits) in ROWS {
        let value = result[name].as_f64().unwrap_or_default();
        text += &format!("  {what:<52}{value:>12.digits$} {unit}\n");
    }
    text
}

/// Key of the JSON object, what it is, unit, digits behind the point.
const ROWS: [(&str, &str, &str, usize); 15] = [
    ("load_s", "load", "s", 2),
    ("updates_per_s", "operations", "/s", 0),
    ("apply_ms", "a batch: set the registers", "ms", 2),
    ("root_ms", "a batch: root", "ms", 2),
    ("commit_ms", "a batch: commit, on the disk", "ms", 2),
    ("total_ms", "a batch: all, one after the other", "ms", 2),
    (
        "beside_total_ms",
        "a batch: all, the root beside the commit",
        "ms",
        2,
    ),
    ("reads_per_s", "reads, from the register cache", "/s", 0),
    (
        "batch_reads_per_s",
        "reads, from the register cache, 100 at once",
        "/s",
        0,
    ),
    ("store_reads_per_s", "reads, from RocksDB", "/s", 0),
    (
        "store_batch_reads_per_s",
        "reads, from RocksDB, 100 at once",
        "/s",
        0,
    ),
    ("trie_bytes_per_register", "trie, a register", "bytes", 1),
    (
        "cache_bytes_per_register",
        "register cache, a register",
        "bytes",
        1,
    ),
    ("disk_mib", "files", "MiB", 1),
    ("peak_rss_mib", "most memory", "MiB", 1),
];
