//! The registers in memory: a slab of slots, an index by path, and a clock that evicts clean slots.
//!
//! A slot is one cache line: path, record, marks. The index is a hash table of slot numbers, a few bytes a
//! register, so the table itself mostly stays in the processor's cache and a hit costs the slot and the record.
//! Slot numbers stay what they are while a slot is occupied; the dirty list and the block journal hold them
//! instead of paths.
//!
//! Eviction is second chance: a hand goes round the slots, clears the mark of a slot that was read since the hand
//! last came by, and evicts a clean slot without the mark. A new slot starts without it, so that a register read
//! once goes first. A hit sets one bit and nothing else. Dirty slots are never evicted: their bytes are the
//! writer's to bound, by committing. The registers known not to exist are slots too.

use hashbrown::HashTable;

use crate::path::{Path, PathHasher};
use crate::record::Record;

/// What a vacant slot costs, in bytes, at the most: the slot; its share of the slots that are allocated ahead
/// ([`GROWTH`]); twelve for its share of the index (five a bucket, and a bucket in 16/7 is used just after the index has
/// grown); eight in the list of vacant slots.
const VACANT_COST: usize = size_of::<Slot>() + size_of::<Slot>() / GROWTH + 12 + 8;
/// What a slot costs beside its record: also what the allocator adds to the record, a header of eight bytes and rounding
/// up to 16. With all of this counted, the limit is one of memory.
pub(crate) const SLOT_COST: usize = VACANT_COST + 24;

/// Slots are allocated ahead by one in so many, and not by as many as there are: at a million registers, doubling would
/// be 64 MiB that no limit knows of.
const GROWTH: usize = 8;
/// Slots allocated ahead at least.
const LEAST_GROWTH: usize = 64;

/// Slots that the hand passes for one insertion at most. The limit can be exceeded while nearly all slots are
/// dirty, by a small part of the dirty bytes; without a bound each insertion would then walk over all of them.
const HAND_STEPS: usize = 64;

/// Figures of the register cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CacheStats {
    /// Lookups that found the register, or the knowledge that it does not exist, in memory.
    pub hits: u64,
    /// Lookups that had to read the store.
    pub misses: u64,
    /// Registers evicted.
    pub evictions: u64,
    /// Registers in memory, clean and dirty, absent ones included.
    pub entries: usize,
    /// Bytes that the clean registers count for, with what keeping them costs; bounded by the cache's size.
    pub clean_bytes: usize,
    /// Bytes of memory that were asked for, used or not, clean and dirty: slots, index, records. What the allocator adds
    /// is not in it.
    pub memory_bytes: usize,
}

/// A register in memory.
#[derive(Debug)]
pub(crate) struct Slot {
    path: Path,
    pub(crate) record: Record,
    /// The journal's block that last moved a prior value of this register aside.
    pub(crate) journaled_in: u32,
    pub(crate) state: SlotState,
    /// Read since the hand last came by.
    referenced: bool,
    /// Whether the store has the register, so that removing one that it never had writes nothing.
    pub(crate) stored: bool,
}

impl Slot {
    /// What the slot counts for, in bytes.
    pub(crate) fn cost(&self) -> usize {
        SLOT_COST + self.record.stored().len()
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

/// What a slot holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SlotState {
    Vacant,
    /// The same as the store.
    Clean,
    /// Newer than the store.
    Dirty,
}

/// The number of a slot.
pub(crate) type SlotNumber = u32;

/// See the module.
pub(crate) struct Cache {
    slots: Vec<Slot>,
    vacant: Vec<SlotNumber>,
    index: HashTable<SlotNumber>,
    hasher: PathHasher,
    hand: usize,
    /// The limit of `clean_bytes`.
    limit: usize,
    clean_bytes: usize,
    hits: u64,
    misses: u64,
    evictions: u64,
}

impl Cache {
    pub(crate) fn new(limit: usize) -> Self {
        Self {
            slots: Vec::new(),
            vacant: Vec::new(),
            index: HashTable::new(),
            hasher: PathHasher::new(),
            hand: 0,
            limit,
            clean_bytes: 0,
            hits: 0,
            misses: 0,
            evictions: 0,
        }
    }

