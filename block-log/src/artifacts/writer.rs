//! Writing an artifacts file.
//!
//! Order on disk: the log's data is synced by the caller, then records are written and synced, then the header's
//! head number. So a head number that is read back after a crash never stands for a block that was lost, or for a
//! record that was. The flag of an open file stays 1 until a clean close.

use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use super::file::record_offset;
use super::{Artifacts, ArtifactsHeader, ArtifactsVersion, RECORD_LEN, Record};
use crate::LogError;
use crate::layout::SINGLE_NAME;

/// Stands in the field for hived's git revision.
const REVISION: &str = concat!("cairn ", env!("CARGO_PKG_VERSION"));

/// Ends the name of a file that is not in its place yet.
const UNFINISHED: &str = ".new";

/// Removes what a crash left of files that were never put in their place.
pub(crate) fn remove_unfinished(folder: &Path) -> Result<(), LogError> {
    for entry in fs::read_dir(folder).map_err(LogError::io("list", folder))? {
        let entry = entry.map_err(LogError::io("list", folder))?;
        let name = entry.file_name();
        let left = name.to_str().and_then(|name| name.strip_suffix(UNFINISHED));
        if left.is_some_and(|name| name.starts_with(SINGLE_NAME) && name.ends_with(".artifacts")) {
            let path = entry.path();
            fs::remove_file(&path).map_err(LogError::io("remove", &path))?;
        }
    }
    Ok(())
}

/// An artifacts file that grows with its log.
#[derive(Debug)]
pub(crate) struct ArtifactsWriter {
    path: PathBuf,
    file: File,
    header: ArtifactsHeader,
}

impl ArtifactsWriter {
    /// Whether an artifacts file was left by this writer, whose order of syncs makes its head number durable.
    pub(crate) fn wrote(artifacts: &Artifacts) -> bool {
        artifacts.header().revision.starts_with("cairn ")
    }

    /// Starts a file without records for a log whose first block is `first`. It stands under another name until it is
    /// [published](Self::publish), so that a crash leaves the old file or a finished new one.
    pub(crate) fn create(path: &Path, first: u32) -> Result<Self, LogError> {
        let header = ArtifactsHeader {
            version: ArtifactsVersion::V1_1,
            head_block: 0,
            tail_block: first,
            revision: REVISION.to_owned(),
            dirty: true,
            interrupted_at: 0,
        };
        let mut name = path.as_os_str().to_owned();
        name.push(UNFINISHED);
        let path = PathBuf::from(name);
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(true)
            .open(&path)
            .map_err(LogError::io("create", &path))?;
        let mut writer = Self { path, file, header };
        writer.write_header()?;
        Ok(writer)
    }

    /// Puts a file that was created in the place where it belongs. The folder must be synced after it.
    pub(crate) fn publish(&mut self, path: &Path) -> Result<(), LogError> {
        self.file.sync_all().map_err(LogError::io("sync", &self.path))?;
        fs::rename(&self.path, path).map_err(LogError::io("put the new artifacts in place at", path))?;
        path.clone_into(&mut self.path);
        Ok(())
    }

    /// Goes on with a complete version 1.1 file behind its record of block `head`, and marks it as open.
    /// Records of later blocks are dropped.
    pub(crate) fn resume(artifacts: &Artifacts, head: u32) -> Result<Self, LogError> {
        let path = artifacts.path();
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .open(path)
            .map_err(LogError::io("open for writing", path))?;
        let mut header = artifacts.header().clone();
        header.head_block = head;
        header.revision = REVISION.to_owned();
        header.dirty = true;
        let mut writer = Self {
            path: path.to_owned(),
            file,
            header,
        };
        writer.write_header()?;
        writer.cut()?;
        Ok(writer)
    }

    /// Number of the last block that has a record, 0 if none has.
    pub(crate) fn head_block(&self) -> u32 {
        self.header.head_block
    }

    /// Adds records for the next blocks. Their data must be synced before.
    pub(crate) fn append(&mut self, records: &[Record]) -> Result<(), LogError> {
        let Some(added) = u32::try_from(records.len()).ok().filter(|n| *n > 0) else {
            return Ok(());
        };
        let mut bytes = Vec::with_capacity(records.len() * RECORD_LEN);
        for record in records {
            bytes.extend_from_slice(&record.pack());
        }
        let written = self.header.record_count();
        self.file
            .write_all_at(&bytes, record_offset(&self.header, written))
            .map_err(LogError::io("write", &self.path))?;
        self.file.sync_data().map_err(LogError::io("sync", &self.path))?;
        self.header.head_block = self.header.tail_block + written + added - 1;
        self.write_header()
    }

    /// Drops the records of blocks above `head`; with 0 all of them.
    pub(crate) fn truncate(&mut self, head: u32) -> Result<(), LogError> {
        self.header.head_block = head;
        self.write_header()?;
        self.cut()
    }

    /// Marks the file as cleanly closed, after everything is on disk.
    pub(crate) fn close(mut self) -> Result<(), LogError> {
        self.file.sync_data().map_err(LogError::io("sync", &self.path))?;
        self.header.dirty = false;
        self.write_header()?;
        self.file.sync_all().map_err(LogError::io("sync", &self.path))
    }

    fn write_header(&mut self) -> Result<(), LogError> {
        self.file
            .write_all_at(&self.header.pack(), 0)
            .map_err(LogError::io("write", &self.path))
    }

    fn cut(&mut self) -> Result<(), LogError> {
        let end = record_offset(&self.header, self.header.record_count());
        self.file.set_len(end).map_err(LogError::io("cut", &self.path))?;
        self.file.sync_all().map_err(LogError::io("sync", &self.path))
    }
}
