//! The node's own block log, and the logs of others.

use std::path::Path;
use std::sync::Arc;

use cairn_block_log::{
    BlockLog, BlockLogWriter, CutPolicy, Dictionaries, Layout, LogError, SetAside, WriterOptions,
};
use cairn_chain::ChainSpec;
use cairn_sync::id_if_there;

use crate::config::{BlockLogSplit, Settings};
use crate::data_dir::DataDir;

/// The node's own log, open for appending, and the same log for reading.
#[derive(Debug)]
pub struct OwnLog {
    /// For the chain writer.
    pub writer: BlockLogWriter,
    /// Follows the writer.
    pub reader: BlockLog,
}

impl OwnLog {
    /// Opens the log in `folder`, or begins one. A torn tail is cut, with a line that says what was cut.
    /// `None`: no log is to be kept.
    ///
    /// # Errors
    /// When the log is damaged beyond a torn tail, or torn and not to be mended.
    pub fn open(
        folder: &Path,
        settings: &Settings,
        dictionaries: &Arc<Dictionaries>,
    ) -> anyhow::Result<Option<Self>> {
        Self::open_cutting(folder, settings, dictionaries, CutPolicy::Torn)
    }

    /// The same for a node that is about to sync: damage that is no torn tail is cut off as well, with all blocks behind
    /// it, which are fetched again. Their bytes are kept beside the log.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn open_to_sync(
        folder: &Path,
        settings: &Settings,
        dictionaries: &Arc<Dictionaries>,
        data_dir: &DataDir,
    ) -> anyhow::Result<Option<Self>> {
        let error = match Self::open(folder, settings, dictionaries) {
            Err(error) if settings.block_log.auto_fixing => error,
            outcome => return outcome,
        };
        let damaged = matches!(
            error.downcast_ref(),
            Some(LogError::DamagedInside { .. } | LogError::TooMuchDamage { .. })
        );
        if !damaged || !is_worth_keeping(folder, settings, dictionaries, data_dir) {
            return Err(error);
        }
        tracing::warn!(target: "reconcile", "{}", crate::exit::full_text(error.as_ref()));
        Self::open_cutting(folder, settings, dictionaries, CutPolicy::AnythingKept)
    }

    fn open_cutting(
        folder: &Path,
        settings: &Settings,
        dictionaries: &Arc<Dictionaries>,
        policy: CutPolicy,
    ) -> anyhow::Result<Option<Self>> {
        let blocks_per_part = settings.chain.blocks_per_log_part;
        let wanted = match settings.block_log.split {
            BlockLogSplit::HeadOnly => {
                if present_layout(folder, blocks_per_part).is_some() {
                    tracing::warn!(
                        target: "block_log",
                        "block-log-split = 0: the block log in {} is neither read nor written",
                        folder.display()
                    );
                }
                return Ok(None);
            }
            BlockLogSplit::Single => Layout::Single,
            BlockLogSplit::Parts(_) => Layout::Split { blocks_per_part },
        };
        let layout = present_layout(folder, blocks_per_part).unwrap_or(wanted);
        if layout != wanted {
            tracing::warn!(
                "the block log in {} is kept as it is laid out, {}; block-log-split asks for the other form",
                folder.display(),
                if layout == Layout::Single {
                    "in a single file"
                } else {
                    "in parts"
                }
            );
        }
        if !settings.block_log.auto_fixing {
            refuse_torn(folder, blocks_per_part, dictionaries)?;
        }
        std::fs::create_dir_all(folder)?;
        let options = WriterOptions {
            layout,
            chain: &settings.chain,
            dictionaries: Arc::clone(dictionaries),
            cut: policy,
        };
        let (writer, repair) = BlockLogWriter::open(folder, &options)?;
        match (repair.cut, repair.kept) {
            (Some(cut), None) => {
                tracing::warn!(target: "block_log", "torn tail cut off the block log: {cut}");
            }
            (Some(cut), Some(kept)) => {
                tracing::warn!(target: "reconcile", "damaged blocks cut off the block log: {cut}");
                tell_set_aside(&kept);
            }
            (None, _) => {}
        }
        for path in repair.artifacts_made {
            tracing::info!(target: "block_log", "index made from the blocks: {}", path.display());
        }
        let reader = writer.reader();
        Ok(Some(Self { writer, reader }))
    }
}

