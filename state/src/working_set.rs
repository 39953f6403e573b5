//! The registers that the writer has in memory: what it read, what it changed, and what a block replaced.
//!
//! Everything here is in memory and cannot fail; [`Registers`](crate::Registers) adds the store.

use crate::batch::Batch;
use crate::cache::{Cache, CacheStats, SLOT_COST, SlotNumber, SlotState};
use crate::counts::CountsChange;
use crate::journal::{Journal, Prior};
use crate::path::Path;
use crate::record::Record;
use crate::sessions::{Session, Sessions};

/// The state before a block that is cheaper to copy than to journal.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Before {
    /// How many slots were dirty; those that the block made dirty follow them in the list.
    pub(crate) dirty: usize,
    pub(crate) change: CountsChange,
}

/// A register as a commit writes it.
pub(crate) struct BaseRegister<'a> {
    pub(crate) path: &'a Path,
    pub(crate) record: &'a Record,
    /// Whether the store has it.
    pub(crate) stored: bool,
}

/// See the module.
pub(crate) struct WorkingSet {
    cache: Cache,
    journal: Journal,
    sessions: Sessions,
    /// The dirty slots, each once, in the order in which they became dirty.
    dirty: Vec<SlotNumber>,
    dirty_bytes: usize,
    /// The change of the counts since the last commit.
    change: CountsChange,
    before: Before,
}

impl WorkingSet {
    pub(crate) fn new(cache_limit: usize) -> Self {
        Self {
            cache: Cache::new(cache_limit),
            journal: Journal::default(),
            sessions: Sessions::default(),
            dirty: Vec::new(),
            dirty_bytes: 0,
            change: CountsChange::default(),
            before: Before::default(),
        }
    }

    pub(crate) fn find(&mut self, path: &Path) -> Option<SlotNumber> {
        self.cache.find(path)
    }

    /// Looks up the paths of a batch.
    pub(crate) fn find_many(&mut self, batch: &mut Batch) {
        let Batch {
            paths, slots, misses, ..
        } = batch;
        for (place, path) in paths.iter().enumerate() {
            let found = self.cache.find(path);
            if found.is_none() {
                // A batch of 2^32 keys would be 64 GiB of references alone.
                misses.push(place as u32);
            }
            slots.push(found.unwrap_or_default());
        }
    }

    pub(crate) fn admit(&mut self, path: Path, record: Record) -> SlotNumber {
        self.cache.admit(path, record)
    }

    /// Admits without evicting anything; see [`Self::make_room`].
    pub(crate) fn admit_beyond_limit(&mut self, path: Path, record: Record) -> SlotNumber {
        self.cache.admit_beyond_limit(path, record)
    }

    /// Evicts what is above the cache's limit, as for so many insertions.
    pub(crate) fn make_room(&mut self, insertions: usize) {
        self.cache.make_room(insertions);
    }

    /// The value in a slot, empty when the register does not exist.
    pub(crate) fn value(&self, at: SlotNumber) -> &[u8] {
        self.cache.slot(at).record.value()
    }

    /// Gives the register in a slot another value; an empty one removes it. The value that it has already is not
    /// a change.
    pub(crate) fn write(&mut self, at: SlotNumber, key: &[u8], value: &[u8]) {
        if self.value(at) == value {
            return;
        }
        let was_dirty = self.cache.slot(at).state == SlotState::Dirty;
        if was_dirty {
            self.dirty_bytes -= self.cache.slot(at).cost();
        } else {
            self.cache.mark_dirty(at);
            self.dirty.push(at);
        }
        let slot = self.cache.slot_mut(at);
        let size_before = slot.record.size();
        if let Some(block) = self.journal.wants(slot.journaled_in) {
            slot.journaled_in = block;
            let record = std::mem::replace(&mut slot.record, Record::new(key, value));
            self.journal.push(Prior {
                slot: at,
                was_dirty,
                record,
            });
        } else if !slot.record.overwrite(value) {
            slot.record = Record::new(key, value);
        }
        self.change.resize(size_before, slot.record.size());
        self.dirty_bytes += slot.cost();
    }

