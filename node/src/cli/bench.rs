//! `cairn bench`

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// The benchmarks: whole runs, two things compared in one.
#[derive(Clone, Debug, Subcommand)]
pub enum BenchCommand {
    /// A sync from a peer on loopback against a replay of the same log.
    ///
    /// Generates a chain of profile mixed. In each round one process replays it with checkpoints, and then a fresh node
    /// syncs it with the same checkpoints from a seed. The measured process is pinned to processor 0 and the seed to
    /// processor 1 (with taskset, where it is installed). Printed are the medians and their ratio.
    Sync(BenchSyncArgs),
    /// A replay with an undo session for every block against one without: time and memory.
    ///
    /// Generates a chain of profile mixed and replays it below a checkpoint, where no block is ever taken back, once as
    /// it is done and once with undo-below-checkpoint. Printed are medians and their ratios.
    Undo(BenchUndoArgs),
    /// Full validation on all processors against one, and against the bare recovery of the same signatures.
    ///
    /// Generates a chain of profile mixed. In each round it is replayed with validate-during-replay by one thread on one
    /// processor (with taskset, where it is installed), then by as many threads as there are processors, and then
    /// the keys are recovered from all of its signatures and nothing else is done. Printed are the medians and ratios.
    Validation(BenchValidationArgs),
    /// The state engine alone: batches of changes made durable, and reads.
    ///
    /// Loads registers with random keys of 32 bytes and values of 64 bytes. Each batch changes existing registers (nine
    /// operations in ten) and adds new ones, and is committed: on the disk when it counts. First setting, root and commit
    /// are done one after the other and measured each by itself; then as a node does it: the trie follows the commits in a
    /// thread of its own, and the time is that from the commit's call until the batch is on the disk and its root is
    /// known. Registers are read at random; and the trie is started from the registers and from its file, in turn.
    /// Figures of a batch and of a start are medians.
    State(BenchStateArgs),
}

/// Arguments of `cairn bench sync`.
#[derive(Clone, Debug, Args)]
pub struct BenchSyncArgs {
    /// Length of the generated chain, in blocks.
    #[arg(long, value_name = "N", default_value_t = 40_000, value_parser = clap::value_parser!(u32).range(10..))]
    pub blocks: u32,

    /// Rounds.
    #[arg(long, value_name = "R", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=100))]
    pub rounds: u32,

    /// Compress the generated log.
    #[arg(long)]
    pub compress: bool,

    /// Print one JSON object.
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `cairn bench undo`.
#[derive(Clone, Debug, Args)]
pub struct BenchUndoArgs {
    /// Length of the generated chain, in blocks.
    #[arg(long, value_name = "N", default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(10..))]
    pub blocks: u32,

    /// Rounds.
    #[arg(long, value_name = "R", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=100))]
    pub rounds: u32,

    /// Print one JSON object.
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `cairn bench validation`.
#[derive(Clone, Debug, Args)]
pub struct BenchValidationArgs {
    /// Length of the generated chain, in blocks.
    #[arg(long, value_name = "N", default_value_t = 3_000, value_parser = clap::value_parser!(u32).range(10..))]
    pub blocks: u32,

    /// Rounds.
    #[arg(long, value_name = "R", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=100))]
    pub rounds: u32,

    /// Print one JSON object.
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `cairn bench state`.
#[derive(Clone, Debug, Args)]
pub struct BenchStateArgs {
    /// Registers to load.
    #[arg(long, value_name = "N", default_value_t = 1_000_000, value_parser = clap::value_parser!(u32).range(100..))]
    pub registers: u32,

    /// Operations in a batch.
    #[arg(long, value_name = "B", default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(10..))]
    pub batch: u32,

    /// Batches.
    #[arg(long, value_name = "R", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..))]
    pub rounds: u32,

    /// Registers to read, of each way of reading.
    #[arg(long, value_name = "COUNT", default_value_t = 1_000_000, value_parser = clap::value_parser!(u32).range(100..))]
    pub reads: u32,

    /// Starts in each way; 0 for none.
    #[arg(long, value_name = "S", default_value_t = 3, value_parser = clap::value_parser!(u32).range(0..=100))]
    pub starts: u32,

    /// Threads that compute the root while it is measured by itself.
    #[arg(long, value_name = "THREADS", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=64))]
    pub threads: u32,

    /// Folder for the temporary state; it should lie on the disk that matters.
    #[arg(long, value_name = "DIR")]
    pub dir: Option<PathBuf>,

    /// Print one JSON object.
    #[arg(long)]
    pub json: bool,
}
