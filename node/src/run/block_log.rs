//! The node's own block log, and the logs of others.

use std::path::Path;
use std::sync::Arc;

use cairn_block_log::{BlockLog, BlockLogWriter, CutPolicy, Dictionaries, Layout, LogError, WriterOptions};
use cairn_chain::ChainSpec;

use crate::config::{BlockLogSplit, Settings};

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
        let blocks_per_part = settings.chain.blocks_per_log_part;
        let wanted = match settings.block_log.split {
            BlockLogSplit::HeadOnly => return Ok(None),
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
            cut: CutPolicy::Torn,
        };
        let (writer, repair) = BlockLogWriter::open(folder, &options)?;
        if let Some(cut) = repair.cut {
            tracing::warn!(target: "block_log", "torn tail cut off the block log: {cut}");
        }
        for path in repair.artifacts_made {
            tracing::info!(target: "block_log", "index made from the blocks: {}", path.display());
        }
        let reader = writer.reader();
        Ok(Some(Self { writer, reader }))
    }
}

/// Opens a log that is not this node's: nothing is written.
///
/// # Errors
/// As [`BlockLog::open`].
pub fn open_foreign_log(
    path: &Path,
    chain: &ChainSpec,
    dictionaries: &Arc<Dictionaries>,
) -> Result<BlockLog, LogError> {
    BlockLog::open(path, chain.blocks_per_log_part, Arc::clone(dictionaries))
}

fn present_layout(folder: &Path, blocks_per_part: u32) -> Option<Layout> {
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
