//! The log that a command names, with its chain and dictionaries.

use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Arc;

use cairn_block_log::{BlockLog, Dictionaries, DictionaryError, LogError};
use cairn_chain::ChainSpec;
use thiserror::Error;

use crate::chain_choice::{self, ChainError};
use crate::cli::LogArgs;
use crate::exit::CommandError;

use super::block;

/// An open log and the chain that it belongs to.
pub struct LogSource {
    /// The log, opened for reading.
    pub log: BlockLog,
    /// The chain.
    pub chain: Arc<ChainSpec>,
}

/// Why a log cannot be opened.
#[derive(Debug, Error)]
pub enum OpenError {
    /// No such chain: usage.
    #[error(transparent)]
    Chain(#[from] ChainError),
    /// The folder named holds no usable dictionaries: usage.
    #[error("--zstd-dictionaries: {0}")]
    Dictionaries(#[from] DictionaryError),
    /// No log, or a damaged one.
    #[error(transparent)]
    Log(#[from] LogError),
}

impl From<OpenError> for CommandError {
    fn from(error: OpenError) -> Self {
        match error {
            OpenError::Chain(_) | OpenError::Dictionaries(_) => Self::usage(error),
            OpenError::Log(error) => Self::Failed(block::with_advice(error)),
        }
    }
}

impl LogSource {
    /// Opens the log that the arguments name.
    ///
    /// # Errors
    /// An unknown chain, a folder without dictionaries, no log at the path, a log with a damaged end.
    pub fn open(args: &LogArgs) -> Result<Self, OpenError> {
        let chain = chain_choice::load(&args.chain.chain)?;
        Self::open_path(&args.path, chain, args.zstd_dictionaries.as_deref())
    }

    /// Opens a log of a chain.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn open_path(
        path: &Path,
        chain: Arc<ChainSpec>,
        dictionaries: Option<&Path>,
    ) -> Result<Self, OpenError> {
        let dictionaries = match dictionaries {
            Some(folder) => Dictionaries::load(folder)?,
            None => Dictionaries::none(),
        };
        let log = BlockLog::open(path, chain.blocks_per_log_part, Arc::new(dictionaries))?;
        Ok(Self { log, chain })
    }
}

/// Threads for work on a log: one a processor.
pub fn threads() -> NonZeroUsize {
    std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN)
}
