//! Writes a devnet as a block log with its chain specification.
//!
//! ```text
//! OUT/chain.json              the chain specification, for --chain
//! OUT/blockchain/block_log    one file, as hived lays out its data folder, with its artifacts file
//! OUT/fork-AT/...             the same two for each fork: the chain up to block AT, and other blocks behind it
//! ```

use std::io;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;

use cairn_block_log::{
    BlockLogWriter, CutPolicy, Dictionaries, EncodeError, Layout, LogError, TRAILER_LEN, WriterOptions,
};
use cairn_chain::{BlockId, ChainId, Time};

use super::blocks::{BlocksOptions, blocks, threads};
use super::stored::{Entry, Failure, Stored};
use super::{CannotBreak, ChainShape, FaultAt, MAX_BLOCKS, RawBlock, Rule, Step, Tip, spec};

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
    /// A block that breaks a rule. The chain goes on behind it as a careless witness would make it; `faults` are left out.
    pub broken: Option<BrokenAt>,
    /// Forks to write beside the chain.
    pub forks: Vec<ForkAt>,
}

/// A rule that a block shall break, written `RULE@BLOCK`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BrokenAt {
    /// The rule.
    pub rule: Rule,
    /// Number of the block, from 3.
    pub block: u32,
}

/// A fork, written `AT:DEPTH`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ForkAt {
    /// The last block that the fork has in common with the chain.
    pub at: u32,
    /// Blocks of its own, at least 1.
    pub depth: u32,
}

impl FromStr for BrokenAt {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (rule, block) = text.split_once('@').ok_or("RULE@BLOCK expected")?;
        let rule = rule.parse::<Rule>().map_err(|error| error.to_string())?;
        let block = block
            .parse()
            .map_err(|_| format!("a block number expected behind @, {block:?} found"))?;
        Ok(Self { rule, block })
    }
}

impl FromStr for ForkAt {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let numbers = text
            .split_once(':')
            .and_then(|(at, depth)| Some((at.parse().ok()?, depth.parse().ok()?)));
        match numbers {
            Some((at, depth)) if depth > 0 => Ok(Self { at, depth }),
            _ => Err(format!(
                "AT:DEPTH expected, a block number and a number of blocks above 0; {text:?} found"
            )),
        }
    }
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
            broken: None,
            forks: Vec::new(),
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
    /// The forks.
    pub forks: Vec<GeneratedFork>,
}

