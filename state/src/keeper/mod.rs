//! The trie beside the writer: brought up to date at commits, by a thread of its own.
//!
//! The writer copies the values of a commit's registers into a list while it fills the write batch, hands the list over,
//! and goes on with the write; the keeper hashes the values and updates the trie meanwhile. Only when the keeper is
//! still busy with the commit before does the writer wait: so at most one list is being worked on and one waits, each
//! at most as large as the changes of a commit, which the [`CommitPolicy`](crate::CommitPolicy) bounds.
//!
//! The root is computed at every commit. Putting it off until somebody asks would save little: what the trie costs is
//! the way to its leaves, and a commit holds each register once already. Between commits there is none: a root belongs
//! to a durable block.
//!
//! At the start the trie comes from the trie file, or from the registers as they are at that moment; the writer
//! may commit meanwhile, once, and waits with its second commit. The file is written when somebody asks, at the end, and
//! now and then from a held root while the trie goes on.
//!
//! A trie that cannot be had, or does not have the store's counts, is given up with a line: it is not needed to go on.

mod changes;
mod file;
mod start;
#[cfg(test)]
mod tests;
mod work;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::mpsc::{RecvTimeoutError, Sender, SyncSender, channel, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crate::counts::Counts;
use crate::error::StateError;
use crate::head::Head;
use crate::roots::StateRoot;
use crate::store::Store;

pub(crate) use changes::Changes;
pub(crate) use start::from_file;

/// How a trie is kept.
#[derive(Debug, Clone)]
pub struct TrieOptions {
    /// Where the trie file is; `None`: there is none, and the trie is made from the registers at every start.
    pub file: Option<PathBuf>,
    /// Time between two trie files while the node runs. After a kill a file helps only if nothing was committed since
    /// it was written, so it is for nodes that stand still: more often would write as much as the whole trie for nothing.
    /// Default ten minutes; and at least 20 times as long as writing one takes.
    pub interval: Duration,
}

impl TrieOptions {
    /// With a trie file and the default interval.
    #[must_use]
    pub fn in_file(file: impl Into<PathBuf>) -> Self {
        Self {
            file: Some(file.into()),
            interval: Duration::from_secs(600),
        }
    }
}

/// What the writer tells its keeper.
enum Message {
    /// The registers of a commit that is about to be written.
    Changes(Changes),
    /// It is durable.
    Committed(Head, Counts),
    /// Asks for the root of the last commit.
    Root(Sender<Result<StateRoot, StateError>>),
    /// Asks for the file of the last commit.
    WriteFile(Sender<Result<bool, StateError>>),
}

/// What both sides look at.
#[derive(Debug, Default)]
struct Flags {
    /// Nobody wants the trie any more.
    stop: AtomicBool,
    /// The trie is there.
    ready: AtomicBool,
}

/// The writer's end.
#[derive(Debug)]
pub(crate) struct TrieKeeper {
    sender: Option<SyncSender<Message>>,
    thread: Option<JoinHandle<()>>,
    flags: Arc<Flags>,
    options: TrieOptions,
    dir: PathBuf,
}

/// How often somebody looks whether the trie is there.
const LOOK: Duration = Duration::from_millis(5);

impl TrieKeeper {
    /// Starts a keeper of the registers as they are now. Returns at once; the trie comes later.
    pub(crate) fn start(store: &Store, options: TrieOptions) -> Result<Self, StateError> {
        let flags = Arc::new(Flags::default());
        // One that waits beside the one that is worked on, see the module.
        let (sender, messages) = sync_channel(1);
        let (pinned, is_pinned) = channel();
        let work = work::Work::new(store, options.clone(), Arc::clone(&flags));
        let thread = thread::Builder::new()
            .name("trie".to_owned())
            .spawn(move || work.run(&messages, &pinned))
            .map_err(|source| StateError::Files {
                action: "start a thread for the trie of",
                path: store.dir().to_path_buf(),
                source,
            })?;
        // From here on the keeper sees the registers as they are now, whatever is committed.
        let _ = is_pinned.recv();
        Ok(Self {
            sender: Some(sender),
            thread: Some(thread),
            flags,
            options,
            dir: store.dir().to_path_buf(),
        })
    }

    pub(crate) fn options(&self) -> &TrieOptions {
        &self.options
    }

    /// Hands the registers of a commit over, before it is written. If it fails, this keeper is of no use any more.
    pub(crate) fn changes(&self, changes: Changes) {
        self.send(Message::Changes(changes));
    }

    /// The commit is durable.
    pub(crate) fn committed(&self, head: Head, counts: Counts) {
        self.send(Message::Committed(head, counts));
    }

    /// The root of the last commit. `None`: it was not there by then.
    pub(crate) fn root(&self, end: Option<Instant>) -> Result<Option<StateRoot>, StateError> {
        if !self.is_ready_by(end) {
            return Ok(None);
        }
        self.ask(Message::Root, end)
    }

    /// Writes the file of the last commit, if there is to be one; false when there is none to be, or the trie was not
    /// there by then. Writing itself takes the time that it takes.
    pub(crate) fn write_file(&self, end: Option<Instant>) -> Result<bool, StateError> {
        if self.options.file.is_none() || !self.is_ready_by(end) {
            return Ok(false);
        }
        Ok(self.ask(Message::WriteFile, None)?.unwrap_or(false))
    }

    fn is_ready_by(&self, end: Option<Instant>) -> bool {
        while !self.flags.ready.load(Relaxed) {
            if end.is_some_and(|end| Instant::now() >= end) {
                return false;
            }
            thread::sleep(LOOK);
        }
        true
    }

    fn ask<T>(
        &self,
        question: impl FnOnce(Sender<Result<T, StateError>>) -> Message,
        end: Option<Instant>,
    ) -> Result<Option<T>, StateError> {
        let (sender, answer) = channel();
        self.send(question(sender));
        let answer = match end {
            Some(end) => answer.recv_timeout(end.saturating_duration_since(Instant::now())),
            None => answer.recv().map_err(|_| RecvTimeoutError::Disconnected),
        };
        match answer {
            Ok(answer) => answer.map(Some),
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => Err(StateError::TrieLost {
                dir: self.dir.clone(),
                reason: "its thread ended".into(),
            }),
        }
    }

    fn send(&self, message: Message) {
        if let Some(sender) = &self.sender {
            // A keeper that is gone is told of by whoever asks it.
            let _ = sender.send(message);
        }
    }
}

impl Drop for TrieKeeper {
    fn drop(&mut self) {
        self.flags.stop.store(true, Relaxed);
        drop(self.sender.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
