//! `cairn run` and `cairn replay`.

use std::path::PathBuf;

use clap::Args;

use super::config_options::{OptionArgs, ReplayOptions, RunOptions};

/// Arguments of `cairn run`.
#[derive(Clone, Debug, Args)]
#[command(
    long_about = "Run a node: replay the local block log if the state is behind it, then sync from peers.\n\n\
        Reads config.ini in the data folder (hived's syntax and names) or the file given with --config. Every option \
        of the file can be given here too and has precedence; lists (checkpoint, p2p-seed-node) add up. The data \
        folder has hived's layout: config.ini, blockchain/block_log*."
)]
pub struct RunArgs {
    /// Configuration file instead of DIR/config.ini.
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,

    /// Print a commented config.ini with every option, and end.
    #[arg(long)]
    pub dump_config: bool,

    /// Options of config.ini.
    #[command(flatten)]
    pub options: OptionArgs<RunOptions>,
}

/// Arguments of `cairn replay`.
#[derive(Clone, Debug, Args)]
#[command(
    long_about = "Replay a block log into the state, verifying it on the way.\n\n\
        Ids are computed from the bytes of every block, links and Merkle roots are always checked; with \
        --validate-during-replay signatures and authorities too. A replay resumes after the last block of the \
        state. Reads config.ini in the data folder as `cairn run` does."
)]
pub struct ReplayArgs {
    /// Configuration file instead of DIR/config.ini.
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,

    /// The block log: a block_log file, or the folder with its parts [default: DIR/blockchain]
    #[arg(long, value_name = "PATH")]
    pub block_log: Option<PathBuf>,

    /// Options of config.ini.
    #[command(flatten)]
    pub options: OptionArgs<ReplayOptions>,
}
