//! `cairn bench state`: the state engine under a load of batches.

mod apart;
mod beside;
mod reads;
mod start;
mod table;
mod workload;

use std::fs;
use std::io;
use std::path::Path;
use std::time::Duration;

use anyhow::Context;
use cairn_state::Head;
use serde_json::{Value, json};
use tempfile::TempDir;

use apart::{Apart, Batch};
use beside::Beside;
use workload::Workload;

use crate::cli::BenchStateArgs;
use crate::exit::CommandError;
use crate::output;

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
        output::text(&table::of(&result))
    }
}

fn measure(args: &BenchStateArgs, folder: &Path) -> anyhow::Result<Value> {
    let store = folder.join("registers");
    let mut workload = Workload::new();
    let mut apart = Apart::open(&store, args.threads)?;
    let load = apart.load(&mut workload, u64::from(args.registers))?;
    let batches: Vec<Batch> = (0..args.rounds)
        .map(|round| apart.batch(&workload.batch(args.batch as usize, round)))
        .collect::<Result<_, _>>()?;
    let reads = reads::measure(&mut apart.registers, &mut workload, args.reads as usize)?;
    let trie = apart.trie.memory().bytes as f64 / apart.trie.counts().registers as f64;
    let cache = apart.registers.cache_stats();
    let root = apart.trie.root();
    let peak = peak_memory();
    let disk = folder_size(&store).context("cannot measure the folder of the state")?;

    let mut beside = Beside::instead_of(apart)?;
    anyhow::ensure!(
        beside.root()? == root,
        "the trie and the one made from the registers have different roots"
    );
    let together: Vec<beside::Batch> = (0..args.rounds)
        .map(|round| beside.batch(&workload.batch(args.batch as usize, args.rounds + round)))
        .collect::<Result<_, _>>()?;
    let seconds: f64 = together.iter().map(|batch| batch.total().as_secs_f64()).sum();
    let operations = f64::from(args.batch) * f64::from(args.rounds);
    let starts = start::measure(beside, &folder.join("trie"), args.starts)?;
    Ok(json!({
        "registers": args.registers,
        "batch": args.batch,
        "rounds": args.rounds,
        "reads": args.reads,
        "threads": args.threads,
        "starts": args.starts,
        "load_s": load.as_secs_f64(),
        "updates_per_s": operations / seconds.max(1e-9),
        "apply_ms": median(batches.iter().map(|batch| batch.apply)),
        "root_ms": median(batches.iter().map(|batch| batch.root)),
        "commit_ms": median(batches.iter().map(|batch| batch.commit)),
        "apart_total_ms": median(batches.iter().map(Batch::total)),
        "batch_apply_ms": median(together.iter().map(|batch| batch.apply)),
        "durable_ms": median(together.iter().map(|batch| batch.durable)),
        "total_ms": median(together.iter().map(beside::Batch::total)),
        "reads_per_s": reads.single,
        "batch_reads_per_s": reads.batch,
        "store_reads_per_s": reads.store_single,
        "store_batch_reads_per_s": reads.store_batch,
        "trie_bytes_per_register": trie,
        "cache_bytes_per_register": cache.memory_bytes as f64 / (cache.entries.max(1)) as f64,
        "trie_rebuild_s": starts.rebuild,
        "trie_file_load_s": starts.load,
        "trie_file_speedup": starts.rebuild / starts.load.max(1e-9),
        "trie_file_mib": starts.file_bytes as f64 / MIB,
        "disk_mib": disk as f64 / MIB,
        "peak_rss_mib": peak.map(|bytes| bytes as f64 / MIB),
    }))
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
