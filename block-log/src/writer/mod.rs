//! Appending to a log in a folder of one's own.
//!
//! Order of durability: a block's bytes are synced before its artifacts record is written, and a full part is synced
//! and closed before the next one is created. So after a crash only the last file can be torn, and its artifacts say
//! up to where it cannot be. A writer that was not closed leaves its artifacts marked as open, as hived does.
//!
//! Appended blocks are gathered in memory and handed to the system 128 KiB at a time; readers see them from then
//! on. They are durable after [`BlockLogWriter::sync`].

mod aside;
mod current;
mod early_sync;
mod open;
mod records;

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cairn_chain::{BlockId, ChainSpec};

pub use self::aside::SetAside;
use self::current::Current;
use crate::layout::{self, Layout, SINGLE_NAME};
use crate::recovery::{Cut, UNSYNCED_LIMIT};
use crate::trailers::MIN_STORED_SIZE;
use crate::{BlockLog, Compression, Dictionaries, LogError, MAX_STORED_SIZE, StoredBlock};

/// How a log is opened for writing.
#[derive(Clone, Debug)]
pub struct WriterOptions<'a> {
    /// One file or parts.
    pub layout: Layout,
    /// The chain whose blocks are in the log: needed to tell whole blocks from torn ones.
    pub chain: &'a ChainSpec,
    /// Dictionaries for the blocks that are in the log.
    pub dictionaries: Arc<Dictionaries>,
    /// What may be cut off a log that does not end with a whole block.
    pub cut: CutPolicy,
}

/// What may be cut off the end of a log's last file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CutPolicy {
    /// What a crash can have torn, and no more.
    #[default]
    Torn,
    /// Everything behind the last whole block, however much that is. For an operator who asked for it.
    Anything,
    /// The same, and the bytes are kept in a file beside the log; see [`SetAside`].
    AnythingKept,
}

/// What was done to a log when it was opened for writing.
#[derive(Debug, Default)]
pub struct Repair {
    /// The tail that was cut off, if there was one.
    pub cut: Option<Cut>,
    /// Where the tail is, if it was to be kept.
    pub kept: Option<SetAside>,
    /// Artifacts files that were missing or did not fit, and were made from the blocks.
    pub artifacts_made: Vec<PathBuf>,
}

/// A block log that grows. One writer for a folder; any number of readers through [`reader`](Self::reader).
///
/// After a failed write the handle is dead: every later call fails, and opening the log again finds the last whole
/// block. Dropping a writer without [`close`](Self::close) loses the blocks that are still gathered in memory.
#[derive(Debug)]
pub struct BlockLogWriter {
    folder: PathBuf,
    layout: Layout,
    log: BlockLog,
    current: Option<Current>,
    head: Option<BlockId>,
    synced: Option<BlockId>,
    dead: bool,
}

impl BlockLogWriter {
    /// Opens the log in a folder, or starts one. A torn tail is cut off, and missing artifacts are made.
    ///
    /// # Errors
    /// If the folder holds a log of the other layout, a part is missing or incomplete, a dictionary is missing, or the
    /// damage is more than `options.cut` allows to cut; then nothing was changed.
    pub fn open(folder: &Path, options: &WriterOptions<'_>) -> Result<(Self, Repair), LogError> {
        open::open(folder, options)
    }

    /// Number and id of the last block that was appended.
    pub fn head(&self) -> Option<BlockId> {
        self.head
    }

    /// Number and id of the last block that is durable.
    pub fn synced_head(&self) -> Option<BlockId> {
        self.synced
    }

    /// The first block of a log that is to hold `block` and, before its part, at most `full` full parts; `None`: all.
    /// Parts begin at fixed numbers, and a log in one file with block 1.
    pub fn first_with(&self, block: u32, full: Option<u32>) -> u32 {
        match (self.layout, full) {
            (Layout::Split { blocks_per_part }, Some(full)) => {
                let (_, first) = layout::part_of(block, blocks_per_part);
                first.saturating_sub(full.saturating_mul(blocks_per_part)).max(1)
            }
            (Layout::Single, _) | (_, None) => 1,
        }
    }

    /// A reader that follows this writer: it sees each block once it was flushed.
    pub fn reader(&self) -> BlockLog {
        self.log.clone()
    }

