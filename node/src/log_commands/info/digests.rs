//! Digests over whole files and over lists.

use std::fs::File;
use std::io::Read;
use std::path::PathBuf;

use anyhow::Context;
use cairn_block_log::{Attributes, Compression};
use sha2::{Digest, Sha256};

/// Bytes read at a time.
const READ_SIZE: usize = 1 << 20;

/// Size and digest of the log's files, one after the other.
pub(super) struct FilesDigest {
    pub(super) size: u64,
    pub(super) sha256: String,
}

/// Reads all files whole.
pub(super) fn files(paths: &[PathBuf]) -> anyhow::Result<FilesDigest> {
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; READ_SIZE];
    let mut size = 0;
    for path in paths {
        let context = || format!("{} cannot be read", path.display());
        let mut file = File::open(path).with_context(context)?;
        loop {
            let count = file.read(&mut buffer).with_context(context)?;
            if count == 0 {
                break;
            }
            size += count as u64;
            hasher.update(&buffer[..count]);
        }
    }
    Ok(FilesDigest {
        size,
        sha256: hex::encode(hasher.finalize()),
    })
}

/// SHA-256 over the log as it would be if every block were stored as it is: raw bytes, then the trailer with the
/// offset in that imagined file. Says whether two logs hold the same bytes, however they are stored; of a split log the
/// parts are taken as one file.
#[derive(Default)]
pub(super) struct UncompressedDigest {
    hasher: Sha256,
    offset: u64,
}

impl UncompressedDigest {
    pub(super) fn add(&mut self, raw: &[u8]) {
        self.hasher.update(raw);
        // 2^48 bytes are more than any disk; beyond them the digest is that of a wrapped offset.
        let trailer = Attributes::new(self.offset, Compression::None).map_or(0, Attributes::pack);
        self.hasher.update(trailer.to_le_bytes());
        self.offset += raw.len() as u64 + 8;
    }

    pub(super) fn hex(&self) -> String {
        hex::encode(self.hasher.clone().finalize())
    }
}

/// SHA-256 over the items of a list.
#[derive(Default)]
pub(super) struct ListDigest(Sha256);

impl ListDigest {
    pub(super) fn add(&mut self, item: &[u8]) {
        self.0.update(item);
    }

    pub(super) fn hex(&self) -> String {
        hex::encode(self.0.clone().finalize())
    }
}
