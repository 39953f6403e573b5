//! Reading a trie file, group by group.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path as FilePath;

use super::GROUP;
use super::error::TrieFileError;
use super::group::{self, PLAIN_LEAF, PlacedLeaf};
use super::header::{CHECKSUM, LENGTH, TrieFileHeader, checksum};
use crate::path::Path;

/// A trie file that is being read. Memory is bounded by a group, whatever the header promises.
#[derive(Debug)]
pub struct TrieFileReader<R> {
    input: R,
    offset: u64,
    header: TrieFileHeader,
    header_sum: [u8; CHECKSUM],
    /// Version 1: what all checksums are over.
    so_far: blake3::Hasher,
    /// See [`Self::seal`].
    seal: blake3::Hasher,
    /// Groups read.
    groups: u64,
    left: u64,
    bytes: u64,
    last: Option<Path>,
    buffer: Vec<u8>,
}

impl TrieFileReader<File> {
    /// Opens a file and reads its header.
    ///
    /// # Errors
    /// [`TrieFileError::Missing`], and what a header can have wrong.
    pub fn open(path: &FilePath) -> Result<Self, TrieFileError> {
        let file = File::open(path).map_err(|source| match source.kind() {
            io::ErrorKind::NotFound => TrieFileError::Missing,
            _ => TrieFileError::Io {
                action: "opening it",
                offset: 0,
                source,
            },
        })?;
        Self::new(file)
    }
}

impl<R: Read> TrieFileReader<R> {
    /// Reads the header.
    ///
    /// # Errors
    /// What a header can have wrong.
    pub fn new(mut input: R) -> Result<Self, TrieFileError> {
        let mut bytes = [0; LENGTH];
        let mut offset = 0;
        fill(&mut input, &mut bytes, &mut offset)?;
        let header = TrieFileHeader::decode(&bytes)?;
        let mut header_sum = [0; CHECKSUM];
        header_sum.copy_from_slice(&bytes[LENGTH - CHECKSUM..]);
        let mut so_far = blake3::Hasher::new();
        so_far.update(&bytes);
        Ok(Self {
            input,
            offset,
            header,
            header_sum,
            seal: so_far.clone(),
            so_far,
            groups: 0,
            left: header.counts.registers,
            bytes: 0,
            last: None,
            buffer: Vec::new(),
        })
    }

    /// What the file says of itself.
    #[must_use]
    pub const fn header(&self) -> &TrieFileHeader {
        &self.header
    }

    /// Appends the leaves of the next group; false at the end, where the sum of the sizes has been compared with the
    /// header. That the leaves give the root is the caller's to see.
    ///
    /// # Errors
    /// What is wrong, and where. In a file of version 2 the next call goes on with the group behind an altered one;
    /// after any other error it makes no sense to go on.
    pub fn next_group(&mut self, out: &mut Vec<PlacedLeaf>) -> Result<bool, TrieFileError> {
        if self.left == 0 {
            self.end()?;
            return Ok(false);
        }
        let leaves = self.left.min(GROUP) as usize;
        let (start, offset) = (out.len(), self.offset);
        out.reserve(leaves);
        let decoded = match self.header.version {
            1 => self.plain(leaves, out),
            _ => self.cut(leaves, out),
        };
        // Counted as read even when it is altered, so that the next one is looked for behind it.
        self.left -= leaves as u64;
        self.groups += 1;
        decoded?;
        for (at, (path, leaf)) in out[start..].iter().enumerate() {
            if let Some(previous) = self.last.filter(|last| last >= path) {
                return Err(TrieFileError::Order {
                    offset,
                    leaf: at,
                    previous,
                    found: *path,
                });
            }
            self.last = Some(*path);
            self.bytes = self.bytes.saturating_add(u64::from(leaf.bytes.get()));
        }
        Ok(true)
    }

    /// Leaves that have not been read.
    #[must_use]
    pub const fn left(&self) -> u64 {
        self.left
    }

    /// blake3 over the header and the checksums of the groups read so far; at the end it stands for every byte of the
    /// file.
    #[must_use]
    pub fn seal(&self) -> [u8; 32] {
        *self.seal.finalize().as_bytes()
    }

    fn plain(&mut self, leaves: usize, out: &mut Vec<PlacedLeaf>) -> Result<(), TrieFileError> {
        let offset = self.offset;
        let length = leaves * PLAIN_LEAF;
        self.read(length + CHECKSUM)?;
        let (bytes, expected) = self.buffer.split_at(length);
        self.so_far.update(bytes);
        self.seal.update(expected);
        compare(expected, checksum(&self.so_far), offset)?;
        group::decode_plain(bytes, offset, out)
    }

    fn cut(&mut self, leaves: usize, out: &mut Vec<PlacedLeaf>) -> Result<(), TrieFileError> {
        let offset = self.offset;
        let mut length = [0; 4];
        fill(&mut self.input, &mut length, &mut self.offset)?;
        let found = u32::from_le_bytes(length) as usize;
        let (least, most) = group::cut_length(leaves);
        if !(least..=most).contains(&found) {
            return Err(TrieFileError::GroupLength {
                offset,
                found: found as u64,
                least: least as u64,
                most: most as u64,
            });
        }
        self.buffer.clear();
        self.buffer.extend_from_slice(&length);
        self.buffer.resize(4 + found + CHECKSUM, 0);
        fill(&mut self.input, &mut self.buffer[4..], &mut self.offset)?;
        let (bytes, expected) = self.buffer.split_at(4 + found);
        self.seal.update(expected);
        compare(
            expected,
            group::cut_checksum(&self.header_sum, self.groups, bytes),
            offset,
        )?;
        group::decode_cut(&bytes[4..], leaves, offset, out)
    }

    fn read(&mut self, length: usize) -> Result<(), TrieFileError> {
        self.buffer.clear();
        self.buffer.resize(length, 0);
        fill(&mut self.input, &mut self.buffer, &mut self.offset)
    }

    fn end(&mut self) -> Result<(), TrieFileError> {
        let mut more = [0];
        match fill(&mut self.input, &mut more, &mut 0) {
            Err(TrieFileError::Torn { .. }) => {}
            Ok(()) => return Err(TrieFileError::Longer { offset: self.offset }),
            Err(error) => return Err(error),
        }
        if self.bytes != self.header.counts.bytes {
            return Err(TrieFileError::Bytes {
                expected: self.header.counts.bytes,
                found: self.bytes,
            });
        }
        Ok(())
    }
}

fn compare(expected: &[u8], found: [u8; CHECKSUM], offset: u64) -> Result<(), TrieFileError> {
    if expected == found {
        return Ok(());
    }
    let mut stored = [0; CHECKSUM];
    stored.copy_from_slice(expected);
    Err(TrieFileError::Checksum {
        part: "group",
        offset,
        expected: stored,
        found,
    })
}

/// Reads so many bytes as there is room for.
fn fill(input: &mut impl Read, bytes: &mut [u8], offset: &mut u64) -> Result<(), TrieFileError> {
    let start = *offset;
    let mut filled = 0;
    while filled < bytes.len() {
        match input.read(&mut bytes[filled..]) {
            Ok(0) => {
                return Err(TrieFileError::Torn {
                    offset: start,
                    expected: bytes.len() as u64,
                    found: filled as u64,
                });
            }
            Ok(read) => filled += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(source) => {
                return Err(TrieFileError::Io {
                    action: "reading it",
                    offset: start + filled as u64,
                    source,
                });
            }
        }
    }
    *offset += filled as u64;
    Ok(())
}
