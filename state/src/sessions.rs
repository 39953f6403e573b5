//! Undo sessions: what accepted blocks replaced, kept so that they can be taken back.
//!
//! A session is the journal of its block, moved here when the block is accepted; it costs what the block touched.
//! Sessions are taken back newest first, and dropped oldest first, when their block can no longer be taken back. While
//! there are any, the durable state is that before the oldest one: a commit writes the registers as they were
//! then.

use std::collections::{HashMap, HashSet, VecDeque};

use crate::cache::SlotNumber;
use crate::journal::Prior;
use crate::record::Record;
use crate::working_set::Before;

/// What a list entry costs beside its record, in bytes.
const PRIOR_COST: usize = std::mem::size_of::<Prior>();

/// One block's.
#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) priors: Vec<Prior>,
    pub(crate) before: Before,
}

/// Sessions, oldest first.
#[derive(Debug, Default)]
pub(crate) struct Sessions {
    list: VecDeque<Session>,
    bytes: usize,
}

impl Session {
    fn bytes(&self) -> usize {
        self.priors
            .iter()
            .map(|prior| PRIOR_COST + prior.record.size())
            .sum()
    }
}

impl Sessions {
    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }

    /// Bytes of memory that they hold.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(crate) fn push(&mut self, session: Session) {
        self.bytes += session.bytes();
        self.list.push_back(session);
    }

    pub(crate) fn pop_newest(&mut self) -> Option<Session> {
        let session = self.list.pop_back()?;
        self.bytes -= session.bytes();
        Some(session)
    }

    pub(crate) fn drop_oldest(&mut self) -> bool {
        let session = self.list.pop_front();
        self.bytes -= session.as_ref().map_or(0, Session::bytes);
        session.is_some()
    }

    /// What [`Before`] the oldest session.
    pub(crate) fn base(&self) -> Option<Before> {
        self.list.front().map(|session| session.before)
    }

    /// The records of touched registers as they were before the oldest session.
    pub(crate) fn base_records(&self) -> HashMap<SlotNumber, &Record> {
        let mut records = HashMap::new();
        for prior in self.list.iter().flat_map(|session| &session.priors) {
            records.entry(prior.slot).or_insert(&prior.record);
        }
        records
    }

    /// Takes note that the state before the oldest session is in the store. Gives the slots that the sessions have made
    /// dirty since, each once, in the order in which they did.
    pub(crate) fn rebase(&mut self) -> Vec<SlotNumber> {
        let Some(base) = self.base() else {
            return Vec::new();
        };
        let mut dirty = Vec::new();
        let mut seen = HashSet::new();
        for session in &mut self.list {
            session.before.dirty = dirty.len();
            session.before.change = session.before.change.since(base.change);
            for prior in &mut session.priors {
                prior.was_dirty = !seen.insert(prior.slot);
                if !prior.was_dirty {
                    dirty.push(prior.slot);
                }
            }
        }
        dirty
    }
}
