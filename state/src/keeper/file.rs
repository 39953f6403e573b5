//! When the trie file is written, and by whom.

use std::path::Path as FilePath;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use rocksdb::DB;

use super::{Flags, TrieOptions};
use crate::error::{Activity, StateError};
use crate::head::Head;
use crate::trie::{HeldRoot, Trie};
use crate::trie_file::{self, FileRecord, PlacedLeaf, TrieFileHeader, replace};
use crate::tuning;

/// A file is written when this many times what the last one cost has passed since, as with restore points.
const COST_FACTOR: u32 = 20;

/// The trie file of a keeper.
pub(super) struct TrieFile {
    db: Arc<DB>,
    options: TrieOptions,
    chain: [u8; 32],
    flags: Arc<Flags>,
    /// The block that the file is of, as far as this process knows.
    written: Option<Head>,
    last: Instant,
    cost: Duration,
    writing: Option<JoinHandle<Result<Head, StateError>>>,
}

impl TrieFile {
    pub(super) fn new(db: Arc<DB>, options: TrieOptions, chain: [u8; 32], flags: Arc<Flags>) -> Self {
        Self {
            db,
            options,
            chain,
            flags,
            written: None,
            last: Instant::now(),
            cost: Duration::ZERO,
            writing: None,
        }
    }

    pub(super) fn path(&self) -> Option<&FilePath> {
        self.options.file.as_deref()
    }

    /// Takes note that the file is of this block.
    pub(super) fn is_of(&mut self, head: Option<Head>) {
        self.written = head;
    }

    /// Writes one in the background if it is time.
    pub(super) fn write_if_due(&mut self, trie: &Trie, head: Head) {
        self.reap(false);
        let due = self.options.interval.max(self.cost.saturating_mul(COST_FACTOR));
        let Some(path) = self.options.file.clone() else {
            return;
        };
        if self.writing.is_some() || self.last.elapsed() < due || self.written == Some(head) {
            return;
        }
        self.last = Instant::now();
        let held = trie.hold();
        let (db, flags, header) = (
            Arc::clone(&self.db),
            Arc::clone(&self.flags),
            self.header(trie, head),
        );
        let thread = thread::Builder::new()
            .name("trie file".to_owned())
            .spawn(move || {
                let held: HeldRoot = held;
                let wanted = held.leaves().take_while(|_| !flags.stop.load(Relaxed));
                write(&db, &path, &header, wanted)
            });
        match thread {
            Ok(thread) => self.writing = Some(thread),
            Err(error) => {
                tracing::warn!(target: "trie", "the trie file is not written now: no thread: {error}");
            }
        }
    }

    /// Writes the file of this block, unless it is of this block already.
    pub(super) fn write_now(&mut self, trie: &Trie, head: Head) -> Result<bool, StateError> {
        self.reap(true);
        let Some(path) = self.options.file.clone() else {
            return Ok(false);
        };
        if self.written != Some(head) {
            write(&self.db, &path, &self.header(trie, head), trie.leaves())?;
            self.written = Some(head);
        }
        Ok(true)
    }

    /// Takes the result of the background's work, if it is done; waits for it if asked to.
    pub(super) fn reap(&mut self, wait: bool) {
        let Some(writing) = self.writing.take_if(|writing| wait || writing.is_finished()) else {
            return;
        };
        self.cost = self.last.elapsed();
        match writing.join() {
            Ok(Ok(head)) => self.written = Some(head),
            Ok(Err(_)) if self.flags.stop.load(Relaxed) => {}
            Ok(Err(error)) => tracing::warn!(
                target: "trie",
                "the trie file cannot be written: {error}. The run goes on; without a file the next start makes the trie \
                 from the registers"
            ),
            Err(_) => tracing::warn!(target: "trie", "the thread that writes the trie file panicked"),
        }
    }

    fn header(&self, trie: &Trie, head: Head) -> TrieFileHeader {
        TrieFileHeader {
            version: trie_file::TrieFileVersion::default().number(),
            chain: self.chain,
            head,
            counts: trie.counts(),
            root: *trie.root().as_bytes(),
        }
    }
}

/// Writes a file, and then the store's record of it.
fn write(
    db: &DB,
    path: &FilePath,
    header: &TrieFileHeader,
    leaves: impl IntoIterator<Item = PlacedLeaf>,
) -> Result<Head, StateError> {
    let seal = replace(path, header, leaves)?;
    let record = FileRecord {
        head: header.head,
        root: header.root,
        seal,
    };
    db.put_opt(trie_file::RECORD_KEY, record.encode(), &tuning::synced())
        .map_err(|source| StateError::database(path, Activity::Commit, source))?;
    Ok(header.head)
}
