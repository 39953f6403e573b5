//! `cairn log ...`

#![allow(
    rustdoc::broken_intra_doc_links,
    reason = "help texts show [BLOCK_NUM,BLOCK_ID] as it is written"
)]

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// Commands on block logs.
#[derive(Clone, Debug, Subcommand)]
pub enum LogCommand {
    /// Summarize a log: counts, ids, storage, witnesses, keys, digests.
    ///
    /// Reads every block, recovers the key of every signature, and counts. The digests say whether two logs
    /// hold the same blocks, however they are compressed.
    Info(InfoArgs),
    /// Walk a log and check ids, links, Merkle roots and checkpoints; report the first fault.
    ///
    /// The ids are computed from the bytes; an artifacts file is never believed. The first fault is reported with
    /// its block, file, offset, what was expected, what was found, and what to do. Exit code 1, or 3 when a
    /// checkpoint is contradicted.
    Verify(VerifyArgs),
    /// Print the ids of a range of blocks, one `NUMBER ID` a line.
    Ids(IdsArgs),
    /// Print a file for checkpoint-file from a log that you trust.
    ///
    /// Every Nth block of the log, and the last one, which vouches for all blocks of the log: whoever uses the file
    /// ends with the head of this log or says why not. The ids are computed from the bytes and the links between all
    /// blocks are checked on the way; a log that is not whole gives no file. The first lines are comments that say where the file
    /// comes from. Dense checkpoints tell a node earlier that something is wrong; they make it neither safer nor faster.
    Checkpoints(CheckpointsArgs),
    /// Print one block.
    Get(GetArgs),
    /// Decode one raw block from a file or standard input, as bytes or as hex.
    Decode(DecodeArgs),
}

/// Which chain a log belongs to.
#[derive(Clone, Debug, Args)]
pub struct ChainArgs {
    /// The chain: hive, hive-testnet, hive-mirrornet, steem-testnet, or a chain specification file (JSON).
    #[arg(long, value_name = "NAME|FILE", default_value = "hive")]
    pub chain: String,
}

/// Arguments of every command that reads a log.
#[derive(Clone, Debug, Args)]
pub struct LogArgs {
    /// A block_log file, or the folder with split parts.
    #[arg(value_name = "PATH")]
    pub path: PathBuf,

    /// The chain.
    #[command(flatten)]
    pub chain: ChainArgs,

    /// Folder with Hive's compression dictionaries (000M.dict.zst and so on), for logs that use them.
    #[arg(long, value_name = "DIR")]
    pub zstd_dictionaries: Option<PathBuf>,
}

/// Arguments of `cairn log info`.
#[derive(Clone, Debug, Args)]
pub struct InfoArgs {
    /// The log.
    #[command(flatten)]
    pub log: LogArgs,

    /// Print the summary as one JSON object on one line.
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `cairn log verify`.
#[derive(Clone, Debug, Args)]
pub struct VerifyArgs {
    /// The log.
    #[command(flatten)]
    pub log: LogArgs,

    /// A trusted pair [BLOCK_NUM,BLOCK_ID] that the log must hold. May be repeated. Quote it in a shell.
    #[arg(short = 'c', long, value_name = "[N,ID]")]
    pub checkpoint: Vec<String>,

    /// A file with one checkpoint a line.
    #[arg(long, value_name = "FILE")]
    pub checkpoint_file: Option<PathBuf>,

    /// Print the result as one JSON object on the last line.
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `cairn log ids`.
#[derive(Clone, Debug, Args)]
pub struct IdsArgs {
    /// The log.
    #[command(flatten)]
    pub log: LogArgs,

    /// First block [default: the first of the log]
    #[arg(long, value_name = "N")]
    pub from: Option<u32>,

    /// Last block [default: the last of the log]
    #[arg(long, value_name = "N")]
    pub to: Option<u32>,

    /// Print one JSON object {"ids":[[NUMBER,"ID"],...]} instead of lines.
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `cairn log checkpoints`.
#[derive(Clone, Debug, Args)]
pub struct CheckpointsArgs {
    /// The log.
    #[command(flatten)]
    pub log: LogArgs,

    /// Distance between two checkpoints, in blocks.
    #[arg(long, value_name = "N", default_value_t = 100_000, value_parser = clap::value_parser!(u32).range(1..))]
    pub every: u32,

    /// Print one JSON object {"chain":...,"log":...,"first_block":...,"head":{...},"checkpoints":[[NUMBER,"ID"],...]}
    /// on one line instead.
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `cairn log get`.
#[derive(Clone, Debug, Args)]
pub struct GetArgs {
    /// The log.
    #[command(flatten)]
    pub log: LogArgs,

    /// Number of the block.
    #[arg(value_name = "N")]
    pub number: u32,

    /// Print the block's uncompressed bytes in hex instead of JSON.
    #[arg(long, conflicts_with = "json")]
    pub raw: bool,

    /// Print the JSON on one line.
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `cairn log decode`.
#[derive(Clone, Debug, Args)]
pub struct DecodeArgs {
    /// A file with one block, uncompressed, as bytes or as hex; - is standard input.
    #[arg(value_name = "FILE")]
    pub file: PathBuf,

    /// The chain.
    #[command(flatten)]
    pub chain: ChainArgs,

    /// Print the JSON on one line.
    #[arg(long)]
    pub json: bool,
}
