//! What decoded blocks take, and how much of it may wait for the writer.
//!
//! An operation of three bytes takes as much memory as the largest kind, and a frame of a few hundred bytes unpacks to a
//! block of two megabytes: what a peer sends says nothing of what it becomes. So the decoded size is counted.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

use cairn_chain::{Operation, Transaction};

use super::prepare::{LogEntry, PreparedBlock};

/// Decoded bytes from which on a worker hands over what it has of a batch. A real block of 2 MiB takes about 15 MB.
pub(super) const MAX_PART: usize = 32 << 20;

/// Decoded bytes that may wait for the writer before workers pause. One block that is decoded at that moment comes on top
/// for each worker.
pub(super) const MAX_WAITING: usize = 256 << 20;

/// How late a pausing worker may notice that it is wanted.
const LATE: Duration = Duration::from_millis(20);

impl PreparedBlock {
    /// The memory that it takes, in bytes, about and rather too much.
    pub fn memory(&self) -> usize {
        let stored = match &self.log_entry {
            LogEntry::Stored(stored) => stored.bytes.len(),
            LogEntry::None | LogEntry::Plain => 0,
        };
        let transactions = &self.block.block().transactions;
        let operations: usize = transactions
            .iter()
            .map(|transaction| transaction.operations.len())
            .sum();
        // What operations hold in lists of their own is not more than twice its bytes.
        2 * self.block.bytes().len()
            + transactions.len() * size_of::<Transaction<'_>>()
            + operations * size_of::<Operation<'_>>()
            + size_of::<Self>()
            + stored
    }
}

/// The decoded bytes that wait for the writer.
#[derive(Debug, Default)]
pub(super) struct Waiting {
    bytes: AtomicUsize,
    room: Condvar,
    lock: Mutex<()>,
}

impl Waiting {
    pub(super) fn add(&self, bytes: usize) {
        self.bytes.fetch_add(bytes, Relaxed);
    }

    pub(super) fn remove(&self, bytes: usize) {
        let before = self.bytes.fetch_sub(bytes, Relaxed);
        if before >= MAX_WAITING {
            self.room.notify_all();
        }
    }

    /// Pauses until there is room, or `go_on` says that this worker may go on without.
    pub(super) fn wait(&self, go_on: impl Fn() -> bool) {
        while self.bytes.load(Relaxed) >= MAX_WAITING && !go_on() {
            let guard = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
            // A notice that comes before this wait is made up for by its short time.
            drop(
                self.room
                    .wait_timeout(guard, LATE)
                    .unwrap_or_else(PoisonError::into_inner),
            );
        }
    }

    #[cfg(test)]
    pub(super) fn bytes(&self) -> usize {
        self.bytes.load(Relaxed)
    }
}
