//! The command line: every command with its arguments and help.
//!
//! The commands and options are a contract that scripts rely on: names stay, options are only added.

mod bench;
mod config_options;
mod demo;
mod devnet;
mod log;
mod run;
mod state;

use clap::{Parser, Subcommand};

pub use bench::{BenchCommand, BenchStateArgs, BenchSyncArgs, BenchUndoArgs, BenchValidationArgs};
pub use config_options::{OptionArgs, ReplayOptions, RunOptions};
pub use demo::DemoArgs;
pub use devnet::{DevnetCommand, GenerateArgs};
pub use log::{
    ChainArgs, CheckpointsArgs, DecodeArgs, GetArgs, IdsArgs, InfoArgs, LogArgs, LogCommand, VerifyArgs,
};
pub use run::{ReplayArgs, RunArgs};
pub use state::{
    StateCheckArgs, StateCommand, StateGetArgs, StateIdentityArgs, StateInfoArgs, StateRestoreArgs,
    StateRootArgs, StateVerifyProofArgs,
};

/// What the exit codes mean, under the help of the program.
const EXIT_CODES: &str = "Exit codes: 0 done, 1 failed, 2 usage or configuration, 3 the data contradicts a checkpoint.\n\
     Logs go to standard error; with --json the last line on standard output is one JSON object.";

/// Gets a Hive node's blocks, verified against your checkpoints: from peers, or from a block log that nobody
/// vouches for.
#[derive(Clone, Debug, Parser)]
#[command(name = "cairn", version, after_help = EXIT_CODES, propagate_version = true)]
#[command(arg_required_else_help = true)]
pub struct Cli {
    /// Least level of the log lines: error, warn, info, debug, trace, or by target like info,cairn_p2p=debug.
    ///
    /// Without it, the environment variable RUST_LOG counts, then log-level in config.ini, then info.
    #[arg(long, global = true, value_name = "LEVEL")]
    pub log_level: Option<String>,

    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Clone, Debug, Subcommand)]
pub enum Command {
    /// Run a node: replay the local block log if the state is behind it, then sync from peers.
    Run(RunArgs),
    /// Replay a block log into the state, verifying it on the way.
    Replay(ReplayArgs),
    /// Look into block logs: summary, verification, ids, single blocks.
    ///
    /// PATH is a block_log file or the folder with split parts; one part alone is accepted as well. Nothing is
    /// written, and no artifacts file is believed.
    #[command(subcommand)]
    Log(LogCommand),
    /// Look into the state of a node that is not running, or put it back to a checkpoint.
    #[command(subcommand)]
    State(StateCommand),
    /// Local chains for development.
    #[command(subcommand)]
    Devnet(DevnetCommand),
    /// Show the main job on this machine: generate a chain, serve it, bootstrap a fresh node from it.
    Demo(DemoArgs),
    /// Measure on this machine: whole runs, the state engine.
    #[command(subcommand)]
    Bench(BenchCommand),
}

#[cfg(test)]
mod tests;
