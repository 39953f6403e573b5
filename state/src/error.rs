//! What can go wrong, told so that the operator knows what to do.

use std::fmt;
use std::io;
use std::path::{Path as FilePath, PathBuf};
use std::sync::Arc;

use rocksdb::ErrorKind;

use crate::head::Head;
use crate::hex::Hex;
use crate::metadata::{FORMAT_VERSION, MetadataError};
use crate::path::Path;
use crate::record::{MAX_KEY_BYTES, MAX_VALUE_BYTES, RecordError};
use crate::trie_file::TrieFileError;

/// What the engine was doing with the database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Activity {
    /// Opening it.
    Open,
    /// Reading from it.
    Read,
    /// Writing a commit.
    Commit,
    /// Keeping a restore point.
    Keep,
}

impl fmt::Display for Activity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Open => "opening",
            Self::Read => "reading",
            Self::Commit => "writing to",
            Self::Keep => "keeping a copy of",
        })
    }
}

/// Any error of this crate. No error of opening a store destroys anything; [`Locked`](Self::Locked),
/// [`Missing`](Self::Missing), [`NotAStore`](Self::NotAStore), [`OtherChain`](Self::OtherChain) and
/// [`NewerFormat`](Self::NewerFormat) leave every byte of its directory as it was.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StateError {
    /// The store is in use.
    #[error("the state in {} is in use by another process (or opened twice by this one); stop that process, or open the state read-only", dir.display())]
    Locked {
        /// The store's directory.
        dir: PathBuf,
    },
    /// The directory cannot be created or written.
    #[error("the state directory {} cannot be written: {source}; check its owner, its permissions and how its file system is mounted", dir.display())]
    Unwritable {
        /// The store's directory.
        dir: PathBuf,
        /// What the operating system says.
        source: io::Error,
    },
    /// A writer beside changed its files during every attempt to open them for reading.
    #[error("the state in {} is written too fast to be opened for reading; try again", dir.display())]
    Changing {
        /// The store's directory.
        dir: PathBuf,
    },
    /// There is no store to read.
    #[error("there is no state in {}", dir.display())]
    Missing {
        /// The directory that was to be read.
        dir: PathBuf,
    },
    /// The directory has other files in it and no store.
    #[error("the directory {} holds `{}` and no state; name a directory that is empty or does not exist", dir.display(), found.display())]
    NotAStore {
        /// The directory.
        dir: PathBuf,
        /// The name of a file in it that is not a store's.
        found: PathBuf,
    },
    /// The store belongs to another chain.
    #[error("the state in {} belongs to chain {}, not to {}; name another directory for this chain", dir.display(), Hex(found), Hex(expected))]
    OtherChain {
        /// The store's directory.
        dir: PathBuf,
        /// The tag of the chain that was to be opened.
        expected: [u8; 32],
        /// The tag in the store.
        found: [u8; 32],
    },
    /// The store was written by a newer version of this crate.
    #[error("the state in {} has format version {found}, this program knows versions up to {FORMAT_VERSION}; use a newer program, or another directory and replay", dir.display())]
    NewerFormat {
        /// The store's directory.
        dir: PathBuf,
        /// The format version of the store.
        found: u32,
    },
    /// The metadata record is not one, or is missing: the database is damaged, or another program's.
    #[error("the database in {} is not a usable state: {source}; name another directory, or move this one away and replay the blocks", dir.display())]
    CorruptMetadata {
        /// The store's directory.
        dir: PathBuf,
        /// What is wrong.
        source: MetadataError,
    },
    /// A stored register is not one.
    #[error("the state in {} is damaged: the register at path {path} is malformed: {source}; move the directory away and replay the blocks", dir.display())]
    CorruptRegister {
        /// The store's directory.
        dir: PathBuf,
        /// The path of the register.
        path: Path,
        /// What is wrong.
        source: RecordError,
    },
    /// A key in the registers' column family is not a path.
    #[error("the state in {} is damaged: a register is stored under {length} bytes instead of a path of 32; move the directory away and replay the blocks", dir.display())]
    CorruptPath {
        /// The store's directory.
        dir: PathBuf,
        /// The length of the key in RocksDB.
        length: usize,
    },
    /// The stored counts are wrong: the state would have fewer than no registers or bytes.
    #[error("the state in {} is damaged: its stored counts of registers and bytes are too small; move the directory away and replay the blocks", dir.display())]
    CorruptCounts {
        /// The store's directory.
        dir: PathBuf,
    },
    /// The disk is full. What was to be written is not in the store.
    #[error("no space is left for the state in {}: {source}; free some space and start again, the last commit is kept", dir.display())]
    DiskFull {
        /// The store's directory.
        dir: PathBuf,
        /// What RocksDB says; it names the file.
        source: rocksdb::Error,
    },
    /// The database cannot be opened: one of its files is missing, or is not what it was.
    #[error("the state in {} is damaged: {source}; go back to a restore point, or move the directory away and replay the blocks", dir.display())]
    DamagedFiles {
        /// The store's directory.
        dir: PathBuf,
        /// What RocksDB says; it names the file.
        source: rocksdb::Error,
    },
    /// RocksDB reports another error.
    #[error("{activity} the state in {} failed: {source}", dir.display())]
    Database {
        /// The store's directory.
        dir: PathBuf,
        /// What was being done.
        activity: Activity,
        /// What RocksDB says.
        source: rocksdb::Error,
    },
    /// The system refused something on the files of a state or a restore point.
    #[error("cannot {action} {}: {source}", path.display())]
    Files {
        /// What was tried.
        action: &'static str,
        /// On what.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A restore point is not the state that its name says.
    #[error("the restore point {} is not the whole state of block {} that its name says: it holds {}; use another one, or replay the blocks", dir.display(), Of(expected), Of(found))]
    DamagedRestorePoint {
        /// The restore point's directory.
        dir: PathBuf,
        /// The block in its name.
        expected: Option<Head>,
        /// The block that it holds the state of.
        found: Option<Head>,
    },
    /// There is no trie, and so no root.
    #[error("the trie over the state in {} was given up: {reason}", dir.display())]
    TrieLost {
        /// The store's directory.
        dir: PathBuf,
        /// Why.
        reason: Box<str>,
    },
    /// The trie file is not the store's, or damaged.
    #[error("{}: the trie file is of no use: {source}", path.display())]
    TrieFile {
        /// The file.
        path: PathBuf,
        /// Why.
        source: Box<TrieFileError>,
    },
    /// The store was opened read-only and was to be written.
    #[error("the state in {} was opened read-only", dir.display())]
    ReadOnly {
        /// The store's directory.
        dir: PathBuf,
    },
    /// The key of a register is too long.
    #[error("a register's key of {length} bytes is longer than {MAX_KEY_BYTES}")]
    KeyTooLong {
        /// The length of the key.
        length: usize,
    },
    /// The value of a register is too long.
    #[error("a register's value of {length} bytes is longer than {MAX_VALUE_BYTES}")]
    ValueTooLong {
        /// The length of the value.
        length: usize,
    },
    /// A block was to begin, or a commit, while a block was open.
    #[error("a block's changes are neither accepted nor undone yet")]
    BlockOpen,
    /// A change without an open block, while undo sessions are kept.
    #[error("a change outside of a block cannot be made while blocks can be taken back")]
    OutsideBlock,
    /// A commit failed earlier, so that nobody knows what the disk holds until the store is opened again.
    #[error(
        "the state accepts nothing more since a commit failed ({cause}); restart to continue from the last commit"
    )]
    Dead {
        /// Why the commit failed.
        cause: Arc<StateError>,
    },
}