    /// Appends the next block. `id` must have been computed from the block's bytes; it goes into the artifacts.
    ///
    /// # Errors
    /// If it is not the next block, or its size is impossible; the log is unchanged then. If writing fails, the
    /// handle is dead.
    pub fn append(&mut self, block: &StoredBlock, id: &BlockId) -> Result<(), LogError> {
        self.append_bytes(block.number, block.compression, &block.bytes, id)
    }

    /// The same for a block that is stored as it is, from its raw bytes.
    ///
    /// # Errors
    /// As [`append`](Self::append).
    pub fn append_plain(&mut self, number: u32, raw: &[u8], id: &BlockId) -> Result<(), LogError> {
        self.append_bytes(number, Compression::None, raw, id)
    }

    fn append_bytes(
        &mut self,
        number: u32,
        compression: Compression,
        bytes: &[u8],
        id: &BlockId,
    ) -> Result<(), LogError> {
        self.alive()?;
        self.check_next(number, bytes.len(), id)?;
        self.guard(|writer| {
            writer.make_room(number)?;
            let Some(current) = &mut writer.current else {
                return Err(LogError::Dead);
            };
            current.append(compression, bytes, id)?;
            writer.head = Some(*id);
            if current.unsynced_bytes() >= UNSYNCED_LIMIT {
                writer.sync_current()
            } else {
                Ok(())
            }
        })
    }

    /// Hands all appended blocks to the system, so that readers see them. They are not durable yet.
    ///
    /// # Errors
    /// If writing fails; the handle is dead then.
    pub fn flush(&mut self) -> Result<(), LogError> {
        self.alive()?;
        self.guard(|writer| writer.current.as_mut().map_or(Ok(()), Current::flush))
    }

    /// Makes all appended blocks durable, and then their artifacts.
    ///
    /// # Errors
    /// If writing fails; the handle is dead then.
    pub fn sync(&mut self) -> Result<(), LogError> {
        self.alive()?;
        self.guard(Self::sync_current)
    }

    /// Syncs, and marks the artifacts as cleanly closed.
    ///
    /// # Errors
    /// If writing fails.
    pub fn close(mut self) -> Result<(), LogError> {
        self.alive()?;
        self.guard(|writer| {
            writer.sync_current()?;
            writer.current.take().map_or(Ok(()), Current::close)
        })
    }

    /// Cuts all blocks above `head` off, durably; 0 cuts all. Does nothing if the head is not above.
    ///
    /// # Errors
    /// [`LogError::OutOfRange`] if the log starts above `head` + 1; the log is unchanged then. If writing fails, the
    /// handle is dead.
    pub fn truncate_after(&mut self, head: u32) -> Result<(), LogError> {
        self.alive()?;
        let Some(last) = self.head.map(|id| id.number()).filter(|last| *last > head) else {
            return Ok(());
        };
        let first = self.log.start().unwrap_or(1);
        if head != 0 && head < first - 1 {
            return Err(LogError::OutOfRange {
                block: head,
                range: Some((first, last)),
            });
        }
        self.guard(|writer| {
            writer.sync_current()?;
            writer.truncate_synced(head)
        })
    }

    /// Removes the oldest parts of a split log, with their artifacts, until at most `full` parts are left that are
    /// full and durable; the part that grows does not count. A part with a block above `through` stays, and so does a
    /// log in one file. Readers that are in a removed part may finish there. Gives the removed parts' files.
    ///
    /// The lowest part goes first, so that a crash in between leaves a log without a gap.
    ///
    /// # Errors
    /// If a file cannot be removed; the handle is dead then.
    pub fn prune(&mut self, full: u32, through: u32) -> Result<Vec<PathBuf>, LogError> {
        self.alive()?;
        let Layout::Split { blocks_per_part } = self.layout else {
            return Ok(Vec::new());
        };
        let durable = self.synced.map_or(0, |id| id.number());
        let last_of = |first: u32| first.saturating_add(blocks_per_part.saturating_sub(1));
        let mut removed = Vec::new();
        self.guard(|writer| {
            loop {
                let Some(first) = writer.log.start() else {
                    return Ok(());
                };
                // Parts follow one another without a gap.
                let full_parts = durable.saturating_sub(first - 1) / blocks_per_part.max(1);
                let is_current = writer
                    .current
                    .as_ref()
                    .is_some_and(|current| current.first() == first);
                if full_parts <= full || last_of(first) > through || is_current {
                    return Ok(());
                }
                let Some(part) = writer.log.shift_part() else {
                    return Ok(());
                };
                remove_part(part.path())?;
                sync_folder(&writer.folder)?;
                removed.push(part.path().to_owned());
            }
        })?;
        Ok(removed)
    }

