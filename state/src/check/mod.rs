//! Looking over a whole state, offline: every register, the counts, the trie file.
//!
//! One walk over the registers and the trie file side by side, both in path order, in memory that does not grow. A
//! state that is damaged is not repaired: the registers can only come from a restore point or from the blocks.

mod fault;
mod file;
#[cfg(test)]
mod tests;

use std::path::Path as FilePath;

use rocksdb::DBRawIterator;

use crate::counts::Counts;
use crate::error::{Activity, StateError};
use crate::path::Path;
use crate::record;
use crate::roots::StateRoot;
use crate::store::Store;
use crate::stream::RootStream;
use crate::trie::Leaf;
use crate::tuning::{self, REGISTERS};

pub use fault::Fault;
use file::FileSide;
pub use file::TrieFileState;

/// Faults that are kept with their place. A state with more is no better understood by a longer list.
const KEPT: usize = 100;
/// Registers between two calls of what shows progress.
const STEP: u64 = 4_096;

/// What was found.
#[derive(Debug)]
pub struct CheckReport {
    /// The root over the registers that could be read, and their counts.
    pub found: StateRoot,
    /// What the trie file is.
    pub trie_file: TrieFileState,
    /// The first 100 faults.
    pub faults: Vec<Fault>,
    /// All of them.
    pub fault_count: u64,
}

impl CheckReport {
    fn add(&mut self, fault: Fault) {
        self.fault_count += 1;
        if self.faults.len() < KEPT {
            self.faults.push(fault);
        }
    }
}

/// Looks over a state and its trie file. `progress` is told how many registers have been read, now and then.
pub fn check(store: &Store, trie_file: &FilePath, mut progress: impl FnMut(u64)) -> CheckReport {
    let mut report = CheckReport {
        found: StateRoot {
            head: store.head(),
            root: RootStream::below(0).finish(),
            counts: Counts::default(),
        },
        trie_file: TrieFileState::Fits,
        faults: Vec::new(),
        fault_count: 0,
    };
    let mut file = FileSide::open(store, trie_file, &mut report);
    let mut iterator = store
        .db()
        .raw_iterator_cf_opt(store.family(REGISTERS), tuning::scan());
    iterator.seek_to_first();
    let whole = walk(store, &mut iterator, &mut file, &mut report, &mut progress);
    file.finish(&mut report);
    if whole {
        compare_whole(store, &mut report);
    }
    report
}

/// Reads every register; false when reading ended before the end.
fn walk(
    store: &Store,
    iterator: &mut DBRawIterator<'_>,
    file: &mut FileSide,
    report: &mut CheckReport,
    progress: &mut impl FnMut(u64),
) -> bool {
    let mut stream = RootStream::below(0);
    let mut last = None;
    let mut read = 0;
    while let Some((key, stored)) = iterator.item() {
        read += 1;
        if read % STEP == 0 {
            progress(read);
        }
        match place(key, stored) {
            Ok((path, leaf)) => {
                file.compare(path, leaf, report);
                stream.push(path, leaf.hash);
                report.found.counts.registers += 1;
                report.found.counts.bytes += u64::from(leaf.bytes.get());
                last = Some(path);
            }
            Err(fault) => {
                // It cannot be told which leaf of the file was meant.
                file.skip(key);
                report.add(fault);
            }
        }
        iterator.next();
    }
    report.found.root = stream.finish();
    match iterator.status() {
        Ok(()) => true,
        Err(source) => {
            file.give_up();
            let source = StateError::database(store.dir(), Activity::Read, source);
            report.add(Fault::Unreadable { behind: last, source });
            false
        }
    }
}

/// A stored register's place in the trie.
fn place(key: &[u8], stored: &[u8]) -> Result<(Path, Leaf), Fault> {
    let path = <[u8; 32]>::try_from(key).map_err(|_| Fault::NoPath { length: key.len() })?;
    let path = Path::from_bytes(path);
    let (key, value) = record::split(stored).map_err(|source| Fault::Record { path, source })?;
    let own = Path::of(key);
    if own != path {
        return Err(Fault::Misplaced { path, own });
    }
    let leaf = Leaf::of(&path, key.len(), value).ok_or(Fault::Record {
        path,
        source: record::RecordError::EmptyValue,
    })?;
    Ok((path, leaf))
}

/// Compares the sums with what the store says of itself.
fn compare_whole(store: &Store, report: &mut CheckReport) {
    let (found, expected) = (report.found.counts, store.counts());
    if found != expected {
        report.add(Fault::Counts { expected, found });
    }
    if let Some(record) = store
        .trie_file_record()
        .filter(|record| Some(record.head) == store.head())
        && record.root != *report.found.root.as_bytes()
    {
        report.add(Fault::Root {
            expected: record.root,
            found: report.found.root,
        });
    }
}
