//! The trie at the start: from its file, or from the registers.

use std::fmt;
use std::path::Path as FilePath;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::{channel, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use super::Flags;
use crate::cursor::RegisterCursor;
use crate::error::StateError;
use crate::trie::{LeafBatch, Trie, TrieBuilder};
use crate::trie_file::{Expected, PlacedLeaf, TrieFileError, same_root};

/// Groups that are read and checked ahead of the one that goes into the trie.
const AHEAD: usize = 8;
/// Registers that are hashed at once.
const BATCH: usize = 4_096;
/// Time between two lines about a trie that is being made.
const REMINDER: Duration = Duration::from_secs(10);

/// The trie in a file, if the file is the store's. Reading and checking it is another thread's work.
pub(crate) fn from_file(path: &FilePath, expected: &Expected) -> Result<Trie, TrieFileError> {
    let mut reader = expected.open(path)?;
    let root = reader.header().root;
    let (sender, groups) = sync_channel::<Vec<PlacedLeaf>>(AHEAD);
    let (give_back, used) = channel();
    let trie = thread::scope(|scope| {
        let read = scope.spawn(move || {
            expected.read(&mut reader, |group| {
                // A builder that has gone has its own error to tell.
                let _ = sender.send(group);
                used.try_recv().unwrap_or_default()
            })
        });
        let mut builder = TrieBuilder::new();
        for group in groups {
            for &(path, leaf) in &group {
                // The reader has compared each path with the one before.
                let _ = builder.push(path, leaf);
            }
            let _ = give_back.send(group);
        }
        match read.join() {
            Ok(read) => read.map(|()| builder.finish()),
            Err(_) => Err(TrieFileError::Io {
                action: "reading it",
                offset: 0,
                source: std::io::Error::other("the thread that reads it panicked"),
            }),
        }
    })?;
    same_root(root, trie.root())?;
    Ok(trie)
}

/// Makes the trie from the registers. `None`: nobody wants it any more.
pub(super) fn from_registers(
    mut registers: RegisterCursor<'_>,
    total: u64,
    flags: &Flags,
) -> Result<Option<Trie>, StateError> {
    let started = Instant::now();
    let mut told = started;
    let mut builder = TrieBuilder::new();
    let mut batch = LeafBatch::new();
    let mut done = 0_u64;
    loop {
        batch.clear();
        while batch.len() < BATCH {
            let Some((path, key, value)) = registers.next_with_path()? else {
                break;
            };
            batch.set(path, key.len(), value);
        }
        if batch.is_empty() {
            break;
        }
        done += batch.len() as u64;
        for change in batch.changes() {
            if let Some(leaf) = change.leaf {
                // RocksDB gives its keys in order.
                let _ = builder.push(change.path, leaf);
            }
        }
        if flags.stop.load(Relaxed) {
            return Ok(None);
        }
        if told.elapsed() >= REMINDER {
            told = Instant::now();
            tracing::info!(target: "trie", "making the trie: {}", Outlook { done, total, started });
        }
    }
    Ok(Some(builder.finish()))
}

/// How far it is.
struct Outlook {
    done: u64,
    total: u64,
    started: Instant,
}

impl fmt::Display for Outlook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { done, total, started } = self;
        let share = 100.0 * *done as f64 / (*total).max(1) as f64;
        let rate = *done as f64 / started.elapsed().as_secs_f64().max(1e-9);
        let left = total.saturating_sub(*done) as f64 / rate.max(1.0);
        write!(
            f,
            "{done} of {total} registers = {share:.1}%, {rate:.0} registers/s, eta {left:.0} s"
        )
    }
}
