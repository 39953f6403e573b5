//! Cutting blocks off the end of a log without losing their bytes.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use super::{BlockLogWriter, sync_folder};
use crate::attributes::TRAILER_LEN;
use crate::part::facts_of;
use crate::recovery::Subject;
use crate::trailers::Trailers;
use crate::{BlockDecoder, LogError};

/// Blocks that were cut off a log, and the files beside it that keep their bytes: `LOGFILE.cut-FIRST-LAST`, with the
/// numbers of the first and the last block that were cut.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetAside {
    /// First block that was cut.
    pub first: u32,
    /// Last block that was cut, as far as it is known.
    pub last: u32,
    /// The files, in the order of the blocks.
    pub files: Vec<PathBuf>,
}

impl SetAside {
    /// What the files in a log's folder keep, by their names.
    ///
    /// # Errors
    /// [`LogError::Io`] when the folder cannot be read.
    pub fn find(folder: &Path) -> Result<Vec<Self>, LogError> {
        let entries = match fs::read_dir(folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(source) => return Err(LogError::io("list", folder)(source)),
        };
        let mut found = Vec::new();
        for entry in entries {
            let entry = entry.map_err(LogError::io("list", folder))?;
            let name = entry.file_name();
            if let Some((first, last)) = name.to_str().and_then(parse_name) {
                found.push(Self {
                    first,
                    last,
                    files: vec![entry.path()],
                });
            }
        }
        found.sort_by_key(|kept| (kept.first, kept.last));
        Ok(found)
    }

    /// Removes the files.
    ///
    /// # Errors
    /// [`LogError::Io`].
    pub fn remove(&self) -> Result<(), LogError> {
        self.files
            .iter()
            .try_for_each(|file| fs::remove_file(file).map_err(LogError::io("remove", file)))
    }
}

impl BlockLogWriter {
    /// Cuts all blocks above `head` off, as [`truncate_after`](Self::truncate_after), and keeps their bytes. `None`:
    /// there were none.
    ///
    /// # Errors
    /// As `truncate_after`; when the bytes cannot be kept, nothing is cut.
    pub fn set_aside_after(&mut self, head: u32) -> Result<Option<SetAside>, LogError> {
        let Some(last) = self.head().map(|id| id.number()).filter(|last| *last > head) else {
            return Ok(None);
        };
        self.sync()?;
        let mut files = Vec::new();
        for part in self.log.parts().into_iter().filter(|part| part.last > head) {
            let first = part.first.max(head + 1);
            let from = match first == part.first {
                true => 0,
                false => {
                    let dictionaries = self.log.dictionaries().clone();
                    self.log.part_of(head)?.locate(head, &dictionaries)?.end + TRAILER_LEN as u64
                }
            };
            let kept = name_for(&part.path, first, part.last);
            // A file that loses all its blocks is removed below, so that a second name keeps them for nothing.
            if from > 0 || !link(&part.path, &kept)? {
                copy(&part.path, from, &kept)?;
            }
            files.push(kept);
        }
        sync_folder(&self.folder)?;
        self.truncate_after(head)?;
        Ok(Some(SetAside {
            first: head + 1,
            last,
            files,
        }))
    }
}

pub(super) fn name_for(file: &Path, first: u32, last: u32) -> PathBuf {
    let mut name = file.file_name().unwrap_or_default().to_os_string();
    name.push(format!(".cut-{first}-{last}"));
    file.with_file_name(name)
}

/// Number of the block at the end of a file, if there is a whole one.
pub(super) fn last_number(subject: &Subject<'_>) -> Option<u32> {
    let step = Trailers::new(subject.file).block_before(subject.len).ok()?;
    let stored = step.read(subject.file).ok()?;
    let mut decoder = BlockDecoder::new(subject.dictionaries.clone());
    let facts = facts_of(step.attributes.compression(), &stored, &mut decoder).ok()?;
    Some(facts.number)
}

fn parse_name(name: &str) -> Option<(u32, u32)> {
    let (log, numbers) = name.rsplit_once(".cut-")?;
    let (first, last) = numbers.split_once('-')?;
    log.starts_with("block_log").then_some(())?;
    Some((first.parse().ok()?, last.parse().ok()?))
}

/// Gives a file a second name; `false`: this file system cannot.
fn link(file: &Path, kept: &Path) -> Result<bool, LogError> {
    remove(kept)?;
    Ok(fs::hard_link(file, kept).is_ok())
}

/// Copies what is in a file from an offset on, durably.
pub(super) fn copy(file: &Path, from: u64, kept: &Path) -> Result<(), LogError> {
    remove(kept)?;
    let copied = copy_new(file, from, kept);
    if copied.is_err() {
        // Half a copy is of no use; the fault to report is the first one.
        let _ = fs::remove_file(kept);
    }
    copied
}

fn copy_new(file: &Path, from: u64, kept: &Path) -> Result<(), LogError> {
    let mut source = File::open(file).map_err(LogError::io("open", file))?;
    let end = source.metadata().map_err(LogError::io("open", file))?.len();
    source
        .seek(SeekFrom::Start(from))
        .map_err(LogError::io("read", file))?;
    let mut target = File::create(kept).map_err(LogError::io("create", kept))?;
    io::copy(&mut source.take(end.saturating_sub(from)), &mut target)
        .and_then(|_| target.sync_all())
        .map_err(LogError::io("write", kept))
}

fn remove(kept: &Path) -> Result<(), LogError> {
    match fs::remove_file(kept) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(LogError::io("remove", kept)(error)),
        _ => Ok(()),
    }
}