    /// Runs an operation that writes; if it fails, no later one may.
    fn guard(&mut self, operation: impl FnOnce(&mut Self) -> Result<(), LogError>) -> Result<(), LogError> {
        let result = operation(self);
        self.dead |= result.is_err();
        result
    }

    fn alive(&self) -> Result<(), LogError> {
        if self.dead { Err(LogError::Dead) } else { Ok(()) }
    }

    fn check_next(&self, found: u32, size: usize, id: &BlockId) -> Result<(), LogError> {
        let expected = match self.head {
            Some(head) => head.number().checked_add(1).unwrap_or(0),
            None => match self.layout {
                Layout::Single => 1,
                Layout::Split { blocks_per_part } => {
                    if found == 0 || layout::part_of(found, blocks_per_part).1 != found {
                        return Err(LogError::NotPartStart {
                            blocks_per_part,
                            found,
                        });
                    }
                    found
                }
            },
        };
        if found != expected || found == 0 {
            return Err(LogError::NotNext { expected, found });
        }
        if id.number() != found {
            return Err(LogError::NotNext {
                expected,
                found: id.number(),
            });
        }
        if !(MIN_STORED_SIZE..=MAX_STORED_SIZE as u64).contains(&(size as u64)) {
            return Err(LogError::Size {
                block: found,
                found: size,
                least: MIN_STORED_SIZE,
                limit: MAX_STORED_SIZE,
            });
        }
        Ok(())
    }

    /// Makes the file current that block `number` belongs to.
    fn make_room(&mut self, number: u32) -> Result<(), LogError> {
        let (name, first) = match self.layout {
            Layout::Single => (SINGLE_NAME.to_owned(), 1),
            Layout::Split { blocks_per_part } => {
                let (part, first) = layout::part_of(number, blocks_per_part);
                if !layout::is_part(part) {
                    return Err(LogError::TooManyParts { block: number, part });
                }
                (layout::part_name(part), first)
            }
        };
        if self
            .current
            .as_ref()
            .is_some_and(|current| current.first() == first)
        {
            return Ok(());
        }
        self.sync_current()?;
        if let Some(full) = self.current.take() {
            full.close()?;
        }
        let current = Current::create(&self.folder.join(name), first, self.head)?;
        sync_folder(&self.folder)?;
        self.log.push_part(current.part().clone());
        self.current = Some(current);
        Ok(())
    }

    fn sync_current(&mut self) -> Result<(), LogError> {
        if let Some(current) = &mut self.current {
            current.sync()?;
        }
        self.synced = self.head;
        Ok(())
    }

    fn truncate_synced(&mut self, head: u32) -> Result<(), LogError> {
        let first = self.log.start().unwrap_or(1);
        let dictionaries = self.log.dictionaries().clone();
        // Looked up before anything is cut.
        let keep = match head.checked_sub(first) {
            Some(_) => {
                let part = self.log.part_of(head)?;
                let span = part.locate(head, &dictionaries)?;
                Some((part, span, records::id_of(&self.log, head)?))
            }
            None => None,
        };
        // From the last part down, so that a crash in between leaves a log without a gap.
        while let Some(part) = self.log.last_part().filter(|part| part.first() > head) {
            self.current = None;
            remove_part(part.path())?;
            self.log.pop_part();
            sync_folder(&self.folder)?;
        }
        self.head = None;
        if let Some((part, span, id)) = keep {
            let mut current = match self.current.take() {
                Some(current) => current,
                None => Current::resume(part, &dictionaries)?.0,
            };
            current.truncate(head, span)?;
            self.current = Some(current);
            self.head = Some(id);
        }
        self.synced = self.head;
        Ok(())
    }
}

/// Removes a log file and what belongs to it; the log first, so that no artifacts are missed.
fn remove_part(path: &Path) -> Result<(), LogError> {
    fs::remove_file(path).map_err(LogError::io("remove", path))?;
    let artifacts = crate::artifacts_path(path);
    match fs::remove_file(&artifacts) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(LogError::io("remove", &artifacts)(error))
        }
        _ => Ok(()),
    }
}

/// Makes created, renamed and removed names in a folder durable.
fn sync_folder(folder: &Path) -> Result<(), LogError> {
    File::open(folder)
        .and_then(|file| file.sync_all())
        .map_err(LogError::io("sync", folder))
}
