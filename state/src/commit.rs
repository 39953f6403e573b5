//! One commit: everything that changed since the last one, in one write batch.

use std::time::{Duration, Instant};

use rocksdb::WriteBatch;

use crate::counts::Counts;
use crate::error::StateError;
use crate::head::Head;
use crate::keeper::Changes;
use crate::local::LocalChanges;
use crate::store::Store;
use crate::tuning::{LOCAL, REGISTERS};
use crate::working_set::{BaseRegister, WorkingSet};

/// What a commit wrote.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CommitStats {
    /// Registers written with a value.
    pub registers_written: usize,
    /// Registers deleted.
    pub registers_removed: usize,
    /// Entries of the node-local index written or deleted.
    pub local_changes: usize,
    /// Bytes of the write batch, which is what the log gets.
    pub batch_bytes: usize,
    /// Time to sort the changes and fill the batch.
    pub prepare: Duration,
    /// Time that RocksDB took to write and sync the batch.
    pub write: Duration,
}

/// Room for the metadata record and the batch's own header.
const BATCH_MARGIN: usize = 256;
/// Bytes of a batch's record beside key and value: kind, column family and two lengths.
const RECORD_MARGIN: usize = 48;

/// A batch that is ready to be written.
pub(crate) struct Prepared {
    batch: WriteBatch,
    counts: Counts,
    stats: CommitStats,
}

/// Gathers the changes. Registers go in path order, which is the order of the write buffer, so that neighbours in
/// the batch are neighbours there.
///
/// `changes` gets the registers too, for the trie.
pub(crate) fn prepare(
    store: &Store,
    set: &WorkingSet,
    local: &LocalChanges,
    mut changes: Option<&mut Changes>,
) -> Result<Prepared, StateError> {
    let start = Instant::now();
    let counts = store
        .counts()
        .checked_add(set.base_change())
        .ok_or_else(|| StateError::CorruptCounts {
            dir: store.dir().to_path_buf(),
        })?;
    let expected =
        set.dirty_bytes() + local.bytes() + RECORD_MARGIN * (set.dirty_count() + local.len()) + BATCH_MARGIN;
    let mut batch = WriteBatch::with_capacity_bytes(expected);
    let registers = store.family(REGISTERS);
    let (mut written, mut removed) = (0, 0);
    for BaseRegister { path, record, stored } in set.sorted_base() {
        if record.exists() {
            batch.put_cf(registers, path.as_bytes(), record.stored());
            written += 1;
        } else if stored {
            batch.delete_cf(registers, path.as_bytes());
            removed += 1;
        } else {
            continue;
        }
        if let Some(changes) = &mut changes {
            changes.push(*path, record);
        }
    }
    let local_changes = local.write_to(&mut batch, store.family(LOCAL));
    let stats = CommitStats {
        registers_written: written,
        registers_removed: removed,
        local_changes,
        batch_bytes: batch.size_in_bytes(),
        prepare: start.elapsed(),
        write: Duration::ZERO,
    };
    Ok(Prepared { batch, counts, stats })
}

/// Writes the batch with the head. On an error nobody knows whether the batch is in the log until the store is
/// opened again: it may be, when only the sync failed.
pub(crate) fn write(
    store: &mut Store,
    prepared: Prepared,
    head: Head,
) -> Result<CommitStats, rocksdb::Error> {
    let Prepared {
        batch,
        counts,
        mut stats,
    } = prepared;
    let start = Instant::now();
    store.write(batch, head, counts)?;
    stats.write = start.elapsed();
    Ok(stats)
}
