//! The registers that the writer has in memory: what it read, what it changed, and what a block replaced.
//!
//! Everything here is in memory and cannot fail; [`Registers`](crate::Registers) adds the store.

use crate::cache::{Cache, CacheStats, Slot, SlotNumber, SlotState};
use crate::counts::CountsChange;
use crate::journal::{Journal, Prior};
use crate::path::Path;
use crate::record::Record;

/// The state before the open block that is cheaper to copy than to journal.
#[derive(Debug, Default, Clone, Copy)]
struct Before {
    dirty: usize,
    change: CountsChange,
}

/// See the module.
pub(crate) struct WorkingSet {
    cache: Cache,
    journal: Journal,
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
            dirty: Vec::new(),
            dirty_bytes: 0,
            change: CountsChange::default(),
            before: Before::default(),
        }
    }

    pub(crate) fn find(&mut self, path: &Path) -> Option<SlotNumber> {
        self.cache.find(path)
    }

    pub(crate) fn admit(&mut self, path: Path, record: Record) -> SlotNumber {
        self.cache.admit(path, record)
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

    pub(crate) fn undo_block(&mut self) {
        for Prior {
            slot: at,
            was_dirty,
            record,
        } in self.journal.undo()
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
        self.dirty.truncate(self.before.dirty);
        self.change = self.before.change;
    }

    pub(crate) fn dirty_count(&self) -> usize {
        self.dirty.len()
    }

    pub(crate) fn dirty_bytes(&self) -> usize {
        self.dirty_bytes
    }

    pub(crate) fn change(&self) -> CountsChange {
        self.change
    }

    pub(crate) fn cache_stats(&self) -> CacheStats {
        self.cache.stats()
    }

    /// The dirty registers in path order.
    pub(crate) fn sorted_dirty(&self) -> impl Iterator<Item = &Slot> {
        // The first eight bytes decide nearly always and are sorted without touching the slots again.
        let mut order: Vec<(u64, SlotNumber)> = self
            .dirty
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
        order.into_iter().map(|(_, at)| self.cache.slot(at))
    }

    /// Takes note that the dirty registers are in the store.
    pub(crate) fn committed(&mut self) {
        debug_assert!(!self.in_block());
        for &at in &self.dirty {
            self.cache.mark_clean(at);
            let slot = self.cache.slot_mut(at);
            slot.stored = slot.record.exists();
        }
        self.dirty.clear();
        self.dirty_bytes = 0;
        self.change = CountsChange::default();
        self.cache.trim();
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
        let paths: Vec<Path> = set.sorted_dirty().map(|slot| *slot.path()).collect();
        assert_eq!(paths.len(), 1_000);
        assert!(paths.is_sorted());
    }
}