    /// Figures, given the cost of the dirty slots.
    pub(crate) fn stats(&self, dirty_bytes: usize) -> CacheStats {
        let records = (self.clean_bytes + dirty_bytes).saturating_sub(SLOT_COST * self.index.len());
        let lists =
            self.slots.capacity() * size_of::<Slot>() + self.vacant.capacity() * size_of::<SlotNumber>();
        CacheStats {
            memory_bytes: records + lists + self.index.allocation_size(),
            hits: self.hits,
            misses: self.misses,
            evictions: self.evictions,
            entries: self.index.len(),
            clean_bytes: self.clean_bytes,
        }
    }

    /// The slot of a path, if it is in memory, marked as read.
    pub(crate) fn find(&mut self, path: &Path) -> Option<SlotNumber> {
        let hash = self.hasher.hash(path);
        let found = self
            .index
            .find(hash, |&at| self.slots[at as usize].path == *path)
            .copied();
        match found {
            Some(at) => {
                self.slots[at as usize].referenced = true;
                self.hits += 1;
            }
            None => self.misses += 1,
        }
        found
    }

    /// Puts a register in that was read from the store. The path must not be in memory yet.
    pub(crate) fn admit(&mut self, path: Path, record: Record) -> SlotNumber {
        self.clean_bytes += SLOT_COST + record.stored().len();
        self.evict(HAND_STEPS);
        self.insert(path, record)
    }

    /// As [`Self::admit`], but evicts nothing, so that no slot that was just found or filled goes.
    pub(crate) fn admit_beyond_limit(&mut self, path: Path, record: Record) -> SlotNumber {
        self.clean_bytes += SLOT_COST + record.stored().len();
        self.insert(path, record)
    }

    /// Evicts what is above the limit, as far as so many insertions would.
    pub(crate) fn make_room(&mut self, insertions: usize) {
        self.evict(insertions.saturating_mul(HAND_STEPS));
    }

    /// Fills a slot whose cost is counted already.
    fn insert(&mut self, path: Path, record: Record) -> SlotNumber {
        let stored = record.exists();
        let slot = Slot {
            path,
            record,
            journaled_in: 0,
            state: SlotState::Clean,
            referenced: false,
            stored,
        };
        let at = match self.vacant.pop() {
            Some(at) => {
                self.slots[at as usize] = slot;
                at
            }
            None => {
                // 2^32 slots would be 256 GiB of slots alone, far above any limit that works on one machine.
                let at = SlotNumber::try_from(self.slots.len()).expect("fewer than 2^32 registers in memory");
                if self.slots.len() == self.slots.capacity() {
                    let ahead = (self.slots.len() / GROWTH).max(LEAST_GROWTH);
                    self.slots.reserve_exact(ahead);
                }
                self.slots.push(slot);
                at
            }
        };
        let Self {
            slots, index, hasher, ..
        } = self;
        index.insert_unique(hasher.hash(&path), at, |&at| {
            hasher.hash(&slots[at as usize].path)
        });
        at
    }

    pub(crate) fn slot(&self, at: SlotNumber) -> &Slot {
        &self.slots[at as usize]
    }

    /// The slot, to change its record or marks. Its owner calls [`Self::mark_dirty`] before it changes a clean
    /// slot's record, so that the clean bytes stay right.
    pub(crate) fn slot_mut(&mut self, at: SlotNumber) -> &mut Slot {
        &mut self.slots[at as usize]
    }

    pub(crate) fn mark_dirty(&mut self, at: SlotNumber) {
        let slot = &mut self.slots[at as usize];
        debug_assert_eq!(slot.state, SlotState::Clean);
        slot.state = SlotState::Dirty;
        self.clean_bytes -= slot.cost();
    }

