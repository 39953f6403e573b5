//! Putting a restore point in the place of the present state.
//!
//! ```text
//! registers/            the present state
//! registers.making/     a copy of a restore point that is being made, and means nothing yet
//! registers.restored/   a whole and synced copy, which is to be the present state
//! registers.replaced/   the state whose place it takes
//! ```
//!
//! 1. The copy is made under the first name, opened to see that it is what it should be, and synced. Table files are
//!    hard links, all others copies, as RocksDB goes on writing to them. The restore point stays.
//! 2. It gets the second name: from here on the restore is decided, and an interrupted one is finished by [`settle`].
//! 3. The present state gets the third name, the copy its place, and the replaced state is removed.
//!
//! Every new name is durable before the next step. Assumed of the file system: a rename happens or does not.

use std::fs;
use std::io;
use std::path::{Path as FilePath, PathBuf};

use super::{RestorePoint, files};
use crate::error::StateError;
use crate::open;

/// What was found and set right beside a state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Settled {
    /// A copy that was not finished was removed: the state is the one before the restore.
    Unfinished(PathBuf),
    /// A restore that was decided was finished: the state is the restore point's.
    Finished(PathBuf),
    /// The state that a restore had replaced was removed.
    Replaced(PathBuf),
    /// The state was put back to its place, from which a restore had moved it.
    PutBack(PathBuf),
}

struct Names {
    parent: PathBuf,
    making: PathBuf,
    restored: PathBuf,
    replaced: PathBuf,
}

impl Names {
    fn beside(registers: &FilePath) -> Self {
        let named = |end: &str| {
            let mut name = registers.file_name().unwrap_or_default().to_os_string();
            name.push(end);
            registers.with_file_name(name)
        };
        let parent = match registers.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent.to_path_buf(),
            _ => PathBuf::from("."),
        };
        Self {
            parent,
            making: named(".making"),
            restored: named(".restored"),
            replaced: named(".replaced"),
        }
    }
}

/// Puts a restore point in the place of the state in a directory, which nobody may have open. The restore point
/// stays. Killed at any moment, the old or the new state is there after [`settle`].
///
/// # Errors
/// [`StateError::DamagedRestorePoint`] when it is not a whole state of its block, [`StateError::OtherChain`] when it
/// has another chain's tag, and what opening it gives; [`StateError::Files`]. The present state is in its place, or
/// [`settle`] finishes the restore.
pub fn restore(point: &RestorePoint, registers: &FilePath, chain: &[u8; 32]) -> Result<(), StateError> {
    settle(registers)?;
    prepare(point, registers, chain)?;
    replace(registers)
}

/// Makes the copy that is to be the state. Afterwards the restore is decided.
pub(super) fn prepare(
    point: &RestorePoint,
    registers: &FilePath,
    chain: &[u8; 32],
) -> Result<(), StateError> {
    let names = Names::beside(registers);
    files::discard(&names.making)?;
    let made = copy(&point.dir, &names.making)
        .and_then(|()| check(point, &names.making, chain))
        .and_then(|()| files::sync_all(&names.making));
    if let Err(error) = made {
        // The fault to report is this one; `settle` removes what stays.
        let _ = files::discard(&names.making);
        return Err(error);
    }
    fs::rename(&names.making, &names.restored).map_err(files::error("rename", &names.making))?;
    files::sync_dir(&names.parent)
}

/// Exchanges the states. Does nothing that it has done before.
pub(super) fn replace(registers: &FilePath) -> Result<(), StateError> {
    let names = Names::beside(registers);
    if files::is_there(registers)? {
        files::discard(&names.replaced)?;
        fs::rename(registers, &names.replaced).map_err(files::error("rename", registers))?;
        files::sync_dir(&names.parent)?;
    }
    fs::rename(&names.restored, registers).map_err(files::error("rename", &names.restored))?;
    files::sync_dir(&names.parent)?;
    files::discard(&names.replaced)?;
    Ok(())
}

/// Sets right what an interrupted restore left beside the state in a directory. To be called before the state is
/// opened, by the only process that uses it.
///
/// # Errors
/// [`StateError::Files`].
pub fn settle(registers: &FilePath) -> Result<Vec<Settled>, StateError> {
    let names = Names::beside(registers);
    let mut settled = Vec::new();
    if files::discard(&names.making)? {
        settled.push(Settled::Unfinished(names.making.clone()));
    }
    if files::is_there(&names.restored)? {
        replace(registers)?;
        settled.push(Settled::Finished(registers.to_path_buf()));
    } else if files::is_there(&names.replaced)? {
        if files::is_there(registers)? {
            files::discard(&names.replaced)?;
            settled.push(Settled::Replaced(names.replaced));
        } else {
            fs::rename(&names.replaced, registers).map_err(files::error("rename", &names.replaced))?;
            files::sync_dir(&names.parent)?;
            settled.push(Settled::PutBack(registers.to_path_buf()));
        }
    }
    Ok(settled)
}

fn copy(from: &FilePath, to: &FilePath) -> Result<(), StateError> {
    let entries = fs::read_dir(from).map_err(files::error("read", from))?;
    fs::create_dir(to).map_err(files::error("create", to))?;
    for entry in entries {
        let source = entry.map_err(files::error("read", from))?.path();
        let name = source.file_name().unwrap_or_default();
        let is_table = source.extension().is_some_and(|end| end == "sst");
        let target = to.join(name);
        let copied = match is_table {
            true => fs::hard_link(&source, &target).or_else(|error| match error.kind() {
                io::ErrorKind::NotFound => Err(error),
                _ => fs::copy(&source, &target).map(drop),
            }),
            false => fs::copy(&source, &target).map(drop),
        };
        copied.map_err(files::error("copy", &source))?;
    }
    Ok(())
}

/// Opens the copy, which needs every file of it.
fn check(point: &RestorePoint, copy: &FilePath, chain: &[u8; 32]) -> Result<(), StateError> {
    let damaged = |found| StateError::DamagedRestorePoint {
        dir: point.dir.clone(),
        expected: point.head,
        found,
    };
    let (db, metadata) = match open::for_reading(copy) {
        Err(StateError::Missing { .. }) => return Err(damaged(None)),
        opened => opened?,
    };
    drop(db);
    open::check_chain(&point.dir, &metadata, chain)?;
    if metadata.head == point.head {
        Ok(())
    } else {
        Err(damaged(metadata.head))
    }
}
