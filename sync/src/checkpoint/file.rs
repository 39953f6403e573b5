//! A `checkpoint-file`: one checkpoint a line, in the spellings of [`parse`](super::parse).
//!
//! Empty lines and lines that begin with `#` are skipped. The prefix `checkpoint =` is allowed, so that
//! lines can be copied from a config.ini.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

use super::ConfiguredCheckpoint;

/// Largest file that is read, in bytes: a million lines of the longest spelling fit.
const MAX_FILE_SIZE: u64 = 64 << 20;

/// A checkpoint file that cannot be read.
#[derive(Debug, Error)]
pub enum CheckpointFileError {
    /// The file cannot be opened or read.
    #[error("checkpoint file {path} cannot be read: {source}")]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The file is larger than a checkpoint file can sensibly be.
    #[error("checkpoint file {path} has {found} bytes, more than {MAX_FILE_SIZE}: is it a block log?")]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// Its size in bytes.
        found: u64,
    },
}

/// Reads the values of a file; each knows its line. They are not parsed yet, so that their faults are
/// reported together with those of all other sources.
///
/// # Errors
/// [`CheckpointFileError`] when the file cannot be read or is implausibly large.
pub fn read(path: &Path) -> Result<Vec<ConfiguredCheckpoint>, CheckpointFileError> {
    let fault = |source| CheckpointFileError::Read {
        path: path.to_owned(),
        source,
    };
    let found = fs::metadata(path).map_err(fault)?.len();
    if found > MAX_FILE_SIZE {
        return Err(CheckpointFileError::TooLarge {
            path: path.to_owned(),
            found,
        });
    }
    let bytes = fs::read(path).map_err(fault)?;
    Ok(values(
        &String::from_utf8_lossy(&bytes),
        &path.display().to_string(),
    ))
}

fn values(text: &str, name: &str) -> Vec<ConfiguredCheckpoint> {
    text.lines()
        .enumerate()
        .map(|(index, line)| (index + 1, strip_option_name(line.trim())))
        .filter(|(_, line)| !line.is_empty() && !line.starts_with('#'))
        .map(|(number, line)| ConfiguredCheckpoint::new(line, format!("{name}:{number}")))
        .collect()
}

fn strip_option_name(line: &str) -> &str {
    line.strip_prefix("checkpoint")
        .and_then(|rest| rest.trim_start().strip_prefix('='))
        .map_or(line, str::trim_start)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn skips_comments_and_knows_its_lines() {
        let text = "# from node a\n\n[1,00000001]\r\n  checkpoint = [2,00000002]\n#[3,3]\n[4,4]";
        let found: Vec<_> = values(text, "f")
            .into_iter()
            .map(|value| (value.text, value.origin))
            .collect();
        let expected = [("[1,00000001]", "f:3"), ("[2,00000002]", "f:4"), ("[4,4]", "f:6")];
        assert_eq!(
            found,
            expected.map(|(text, origin)| (text.to_owned(), origin.to_owned()))
        );
    }

    #[test]
    fn names_the_file_that_is_missing() {
        let fault = read(Path::new("/nonexistent/checkpoints")).unwrap_err();
        assert!(
            fault
                .to_string()
                .starts_with("checkpoint file /nonexistent/checkpoints cannot be read")
        );
    }
}
