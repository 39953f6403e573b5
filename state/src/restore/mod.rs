//! Restore points: whole states of earlier blocks, kept beside the present one.
//!
//! A restore point is a RocksDB checkpoint: the table files, which never change, are hard links (they take no room
//! until the present state has rewritten them); the manifest and the log since the last flush are copies. What is
//! not flushed is copied and not flushed first: a flush that finds the disk full would end the writer's own use of
//! the database, a copy that does ends only itself. The copy is at most as long as RocksDB's log, three write
//! buffers.
//!
//! ```text
//! state/registers/                          the present state
//! state/restore-points/NUMBER-ID/           a restore point, whole and synced
//! state/restore-points/NUMBER-ID.making     one that is being made, and means nothing yet
//! state/restore-points/NUMBER-ID.removing   one that is being removed, and means nothing any more
//! ```
//!
//! How a restore point takes the place of the present state is told in `swap.rs`.

mod files;
mod swap;
#[cfg(test)]
mod tests;

use std::fs;
use std::io;
use std::path::{Path as FilePath, PathBuf};

use rocksdb::checkpoint::Checkpoint;

use crate::error::{Activity, StateError};
use crate::head::Head;
use crate::hex::Hex;
use crate::store::Store;

pub use swap::{Settled, restore, settle};

/// Ends of the names of what is not a restore point yet or any more. RocksDB makes the first one under a name of
/// its own.
const UNFINISHED: [&str; 3] = [".making.tmp", ".making", ".removing"];

/// Tells RocksDB to copy its log instead of flushing what is in it.
const NEVER_FLUSH: u64 = u64::MAX;

/// A whole state of an earlier block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RestorePoint {
    /// The block that it belongs to; `None`: no block was committed yet.
    pub head: Option<Head>,
    /// Its directory.
    pub dir: PathBuf,
}

impl RestorePoint {
    /// The number of its block; 0 before the first.
    #[must_use]
    pub fn number(&self) -> u32 {
        self.head.map_or(0, |head| head.number)
    }
}

/// The restore points in a directory, which need not exist.
#[derive(Debug, Clone)]
pub struct RestorePoints {
    dir: PathBuf,
}

impl RestorePoints {
    /// Those in a directory.
    #[must_use]
    pub fn in_dir(dir: impl Into<PathBuf>) -> Self {
        Self { dir: dir.into() }
    }

    /// The directory.
    #[must_use]
    pub fn dir(&self) -> &FilePath {
        &self.dir
    }

    /// All of them, by ascending block number. What is unfinished, or not a restore point by its name, is left out.
    ///
    /// # Errors
    /// [`StateError::Files`] when the directory cannot be read.
    pub fn list(&self) -> Result<Vec<RestorePoint>, StateError> {
        let mut points: Vec<_> = self
            .names()?
            .iter()
            .filter_map(|name| {
                Some(RestorePoint {
                    head: parse_name(name)?,
                    dir: self.dir.join(name),
                })
            })
            .collect();
        points.sort_by_key(|point| (point.head.map(|head| (head.number, head.id)), point.dir.clone()));
        Ok(points)
    }

    /// Keeps what a store has committed. Returns when it is whole and durable; until then it is in nobody's list.
    /// One of the same block that is there already is kept as it is.
    ///
    /// # Errors
    /// [`StateError::DiskFull`], [`Database`](StateError::Database) or [`Files`](StateError::Files); what was made
    /// until then is removed, and the store is as it was.
    pub fn keep(&self, store: &Store) -> Result<RestorePoint, StateError> {
        let name = name_of(store.head());
        let point = RestorePoint {
            head: store.head(),
            dir: self.dir.join(&name),
        };
        if point.dir.is_dir() {
            return Ok(point);
        }
        let making = self.dir.join(format!("{name}.making"));
        let made = self.make(store, &making).and_then(|()| {
            fs::rename(&making, &point.dir).map_err(files::error("rename", &making))?;
            files::sync_dir(&self.dir)
        });
        match made {
            Ok(()) => Ok(point),
            Err(error) => {
                // The fault to report is the one above; what stays here is removed at the next start.
                let _ = files::discard(&making);
                let _ = files::discard(&self.dir.join(format!("{name}.making.tmp")));
                Err(error)
            }
        }
    }

