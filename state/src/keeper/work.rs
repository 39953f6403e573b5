//! The keeper's thread.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::{Receiver, Sender};
use std::time::Instant;

use rocksdb::DB;

use super::changes::Changes;
use super::file::TrieFile;
use super::{Flags, Message, TrieOptions, start};
use crate::counts::Counts;
use crate::cursor::RegisterCursor;
use crate::error::StateError;
use crate::head::Head;
use crate::roots::StateRoot;
use crate::store::Store;
use crate::trie::{LeafBatch, Trie};
use crate::trie_file::{Expected, TrieFileError};

/// The thread's own things.
pub(super) struct Work {
    db: Arc<DB>,
    dir: PathBuf,
    expected: Expected,
    file: TrieFile,
    flags: Arc<Flags>,
    head: Option<Head>,
    batch: LeafBatch,
}

/// The trie, or why there is none.
type Kept = Result<Trie, String>;

impl Work {
    pub(super) fn new(store: &Store, options: TrieOptions, flags: Arc<Flags>) -> Self {
        let db = store.shared_db();
        let expected = store.expected_trie_file();
        Self {
            file: TrieFile::new(Arc::clone(&db), options, expected.chain, Arc::clone(&flags)),
            db,
            dir: store.dir().to_path_buf(),
            head: expected.head,
            expected,
            flags,
            batch: LeafBatch::new(),
        }
    }

    pub(super) fn run(mut self, messages: &Receiver<Message>, pinned: &Sender<()>) {
        let mut kept = self.start(pinned);
        match &mut kept {
            // The other cores decode and apply blocks.
            Ok(trie) => trie.set_threads(1),
            Err(reason) => self.tell_lost(reason),
        }
        self.flags.ready.store(true, Relaxed);
        while let Ok(message) = messages.recv() {
            match message {
                Message::Changes(changes) => kept = self.update(kept, &changes),
                Message::Committed(head, counts) => kept = self.committed(kept, head, counts),
                Message::Root(answer) => {
                    // Whoever asked may have stopped waiting.
                    let _ = answer.send(self.root(&kept));
                }
                Message::WriteFile(answer) => {
                    let _ = answer.send(self.write_file(&kept));
                }
            }
        }
        self.file.reap(true);
    }

    /// The trie of the registers as they are now.
    fn start(&mut self, pinned: &Sender<()>) -> Kept {
        let db = Arc::clone(&self.db);
        // A cursor sees what was there when it was made.
        let registers = RegisterCursor::over_all(&db, &self.dir);
        let _ = pinned.send(());
        if self.expected.counts == Counts::default() {
            return Ok(Trie::new());
        }
        if let Some(path) = self.file.path().map(Path::to_path_buf) {
            let started = Instant::now();
            match start::from_file(&path, &self.expected) {
                Ok(trie) => {
                    self.file.is_of(self.head);
                    tracing::debug!(
                        target: "trie",
                        "trie of {} registers read from {} in {:.2?}",
                        trie.counts().registers,
                        path.display(),
                        started.elapsed()
                    );
                    return Ok(trie);
                }
                Err(reason) => self.tell_refused(&reason),
            }
        }
        let started = Instant::now();
        match start::from_registers(registers, self.expected.counts.registers, &self.flags) {
            Ok(Some(trie)) => {
                let seconds = started.elapsed().as_secs_f64();
                let counts = trie.counts();
                tracing::info!(
                    target: "trie",
                    "trie made from {} registers in {seconds:.2} s: root {} at block {}",
                    counts.registers,
                    trie.root(),
                    self.head.map_or(0, |head| head.number)
                );
                same_counts(self.expected.counts, trie)
            }
            Ok(None) => Err("it was not wanted any more".to_owned()),
            Err(error) => Err(error.to_string()),
        }
    }

    fn tell_refused(&self, reason: &TrieFileError) {
        let path = self.file.path().unwrap_or(&self.dir).display();
        let registers = self.expected.counts.registers;
        if reason.is_of_another_state() {
            tracing::info!(target: "trie", "{path}: the trie file is not used: {reason}; the trie is made from {registers} registers");
        } else {
            tracing::warn!(target: "trie", "{path}: the trie file is not used: {reason}; the trie is made from {registers} registers");
        }
    }

    fn update(&mut self, kept: Kept, changes: &Changes) -> Kept {
        let mut trie = kept?;
        changes.fill(&mut self.batch);
        match trie.update(self.batch.changes()) {
            Ok(_) => Ok(trie),
            Err(error) => self.lost(error.to_string()),
        }
    }

    fn committed(&mut self, kept: Kept, head: Head, counts: Counts) -> Kept {
        self.head = Some(head);
        match same_counts(counts, kept?) {
            Ok(trie) => {
                self.file.write_if_due(&trie, head);
                Ok(trie)
            }
            Err(reason) => self.lost(reason),
        }
    }

    fn root(&self, kept: &Kept) -> Result<StateRoot, StateError> {
        let trie = kept.as_ref().map_err(|reason| self.error(reason))?;
        Ok(StateRoot {
            head: self.head,
            root: trie.root(),
            counts: trie.counts(),
        })
    }

    fn write_file(&mut self, kept: &Kept) -> Result<bool, StateError> {
        let trie = kept.as_ref().map_err(|reason| self.error(reason))?;
        match self.head {
            Some(head) => self.file.write_now(trie, head),
            None => Ok(false),
        }
    }

    fn error(&self, reason: &str) -> StateError {
        StateError::TrieLost {
            dir: self.dir.clone(),
            reason: reason.into(),
        }
    }

    fn lost(&self, reason: String) -> Kept {
        self.tell_lost(&reason);
        Err(reason)
    }

    fn tell_lost(&self, reason: &str) {
        if !self.flags.stop.load(Relaxed) {
            tracing::error!(
                target: "trie",
                "{}; the run goes on without a root. `cairn state check` says what is damaged",
                self.error(reason)
            );
        }
    }
}

/// The trie sums up what it has by itself, and so does the store: they agree, or one has missed a change.
fn same_counts(expected: Counts, trie: Trie) -> Kept {
    let found = trie.counts();
    if found == expected {
        return Ok(trie);
    }
    Err(format!(
        "it has {} registers of {} bytes, the state says {} of {}",
        found.registers, found.bytes, expected.registers, expected.bytes
    ))
}
