//! Whether a trie file is the store's, and its leaves if it is.

use std::path::Path as FilePath;

use super::error::TrieFileError;
use super::group::PlacedLeaf;
use super::reader::TrieFileReader;
use super::record::FileRecord;
use crate::counts::Counts;
use crate::head::Head;
use crate::stream::RootStream;
use crate::trie::NodeHash;

/// What a store knows of itself, and so what a trie file must say to be the store's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Expected {
    pub(crate) chain: [u8; 32],
    pub(crate) head: Option<Head>,
    pub(crate) counts: Counts,
    pub(crate) record: Option<FileRecord>,
}

impl Expected {
    /// Opens a file if its header is the store's.
    pub(crate) fn open(&self, path: &FilePath) -> Result<TrieFileReader<std::fs::File>, TrieFileError> {
        let reader = TrieFileReader::open(path)?;
        let header = *reader.header();
        if header.chain != self.chain {
            return Err(TrieFileError::OtherChain {
                expected: self.chain,
                found: header.chain,
            });
        }
        if Some(header.head) != self.head {
            return Err(TrieFileError::OtherBlock {
                expected: self.head,
                found: header.head,
            });
        }
        if header.counts != self.counts {
            return Err(TrieFileError::OtherCounts {
                expected: self.counts,
                found: header.counts,
            });
        }
        let known = self.record.map(|record| (record.head, record.root));
        let found = (header.head, header.root);
        if known != Some(found) {
            return Err(TrieFileError::Unrecorded {
                expected: known,
                found,
            });
        }
        Ok(reader)
    }

    /// Reads a file that is the store's to its end, and gives each group of leaves; what it is given back is room for
    /// another group. When it returns, all is as it must be but the root, which is the header's to say and the caller's to
    /// compare.
    pub(crate) fn read<R: std::io::Read>(
        &self,
        reader: &mut TrieFileReader<R>,
        mut each: impl FnMut(Vec<PlacedLeaf>) -> Vec<PlacedLeaf>,
    ) -> Result<(), TrieFileError> {
        let mut group = Vec::new();
        while reader.next_group(&mut group)? {
            group = each(group);
            group.clear();
        }
        match self.record {
            Some(record) if record.seal == reader.seal() => Ok(()),
            record => Err(TrieFileError::Seal {
                expected: record.map_or([0; 32], |record| record.seal),
                found: reader.seal(),
            }),
        }
    }

    /// The root of a file that is the store's, by its leaves.
    pub(crate) fn root(&self, path: &FilePath) -> Result<NodeHash, TrieFileError> {
        let mut reader = self.open(path)?;
        let mut stream = RootStream::below(0);
        self.read(&mut reader, |group| {
            for (path, leaf) in &group {
                stream.push(*path, leaf.hash);
            }
            group
        })?;
        same_root(reader.header().root, stream.finish())
    }
}

/// Compares the header's root with that over the leaves.
pub(crate) fn same_root(expected: [u8; 32], found: NodeHash) -> Result<NodeHash, TrieFileError> {
    if expected == *found.as_bytes() {
        return Ok(found);
    }
    Err(TrieFileError::Root {
        expected,
        found: *found.as_bytes(),
    })
}
