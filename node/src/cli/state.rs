//! `cairn state ...`

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// Commands on the state of a node. Only `restore` writes, and not while the node is running.
#[derive(Clone, Debug, Subcommand)]
pub enum StateCommand {
    /// Print the head block, the number and size of the registers, the digest over all of them, and the restore points.
    Info(StateInfoArgs),
    /// Put the state back to a restore point, as it was when a checkpoint was reached.
    ///
    /// The restore point stays, and so does the block log unless --cut-log is given: the next `cairn run` or `cairn
    /// replay` applies what the log has beyond the restore point again. Killed at any moment, the old state or the restored one is there.
    Restore(StateRestoreArgs),
    /// Print the registers of one owner.
    Get(StateGetArgs),
    /// Print the root of the state: one hash that commits to all registers.
    ///
    /// It is taken from the trie file if that is of the state's block, else computed from all registers. Works beside a
    /// running node, for its last commit.
    Root(StateRootArgs),
    /// Verify that registers have the values that proofs say, in the state with a root.
    ///
    /// Needs no state: only the root, from somebody trusted, and what `cairn state get --proof` printed, from anybody. Exit
    /// code 3 when a proof does not hold.
    VerifyProof(StateVerifyProofArgs),
    /// Look over the whole state: every register, the counts, the root, the trie file.
    ///
    /// Reads everything and writes nothing. Exit code 3 when something is wrong.
    Check(StateCheckArgs),
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

/// Arguments of `cairn state restore`.
#[derive(Clone, Debug, Args)]
pub struct StateRestoreArgs {
    /// The node's data folder.
    #[arg(short = 'd', long, value_name = "DIR")]
    pub data_dir: PathBuf,

    /// Block number of the restore point; `cairn state info` lists them [default: the newest one]. 0 is the beginning: the
    /// state is removed, with its restore points, and made again by the next run.
    #[arg(long, value_name = "NUMBER")]
    pub to: Option<u32>,

    /// Cut the node's block log behind the restore point too: for blocks that turned out to be of another chain. They
    /// are kept beside the log, in block_log*.cut-FIRST-LAST, until other blocks have taken their place.
    #[arg(long)]
    pub cut_log: bool,

    /// Folder with Hive's compression dictionaries, for --cut-log on a log that uses them.
    #[arg(long, value_name = "DIR", requires = "cut_log")]
    pub zstd_dictionaries: Option<PathBuf>,

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

    /// Print the registers as they are stored, each with a proof against the state's root; of a register that does not
    /// exist, that it does not. Loads the trie file, or without one that fits reads all registers.
    #[arg(long, conflicts_with = "field")]
    pub proof: bool,

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

/// Arguments of `cairn state root`.
#[derive(Clone, Debug, Args)]
pub struct StateRootArgs {
    /// The node's data folder.
    #[arg(short = 'd', long, value_name = "DIR")]
    pub data_dir: PathBuf,

    /// Print one JSON object on one line.
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `cairn state verify-proof`.
#[derive(Clone, Debug, Args)]
pub struct StateVerifyProofArgs {
    /// The root, 64 hex digits.
    #[arg(value_name = "ROOT")]
    pub root: String,

    /// A proof in hex, or a file with one or with what `cairn state get --proof` printed; - reads standard input.
    #[arg(value_name = "PROOF", required = true)]
    pub proofs: Vec<String>,

    /// Print one JSON object on one line.
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `cairn state check`.
#[derive(Clone, Debug, Args)]
pub struct StateCheckArgs {
    /// The node's data folder.
    #[arg(short = 'd', long, value_name = "DIR")]
    pub data_dir: PathBuf,

    /// Print one JSON object on one line.
    #[arg(long)]
    pub json: bool,
}
