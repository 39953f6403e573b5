//! Ids of transactions that have not expired, so that none enters the chain twice.
//!
//! Only full validation fills and asks it, so it is not part of the state: entries lie in the store's node-local index,
//! and in memory. A node that was validating in reduced mode until now knows none of the transactions of the last hour (day
//! since hardfork 28); none of those can be repeated unnoticed, since below the last checkpoint every block's id is known.
//!
//! Local key: `d` and `t`, expiration (4, big-endian), id (20); no value. Memory: a set of ids, and the ids by expiration,
//! about 100 bytes a transaction.

use std::collections::{BTreeMap, HashSet, VecDeque};

use cairn_chain::{Time, TransactionId};
use cairn_state::{Registers, StateError, Store};

/// What the keys in the local index start with.
const PREFIX: &[u8] = b"dt";

const KEY_SIZE: usize = 2 + 4 + 20;

/// The known transactions.
#[derive(Debug, Default)]
pub(crate) struct Duplicates {
    ids: HashSet<TransactionId>,
    by_expiration: BTreeMap<Time, Vec<TransactionId>>,
    /// Of the open block.
    open: Changes,
    /// Of the blocks that can be taken back, oldest first.
    sessions: VecDeque<Changes>,
}

/// What a block has changed.
#[derive(Debug, Default)]
struct Changes {
    added: Vec<(Time, TransactionId)>,
    dropped: Vec<(Time, Vec<TransactionId>)>,
}

fn key(expiration: Time, id: &TransactionId) -> [u8; KEY_SIZE] {
    let mut key = [0; KEY_SIZE];
    key[..2].copy_from_slice(PREFIX);
    key[2..6].copy_from_slice(&expiration.0.to_be_bytes());
    key[6..].copy_from_slice(&id.0);
    key
}

fn split_key(key: &[u8]) -> Option<(Time, TransactionId)> {
    let key: &[u8; KEY_SIZE] = key.try_into().ok()?;
    let (expiration, id) = key[2..].split_first_chunk()?;
    Some((
        Time(u32::from_be_bytes(*expiration)),
        TransactionId(id.try_into().ok()?),
    ))
}

/// How many transactions a store knows.
pub(crate) fn count(store: &Store) -> Result<u64, StateError> {
    let mut count = 0;
    store.scan_local(PREFIX, |key, _| count += u64::from(split_key(key).is_some()))?;
    Ok(count)
}

impl Duplicates {
    /// Reads the known transactions of a store. Keys that are none are passed over.
    pub(crate) fn open(store: &Store) -> Result<Self, StateError> {
        let mut known = Self::default();
        store.scan_local(PREFIX, |key, _| {
            if let Some((expiration, id)) = split_key(key) {
                known.ids.insert(id);
                known.by_expiration.entry(expiration).or_default().push(id);
            }
        })?;
        Ok(known)
    }

    /// How many transactions are known.
    pub(crate) fn len(&self) -> usize {
        self.ids.len()
    }

    /// Whether a transaction is known.
    pub(crate) fn contains(&self, id: &TransactionId) -> bool {
        self.ids.contains(id)
    }

    /// Adds a transaction that is not known.
    pub(crate) fn add(
        &mut self,
        registers: &mut Registers,
        expiration: Time,
        id: TransactionId,
    ) -> Result<(), StateError> {
        registers.local_put(&key(expiration, &id), &[])?;
        self.ids.insert(id);
        self.by_expiration.entry(expiration).or_default().push(id);
        self.open.added.push((expiration, id));
        Ok(())
    }

    /// Drops the transactions that have expired before `now`.
    pub(crate) fn drop_expired(&mut self, registers: &mut Registers, now: Time) -> Result<(), StateError> {
        while let Some(entry) = self.by_expiration.first_entry() {
            if *entry.key() >= now {
                break;
            }
            let (expiration, ids) = entry.remove_entry();
            for id in &ids {
                self.ids.remove(id);
            }
            // Remembered before the registers may fail, so that it can be undone.
            self.open.dropped.push((expiration, ids));
            if let Some((expiration, ids)) = self.open.dropped.last() {
                for id in ids {
                    registers.local_delete(&key(*expiration, id))?;
                }
            }
        }
        Ok(())
    }

    /// Keeps the open block's changes; with a session they can be taken back later.
    pub(crate) fn accept(&mut self, with_session: bool) {
        let changes = std::mem::take(&mut self.open);
        if with_session {
            self.sessions.push_back(changes);
        }
    }

    /// Takes the open block's changes back; those of the local index are taken back with the registers'.
    pub(crate) fn undo(&mut self) {
        let changes = std::mem::take(&mut self.open);
        self.put_back(changes);
    }

    /// Takes back the changes of the newest session's block.
    pub(crate) fn undo_session(&mut self) {
        if let Some(changes) = self.sessions.pop_back() {
            self.put_back(changes);
        }
    }

    pub(crate) fn drop_oldest_session(&mut self) {
        self.sessions.pop_front();
    }

    fn put_back(&mut self, Changes { added, dropped }: Changes) {
        for (expiration, ids) in dropped {
            self.ids.extend(&ids);
            self.by_expiration.insert(expiration, ids);
        }
        for (expiration, id) in added {
            self.ids.remove(&id);
            if let Some(ids) = self.by_expiration.get_mut(&expiration) {
                ids.retain(|other| *other != id);
                if ids.is_empty() {
                    self.by_expiration.remove(&expiration);
                }
            }
        }
    }
}
