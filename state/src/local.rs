//! Changes of the node-local index that wait for the next commit.

use std::collections::BTreeMap;

use rocksdb::WriteBatch;

/// What a pending change costs beside its key and value, in bytes: a share of a tree node and two allocations.
const CHANGE_COST: usize = 80;

/// A change of one key: its new value, or `None` to delete it.
type Change = Option<Box<[u8]>>;

/// Pending changes, in key order, and what the open block replaced.
#[derive(Debug, Default)]
pub(crate) struct LocalChanges {
    pending: BTreeMap<Box<[u8]>, Change>,
    bytes: usize,
    /// Keys that the open block changed and the change that was pending before, oldest first.
    journal: Vec<(Box<[u8]>, Option<Change>)>,
}

impl LocalChanges {
    pub(crate) fn len(&self) -> usize {
        self.pending.len()
    }

    /// Bytes that the pending changes hold.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(crate) fn change(&mut self, key: &[u8], change: Change, journaled: bool) {
        let prior = self.insert(key.into(), change);
        if journaled {
            self.journal.push((key.into(), prior));
        }
    }

    pub(crate) fn accept(&mut self) {
        self.journal.clear();
    }

    pub(crate) fn undo(&mut self) {
        while let Some((key, prior)) = self.journal.pop() {
            match prior {
                Some(change) => {
                    self.insert(key, change);
                }
                None => {
                    if let Some(change) = self.pending.remove(&key) {
                        self.bytes -= cost(&key, &change);
                    }
                }
            }
        }
    }

    pub(crate) fn clear(&mut self) {
        self.pending.clear();
        self.bytes = 0;
    }

    pub(crate) fn write_to(&self, batch: &mut WriteBatch, family: &rocksdb::ColumnFamily) {
        for (key, change) in &self.pending {
            match change {
                Some(value) => batch.put_cf(&family, key, value),
                None => batch.delete_cf(&family, key),
            }
        }
    }

    fn insert(&mut self, key: Box<[u8]>, change: Change) -> Option<Change> {
        let key_length = key.len();
        self.bytes += cost(&key, &change);
        let prior = self.pending.insert(key, change);
        if let Some(prior) = &prior {
            self.bytes -= CHANGE_COST + key_length + prior.as_ref().map_or(0, |value| value.len());
        }
        prior
    }
}

fn cost(key: &[u8], change: &Change) -> usize {
    CHANGE_COST + key.len() + change.as_ref().map_or(0, |value| value.len())
}