impl StateError {
    /// Whether something could not be written for want of room. The last commit is kept; the store has to be opened
    /// again.
    #[must_use]
    pub fn is_disk_full(&self) -> bool {
        match self {
            Self::DiskFull { .. } => true,
            Self::Unwritable { source, .. } => matches!(
                source.kind(),
                io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded
            ),
            Self::Dead { cause } => cause.is_disk_full(),
            _ => false,
        }
    }

    /// Whether what is stored is not what was written: only a restore point or the blocks can help.
    #[must_use]
    pub fn is_damage(&self) -> bool {
        match self {
            Self::DamagedFiles { .. }
            | Self::CorruptMetadata { .. }
            | Self::CorruptRegister { .. }
            | Self::CorruptPath { .. }
            | Self::CorruptCounts { .. } => true,
            Self::Database { source, .. } => source.kind() == ErrorKind::Corruption,
            _ => false,
        }
    }

    /// Sorts an error of RocksDB. Its kinds are coarse and its C interface passes no finer code on, so the
    /// text has to be searched; the tests provoke each case with the RocksDB that is linked.
    pub(crate) fn database(dir: &FilePath, activity: Activity, source: rocksdb::Error) -> Self {
        let dir = dir.to_path_buf();
        match classify(&source.kind(), source.as_ref()) {
            Cause::DiskFull => Self::DiskFull { dir, source },
            Cause::Locked if activity == Activity::Open => Self::Locked { dir },
            Cause::Refused(kind) => Self::Unwritable {
                dir,
                source: io::Error::new(kind, source),
            },
            Cause::LostFile | Cause::Corrupt if activity == Activity::Open => {
                Self::DamagedFiles { dir, source }
            }
            _ => Self::Database {
                dir,
                activity,
                source,
            },
        }
    }
}

