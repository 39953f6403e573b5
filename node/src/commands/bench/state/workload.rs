//! The registers and batches of `cairn bench state`: the same ones in every run.

use std::collections::HashSet;

/// One register in so many operations is new, the others exist.
const NEW: usize = 10;

/// A key.
pub(super) type Key = [u8; 32];
/// A value.
pub(super) type Value = [u8; 64];

/// Registers 0, 1, 2, ... with keys like random ones, and what is done with them.
#[derive(Debug)]
pub(super) struct Workload {
    /// Registers that exist.
    registers: u64,
    /// The state of the random numbers (SplitMix64).
    random: u64,
}

impl Workload {
    /// Without registers yet.
    pub(super) fn new() -> Self {
        Self {
            registers: 0,
            random: 0x0ca1_5e7e_57a7_e001,
        }
    }

    /// New registers, sorted by key.
    pub(super) fn load(&mut self, count: u64) -> Vec<(Key, Value)> {
        let first = self.registers;
        self.registers += count;
        sorted(
            (first..self.registers)
                .map(|register| (key(register), value(register, 0)))
                .collect(),
        )
    }

    /// A batch of operations: nine in ten give distinct existing registers another value, the others are new; sorted by
    /// key.
    pub(super) fn batch(&mut self, operations: usize, round: u32) -> Vec<(Key, Value)> {
        let existing =
            (operations - operations / NEW).min(usize::try_from(self.registers).unwrap_or(usize::MAX));
        let mut chosen = HashSet::with_capacity(existing);
        while chosen.len() < existing {
            chosen.insert(self.below(self.registers));
        }
        let mut batch = self.load((operations / NEW) as u64);
        batch.extend(
            chosen
                .into_iter()
                .map(|register| (key(register), value(register, round + 1))),
        );
        sorted(batch)
    }

    /// Keys of existing registers, any as likely as any other.
    pub(super) fn reads(&mut self, count: usize) -> Vec<Key> {
        (0..count).map(|_| key(self.below(self.registers))).collect()
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.random;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^= word >> 31;
        // The bias is one in 2^64 / limit.
        ((u128::from(word) * u128::from(limit)) >> 64) as u64
    }
}

fn sorted(mut batch: Vec<(Key, Value)>) -> Vec<(Key, Value)> {
    batch.sort_unstable();
    batch
}

fn key(register: u64) -> Key {
    *blake3::hash(&register.to_le_bytes()).as_bytes()
}

fn value(register: u64, version: u32) -> Value {
    let mut value = [0; 64];
    let mut hasher = blake3::Hasher::new();
    hasher
        .update(&register.to_le_bytes())
        .update(&version.to_le_bytes());
    hasher.finalize_xof().fill(&mut value);
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_is_nine_tenths_of_distinct_existing_registers() {
        let mut workload = Workload::new();
        let loaded: HashSet<Key> = workload.load(1_000).into_iter().map(|(key, _)| key).collect();
        assert_eq!(loaded.len(), 1_000);
        let batch = workload.batch(200, 0);
        let keys: HashSet<Key> = batch.iter().map(|&(key, _)| key).collect();
        assert_eq!(keys.len(), 200);
        assert_eq!(keys.intersection(&loaded).count(), 180);
        assert!(batch.is_sorted());
        assert!(
            workload.reads(1_000).iter().any(|key| !loaded.contains(key)),
            "new ones exist too"
        );
    }

    #[test]
    fn a_batch_may_be_larger_than_the_state() {
        let mut workload = Workload::new();
        workload.load(10);
        assert_eq!(workload.batch(100, 0).len(), 20);
    }
}
