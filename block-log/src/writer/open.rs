//! Opening a log for writing: what is there must be whole, or is made whole.

use std::fs::{self, File, OpenOptions};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cairn_chain::BlockId;

use super::current::Current;
use super::{
    BlockLogWriter, CutPolicy, Repair, SetAside, WriterOptions, aside, records, remove_part, sync_folder,
};
use crate::artifacts::remove_unfinished;
use crate::layout::{self, Found, Layout};
use crate::part::{Opened, Part};
use crate::reader::open_part;
use crate::recovery::{CRASH_REACH, Recovered, Subject, recover};
use crate::{BlockLog, LogError};

pub(super) fn open(folder: &Path, options: &WriterOptions<'_>) -> Result<(BlockLogWriter, Repair), LogError> {
    fs::create_dir_all(folder).map_err(LogError::io("create", folder))?;
    let mut repair = Repair::default();
    let mut parts = Vec::new();
    let mut before = None;
    let last = match (layout::find(folder)?, options.layout) {
        (Found::Nothing, _) => None,
        (Found::Single(file), Layout::Single) => Some((file, 1)),
        (Found::Parts(files), Layout::Split { blocks_per_part }) => {
            if let Some((lowest, _)) = files.first() {
                remove_orphans(folder, *lowest)?;
            }
            let last = open_full_parts(&files, blocks_per_part, options, &mut parts, &mut before)?;
            Some(last)
        }
        (Found::Single(file), Layout::Split { .. }) => return Err(other_layout(folder, &file)),
        (Found::Parts(files), Layout::Single) => {
            return Err(other_layout(
                folder,
                files.first().map_or(folder, |(_, file)| file.as_path()),
            ));
        }
    };
    if let Some((file, first)) = last {
        let last = open_last(&file, first, before, options, &mut repair)?;
        if let Some((part, head)) = last {
            parts.push(part);
            before = Some(head);
        } else {
            sync_folder(folder)?;
        }
    }
    let (current, log) = settle(folder, parts, options, &mut repair)?;
    let writer = BlockLogWriter {
        folder: folder.to_owned(),
        layout: options.layout,
        log,
        current,
        head: before,
        synced: before,
        dead: false,
    };
    Ok((writer, repair))
}

/// Removes artifacts below the lowest part: pruning was interrupted between a part and its artifacts.
fn remove_orphans(folder: &Path, lowest: u32) -> Result<(), LogError> {
    for entry in fs::read_dir(folder).map_err(LogError::io("list", folder))? {
        let path = entry.map_err(LogError::io("list", folder))?.path();
        let part = path
            .file_name()
            .and_then(|name| name.to_str()?.strip_suffix(".artifacts"))
            .and_then(layout::part_number);
        if part.is_some_and(|part| part < lowest) {
            fs::remove_file(&path).map_err(LogError::io("remove", &path))?;
        }
    }
    Ok(())
}

fn other_layout(folder: &Path, file: &Path) -> LogError {
    let found = file
        .file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned();
    LogError::OtherLayout {
        folder: folder.to_owned(),
        found,
    }
}

/// Opens all parts but the last; gives the last one's file and first block.
fn open_full_parts(
    files: &[(u32, PathBuf)],
    blocks_per_part: u32,
    options: &WriterOptions<'_>,
    parts: &mut Vec<Arc<Part>>,
    before: &mut Option<BlockId>,
) -> Result<(PathBuf, u32), LogError> {
    let end_error = |file: &Path| LogError::PartEnd {
        file: file.to_owned(),
        blocks_per_part,
        expected: u32::MAX,
        found: 0,
    };
    let Some(((number, file), full)) = files.split_last() else {
        return Err(end_error(Path::new("")));
    };
    for (number, file) in full {
        let Opened { part, head } = open_part(
            file,
            *number,
            blocks_per_part,
            *before,
            false,
            &options.dictionaries,
        )?;
        parts.push(Arc::new(part));
        *before = head;
    }
    let first = layout::first_of_part(*number, blocks_per_part).ok_or_else(|| end_error(file))?;
    Ok((file.clone(), first))
}

/// Makes the last file end with a whole block. A file that holds none is removed.
fn open_last(
    path: &Path,
    first: u32,
    previous: Option<BlockId>,
    options: &WriterOptions<'_>,
    repair: &mut Repair,
) -> Result<Option<(Arc<Part>, BlockId)>, LogError> {
    let file = File::open(path).map_err(LogError::io("open", path))?;
    let len = file.metadata().map_err(LogError::io("open", path))?.len();
    let subject = Subject {
        path,
        file: &file,
        len,
        first: Some(first),
        previous,
        chain: options.chain,
        dictionaries: &options.dictionaries,
        reach: CRASH_REACH,
    };
    let recovered = recover(&subject, options.cut != CutPolicy::Torn)?;
    let Recovered {
        end,
        count,
        head,
        index,
        cut,
        ..
    } = recovered;
    if let Layout::Split { blocks_per_part } = options.layout
        && count > blocks_per_part
    {
        return Err(LogError::PartEnd {
            file: path.to_owned(),
            blocks_per_part,
            expected: first.saturating_add(blocks_per_part - 1),
            found: first.saturating_add(count - 1),
        });
    }
    if let Some(cut) = cut {
        tracing::warn!("cutting the torn tail of {cut}");
        if options.cut == CutPolicy::AnythingKept {
            let first = cut.last_whole.saturating_add(1);
            let last = aside::last_number(&subject).unwrap_or(first).max(first);
            let kept = aside::name_for(path, first, last);
            aside::copy(path, end, &kept)?;
            path.parent().map_or(Ok(()), sync_folder)?;
            repair.kept = Some(SetAside {
                first,
                last,
                files: vec![kept],
            });
        }
        let writable = OpenOptions::new()
            .write(true)
            .open(path)
            .map_err(LogError::io("open for writing", path))?;
        writable.set_len(end).map_err(LogError::io("cut", path))?;
        writable.sync_all().map_err(LogError::io("sync", path))?;
        repair.cut = Some(cut);
    }
    // What a killed process had written may be whole and not yet durable; the artifacts will say that it is.
    file.sync_all().map_err(LogError::io("sync", path))?;
    let Some(head) = head.filter(|_| count > 0) else {
        remove_part(path)?;
        return Ok(None);
    };
    let part = Part::new(path.to_owned(), file, first, previous);
    part.set_content(count, end, index);
    Ok(Some((Arc::new(part), head)))
}

/// Sees to the artifacts of all parts, and goes on with the last one.
fn settle(
    folder: &Path,
    parts: Vec<Arc<Part>>,
    options: &WriterOptions<'_>,
    repair: &mut Repair,
) -> Result<(Option<Current>, BlockLog), LogError> {
    let dictionaries = &options.dictionaries;
    remove_unfinished(folder)?;
    let mut current = None;
    if let Some((last, full)) = parts.split_last() {
        for part in full {
            if !records::are_complete(part, dictionaries)? {
                tracing::info!("making the artifacts of {}", part.path().display());
                records::make(part, dictionaries)?;
                repair.artifacts_made.push(crate::artifacts_path(part.path()));
            }
        }
        let (resumed, made) = Current::resume(last.clone(), dictionaries)?;
        if made {
            repair.artifacts_made.push(crate::artifacts_path(last.path()));
        }
        current = Some(resumed);
        sync_folder(folder)?;
    }
    Ok((current, BlockLog::from_parts(folder, dictionaries.clone(), parts)))
}
