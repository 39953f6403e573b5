//! zstd dictionaries: files `NNNM.dict.zst` in a folder, NNN being the million of blocks that they were
//! trained for.
//!
//! Loading a folder only lists it. A dictionary is unpacked when a block first asks for it, within a bound,
//! and then shared by all decoders: about 450 KB each, so some 50 MB when all of Hive's 105 are in use.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use zstd::zstd_safe::{DDict, get_error_name};

/// Hive's dictionaries unpack to 225,280 bytes. More than this is refused.
const MAX_DICTIONARY_SIZE: usize = 1 << 20;
/// Most bytes read from a packed file: no useful file is larger than what it holds.
const MAX_FILE_SIZE: u64 = 1 << 20;
/// One dictionary serves a million blocks.
const BLOCKS_PER_DICTIONARY: u32 = 1_000_000;
const SUFFIX: &str = "M.dict.zst";

/// Why a dictionary cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum DictionaryError {
    /// The block needs a dictionary that is not there.
    #[error(
        "zstd dictionary {number} is needed, but {}; name the folder that holds {number:03}M.dict.zst",
        have(.folder)
    )]
    Missing {
        /// Dictionary number.
        number: u8,
        /// Folder that was searched, if one was given.
        folder: Option<PathBuf>,
    },
    /// The folder or a file in it cannot be read.
    #[error("cannot read {path}: {source}")]
    Io {
        /// File or folder.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The file does not unpack to a dictionary of acceptable size.
    #[error("{path} is not a packed dictionary of at most {limit} bytes: {reason}")]
    Invalid {
        /// The file.
        path: PathBuf,
        /// Most bytes that are accepted.
        limit: usize,
        /// What is wrong with it.
        reason: &'static str,
    },
}

fn have(folder: &Option<PathBuf>) -> String {
    match folder {
        Some(folder) => format!("the folder {} does not have it", folder.display()),
        None => "no folder with dictionaries was given".to_owned(),
    }
}

/// One unpacked dictionary.
pub struct Dictionary {
    number: u8,
    bytes: Vec<u8>,
    digested: DDict<'static>,
}

impl Dictionary {
    /// Its number.
    pub fn number(&self) -> u8 {
        self.number
    }

    /// The trained dictionary, as zstd takes it.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub(super) fn digested(&self) -> &DDict<'static> {
        &self.digested
    }
}

impl std::fmt::Debug for Dictionary {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Dictionary")
            .field("number", &self.number)
            .field("bytes", &self.bytes.len())
            .finish_non_exhaustive()
    }
}

#[derive(Debug)]
struct Slot {
    path: PathBuf,
    unpacked: OnceLock<Arc<Dictionary>>,
}

/// The dictionaries at hand. Share one set by `Arc`.
#[derive(Debug, Default)]
pub struct Dictionaries {
    folder: Option<PathBuf>,
    slots: BTreeMap<u8, Slot>,
}

impl Dictionaries {
    /// No dictionaries: for chains whose logs never used one.
    pub fn none() -> Self {
        Self::default()
    }

    /// Lists the dictionaries of a folder. Other files in it do not matter.
    ///
    /// # Errors
    /// If the folder cannot be read.
    pub fn load(folder: &Path) -> Result<Self, DictionaryError> {
        let io = |source| DictionaryError::Io {
            path: folder.to_owned(),
            source,
        };
        let mut slots = BTreeMap::new();
        for entry in fs::read_dir(folder).map_err(io)? {
            let entry = entry.map_err(io)?;
            if let Some(number) = entry.file_name().to_str().and_then(number_of) {
                let slot = Slot {
                    path: entry.path(),
                    unpacked: OnceLock::new(),
                };
                slots.insert(number, slot);
            }
        }
        Ok(Self {
            folder: Some(folder.to_owned()),
            slots,
        })
    }

    /// Numbers at hand, ascending.
    pub fn numbers(&self) -> impl Iterator<Item = u8> {
        self.slots.keys().copied()
    }

    /// The dictionary to compress block `number` with: that of its million, else the highest one below.
    ///
    /// Only for writing. To read a block, take the number in its trailer: its writer may have had fewer.
    pub fn for_block(&self, number: u32) -> Option<u8> {
        let wanted = u8::try_from(number / BLOCKS_PER_DICTIONARY).unwrap_or(u8::MAX);
        self.slots.range(..=wanted).next_back().map(|(n, _)| *n)
    }

