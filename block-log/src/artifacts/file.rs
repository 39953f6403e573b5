//! Reading an artifacts file.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use cairn_chain::BlockId;

use super::{ArtifactsHeader, HEADER_LEN_1_1, HeaderError};
use crate::pread::read_up_to;

/// Bytes of a record.
pub const RECORD_LEN: usize = 24;

/// What the file says about one block. A claim, not evidence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record {
    /// The block's trailer as a number.
    pub trailer: u64,
    /// Bytes 4 to 19 of the block's id.
    pub id_tail: [u8; 16],
}

impl Record {
    /// The record of a block.
    pub fn new(trailer: u64, id: &BlockId) -> Self {
        let mut id_tail = [0; 16];
        id_tail.copy_from_slice(&id.0[4..]);
        Self { trailer, id_tail }
    }

    /// The claimed id of block `number`.
    pub fn id(&self, number: u32) -> BlockId {
        let mut id = [0; 20];
        id[..4].copy_from_slice(&number.to_be_bytes());
        id[4..].copy_from_slice(&self.id_tail);
        BlockId(id)
    }

    pub(super) fn pack(&self) -> [u8; RECORD_LEN] {
        let mut bytes = [0; RECORD_LEN];
        bytes[..8].copy_from_slice(&self.trailer.to_le_bytes());
        bytes[8..].copy_from_slice(&self.id_tail);
        bytes
    }

    fn unpack(bytes: &[u8; RECORD_LEN]) -> Self {
        let (trailer, id) = bytes.split_at(8);
        let mut record = Self {
            trailer: 0,
            id_tail: [0; 16],
        };
        for (at, byte) in trailer.iter().enumerate() {
            record.trailer |= u64::from(*byte) << (8 * at);
        }
        record.id_tail.copy_from_slice(id);
        record
    }
}

/// Why an artifacts file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ArtifactsError {
    /// It cannot be read.
    #[error("cannot read {path}: {source}")]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Its header is not one.
    #[error("{path} is not an artifacts file: {source}")]
    Header {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        source: HeaderError,
    },
    /// It is shorter than the header says.
    #[error("{path} has {found} bytes, its header announces {expected}")]
    TooShort {
        /// The file.
        path: PathBuf,
        /// Bytes that it has.
        found: u64,
        /// Bytes that it must have at least.
        expected: u64,
    },
}

/// An open artifacts file. Records are read when asked for; nothing is held in memory.
#[derive(Debug)]
pub struct Artifacts {
    path: PathBuf,
    file: File,
    header: ArtifactsHeader,
}

impl Artifacts {
    /// Opens the file and checks that it is as long as its header says.
    ///
    /// # Errors
    /// If it cannot be read or its header is not one. A missing file is an [`ArtifactsError::Io`] of kind
    /// [`NotFound`](io::ErrorKind::NotFound).
    pub fn open(path: &Path) -> Result<Self, ArtifactsError> {
        let io = |source| ArtifactsError::Io {
            path: path.to_owned(),
            source,
        };
        let file = File::open(path).map_err(io)?;
        let found = file.metadata().map_err(io)?.len();
        let mut bytes = [0; HEADER_LEN_1_1];
        let len = read_up_to(&file, &mut bytes, 0).map_err(io)?;
        let header = ArtifactsHeader::unpack(&bytes[..len]).map_err(|source| ArtifactsError::Header {
            path: path.to_owned(),
            source,
        })?;
        let expected = record_offset(&header, header.record_count());
        if found < expected {
            return Err(ArtifactsError::TooShort {
                path: path.to_owned(),
                found,
                expected,
            });
        }
        Ok(Self {
            path: path.to_owned(),
            file,
            header,
        })
    }

    /// The header as it was when the file was opened.
    pub fn header(&self) -> &ArtifactsHeader {
        &self.header
    }

    /// The file's path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Records by position, 0 being that of the first block. At most 1 MiB is read at a time: for a longer
    /// range the answer is shorter than asked.
    ///
    /// # Errors
    /// If the file cannot be read, or has become shorter than the range.
    pub fn records(&self, range: Range<u32>) -> Result<Vec<Record>, ArtifactsError> {
        const MOST: u32 = (1 << 20) / RECORD_LEN as u32;
        let end = range.end.min(self.header.record_count());
        let count = end.saturating_sub(range.start).min(MOST);
        let mut bytes = vec![0; count as usize * RECORD_LEN];
        self.file
            .read_exact_at(&mut bytes, record_offset(&self.header, range.start))
            .map_err(|source| ArtifactsError::Io {
                path: self.path.clone(),
                source,
            })?;
        let (records, _) = bytes.as_chunks::<RECORD_LEN>();
        Ok(records.iter().map(Record::unpack).collect())
    }
}

pub(super) fn record_offset(header: &ArtifactsHeader, position: u32) -> u64 {
    header.version.header_len() as u64 + u64::from(position) * RECORD_LEN as u64
}

/// Where the artifacts of a log file are.
pub(crate) fn artifacts_path(log_file: &Path) -> PathBuf {
    let mut name = log_file.as_os_str().to_owned();
    name.push(".artifacts");
    name.into()
}
