//! The configuration of a run, typed and checked.

mod builder;

use std::fs;
use std::io::ErrorKind;
use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use cairn_chain::ChainSpec;
use cairn_sync::checkpoint::Checkpoints;
use cairn_sync::download::OnMismatch;

use super::endpoint::SeedNode;
use super::gather::{OptionValues, gather};
use super::ini::{self, ParsedFile};
use super::located::Located;
use super::p2p_parameters::P2pParameters;
use super::problem::{ConfigProblem, ConfigProblems, ConfigWarning};

use builder::Builder;

/// Name of the file in the data folder.
const CONFIG_FILE: &str = "config.ini";

/// Everything that `run` and `replay` need to know.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Folder with config.ini, `blockchain/` and the state.
    pub data_dir: PathBuf,
    /// The configuration file that was read.
    pub config_file: Option<PathBuf>,
    /// The chain.
    pub chain: Arc<ChainSpec>,
    /// Where the chain was chosen (for a folder that belongs to another one); `None`: by default.
    pub chain_choice: Option<ChainChoice>,
    /// Trusted pairs, from all sources.
    pub checkpoints: Checkpoints,
    /// What a sync does when all peers contradict one.
    pub on_mismatch: OnMismatch,
    /// Files of blocks.
    pub block_log: BlockLogSettings,
    /// Peers.
    pub p2p: P2pSettings,
    /// Threads that check blocks.
    pub threads: usize,
    /// Memory for blocks that wait, in bytes.
    pub window_bytes: u64,
    /// When the state is committed.
    pub commit: CommitSettings,
    /// Keep the register trie.
    pub state_trie: bool,
    /// Replay the block log before syncing.
    pub replay_blockchain: bool,
    /// Remove the state first; implies `replay_blockchain`.
    pub force_replay: bool,
    /// Check everything during a replay.
    pub validate_during_replay: bool,
    /// Open undo sessions where nothing is ever taken back, for comparison.
    pub undo_below_checkpoint: bool,
    /// Whether a log is compared with the checkpoints before anything of it is applied.
    pub preverify: bool,
    /// End before connecting to peers.
    pub exit_before_sync: bool,
    /// The last block to apply.
    pub stop: Option<StopAt>,
    /// Statistics.
    pub stats: StatsSettings,
    /// Filter of the log lines; `None`: not given.
    pub log_level: Option<String>,
    /// Print one JSON object at the end.
    pub json: bool,
    /// To be logged once logging is set up.
    pub warnings: Vec<ConfigWarning>,
}

/// Where the chain's name or file was written.
#[derive(Clone, Debug)]
pub struct ChainChoice(pub Located<String>);

/// Files of blocks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockLogSettings {
    /// Single file or parts.
    pub split: BlockLogSplit,
    /// Compress what is appended.
    pub compress: bool,
    /// zstd level, 0 to 22.
    pub compression_level: i32,
    /// Cut a torn end at start.
    pub auto_fixing: bool,
    /// Folder with dictionaries.
    pub dictionaries: Option<PathBuf>,
}

/// `block-log-split`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockLogSplit {
    /// -1: one file.
    Single,
    /// 0: no file, the head block in memory.
    HeadOnly,
    /// 1 to 9999: parts, of which the newest so many full ones are kept; 9999 keeps all.
    Parts(u32),
}

impl BlockLogSplit {
    /// So many parts are all parts: their numbers have four digits.
    pub const ALL_PARTS: u32 = 9_999;
}

/// Peers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct P2pSettings {
    /// Where to listen; `None`: not at all.
    pub endpoint: Option<SocketAddr>,
    /// Peers to dial, without repeats.
    pub seed_nodes: Vec<SeedNode>,
    /// How many seeds were configured, the unusable ones included, repeats not: for "2 of 3 usable".
    pub seed_nodes_configured: usize,
    /// Network parameters, with `p2p-max-connections` applied.
    pub parameters: P2pParameters,
}

/// When the state is committed: whichever limit comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CommitSettings {
    /// Blocks since the last commit; `None`: no limit.
    pub blocks: Option<NonZeroU32>,
    /// Bytes of changes since the last commit.
    pub bytes: u64,
    /// Time since the last commit.
    pub interval: Duration,
}

/// The last block to apply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopAt {
    /// Then end the run.
    Exit(u32),
    /// Then stop syncing and keep serving.
    Stop(u32),
}

impl StopAt {
    /// The block number.
    pub const fn number(self) -> u32 {
        match self {
            Self::Exit(number) | Self::Stop(number) => number,
        }
    }
}

/// Statistics.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatsSettings {
    /// Time between two lines.
    pub interval: Duration,
    /// Where records are appended.
    pub file: Option<PathBuf>,
}

impl Settings {
    /// Reads the configuration of a run: the command line, and config.ini of the data folder or the file named.
    ///
    /// `home` is the folder that holds the default data folder.
    ///
    /// # Errors
    /// All faults together; the run must not start.
    pub fn load(
        command_line: &OptionValues,
        config: Option<&Path>,
        home: &Path,
    ) -> Result<Self, ConfigProblems> {
        let given_dir = command_line.first("data-dir").map(PathBuf::from);
        let data_dir = given_dir.unwrap_or_else(|| home.join(".cairn"));
        let file = read_config(config, &data_dir)?;
        let file = file.as_ref().map(|(path, parsed)| (path, parsed));
        let gathered = gather(command_line, file);
        Builder::new(gathered).build(data_dir, file.map(|(path, _)| path.to_path_buf()))
    }
}

/// Reads the file; without `config`, a missing config.ini is no fault.
fn read_config(
    config: Option<&Path>,
    data_dir: &Path,
) -> Result<Option<(Arc<Path>, ParsedFile)>, ConfigProblem> {
    let path = match config {
        // hived takes the name relative to the data folder.
        Some(named) if !named.exists() && data_dir.join(named).exists() => data_dir.join(named),
        Some(named) => named.to_owned(),
        None => data_dir.join(CONFIG_FILE),
    };
    let size = match fs::metadata(&path) {
        Err(error) if config.is_none() && error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(source) => return Err(ConfigProblem::FileUnreadable { path, source }),
        Ok(metadata) => metadata.len(),
    };
    if size > ini::MAX_FILE_SIZE {
        return Err(ConfigProblem::FileTooLarge {
            path,
            found: size,
            limit: ini::MAX_FILE_SIZE,
        });
    }
    let bytes = fs::read(&path).map_err(|source| ConfigProblem::FileUnreadable {
        path: path.clone(),
        source,
    })?;
    Ok(Some((path.into(), ini::parse(&bytes))))
}

#[cfg(test)]
mod tests;
