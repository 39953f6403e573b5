//! Directories of files: synced, and removed.

use std::fs::{self, File};
use std::io;
use std::path::Path as FilePath;

use crate::error::StateError;

/// For `map_err` on an operation of the system.
pub(super) fn error(action: &'static str, path: &FilePath) -> impl FnOnce(io::Error) -> StateError {
    let path = path.to_path_buf();
    move |source| StateError::Files { action, path, source }
}

/// Makes the names in a directory durable.
pub(super) fn sync_dir(dir: &FilePath) -> Result<(), StateError> {
    File::open(dir)
        .and_then(|dir| dir.sync_all())
        .map_err(error("sync", dir))
}

/// Makes all files of a directory durable, and their names. For hard links to synced files there is nothing to
/// write.
pub(super) fn sync_all(dir: &FilePath) -> Result<(), StateError> {
    for entry in fs::read_dir(dir).map_err(error("read", dir))? {
        let path = entry.map_err(error("read", dir))?.path();
        File::open(&path)
            .and_then(|file| file.sync_all())
            .map_err(error("sync", &path))?;
    }
    sync_dir(dir)
}

/// Removes a directory with all that is in it; `false`: there was none.
pub(super) fn discard(dir: &FilePath) -> Result<bool, StateError> {
    match fs::remove_dir_all(dir) {
        Ok(()) => Ok(true),
        Err(source) if source.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(source) => Err(error("remove", dir)(source)),
    }
}

/// Whether something has this name.
pub(super) fn is_there(path: &FilePath) -> Result<bool, StateError> {
    path.try_exists().map_err(error("look for", path))
}
