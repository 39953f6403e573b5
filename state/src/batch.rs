//! Reading many registers at once.
//!
//! The keys are hashed first, then looked up, then what is not in memory is read from the store in one call, each
//! register once and in the order of the paths. The three loops are apart because the processor then waits for
//! several lookups at a time instead of one after the other. Values come in the order asked and are not copied, nor
//! are the keys; the lists that a batch needs are kept for the next one.

use rocksdb::DBPinnableSlice;

use crate::cache::SlotNumber;
use crate::path::Path;
use crate::record;
use crate::working_set::WorkingSet;

/// Keys for which the lists of a batch stay allocated: 44 bytes each, so 176 KiB.
const KEPT: usize = 4_096;

/// The lists of a batch over the working set, used again.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    /// Of the keys, in the order asked.
    pub(crate) paths: Vec<Path>,
    /// Of the registers, in the order asked. What a miss has here means nothing until it is read.
    pub(crate) slots: Vec<SlotNumber>,
    /// Places in the lists above of what was not in memory.
    pub(crate) misses: Vec<u32>,
    /// One of those places for each register.
    pub(crate) distinct: Vec<u32>,
}

impl Batch {
    /// Begins a batch.
    pub(crate) fn begin<K: AsRef<[u8]>>(&mut self, keys: &[K]) {
        self.paths.clear();
        self.slots.clear();
        self.misses.clear();
        self.distinct.clear();
        if keys.len() <= KEPT {
            self.paths.shrink_to(KEPT);
            self.slots.shrink_to(KEPT);
            self.misses.shrink_to(KEPT);
            self.distinct.shrink_to(KEPT);
        }
        self.paths.extend(keys.iter().map(|key| Path::of(key.as_ref())));
    }
}

/// The values of registers that were read together, in the order asked; see
/// [`Registers::get_many`](crate::Registers::get_many).
#[derive(Clone, Copy)]
pub struct Values<'a> {
    set: &'a WorkingSet,
    slots: &'a [SlotNumber],
}

impl<'a> Values<'a> {
    pub(crate) fn new(set: &'a WorkingSet, slots: &'a [SlotNumber]) -> Self {
        Self { set, slots }
    }

    /// How many keys were asked for.
    #[must_use]
    pub fn len(&self) -> usize {
        self.slots.len()
    }

    /// Whether no key was asked for.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// The value of the key at a place in the order asked; `None` when the register does not exist, or there was no
    /// such key.
    #[must_use]
    pub fn get(&self, place: usize) -> Option<&'a [u8]> {
        let value = self.set.value(*self.slots.get(place)?);
        (!value.is_empty()).then_some(value)
    }

    /// All values, in the order asked; `None` where the register does not exist.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Option<&'a [u8]>> + use<'a> {
        let set = self.set;
        self.slots.iter().map(move |&at| {
            let value = set.value(at);
            (!value.is_empty()).then_some(value)
        })
    }
}

/// The values of registers that were read together from the store, in the order asked; see
/// [`Store::get_many`](crate::Store::get_many). They stay where RocksDB has them.
pub struct StoredValues<'a> {
    /// The distinct registers, in path order. All of them have been checked.
    pub(crate) records: Vec<Option<DBPinnableSlice<'a>>>,
    /// For each key asked for, the place of its register.
    pub(crate) places: Vec<u32>,
}

impl StoredValues<'_> {
    /// How many keys were asked for.
    #[must_use]
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Whether no key was asked for.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// The value of the key at a place in the order asked; `None` when the register does not exist, or there was no
    /// such key.
    #[must_use]
    pub fn get(&self, place: usize) -> Option<&[u8]> {
        let stored = self.records[*self.places.get(place)? as usize].as_deref()?;
        record::split(stored).ok().map(|(_, value)| value)
    }

    /// All values, in the order asked; `None` where the register does not exist.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Option<&[u8]>> {
        (0..self.len()).map(|place| self.get(place))
    }
}
