//! The chain that an option names: a built-in one, or a specification file.

use std::fs;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use cairn_chain::ChainSpec;
use cairn_chain::spec::{BUILT_IN, SpecError};
use thiserror::Error;

/// Largest specification that is read, in bytes.
const MAX_SPEC_SIZE: u64 = 1 << 20;

/// A chain that cannot be used.
#[derive(Debug, Error)]
pub enum ChainError {
    /// Neither a built-in name nor a file.
    #[error("chain {found:?} is neither built in ({}) nor a chain specification file", BUILT_IN.join(", "))]
    Unknown {
        /// What was named.
        found: String,
    },
    /// The file cannot be read.
    #[error("chain specification {path} cannot be read: {source}")]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The file is too large for a specification.
    #[error("chain specification {path} has {found} bytes, more than {MAX_SPEC_SIZE}: is it another file?")]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// Its size in bytes.
        found: u64,
    },
    /// The file is not a specification.
    #[error("chain specification {path}: {source}")]
    Invalid {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: SpecError,
    },
}

/// The chain with this name, or of the specification in this file.
///
/// # Errors
/// [`ChainError`] when there is none.
pub fn load(name_or_file: &str) -> Result<Arc<ChainSpec>, ChainError> {
    if let Ok(chain) = ChainSpec::builtin(name_or_file) {
        return Ok(Arc::new(chain));
    }
    let path = PathBuf::from(name_or_file);
    let size = match fs::metadata(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err(ChainError::Unknown {
                found: name_or_file.to_owned(),
            });
        }
        Err(source) => return Err(ChainError::Unreadable { path, source }),
        Ok(metadata) => metadata.len(),
    };
    if size > MAX_SPEC_SIZE {
        return Err(ChainError::TooLarge { path, found: size });
    }
    let text = fs::read_to_string(&path).map_err(|source| ChainError::Unreadable {
        path: path.clone(),
        source,
    })?;
    match ChainSpec::from_json(&text) {
        Ok(chain) => Ok(Arc::new(chain)),
        Err(source) => Err(ChainError::Invalid { path, source }),
    }
}