    pub(crate) fn in_block(&self) -> bool {
        self.journal.is_open()
    }

    pub(crate) fn begin_block(&mut self) {
        if self.journal.begin() {
            self.cache.forget_journaled();
        }
        self.before = Before {
            dirty: self.dirty.len(),
            change: self.change,
        };
    }

    pub(crate) fn accept_block(&mut self) {
        self.journal.accept();
    }

    /// Accepts the open block and keeps what it replaced.
    pub(crate) fn accept_block_with_session(&mut self) {
        let (priors, before) = (self.journal.accept_and_take(), self.before);
        self.sessions.push(Session { priors, before });
    }

    pub(crate) fn undo_block(&mut self) {
        let priors: Vec<Prior> = self.journal.undo().collect();
        self.put_back(priors, self.before);
    }

    /// Takes the newest session's block back; false when there is none.
    pub(crate) fn undo_session(&mut self) -> bool {
        debug_assert!(!self.in_block());
        let Some(Session { priors, before }) = self.sessions.pop_newest() else {
            return false;
        };
        self.put_back(priors.into_iter().rev(), before);
        true
    }

    pub(crate) fn sessions(&self) -> &Sessions {
        &self.sessions
    }

    pub(crate) fn drop_oldest_session(&mut self) -> bool {
        self.sessions.drop_oldest()
    }

    /// Puts prior records back, newest first.
    fn put_back(&mut self, priors: impl IntoIterator<Item = Prior>, before: Before) {
        for Prior {
            slot: at,
            was_dirty,
            record,
        } in priors
        {
            self.dirty_bytes -= self.cache.slot(at).cost();
            self.cache.slot_mut(at).record = record;
            if was_dirty {
                self.dirty_bytes += self.cache.slot(at).cost();
            } else {
                self.cache.mark_clean(at);
            }
        }
        // The slots that the block made dirty are the last ones of the list and clean again.
        self.dirty.truncate(before.dirty);
        self.change = before.change;
    }

    pub(crate) fn dirty_count(&self) -> usize {
        self.dirty.len()
    }

    pub(crate) fn dirty_bytes(&self) -> usize {
        self.dirty_bytes
    }

    /// Bytes of the records of dirty registers: what their keys and values have at the most.
    pub(crate) fn dirty_record_bytes(&self) -> usize {
        self.dirty_bytes - SLOT_COST * self.dirty.len()
    }

    pub(crate) fn change(&self) -> CountsChange {
        self.change
    }

    /// The change that a commit makes durable.
    pub(crate) fn base_change(&self) -> CountsChange {
        self.sessions.base().map_or(self.change, |before| before.change)
    }

    /// The slots that were dirty before the oldest session.
    fn base_dirty(&self) -> &[SlotNumber] {
        let end = self
            .sessions
            .base()
            .map_or(self.dirty.len(), |before| before.dirty);
        &self.dirty[..end]
    }

    pub(crate) fn cache_stats(&self) -> CacheStats {
        self.cache.stats(self.dirty_bytes)
    }

