//! `cairn bench`

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
}

/// Arguments of `cairn bench sync`.
#[derive(Clone, Debug, Args)]
pub struct BenchSyncArgs {
    /// Length of the generated chain, in blocks.
    #[arg(long, value_name = "N", default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(10..))]
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
