//! The trie file beside the registers, leaf by leaf.

use std::collections::VecDeque;
use std::fs::File;
use std::path::Path as FilePath;

use super::{CheckReport, Fault, KEPT};
use crate::path::Path;
use crate::store::Store;
use crate::stream::RootStream;
use crate::trie::Leaf;
use crate::trie_file::{Expected, PlacedLeaf, TrieFileError, TrieFileReader, same_root};

/// What a trie file is to the state beside it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TrieFileState {
    /// It is the state's.
    Fits,
    /// It is not the state's, or not there, which is no fault: it is made again. With the reason.
    Another(String),
    /// It is damaged.
    Damaged,
}

/// The trie file while the registers are walked over.
pub(super) struct FileSide {
    expected: Expected,
    reader: Option<TrieFileReader<File>>,
    ahead: VecDeque<PlacedLeaf>,
    stream: RootStream,
    /// Registers that were found damaged, the first few: their leaves are no faults of their own.
    skipped: Vec<Path>,
    /// Whether what is missing on one side says anything: not after a part of the other could not be read.
    comparing: bool,
}

impl FileSide {
    pub(super) fn open(store: &Store, path: &FilePath, report: &mut CheckReport) -> Self {
        let expected = store.expected_trie_file();
        let reader = match expected.open(path) {
            Ok(reader) => Some(reader),
            Err(error) if error.is_of_another_state() => {
                report.trie_file = TrieFileState::Another(error.to_string());
                None
            }
            Err(error) => {
                report.trie_file = TrieFileState::Damaged;
                report.add(Fault::TrieFile(error));
                None
            }
        };
        Self {
            expected,
            comparing: reader.is_some(),
            reader,
            ahead: VecDeque::new(),
            skipped: Vec::new(),
            stream: RootStream::below(0),
        }
    }

    /// Compares a register with the file's.
    pub(super) fn compare(&mut self, path: Path, leaf: Leaf, report: &mut CheckReport) {
        while self.comparing {
            match self.next(report) {
                Some((found, _)) if found < path => {
                    self.ahead.pop_front();
                    self.missing(found, report);
                }
                Some((found, expected)) if found == path => {
                    self.ahead.pop_front();
                    if expected != leaf {
                        report.add(Fault::Differs {
                            path,
                            expected: expected.bytes.get(),
                            found: leaf.bytes.get(),
                            same_hash: expected.hash == leaf.hash,
                        });
                    }
                    return;
                }
                _ if !self.comparing => return,
                _ => return report.add(Fault::NotInFile { path }),
            }
        }
    }

    /// Takes note of a register that was found damaged.
    pub(super) fn skip(&mut self, key: &[u8]) {
        if let Ok(path) = <[u8; 32]>::try_from(key)
            && self.skipped.len() < KEPT
        {
            self.skipped.push(Path::from_bytes(path));
        }
    }

    fn missing(&self, path: Path, report: &mut CheckReport) {
        if !self.skipped.contains(&path) {
            report.add(Fault::NotInStore { path });
        }
    }

    /// The registers cannot be read further, so that what follows in the file says nothing.
    pub(super) fn give_up(&mut self) {
        self.comparing = false;
    }

    /// The next leaf of the file, which is in `ahead`.
    fn next(&mut self, report: &mut CheckReport) -> Option<PlacedLeaf> {
        if self.ahead.is_empty() {
            self.read_group(report);
        }
        self.ahead.front().copied()
    }

    /// Reads a group; false at the end.
    fn read_group(&mut self, report: &mut CheckReport) -> bool {
        let Some(reader) = &mut self.reader else {
            return false;
        };
        let mut group = Vec::new();
        match reader.next_group(&mut group) {
            Ok(true) => {
                group
                    .iter()
                    .for_each(|(path, leaf)| self.stream.push(*path, leaf.hash));
                self.ahead.extend(group);
                true
            }
            Ok(false) => {
                self.end(report);
                false
            }
            // The sizes that could not be read are missing in the sum.
            Err(TrieFileError::Bytes { .. }) if report.trie_file == TrieFileState::Damaged => false,
            Err(error) => {
                let goes_on = matches!(error, TrieFileError::Checksum { .. }) && reader.header().version > 1;
                self.damaged(error, report);
                if !goes_on {
                    self.reader = None;
                }
                goes_on
            }
        }
    }

    fn damaged(&mut self, error: TrieFileError, report: &mut CheckReport) {
        report.trie_file = TrieFileState::Damaged;
        self.comparing = false;
        self.ahead.clear();
        report.add(Fault::TrieFile(error));
    }

    /// At the end of the file: seal and root.
    fn end(&mut self, report: &mut CheckReport) {
        let Some(mut reader) = self.reader.take() else {
            return;
        };
        if report.trie_file == TrieFileState::Damaged {
            return;
        }
        let root = std::mem::replace(&mut self.stream, RootStream::below(0)).finish();
        let sealed = self.expected.read(&mut reader, |group| group);
        if let Err(error) = sealed.and_then(|()| same_root(reader.header().root, root)) {
            self.damaged(error, report);
        }
    }

    /// After the last register: what the file still has, and its end.
    pub(super) fn finish(mut self, report: &mut CheckReport) {
        loop {
            if self.comparing {
                for (path, _) in std::mem::take(&mut self.ahead) {
                    self.missing(path, report);
                }
            }
            self.ahead.clear();
            if !self.read_group(report) {
                return;
            }
        }
    }
}
