//! Why a header file cannot be used.

use std::io;
use std::path::{Path, PathBuf};

use crate::LogError;

/// Why an operation on a header file failed. Headers can be read from the log then.
#[derive(Debug, thiserror::Error)]
pub enum HeaderFileError {
    /// The system refused something.
    #[error("cannot {action} the header file {}: {source}", .path.display())]
    Io {
        /// What was tried.
        action: &'static str,
        /// On what.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The log could not be read.
    #[error(transparent)]
    Log(#[from] LogError),
    /// Headers that are longer than any that hived makes.
    #[error("the headers of blocks {first} to {last} take {found} bytes, at most {limit} are kept")]
    TooLong {
        /// First block.
        first: u32,
        /// Last block.
        last: u32,
        /// Their bytes.
        found: usize,
        /// Most bytes in a segment.
        limit: usize,
    },
}

impl HeaderFileError {
    /// For `map_err` on an operation of the system.
    pub(super) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io {
            action,
            path: path.to_owned(),
            source,
        }
    }
}
