//! `cairn state ...`

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// Commands on the state of a node that is not running.
#[derive(Clone, Debug, Subcommand)]
pub enum StateCommand {
    /// Print the head block, the number and size of the registers, and the digest over all of them.
    Info(StateInfoArgs),
    /// Print the registers of one owner.
    Get(StateGetArgs),
    /// Print counts and digests of the identity state: accounts, authorities, witnesses, votes, comments.
    Identity(StateIdentityArgs),
}

/// Arguments of `cairn state info`.
#[derive(Clone, Debug, Args)]
pub struct StateInfoArgs {
    /// The node's data folder.
    #[arg(short = 'd', long, value_name = "DIR")]
    pub data_dir: PathBuf,

    /// Print one JSON object on one line.
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `cairn state get`.
#[derive(Clone, Debug, Args)]
pub struct StateGetArgs {
    /// The node's data folder.
    #[arg(short = 'd', long, value_name = "DIR")]
    pub data_dir: PathBuf,

    /// Table of the registers, like account or witness.
    #[arg(value_name = "TABLE", required_unless_present = "key")]
    pub table: Option<String>,

    /// Owner within the table, like an account name.
    #[arg(value_name = "OWNER")]
    pub owner: Option<String>,

    /// Field of the owner; all fields when it is not given.
    #[arg(value_name = "FIELD")]
    pub field: Option<String>,

    /// One register by its whole key, in hex.
    #[arg(long, value_name = "HEX", conflicts_with_all = ["table", "owner", "field"])]
    pub key: Option<String>,

    /// Print one JSON object on one line.
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `cairn state identity`.
#[derive(Clone, Debug, Args)]
pub struct StateIdentityArgs {
    /// The node's data folder.
    #[arg(short = 'd', long, value_name = "DIR")]
    pub data_dir: PathBuf,

    /// The chain [default: the one that config.ini names, else hive]
    #[arg(long, value_name = "NAME|FILE")]
    pub chain: Option<String>,

    /// Print one JSON object on one line.
    #[arg(long)]
    pub json: bool,
}