    pub(crate) fn mark_clean(&mut self, at: SlotNumber) {
        let slot = &mut self.slots[at as usize];
        debug_assert_eq!(slot.state, SlotState::Dirty);
        slot.state = SlotState::Clean;
        self.clean_bytes += slot.cost();
    }

    /// Evicts until the limit holds, however many slots the hand has to pass.
    pub(crate) fn trim(&mut self) {
        // In two rounds the hand meets every clean slot without its mark.
        self.evict(2 * self.slots.len());
    }

    /// Gives the memory of vacant slots back when they are more than half of all, as after a large commit or when
    /// records have become larger. Slots get other numbers: nobody may hold any.
    pub(crate) fn compact(&mut self) {
        if self.vacant.len() <= LEAST_GROWTH || self.vacant.len() <= self.slots.len() / 2 {
            return;
        }
        self.slots.retain(|slot| slot.state != SlotState::Vacant);
        self.slots.shrink_to_fit();
        self.vacant = Vec::new();
        self.hand = 0;
        self.index = HashTable::with_capacity(self.slots.len());
        let Self {
            slots, index, hasher, ..
        } = self;
        let hash = |at: &SlotNumber| hasher.hash(&slots[*at as usize].path);
        for at in 0..slots.len() as SlotNumber {
            index.insert_unique(hash(&at), at, hash);
        }
    }

    /// Forgets which block journaled which slot.
    pub(crate) fn forget_journaled(&mut self) {
        for slot in &mut self.slots {
            slot.journaled_in = 0;
        }
    }

    fn evict(&mut self, steps: usize) {
        for _ in 0..steps {
            if self.clean_bytes == 0
                || self.slots.is_empty()
                || self.clean_bytes + VACANT_COST * self.vacant.len() <= self.limit
            {
                return;
            }
            if self.hand >= self.slots.len() {
                self.hand = 0;
            }
            let slot = &mut self.slots[self.hand];
            if slot.state == SlotState::Clean {
                if slot.referenced {
                    slot.referenced = false;
                } else {
                    self.vacate(self.hand);
                }
            }
            self.hand += 1;
        }
    }