/// A fork that was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GeneratedFork {
    /// The last common block, and how many blocks of its own it has.
    pub fork: ForkAt,
    /// Id of its last block.
    pub head: BlockId,
    /// Its block log, the common blocks included.
    pub block_log_path: PathBuf,
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
    /// A fork begins behind the end of the chain.
    #[error("a fork behind block {at} was asked for, the chain has {blocks} blocks")]
    ForkStart {
        /// Where it should begin.
        at: u32,
        /// Blocks of the chain.
        blocks: u32,
    },
    /// The block that should break a rule is not in the chain.
    #[error("block {block} was to break a rule, the chain has {blocks} blocks")]
    BrokenBlock {
        /// Its number.
        block: u32,
        /// Blocks of the chain.
        blocks: u32,
    },
    /// The rule cannot be broken there.
    #[error(transparent)]
    CannotBreak(#[from] CannotBreak),
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
    for fork in &options.forks {
        if fork.at > total {
            return Err(GenerateError::ForkStart {
                at: fork.at,
                blocks: total,
            });
        }
    }
    if let Some(BrokenAt { block, .. }) = options.broken
        && block > total
    {
        return Err(GenerateError::BrokenBlock { block, blocks: total });
    }
    let mut log = LogFiles::create(&options.out, &options.shape)?;
    let mut generated = Generated {
        head: BlockId::ZERO,
        head_time: Time(spec::block_time(0)),
        chain_name: spec::name(seed),
        chain_id: spec::chain_id(seed),
        chain_spec_path: log.chain_spec_path.clone(),
        block_log_path: log.block_log_path.clone(),
        transactions: 0,
        operations: 0,
        bytes: 0,
        forks: Vec::new(),
    };
    for entry in entries(options)? {
        let entry = entry.map_err(|Failure { block, source }| GenerateError::Compress { block, source })?;
        log.writer.append(&entry.block, &entry.id)?;
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
    log.writer.close()?;
    for (fork, branch) in options.forks.iter().zip(1..) {
        generated.forks.push(write_fork(options, *fork, branch)?);
    }
    Ok(generated)
}

/// The blocks of the chain, ready to be stored.
fn entries(
    options: &GenerateOptions,
) -> Result<Box<dyn Iterator<Item = Result<Entry, Failure>>>, GenerateError> {
    let threads = threads(options.threads);
    let Some(broken) = options.broken else {
        let made = blocks(&BlocksOptions {
            blocks: options.blocks,
            shape: options.shape,
            threads: options.threads,
            faults: options.faults.clone(),
        });
        return Ok(Box::new(Stored::new(made, options.compress, threads)));
    };
    let made = with_broken(options, broken)?;
    Ok(Box::new(Stored::new(made, options.compress, threads)))
}

/// The chain with a block that breaks a rule.
fn with_broken(
    options: &GenerateOptions,
    BrokenAt { rule, block }: BrokenAt,
) -> Result<impl Iterator<Item = RawBlock> + use<>, CannotBreak> {
    let mut tip = Tip::genesis(options.shape);
    let mut before: Vec<RawBlock> = Vec::new();
    let last = options.blocks;
    while tip.number() + 1 < block {
        let is_last_before = tip.number() + 2 == block;
        before.push(if is_last_before {
            tip.prepare(rule)
        } else {
            tip.grow(&Step::default())
        });
    }
    before.push(tip.break_rule(rule)?);
    let after = std::iter::from_fn(move || (tip.number() < last).then(|| tip.grow(&Step::default())));
    Ok(before.into_iter().chain(after))
}

/// Writes the log of a fork, with the blocks that it has in common with the chain.
fn write_fork(options: &GenerateOptions, fork: ForkAt, branch: u32) -> Result<GeneratedFork, GenerateError> {
    let folder = options.out.join(format!("fork-{}", fork.at));
    let mut log = LogFiles::create(&folder, &options.shape)?;
    let mut tip = Tip::genesis(options.shape);
    while tip.number() < fork.at {
        log.append(&tip.grow(&Step::default()))?;
    }
    let honest = tip.clone().grow(&Step::default());
    tip.branch_off(branch, 0);
    // Without transactions the first block would be the honest one, unless it misses another slot.
    let mut first = tip.clone();
    if first.grow(&Step::default()).id == honest.id {
        let missed = (honest.time.0 - tip.time().0) / cairn_chain::spec::BLOCK_INTERVAL;
        log.append(&tip.grow(&Step { missed: Some(missed) }))?;
    }
    while tip.number() < fork.at + fork.depth {
        log.append(&tip.grow(&Step::default()))?;
    }
    log.writer.close()?;
    Ok(GeneratedFork {
        fork,
        head: tip.id(),
        block_log_path: log.block_log_path,
    })
}

/// A block log that is being written, with its chain specification.
struct LogFiles {
    chain_spec_path: PathBuf,
    block_log_path: PathBuf,
    writer: BlockLogWriter,
}

impl LogFiles {
    fn create(out: &Path, shape: &ChainShape) -> Result<Self, GenerateError> {
        let folder = out.join("blockchain");
        prepare(&folder)?;
        let chain_spec_path = out.join("chain.json");
        std::fs::write(&chain_spec_path, shape.spec_json()).map_err(|source| GenerateError::Write {
            path: chain_spec_path.clone(),
            source,
        })?;
        let (writer, _nothing_to_repair) = BlockLogWriter::open(
            &folder,
            &WriterOptions {
                layout: Layout::Single,
                chain: &shape.spec(),
                dictionaries: Arc::new(Dictionaries::none()),
                cut: CutPolicy::Torn,
            },
        )?;
        Ok(Self {
            chain_spec_path,
            block_log_path: folder.join("block_log"),
            writer,
        })
    }

    /// Appends a block as it is.
    fn append(&mut self, block: &RawBlock) -> Result<(), LogError> {
        self.writer.append_plain(block.number, &block.bytes, &block.id)
    }
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
