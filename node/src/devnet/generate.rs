//! Writes a devnet as a block log with its chain specification.
//!
//! ```text
//! OUT/chain.json              the chain specification, for --chain
//! OUT/blockchain/block_log    one file, as hived lays out its data folder, with its artifacts file
//! ```

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cairn_block_log::{
    BlockLogWriter, CutPolicy, Dictionaries, EncodeError, Layout, LogError, TRAILER_LEN, WriterOptions,
};
use cairn_chain::{BlockId, ChainId, Time};

use super::blocks::{BlocksOptions, blocks, threads};
use super::stored::{Failure, Stored};
use super::{ChainShape, FaultAt, MAX_BLOCKS, spec};

/// Blocks between two calls of the progress function.
const PROGRESS_INTERVAL: u32 = 64;

/// What to write, and where.
#[derive(Debug, Clone)]
pub struct GenerateOptions {
    /// How many blocks, 1 to [`MAX_BLOCKS`].
    pub blocks: u32,
    /// Folder to write to; made if it does not exist.
    pub out: PathBuf,
    /// What the chain is like.
    pub shape: ChainShape,
    /// Store the blocks compressed with zstd, without dictionary.
    pub compress: bool,
    /// Threads that write, sign and compress; 0 takes as many as there are processors. The files do not
    /// depend on it.
    pub threads: usize,
    /// What shall be wrong with which blocks, for tests.
    pub faults: Vec<FaultAt>,
}

impl GenerateOptions {
    /// So many blocks of the first seed, mixed and not compressed, by all processors.
    #[must_use]
    pub fn new(blocks: u32, out: PathBuf) -> Self {
        let BlocksOptions {
            blocks,
            shape,
            threads,
            faults,
        } = BlocksOptions::new(blocks);
        Self {
            blocks,
            out,
            shape,
            compress: false,
            threads,
            faults,
        }
    }
}

/// How far the generator is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Blocks written.
    pub blocks: u32,
    /// Blocks asked for.
    pub total: u32,
    /// Bytes of the block log so far, trailers included.
    pub bytes: u64,
}

/// What was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Generated {
    /// Id of the last block, which holds its number.
    pub head: BlockId,
    /// Time of the last block.
    pub head_time: Time,
    /// Name in the chain specification.
    pub chain_name: String,
    /// What transactions are signed for.
    pub chain_id: ChainId,
    /// The chain specification.
    pub chain_spec_path: PathBuf,
    /// The block log.
    pub block_log_path: PathBuf,
    /// Transactions in all blocks.
    pub transactions: u64,
    /// Operations in all blocks.
    pub operations: u64,
    /// Size of the block log.
    pub bytes: u64,
}

/// Why a devnet was not written.
#[derive(Debug, thiserror::Error)]
pub enum GenerateError {
    /// No blocks, or more than the format has times for.
    #[error("a devnet has 1 to {MAX_BLOCKS} blocks, {found} were asked for")]
    BlockCount {
        /// The number asked for.
        found: u32,
    },
    /// There is a block log already.
    #[error("{} is there already; choose another folder, or remove it", .path.display())]
    LogExists {
        /// A file of that log.
        path: PathBuf,
    },
    /// A folder or the chain specification could not be written.
    #[error("cannot write {}: {source}", .path.display())]
    Write {
        /// What was to be written.
        path: PathBuf,
        /// Why it failed.
        source: io::Error,
    },
    /// The block log could not be written.
    #[error(transparent)]
    Log(#[from] LogError),
    /// A block could not be compressed.
    #[error("block {block}: {source}")]
    Compress {
        /// Number of the block.
        block: u32,
        /// What zstd says.
        source: EncodeError,
    },
}

/// Writes a devnet.
///
/// Memory does not grow with the number of blocks. If it is interrupted, what is there is a shorter chain.
///
/// # Errors
///
/// [`GenerateError`]; a block log that is in the folder already is left alone.
pub fn generate(options: &GenerateOptions, progress: &dyn Fn(Progress)) -> Result<Generated, GenerateError> {
    let (total, seed) = (options.blocks, options.shape.seed);
    if total == 0 || total > MAX_BLOCKS {
        return Err(GenerateError::BlockCount { found: total });
    }
    let folder = options.out.join("blockchain");
    prepare(&folder)?;
    let chain_spec_path = options.out.join("chain.json");
    std::fs::write(&chain_spec_path, spec::text(seed)).map_err(|source| GenerateError::Write {
        path: chain_spec_path.clone(),
        source,
    })?;

    let mut generated = Generated {
        head: BlockId::ZERO,
        head_time: Time(spec::block_time(0)),
        chain_name: spec::name(seed),
        chain_id: spec::chain_id(seed),
        chain_spec_path,
        block_log_path: folder.join("block_log"),
        transactions: 0,
        operations: 0,
        bytes: 0,
    };
    let (mut writer, _nothing_to_repair) = BlockLogWriter::open(
        &folder,
        &WriterOptions {
            layout: Layout::Single,
            chain: &spec::chain(seed),
            dictionaries: Arc::new(Dictionaries::none()),
            cut: CutPolicy::Torn,
        },
    )?;
    let made = blocks(&BlocksOptions {
        blocks: total,
        shape: options.shape,
        threads: options.threads,
        faults: options.faults.clone(),
    });
    for entry in Stored::new(made, options.compress, threads(options.threads)) {
        let entry = entry.map_err(|Failure { block, source }| GenerateError::Compress { block, source })?;
        writer.append(&entry.block, &entry.id)?;
        generated.head = entry.id;
        generated.head_time = entry.time;
        generated.transactions += u64::from(entry.transactions);
        generated.operations += u64::from(entry.operations);
        generated.bytes += entry.block.bytes.len() as u64 + TRAILER_LEN as u64;
        let done = entry.block.number;
        if done.is_multiple_of(PROGRESS_INTERVAL) || done == total {
            progress(Progress {
                blocks: done,
                total,
                bytes: generated.bytes,
            });
        }
    }
    writer.close()?;
    Ok(generated)
}

/// Makes the folder of the log; refuses one that holds a log, whatever its layout.
fn prepare(folder: &Path) -> Result<(), GenerateError> {
    let failed = |source| GenerateError::Write {
        path: folder.to_owned(),
        source,
    };
    std::fs::create_dir_all(folder).map_err(failed)?;
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        if entry.file_name().as_encoded_bytes().starts_with(b"block_log") {
            return Err(GenerateError::LogExists { path: entry.path() });
        }
    }
    Ok(())
}