    /// The dictionary with this number, unpacked on first use.
    ///
    /// # Errors
    /// If it is not there, or its file is not a dictionary.
    pub fn get(&self, number: u8) -> Result<&Arc<Dictionary>, DictionaryError> {
        let slot = self.slots.get(&number).ok_or_else(|| DictionaryError::Missing {
            number,
            folder: self.folder.clone(),
        })?;
        if let Some(dictionary) = slot.unpacked.get() {
            return Ok(dictionary);
        }
        // Two threads may both unpack it; the second result is dropped.
        let dictionary = Arc::new(unpack(number, &slot.path)?);
        Ok(slot.unpacked.get_or_init(|| dictionary))
    }
}

fn number_of(file_name: &str) -> Option<u8> {
    let digits = file_name.strip_suffix(SUFFIX)?;
    (digits.len() == 3 && digits.bytes().all(|b| b.is_ascii_digit()))
        .then(|| digits.parse().ok())
        .flatten()
}

fn unpack(number: u8, path: &Path) -> Result<Dictionary, DictionaryError> {
    let invalid = |reason| DictionaryError::Invalid {
        path: path.to_owned(),
        limit: MAX_DICTIONARY_SIZE,
        reason,
    };
    let mut packed = Vec::new();
    File::open(path)
        .and_then(|file| file.take(MAX_FILE_SIZE + 1).read_to_end(&mut packed))
        .map_err(|source| DictionaryError::Io {
            path: path.to_owned(),
            source,
        })?;
    if packed.len() as u64 > MAX_FILE_SIZE {
        return Err(invalid("the file is too large"));
    }
    let mut bytes = Vec::with_capacity(MAX_DICTIONARY_SIZE);
    zstd::zstd_safe::decompress(&mut bytes, &packed).map_err(|code| invalid(get_error_name(code)))?;
    bytes.shrink_to_fit();
    // An empty "dictionary" would decode blocks as if none were needed.
    if bytes.len() < 8 {
        return Err(invalid("it unpacks to almost nothing"));
    }
    let digested = DDict::try_create(&bytes).ok_or_else(|| invalid("zstd does not accept its content"))?;
    Ok(Dictionary {
        number,
        bytes,
        digested,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder_with(files: &[(&str, &[u8])]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (name, content) in files {
            fs::write(folder.path().join(name), content).unwrap();
        }
        folder
    }

    #[test]
    fn file_names() {
        assert_eq!(number_of("000M.dict.zst"), Some(0));
        assert_eq!(number_of("104M.dict.zst"), Some(104));
        for name in [
            "256M.dict.zst",
            "1M.dict.zst",
            "+01M.dict.zst",
            "001M.dict",
            "M.dict.zst",
        ] {
            assert_eq!(number_of(name), None, "{name}");
        }
    }

    #[test]
    fn dictionary_of_a_height() {
        let folder = folder_with(&[
            ("000M.dict.zst", b""),
            ("001M.dict.zst", b""),
            ("104M.dict.zst", b""),
            ("README.md", b""),
        ]);
        let dictionaries = Dictionaries::load(folder.path()).unwrap();
        assert_eq!(dictionaries.numbers().collect::<Vec<_>>(), [0, 1, 104]);
        for (block, expected) in [
            (1, 0),
            (999_999, 0),
            (1_000_000, 1),
            (103_999_999, 1),
            (105_000_000, 104),
            (u32::MAX, 104),
        ] {
            assert_eq!(dictionaries.for_block(block), Some(expected), "block {block}");
        }
        assert_eq!(Dictionaries::none().for_block(7), None);
    }

    #[test]
    fn bad_files_are_refused() {
        let bomb = zstd::bulk::compress(&vec![0; 64 << 20], 3).unwrap();
        let empty = zstd::bulk::compress(b"", 3).unwrap();
        let folder = folder_with(&[
            ("000M.dict.zst", b"not zstd at all"),
            ("001M.dict.zst", &bomb),
            ("002M.dict.zst", &empty),
            ("003M.dict.zst", &vec![0; MAX_FILE_SIZE as usize + 1]),
        ]);
        let dictionaries = Dictionaries::load(folder.path()).unwrap();
        for number in 0..4 {
            let error = dictionaries.get(number).unwrap_err();
            assert!(
                matches!(error, DictionaryError::Invalid { .. }),
                "{number}: {error}"
            );
        }
        let error = dictionaries.get(9).unwrap_err();
        assert!(matches!(error, DictionaryError::Missing { number: 9, .. }));
        assert!(error.to_string().contains("009M.dict.zst"), "{error}");
    }
}