    fn vacate(&mut self, number: usize) {
        let slot = &mut self.slots[number];
        self.clean_bytes -= slot.cost();
        slot.state = SlotState::Vacant;
        slot.record = Record::default();
        let at = number as SlotNumber;
        if let Ok(entry) = self
            .index
            .find_entry(self.hasher.hash(&slot.path), |&other| other == at)
        {
            entry.remove();
        }
        self.vacant.push(at);
        self.evictions += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const VALUE: [u8; 100] = [1; 100];

    fn fill(cache: &mut Cache, keys: std::ops::Range<u32>) {
        for key in keys {
            let key = key.to_le_bytes();
            let path = Path::of(&key);
            if cache.find(&path).is_none() {
                cache.admit(path, Record::new(&key, &VALUE));
            }
        }
    }

    fn has(cache: &Cache, key: u32) -> bool {
        let path = Path::of(&key.to_le_bytes());
        cache
            .index
            .find(cache.hasher.hash(&path), |&at| {
                cache.slots[at as usize].path == path
            })
            .is_some()
    }

    fn cost() -> usize {
        SLOT_COST + Record::new(&[0; 4], &VALUE).stored().len()
    }

    #[test]
    fn a_slot_is_one_cache_line() {
        assert_eq!(size_of::<Slot>(), 64);
    }

    #[test]
    fn clean_bytes_stay_within_the_limit() {
        let mut cache = Cache::new(100 * cost());
        fill(&mut cache, 0..10_000);
        let stats = cache.stats(0);
        assert!(stats.clean_bytes <= 101 * cost(), "{stats:?}");
        assert!(stats.entries >= 99, "{stats:?}");
        assert_eq!(stats.evictions as usize, 10_000 - stats.entries);
        assert_eq!(
            cache.slots.len() - cache.vacant.len(),
            stats.entries,
            "every slot is used or vacant"
        );
        assert!(
            cache.slots.len() <= 102,
            "vacant slots are used again: {}",
            cache.slots.len()
        );
    }

    #[test]
    fn what_is_read_again_outlives_what_is_read_once() {
        let mut cache = Cache::new(100 * cost());
        fill(&mut cache, 0..50);
        for round in 0..100 {
            fill(&mut cache, 0..50);
            fill(&mut cache, 1_000 + round * 20..1_020 + round * 20);
        }
        assert_eq!(
            cache.stats(0).misses,
            50 + 100 * 20,
            "none of the 50 had to be read a second time"
        );
    }

    #[test]
    fn dirty_slots_are_kept_and_not_counted() {
        let mut cache = Cache::new(10 * cost());
        fill(&mut cache, 0..10);
        for key in 0..10_u32 {
            let at = cache.find(&Path::of(&key.to_le_bytes())).unwrap();
            cache.mark_dirty(at);
        }
        assert_eq!(cache.stats(0).clean_bytes, 0);
        fill(&mut cache, 100..1_000);
        assert!((0..10).all(|key| has(&cache, key)));
        for key in 0..10_u32 {
            let at = cache.find(&Path::of(&key.to_le_bytes())).unwrap();
            cache.mark_clean(at);
        }
        cache.trim();
        assert!(cache.stats(0).clean_bytes <= 10 * cost());
    }

    #[test]
    fn the_memory_of_vacant_slots_counts_and_is_given_back() {
        let mut cache = Cache::new(100 * cost());
        fill(&mut cache, 0..10_000);
        for key in 20_000..30_000_u32 {
            let (key, path) = (key.to_le_bytes(), Path::of(&key.to_le_bytes()));
            let at = cache.admit(path, Record::new(&key, &VALUE));
            cache.mark_dirty(at);
        }
        assert!(cache.stats(10_000 * cost()).memory_bytes > 10_000 * cost() / 2);
        let dirty: Vec<SlotNumber> = (0..cache.slots.len() as SlotNumber)
            .filter(|&at| cache.slot(at).state == SlotState::Dirty)
            .collect();
        for at in dirty {
            cache.mark_clean(at);
        }
        cache.trim();
        assert_eq!(
            cache.stats(0).entries,
            0,
            "10,000 vacant slots are above the limit by themselves"
        );
        cache.compact();
        fill(&mut cache, 40_000..40_200);
        let stats = cache.stats(0);
        assert!(
            stats.entries >= 98 && stats.memory_bytes <= 100 * cost(),
            "{stats:?}"
        );
        assert!((40_150..40_200).all(|key| has(&cache, key)));
    }

    #[test]
    fn what_is_left_is_found_after_compacting() {
        let mut cache = Cache::new(200 * cost());
        fill(&mut cache, 0..200);
        cache.limit = 130 * cost();
        cache.trim();
        let kept: Vec<u32> = (0..200).filter(|&key| has(&cache, key)).collect();
        assert!(kept.len() > 10 && cache.vacant.len() > 100, "{kept:?}");
        cache.compact();
        assert_eq!(
            (0..200).filter(|&key| has(&cache, key)).collect::<Vec<u32>>(),
            kept
        );
        assert_eq!((cache.slots.len(), cache.vacant.len()), (kept.len(), 0));
        for key in kept {
            let at = cache.find(&Path::of(&key.to_le_bytes())).unwrap();
            assert_eq!(cache.slot(at).record.value(), VALUE);
        }
    }

    #[test]
    fn a_limit_of_zero_keeps_only_the_register_in_use() {
        let mut cache = Cache::new(0);
        fill(&mut cache, 0..1_000);
        assert!(cache.stats(0).entries <= 2);
        cache.trim();
        assert_eq!(cache.stats(0).entries, 0);
        assert_eq!(cache.stats(0).clean_bytes, 0);
    }
}
