//! One process for a data folder.
//!
//! The lock covers the block log and the state alike. Commands that only read do not take it.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use thiserror::Error;

/// Name of the lock file. It stays when the process ends; what counts is the system's lock on it.
const NAME: &str = "lock";

/// Held as long as the folder is used; the system gives it back however the process ends.
#[derive(Debug)]
pub struct FolderLock {
    _file: File,
}

/// Why a data folder cannot be used.
#[derive(Debug, Error)]
pub enum FolderError {
    /// Another process uses it.
    #[error(
        "the data folder {} is in use by {}: stop that process first, or name another folder with -d. \
         `cairn state` and `cairn log` read beside a running node",
        folder.display(),
        process_words(*process)
    )]
    InUse {
        /// The folder.
        folder: PathBuf,
        /// The other process, if it wrote its id down.
        process: Option<u32>,
    },
    /// It cannot be made or written.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// What was tried.
        action: &'static str,
        /// On what.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
}

fn process_words(process: Option<u32>) -> String {
    process.map_or_else(|| "another process".to_owned(), |id| format!("process {id}"))
}

impl FolderLock {
    /// Makes the folder if it is not there, and takes it.
    ///
    /// # Errors
    /// [`FolderError`].
    pub fn take(folder: &Path) -> Result<Self, FolderError> {
        let path = folder.join(NAME);
        let failed = |action, path: &Path| {
            let path = path.to_owned();
            move |source| FolderError::Io { action, path, source }
        };
        fs::create_dir_all(folder).map_err(failed("create the data folder", folder))?;
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)
            .map_err(failed("write", &path))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(FolderError::InUse {
                    folder: folder.to_owned(),
                    process: read_id(&mut file),
                });
            }
            // Some network file systems have no locks. RocksDB's own lock still guards the state there.
            Err(TryLockError::Error(error)) => {
                tracing::warn!(
                    "{} cannot be locked ({error}): see to it that one process uses it",
                    path.display()
                );
            }
        }
        // For people only, so that a full disk is no reason to stop here.
        let _ = file
            .set_len(0)
            .and_then(|()| writeln!(file, "{}", std::process::id()));
        Ok(Self { _file: file })
    }
}

fn read_id(file: &mut File) -> Option<u32> {
    let mut text = String::new();
    file.take(32).read_to_string(&mut text).ok()?;
    text.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_has_one_user_and_names_it() {
        let folder = tempfile::tempdir().unwrap();
        let node = folder.path().join("node");
        let first = FolderLock::take(&node).unwrap();
        let error = FolderLock::take(&node).unwrap_err().to_string();
        let id = format!("in use by process {}", std::process::id());
        assert!(error.contains(&id), "{error}");
        drop(first);
        drop(FolderLock::take(&node).unwrap());
        fs::write(node.join(NAME), "nonsense").unwrap();
        let _holder = FolderLock::take(&node).unwrap();
        fs::write(node.join(NAME), "nonsense").unwrap();
        let error = FolderLock::take(&node).unwrap_err().to_string();
        assert!(error.contains("in use by another process"), "{error}");
    }

    #[test]
    fn a_folder_that_cannot_be_made_is_named() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let error = FolderLock::take(&file.path().join("node"))
            .unwrap_err()
            .to_string();
        assert!(error.starts_with("cannot create the data folder"), "{error}");
    }
}