/// Prints a head, or that there is none.
struct Of<'a>(&'a Option<Head>);

impl fmt::Display for Of<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(head) => head.fmt(f),
            None => f.write_str("no block"),
        }
    }
}

#[derive(Debug, PartialEq, Eq)]
enum Cause {
    DiskFull,
    Locked,
    Refused(io::ErrorKind),
    LostFile,
    Corrupt,
    Other,
}

/// Whether RocksDB misses a file. It says so under several of its kinds.
pub(crate) fn is_lost_file(message: &str) -> bool {
    message.contains("No such file")
}

fn classify(kind: &ErrorKind, message: &str) -> Cause {
    // The texts are RocksDB's and glibc's; neither depends on the locale, which a Rust program does not set.
    let has = |text: &str| message.contains(text);
    if is_lost_file(message) {
        Cause::LostFile
    } else if *kind == ErrorKind::Corruption {
        Cause::Corrupt
    } else if *kind != ErrorKind::IOError {
        Cause::Other
    } else if has("No space left on device") || has("Disk quota exceeded") {
        Cause::DiskFull
    } else if has("While lock file") || has("lock hold by current process") {
        Cause::Locked
    } else if has("Permission denied") {
        Cause::Refused(io::ErrorKind::PermissionDenied)
    } else if has("Read-only file system") {
        Cause::Refused(io::ErrorKind::ReadOnlyFilesystem)
    } else {
        Cause::Other
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_of_rocksdb_are_sorted() {
        let of = |message: &str| classify(&ErrorKind::IOError, message);
        let full = "IO error: No space left on device: While appending to file: /d/000012.log: No space left on device";
        assert_eq!(of(full), Cause::DiskFull);
        assert_eq!(
            of("IO error: While lock file: /d/LOCK: Resource temporarily unavailable"),
            Cause::Locked
        );
        assert_eq!(
            of("IO error: While open a file for appending: /d/000012.log: Read-only file system"),
            Cause::Refused(io::ErrorKind::ReadOnlyFilesystem)
        );
        assert_eq!(
            of("IO error: While appending to file: /d/000012.log: Input/output error"),
            Cause::Other
        );
        let lost = "IO error: No such file or directory: while stat a file for size: /d/000012.sst: No such file or directory";
        assert_eq!(of(lost), Cause::LostFile);
        let lost = "Corruption: Can't access /000012.sst: IO error: No such file or directory";
        assert_eq!(classify(&ErrorKind::Corruption, lost), Cause::LostFile);
        assert_eq!(classify(&ErrorKind::Corruption, full), Cause::Corrupt);
    }
}
