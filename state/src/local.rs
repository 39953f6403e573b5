//! Changes of the node-local index that wait for the next commit.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

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
    /// Of the open block.
    journal: Journal,
    /// Of the blocks that can be taken back, oldest first.
    sessions: VecDeque<Journal>,
}

/// Keys that a block changed and the change that was pending before, oldest first. A key may be there more than once.
type Journal = Vec<(Box<[u8]>, Option<Change>)>;

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

    /// Accepts the open block and keeps what it replaced.
    pub(crate) fn accept_with_session(&mut self) {
        let journal = std::mem::take(&mut self.journal);
        self.sessions.push_back(journal);
    }

    pub(crate) fn undo(&mut self) {
        let journal = std::mem::take(&mut self.journal);
        self.put_back(journal);
    }

    /// Takes the newest session's block back.
    pub(crate) fn undo_session(&mut self) {
        if let Some(journal) = self.sessions.pop_back() {
            self.put_back(journal);
        }
    }

    pub(crate) fn drop_oldest_session(&mut self) {
        self.sessions.pop_front();
    }

    fn put_back(&mut self, journal: Journal) {
        for (key, prior) in journal.into_iter().rev() {
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

    /// Writes the changes as they were before the oldest session; how many.
    pub(crate) fn write_to(&self, batch: &mut WriteBatch, family: &rocksdb::ColumnFamily) -> usize {
        let mut base: BTreeMap<&[u8], Option<&Change>> = BTreeMap::new();
        for (key, prior) in self.sessions.iter().flatten() {
            base.entry(key).or_insert(prior.as_ref());
        }
        let mut written = 0;
        for (key, change) in &self.pending {
            match base.get(&**key).copied().unwrap_or(Some(change)) {
                None => continue,
                Some(Some(value)) => batch.put_cf(&family, key, value),
                Some(None) => batch.delete_cf(&family, key),
            }
            written += 1;
        }
        written
    }

    /// Takes note that the changes before the oldest session are in the store.
    pub(crate) fn committed(&mut self) {
        let mut seen = BTreeSet::new();
        for (key, prior) in self.sessions.iter_mut().flatten() {
            if !seen.contains(key) {
                seen.insert(key.clone());
                *prior = None;
            }
        }
        self.pending.retain(|key, _| seen.contains(key));
        self.bytes = self.pending.iter().map(|(key, change)| cost(key, change)).sum();
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