    fn make(&self, store: &Store, making: &FilePath) -> Result<(), StateError> {
        if !self.dir.is_dir() {
            fs::create_dir_all(&self.dir).map_err(files::error("create", &self.dir))?;
            if let Some(parent) = self.dir.parent() {
                files::sync_dir(parent)?;
            }
        }
        self.settle()?;
        let failed = |source| StateError::database(&self.dir, Activity::Keep, source);
        Checkpoint::new(store.db())
            .and_then(|checkpoint| checkpoint.create_checkpoint_with_log_size(making, NEVER_FLUSH))
            .map_err(failed)?;
        files::sync_all(making)
    }

    /// Removes all but one that was just made and the newest ones below it, `count` together. Those above it are
    /// of a state that has been replaced since.
    ///
    /// # Errors
    /// [`StateError::Files`].
    pub fn keep_newest(&self, new: &RestorePoint, count: usize) -> Result<(), StateError> {
        let points = self.list()?;
        let (older, others): (Vec<_>, Vec<_>) = points
            .into_iter()
            .filter(|point| point != new)
            .partition(|point| point.number() < new.number());
        let surplus = older.len().saturating_sub(count.saturating_sub(1));
        for point in others.iter().chain(older.iter().take(surplus)) {
            self.remove(point)?;
        }
        Ok(())
    }

    /// Removes one. Killed on the way it is gone, or there as a whole.
    ///
    /// # Errors
    /// [`StateError::Files`].
    pub fn remove(&self, point: &RestorePoint) -> Result<(), StateError> {
        let removing = self.dir.join(format!("{}.removing", name_of(point.head)));
        files::discard(&removing)?;
        fs::rename(&point.dir, &removing).map_err(files::error("rename", &point.dir))?;
        files::sync_dir(&self.dir)?;
        files::discard(&removing)?;
        Ok(())
    }

    /// Removes the directory with all that is in it.
    ///
    /// # Errors
    /// [`StateError::Files`].
    pub fn remove_all(&self) -> Result<(), StateError> {
        files::discard(&self.dir).map(drop)
    }

    /// Removes what an interrupted process left unfinished; gives the names. Nobody may be making a restore point
    /// meanwhile.
    ///
    /// # Errors
    /// [`StateError::Files`].
    pub fn settle(&self) -> Result<Vec<PathBuf>, StateError> {
        let mut removed = Vec::new();
        for name in self.names()? {
            let unfinished = UNFINISHED.iter().any(|end| {
                name.strip_suffix(end)
                    .is_some_and(|name| parse_name(name).is_some())
            });
            if unfinished {
                let path = self.dir.join(name);
                files::discard(&path)?;
                removed.push(path);
            }
        }
        Ok(removed)
    }

    fn names(&self) -> Result<Vec<String>, StateError> {
        let failed = |source| files::error("read", &self.dir)(source);
        let entries = match fs::read_dir(&self.dir) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(source) => return Err(failed(source)),
        };
        let mut names = Vec::new();
        for entry in entries {
            // Names that are not text are not ours.
            if let Ok(name) = entry.map_err(failed)?.file_name().into_string() {
                names.push(name);
            }
        }
        Ok(names)
    }
}

fn name_of(head: Option<Head>) -> String {
    let (number, id) = head.map_or((0, [0; 20]), |head| (head.number, head.id));
    format!("{number}-{}", Hex(&id))
}

/// What a name says; `None`: it is not a restore point's.
fn parse_name(name: &str) -> Option<Option<Head>> {
    let (digits, hex) = name.split_once('-')?;
    let number: u32 = digits.parse().ok()?;
    let mut id = [0; 20];
    if hex.len() != 2 * id.len() || !hex.is_ascii() {
        return None;
    }
    for (at, byte) in id.iter_mut().enumerate() {
        *byte = u8::from_str_radix(hex.get(2 * at..2 * at + 2)?, 16).ok()?;
    }
    let head = (number != 0 || id != [0; 20]).then_some(Head { number, id });
    // Only the spelling that was written: not +7, 007 or capital letters.
    (name_of(head) == name).then_some(head)
}
