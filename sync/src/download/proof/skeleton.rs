//! The ids of the blocks below a checkpoint, in a file that grows downwards from it.
//!
//! ```text
//! header (64 bytes): magic "CAIRNSKL" | version u32 | checkpoint's number u32 | checkpoint's id (20) | zeroes (20)
//!                    | first 8 bytes of blake3 over the 56 bytes before
//! groups of 1024:    1024 ids (20 bytes each, descending) | first 8 bytes of blake3 over (group's index u32, ids)
//! ```
//! Integers are little-endian. Id number i of the file is that of block `checkpoint - i`; the first is the checkpoint's
//! own. An id is written once the header that names it as its previous block has been proven, so that each one is as good
//! as the checkpoint. Only whole groups are in the file; the rest is in memory, and after a restart it is fetched again.
//!
//! Nothing here needs a sync to disk: a group that a crash has torn fails its checksum, and the file counts up to there.
//! The file is this node's own note; what it says is used to find lying peers early, while every block still has to
//! continue the chain up to the checkpoint when it is applied.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use cairn_chain::BlockId;
use thiserror::Error;

use crate::checkpoint::Checkpoint;

const MAGIC: &[u8; 8] = b"CAIRNSKL";
const VERSION: u32 = 1;
const HEADER: usize = 64;
const ID: usize = 20;
/// Ids in a group.
const GROUP: u32 = 1024;
const GROUP_BYTES: usize = GROUP as usize * ID + CHECKSUM;
const CHECKSUM: usize = 8;
/// Groups that are kept in memory after they were read: more than a window of empty blocks spans (64 MiB of 150 bytes).
const CACHED: usize = 512;

/// The file's prefix; the checkpoint's number follows.
const PREFIX: &str = "skeleton-";

/// Why the skeleton cannot be used.
#[derive(Debug, Error)]
pub enum SkeletonError {
    /// The system says no.
    #[error("{path}: cannot {what} at offset {offset}: {source}", path = path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What was tried.
        what: &'static str,
        /// Where.
        offset: u64,
        /// Why not.
        source: io::Error,
    },
    /// A group was whole when the file was opened and is not any more.
    #[error("{path}: the ids at offset {offset} do not have their checksum any more; they are fetched again", path = path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Where.
        offset: u64,
    },
}

impl SkeletonError {
    /// Whether it is writing that failed: what the file holds is still good.
    pub fn is_write(&self) -> bool {
        matches!(self, SkeletonError::Io { what: WRITE, .. })
    }
}

/// What was tried when a group could not be written.
const WRITE: &str = "write";

/// Ids from a checkpoint downwards, without a gap.
#[derive(Debug)]
pub struct Skeleton {
    path: PathBuf,
    file: File,
    top: Checkpoint,
    /// Whole groups in the file.
    groups: u32,
    /// Ids behind them, descending.
    tail: Vec<BlockId>,
    cache: BTreeMap<u32, Box<[u8]>>,
}