    /// What a commit writes, in path order: the dirty registers as they were before the oldest session.
    pub(crate) fn sorted_base(&self) -> impl Iterator<Item = BaseRegister<'_>> {
        // The first eight bytes decide nearly always and are sorted without touching the slots again.
        let mut order: Vec<(u64, SlotNumber)> = self
            .base_dirty()
            .iter()
            .map(|&at| (self.cache.slot(at).path().prefix(), at))
            .collect();
        order.sort_unstable_by(|(left, left_at), (right, right_at)| {
            left.cmp(right).then_with(|| {
                self.cache
                    .slot(*left_at)
                    .path()
                    .cmp(self.cache.slot(*right_at).path())
            })
        });
        // The records are all over the memory. Looked at before they are copied, several are waited for at a time.
        let touch = |&(_, at): &(u64, SlotNumber)| self.cache.slot(at).record.touch();
        std::hint::black_box(order.iter().map(touch).fold(0, u8::wrapping_add));
        let records = self.sessions.base_records();
        order.into_iter().map(move |(_, at)| {
            let slot = self.cache.slot(at);
            BaseRegister {
                path: slot.path(),
                record: records.get(&at).copied().unwrap_or(&slot.record),
                stored: slot.stored,
            }
        })
    }

    /// Takes note that the state before the oldest session is in the store.
    pub(crate) fn committed(&mut self) {
        debug_assert!(!self.in_block());
        let in_store: Vec<(SlotNumber, bool, bool)> = {
            let records = self.sessions.base_records();
            let base = self.base_dirty().iter();
            base.map(|&at| match records.get(&at) {
                Some(record) => (at, record.exists(), true),
                None => (at, self.cache.slot(at).record.exists(), false),
            })
            .collect()
        };
        for (at, exists, in_session) in in_store {
            if !in_session {
                self.cache.mark_clean(at);
            }
            self.cache.slot_mut(at).stored = exists;
        }
        let base_change = self.base_change();
        self.dirty = self.sessions.rebase();
        self.change = self.change.since(base_change);
        let cost = |at: &SlotNumber| self.cache.slot(*at).cost();
        self.dirty_bytes = self.dirty.iter().map(cost).sum();
        self.cache.trim();
        // Without dirty slots there are neither journals nor sessions: nobody holds a slot's number.
        if self.dirty.is_empty() && self.sessions.len() == 0 {
            self.cache.compact();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(set: &mut WorkingSet, key: &[u8], value: &[u8]) {
        let path = Path::of(key);
        let at = set
            .find(&path)
            .unwrap_or_else(|| set.admit(path, Record::default()));
        set.write(at, key, value);
    }

    fn read(set: &mut WorkingSet, key: &[u8]) -> Vec<u8> {
        let at = set.find(&Path::of(key)).unwrap();
        set.value(at).to_vec()
    }

    #[test]
    fn undo_is_right_after_the_numbers_of_blocks_begin_anew() {
        let mut set = WorkingSet::new(1 << 20);
        set.begin_block();
        write(&mut set, b"a", b"first");
        set.accept_block();
        set.journal.skip_to_last_number();
        set.begin_block();
        set.accept_block();
        // Block number 1 again: without the reset the mark of the first block would hide the prior value.
        set.begin_block();
        write(&mut set, b"a", b"second");
        set.undo_block();
        assert_eq!(read(&mut set, b"a"), b"first");
    }

    #[test]
    fn dirty_bytes_are_the_sum_over_the_dirty_slots() {
        let mut set = WorkingSet::new(1 << 20);
        write(&mut set, b"kept", b"value");
        let kept = set.dirty_bytes();
        set.begin_block();
        write(&mut set, b"kept", b"a longer value");
        write(&mut set, b"kept", b"");
        write(&mut set, b"new", b"value");
        write(&mut set, b"new", b"other");
        assert_eq!(
            set.journal.len(),
            2,
            "only the first change of a register is journaled"
        );
        let sum: usize = set.dirty.iter().map(|&at| set.cache.slot(at).cost()).sum();
        assert_eq!(set.dirty_bytes(), sum);
        set.undo_block();
        assert_eq!(set.dirty_bytes(), kept);
        assert_eq!(set.dirty_count(), 1);
    }

    #[test]
    fn the_dirty_registers_come_in_path_order() {
        let mut set = WorkingSet::new(1 << 20);
        for key in 0..1_000_u32 {
            write(&mut set, &key.to_le_bytes(), b"value");
        }
        let paths: Vec<Path> = set.sorted_base().map(|register| *register.path).collect();
        assert_eq!(paths.len(), 1_000);
        assert!(paths.is_sorted());
    }
}