/// Says where blocks are that were cut off the log.
pub fn tell_set_aside(kept: &SetAside) {
    let SetAside { first, last, files } = kept;
    let files: Vec<_> = files.iter().map(|file| file.display().to_string()).collect();
    tracing::warn!(
        target: "reconcile",
        "blocks {first} to {last} are fetched again; their bytes are kept in {} until then",
        files.join(", ")
    );
}

/// Removes the bytes of blocks that were cut off the log and are there again: up to block `durable`.
pub fn forget_set_aside(folder: &Path, durable: u32) -> Result<(), LogError> {
    for kept in SetAside::find(folder)? {
        if kept.last <= durable {
            kept.remove()?;
            for file in &kept.files {
                tracing::info!(
                    target: "reconcile",
                    "{}: removed, blocks {} to {} are in the block log again",
                    file.display(),
                    kept.first,
                    kept.last
                );
            }
        }
    }
    Ok(())
}

/// Whether the part of the log before the damage is this chain's: then what comes behind can be fetched again.
fn is_worth_keeping(
    folder: &Path,
    settings: &Settings,
    dictionaries: &Arc<Dictionaries>,
    data_dir: &DataDir,
) -> bool {
    let chain = &settings.chain;
    let prefix = BlockLog::open_whole_prefix(
        folder,
        chain.blocks_per_log_part,
        Arc::clone(dictionaries),
        chain,
        CutPolicy::Anything,
    );
    let Ok((log, _)) = prefix else { return false };
    let head = data_dir.read_state().ok().and_then(|store| store.head());
    match head.filter(|head| head.number > 0) {
        Some(head) if log.head_number().is_some_and(|last| last >= head.number) => {
            id_if_there(&log, head.number).is_some_and(|id| id.0 == head.id)
        }
        // At least one block must be whole for this chain. Blocks that the state has are only put into the log again.
        _ => log.head_number().is_some(),
    }
}

/// Opens a log that is not this node's: nothing is written. Of a log with a torn tail, as a copy of a running node's
/// log has it, the whole blocks are opened, with a line that says what is left out; unless `whole_prefix` is off, or
/// it is more than a crash can have torn.
///
/// # Errors
/// As [`BlockLog::open`].
pub fn open_foreign_log(
    path: &Path,
    chain: &ChainSpec,
    dictionaries: &Arc<Dictionaries>,
    whole_prefix: bool,
) -> Result<BlockLog, LogError> {
    match BlockLog::open(path, chain.blocks_per_log_part, Arc::clone(dictionaries)) {
        Err(LogError::TornTail { .. }) if whole_prefix => {}
        opened => return opened,
    }
    let blocks_per_part = chain.blocks_per_log_part;
    let (log, cut) = BlockLog::open_whole_prefix(
        path,
        blocks_per_part,
        Arc::clone(dictionaries),
        chain,
        CutPolicy::Torn,
    )?;
    if let Some(cut) = cut {
        tracing::warn!(target: "block_log", "torn tail left out: {cut}. The file is not changed");
    }
    Ok(log)
}

/// Refuses to make the state anew when the blocks for it are gone.
///
/// # Errors
/// When the log begins above block 1.
pub fn refuse_pruned(log: &BlockLog) -> anyhow::Result<()> {
    let first = log.first_number().unwrap_or(1);
    anyhow::ensure!(
        first == 1,
        "the state cannot be made anew: the block log at {} begins at block {first}. Put the older parts back, or remove \
         block log and state to begin again from peers. Nothing was removed",
        log.path().display()
    );
    Ok(())
}

/// How the log in a folder is laid out; `None`: there is none.
pub fn present_layout(folder: &Path, blocks_per_part: u32) -> Option<Layout> {
    if folder.join("block_log").is_file() {
        return Some(Layout::Single);
    }
    let has_parts = std::fs::read_dir(folder).ok()?.flatten().any(|entry| {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        name.starts_with("block_log_part.") && !name.ends_with(".artifacts")
    });
    has_parts.then_some(Layout::Split { blocks_per_part })
}

fn refuse_torn(
    folder: &Path,
    blocks_per_part: u32,
    dictionaries: &Arc<Dictionaries>,
) -> Result<(), LogError> {
    match BlockLog::open(folder, blocks_per_part, Arc::clone(dictionaries)) {
        Ok(_) | Err(LogError::NotFound { .. }) => Ok(()),
        Err(error) => Err(error),
    }
}