impl Skeleton {
    /// Opens the file of a checkpoint in `folder`, or makes one that holds the checkpoint's own id. What is there counts as
    /// far as it is whole; a file of another checkpoint or version is begun anew.
    ///
    /// # Errors
    /// When the file cannot be read or written.
    pub fn open(folder: &Path, top: Checkpoint) -> Result<Self, SkeletonError> {
        let path = Self::path(folder, top.number);
        let at = |what| {
            let path = path.clone();
            move |source| SkeletonError::Io {
                path,
                what,
                offset: 0,
                source,
            }
        };
        fs::create_dir_all(folder).map_err(at("create the folder"))?;
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)
            .map_err(at("open"))?;
        let mut skeleton = Self {
            path: path.clone(),
            file,
            top,
            groups: 0,
            tail: Vec::new(),
            cache: BTreeMap::new(),
        };
        let mut header = [0; HEADER];
        let known = skeleton.file.read_exact_at(&mut header, 0).is_ok() && header == header_of(top);
        if known {
            skeleton.count_groups()?;
        } else {
            skeleton.file.set_len(0).map_err(at("empty"))?;
            skeleton
                .file
                .write_all_at(&header_of(top), 0)
                .map_err(at("write"))?;
        }
        if skeleton.groups == 0 {
            skeleton.tail.push(top.id);
        }
        Ok(skeleton)
    }

    /// Removes the files in `folder` that belong to no checkpoint of `wanted`.
    pub fn sweep(folder: &Path, wanted: impl Fn(u32) -> bool) {
        let Ok(entries) = fs::read_dir(folder) else { return };
        for entry in entries.flatten() {
            let name = entry.file_name();
            let number = name
                .to_str()
                .and_then(|name| name.strip_prefix(PREFIX)?.parse().ok());
            if number.is_some_and(|number| !wanted(number)) {
                // It can be fetched again; one that stays costs disk and nothing else.
                let _ = fs::remove_file(entry.path());
            }
        }
    }

    /// The checkpoint.
    pub fn top(&self) -> Checkpoint {
        self.top
    }

    /// The lowest number whose id is known.
    pub fn lowest(&self) -> u32 {
        self.top.number - (self.count() - 1)
    }

    /// The id of a block between the lowest known one and the checkpoint; `None` outside.
    ///
    /// # Errors
    /// When the file cannot be read, or not any more.
    pub fn id(&mut self, number: u32) -> Result<Option<BlockId>, SkeletonError> {
        if !(self.lowest()..=self.top.number).contains(&number) {
            return Ok(None);
        }
        let index = self.top.number - number;
        let (group, place) = (index / GROUP, (index % GROUP) as usize);
        if group >= self.groups {
            return Ok(self.tail.get(place).copied());
        }
        if !self.cache.contains_key(&group) {
            let ids = self.read_group(group)?.ok_or_else(|| SkeletonError::Damaged {
                path: self.path.clone(),
                offset: offset_of(group),
            })?;
            if self.cache.len() >= CACHED {
                // The one that is furthest from the one that is needed.
                let ends = (self.cache.first_key_value(), self.cache.last_key_value());
                if let (Some((first, _)), Some((last, _))) = ends {
                    let furthest = if first.abs_diff(group) > last.abs_diff(group) {
                        *first
                    } else {
                        *last
                    };
                    self.cache.remove(&furthest);
                }
            }
            self.cache.insert(group, ids);
        }
        let id = self
            .cache
            .get(&group)
            .and_then(|ids| ids.get(place * ID..(place + 1) * ID));
        Ok(id.and_then(|id| id.try_into().ok()).map(BlockId))
    }

    /// Adds the id of the block below the lowest known one.
    ///
    /// # Errors
    /// When a group is full and cannot be written; then the id was not added and may be pushed again.
    pub fn push(&mut self, id: BlockId) -> Result<(), SkeletonError> {
        self.tail.push(id);
        if self.tail.len() < GROUP as usize {
            return Ok(());
        }
        let written = self.write_group();
        if written.is_err() {
            self.tail.pop();
        }
        written
    }

    /// Gives the memory of groups back that were read.
    pub fn forget_cached(&mut self) {
        self.cache.clear();
    }

    /// Forgets everything but the checkpoint.
    ///
    /// # Errors
    /// When the file cannot be cut.
    pub fn reset(&mut self) -> Result<(), SkeletonError> {
        self.file
            .set_len(HEADER as u64)
            .map_err(|source| self.error("cut", HEADER as u64, source))?;
        self.groups = 0;
        self.cache.clear();
        self.tail = vec![self.top.id];
        Ok(())
    }

    /// Removes the file: its blocks are applied.
    pub fn remove(self) {
        // One that stays is swept at the next start.
        let _ = fs::remove_file(&self.path);
    }

    /// Where the skeleton of a checkpoint lies.
    pub fn path(folder: &Path, number: u32) -> PathBuf {
        folder.join(format!("{PREFIX}{number}"))
    }

    fn count(&self) -> u32 {
        self.groups * GROUP + self.tail.len() as u32
    }

    /// Counts the whole groups from the start. What follows them is cut when the next group is written over it.
    fn count_groups(&mut self) -> Result<(), SkeletonError> {
        let most = self.top.number.div_ceil(GROUP);
        while self.groups < most && self.read_group(self.groups)?.is_some() {
            self.groups += 1;
        }
        // Blocks have numbers from 1: ids for lower ones cannot have been written.
        if self.groups * GROUP > self.top.number {
            self.groups = 0;
        }
        Ok(())
    }

    /// The ids of a group; `None` when it is not there whole.
    fn read_group(&self, group: u32) -> Result<Option<Box<[u8]>>, SkeletonError> {
        let mut bytes = vec![0; GROUP_BYTES];
        match self.file.read_exact_at(&mut bytes, offset_of(group)) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
            Err(error) => return Err(self.error("read", offset_of(group), error)),
        }
        let checksum = bytes.split_off(GROUP_BYTES - CHECKSUM);
        Ok((checksum == checksum_of(group, &bytes)).then(|| bytes.into_boxed_slice()))
    }

    fn write_group(&mut self) -> Result<(), SkeletonError> {
        let mut bytes = Vec::with_capacity(GROUP_BYTES);
        for id in &self.tail {
            bytes.extend_from_slice(&id.0);
        }
        bytes.extend_from_slice(&checksum_of(self.groups, &bytes));
        let offset = offset_of(self.groups);
        self.file
            .write_all_at(&bytes, offset)
            .map_err(|source| self.error(WRITE, offset, source))?;
        self.groups += 1;
        self.tail.clear();
        Ok(())
    }

    fn error(&self, what: &'static str, offset: u64, source: io::Error) -> SkeletonError {
        SkeletonError::Io {
            path: self.path.clone(),
            what,
            offset,
            source,
        }
    }
}

fn offset_of(group: u32) -> u64 {
    HEADER as u64 + u64::from(group) * GROUP_BYTES as u64
}

fn checksum_of(group: u32, ids: &[u8]) -> [u8; CHECKSUM] {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&group.to_le_bytes()).update(ids);
    cut(&hasher.finalize())
}

fn header_of(top: Checkpoint) -> [u8; HEADER] {
    let mut header = [0; HEADER];
    header[..8].copy_from_slice(MAGIC);
    header[8..12].copy_from_slice(&VERSION.to_le_bytes());
    header[12..16].copy_from_slice(&top.number.to_le_bytes());
    header[16..36].copy_from_slice(&top.id.0);
    let checksum = cut(&blake3::hash(&header[..HEADER - CHECKSUM]));
    header[HEADER - CHECKSUM..].copy_from_slice(&checksum);
    header
}

fn cut(hash: &blake3::Hash) -> [u8; CHECKSUM] {
    let mut checksum = [0; CHECKSUM];
    checksum.copy_from_slice(&hash.as_bytes()[..CHECKSUM]);
    checksum
}

#[cfg(test)]
mod tests;
