//! Writing a trie file.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path as FilePath, PathBuf};

use super::GROUP;
use super::group::{self, PlacedLeaf};
use super::header::{CHECKSUM, LENGTH, TrieFileHeader};
use crate::error::StateError;

/// Which version to write. Version 2 is what this program writes; version 1 is kept for tests of reading it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TrieFileVersion {
    /// Full paths, one checksum that runs through the file.
    One,
    /// What paths share is cut, groups are checked by themselves.
    #[default]
    Two,
}

impl TrieFileVersion {
    /// Its number in the header.
    #[must_use]
    pub const fn number(self) -> u32 {
        match self {
            Self::One => 1,
            Self::Two => 2,
        }
    }
}

/// Buffer between groups and the system.
const BUFFER: usize = 1 << 20;

/// Writes a trie file to anything: header and leaves, which must be as many as the header says, in path
/// order. Gives the seal, as [`TrieFileReader::seal`](super::TrieFileReader::seal) does.
///
/// # Errors
/// What writing gives; [`io::ErrorKind::InvalidInput`] when the leaves are not as many as the header says.
pub fn write_leaves(
    out: &mut impl Write,
    header: &TrieFileHeader,
    version: TrieFileVersion,
    leaves: impl IntoIterator<Item = PlacedLeaf>,
) -> io::Result<[u8; 32]> {
    let header = TrieFileHeader {
        version: version.number(),
        ..*header
    };
    let bytes = header.encode();
    out.write_all(&bytes)?;
    let mut so_far = blake3::Hasher::new();
    so_far.update(&bytes);
    let mut seal = so_far.clone();
    let mut header_sum = [0; CHECKSUM];
    header_sum.copy_from_slice(&bytes[LENGTH - CHECKSUM..]);
    let mut leaves = leaves.into_iter();
    let (mut group, mut encoded) = (Vec::with_capacity(GROUP as usize), Vec::new());
    let mut written = 0;
    for index in 0.. {
        group.clear();
        encoded.clear();
        group.extend(leaves.by_ref().take(GROUP as usize));
        if group.is_empty() {
            break;
        }
        match version {
            TrieFileVersion::One => group::encode_plain(&group, &mut so_far, &mut encoded),
            TrieFileVersion::Two => group::encode_cut(&group, &header_sum, index, &mut encoded),
        }
        out.write_all(&encoded)?;
        seal.update(&encoded[encoded.len() - CHECKSUM..]);
        written += group.len() as u64;
    }
    match written == header.counts.registers {
        true => Ok(*seal.finalize().as_bytes()),
        false => Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            format!("{written} leaves, {} were announced", header.counts.registers),
        )),
    }
}

/// Writes a trie file in the place of an older one: under its name there is always a whole one. Returns when it is
/// durable.
///
/// # Errors
/// [`StateError::Files`]; what was written until then is removed, and an older file is as it was.
pub(crate) fn replace(
    path: &FilePath,
    header: &TrieFileHeader,
    leaves: impl IntoIterator<Item = PlacedLeaf>,
) -> Result<[u8; 32], StateError> {
    let new = temporary(path);
    let written = write_new(&new, header, leaves).and_then(|seal| {
        fs::rename(&new, path)?;
        match path.parent() {
            Some(dir) if !dir.as_os_str().is_empty() => File::open(dir)?.sync_all()?,
            _ => {}
        }
        Ok(seal)
    });
    written.map_err(|source| {
        // The fault to report is that one.
        let _ = fs::remove_file(&new);
        StateError::Files {
            action: "write",
            path: path.to_path_buf(),
            source,
        }
    })
}

fn write_new(
    new: &FilePath,
    header: &TrieFileHeader,
    leaves: impl IntoIterator<Item = PlacedLeaf>,
) -> io::Result<[u8; 32]> {
    let mut out = BufWriter::with_capacity(BUFFER, File::create(new)?);
    let seal = write_leaves(&mut out, header, TrieFileVersion::default(), leaves)?;
    out.into_inner()
        .map_err(io::IntoInnerError::into_error)?
        .sync_all()?;
    Ok(seal)
}

/// The name of a file that is being written, and means nothing yet.
pub(crate) fn temporary(path: &FilePath) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_os_string();
    name.push(".new");
    path.with_file_name(name)
}
