//! Names of log files, and which of them are in a folder.

use std::fs;
use std::path::{Path, PathBuf};

use crate::LogError;

/// Name of a log in one file.
pub(crate) const SINGLE_NAME: &str = "block_log";
const PART_PREFIX: &str = "block_log_part.";
/// Parts have four digits; block numbers have 32 bits, which is 4,295 parts of a million blocks.
const MAX_PART: u32 = 9999;

/// How a log is laid out in its folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// One file, `block_log`.
    Single,
    /// Files `block_log_part.0001` and so on.
    Split {
        /// Blocks in each part but the last: 1,000,000 on Hive's mainnet and mirrornets, 400 on its testnets.
        blocks_per_part: u32,
    },
}

/// File name of a part.
pub(crate) fn part_name(part: u32) -> String {
    format!("{PART_PREFIX}{part:04}")
}

/// Part number in a file name.
pub(crate) fn part_number(name: &str) -> Option<u32> {
    let digits = name.strip_prefix(PART_PREFIX)?;
    if digits.len() != 4 || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    digits.parse().ok().filter(|part| *part != 0)
}

/// The part that holds a block, and the part's first block.
pub(crate) fn part_of(block: u32, blocks_per_part: u32) -> (u32, u32) {
    let before = block.saturating_sub(1) / blocks_per_part.max(1);
    (before + 1, before * blocks_per_part.max(1) + 1)
}

/// First block of a part, if block numbers reach that far.
pub(crate) fn first_of_part(part: u32, blocks_per_part: u32) -> Option<u32> {
    part.checked_sub(1)?.checked_mul(blocks_per_part)?.checked_add(1)
}

/// Whether a part number can be written with four digits.
pub(crate) fn is_part(part: u32) -> bool {
    (1..=MAX_PART).contains(&part)
}

/// Log files that were found.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Found {
    Nothing,
    Single(PathBuf),
    /// Part numbers, ascending and without a gap, with their files.
    Parts(Vec<(u32, PathBuf)>),
}

/// Looks for a log at `path`: the file itself, or what the folder holds.
pub(crate) fn find(path: &Path) -> Result<Found, LogError> {
    let metadata = match fs::metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Found::Nothing),
        Err(error) => return Err(LogError::io("open", path)(error)),
    };
    if !metadata.is_dir() {
        let part = path
            .file_name()
            .and_then(|name| name.to_str())
            .and_then(part_number);
        return Ok(match part {
            Some(part) => Found::Parts(vec![(part, path.to_owned())]),
            None => Found::Single(path.to_owned()),
        });
    }
    let mut single = None;
    let mut parts = Vec::new();
    for entry in fs::read_dir(path).map_err(LogError::io("list", path))? {
        let entry = entry.map_err(LogError::io("list", path))?;
        let name = entry.file_name();
        let Some(name) = name.to_str() else { continue };
        if name == SINGLE_NAME {
            single = Some(entry.path());
        } else if let Some(part) = part_number(name) {
            parts.push((part, entry.path()));
        }
    }
    match (single, parts.is_empty()) {
        (None, true) => Ok(Found::Nothing),
        (Some(file), true) => Ok(Found::Single(file)),
        (Some(_), false) => Err(LogError::TwoLogs {
            folder: path.to_owned(),
        }),
        (None, false) => {
            parts.sort_unstable();
            let gap = parts.windows(2).find(|pair| pair[1].0 != pair[0].0 + 1);
            if let Some(pair) = gap {
                return Err(LogError::MissingPart {
                    folder: path.to_owned(),
                    missing: pair[0].0 + 1,
                    next: pair[1].0,
                });
            }
            Ok(Found::Parts(parts))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn part_names() {
        assert_eq!(part_name(7), "block_log_part.0007");
        assert_eq!(part_number("block_log_part.0105"), Some(105));
        for name in [
            "block_log_part.0000",
            "block_log_part.1",
            "block_log_part.00010",
            "block_log_part.0001.artifacts",
            "block_log",
        ] {
            assert_eq!(part_number(name), None, "{name}");
        }
    }

    #[test]
    fn parts_of_blocks() {
        assert_eq!(part_of(1, 400), (1, 1));
        assert_eq!(part_of(400, 400), (1, 1));
        assert_eq!(part_of(401, 400), (2, 401));
        assert_eq!(part_of(u32::MAX, 1_000_000), (4295, 4_294_000_001));
        assert_eq!(first_of_part(4, 400), Some(1201));
        assert_eq!(first_of_part(9999, 1_000_000), None);
    }

    #[test]
    fn folders() {
        let folder = tempfile::tempdir().unwrap();
        let touch = |name: &str| fs::write(folder.path().join(name), b"").unwrap();
        assert_eq!(find(folder.path()).unwrap(), Found::Nothing);
        assert_eq!(find(&folder.path().join("none")).unwrap(), Found::Nothing);
        touch("block_log_part.0004");
        touch("block_log_part.0003");
        touch("block_log_part.0003.artifacts");
        let Found::Parts(parts) = find(folder.path()).unwrap() else {
            panic!("parts expected")
        };
        assert_eq!(parts.iter().map(|(part, _)| *part).collect::<Vec<_>>(), [3, 4]);
        touch("block_log_part.0006");
        let error = find(folder.path()).unwrap_err();
        assert!(
            matches!(
                error,
                LogError::MissingPart {
                    missing: 5,
                    next: 6,
                    ..
                }
            ),
            "{error}"
        );
        touch("block_log");
        let error = find(folder.path()).unwrap_err();
        assert!(matches!(error, LogError::TwoLogs { .. }), "{error}");
    }
}
