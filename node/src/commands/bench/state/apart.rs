//! Setting, root and commit one after the other, so that each has its own figure.

use std::path::Path;
use std::time::{Duration, Instant};

use cairn_state::trie::{LeafBatch, Trie};
use cairn_state::{Path as StatePath, Registers, Store, StoreOptions};

use super::head;
use super::workload::{Key, Value, Workload};
use crate::progress::Progress;

/// Registers of a batch while loading.
const LOAD: u64 = 100_000;

/// What a batch took.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Batch {
    /// To set the registers, one by one.
    pub(super) apply: Duration,
    /// From the values to the root.
    pub(super) root: Duration,
    /// Until it was on the disk.
    pub(super) commit: Duration,
}

impl Batch {
    pub(super) fn total(&self) -> Duration {
        self.apply + self.root + self.commit
    }
}

/// The engine with a trie that only this benchmark keeps, and how many batches it has had.
pub(super) struct Apart {
    pub(super) registers: Registers,
    pub(super) trie: Trie,
    leaves: LeafBatch,
    pub(super) number: u32,
}

impl Apart {
    pub(super) fn open(folder: &Path, threads: u32) -> anyhow::Result<Self> {
        let store = Store::open(folder, &StoreOptions::new([0xbe; 32]))?;
        let mut trie = Trie::new();
        trie.set_threads(threads as usize);
        Ok(Self {
            registers: Registers::new(store)?,
            trie,
            leaves: LeafBatch::new(),
            number: 0,
        })
    }

    pub(super) fn load(&mut self, workload: &mut Workload, count: u64) -> anyhow::Result<Duration> {
        let mut progress = Progress::start("loading", "registers", count);
        let mut taken = Duration::ZERO;
        let mut done = 0;
        while done < count {
            let batch = workload.load(LOAD.min(count - done));
            done += batch.len() as u64;
            taken += self.batch(&batch)?.total();
            progress.set(done);
        }
        Ok(taken)
    }

    pub(super) fn batch(&mut self, batch: &[(Key, Value)]) -> anyhow::Result<Batch> {
        self.number += 1;
        let start = Instant::now();
        for (key, value) in batch {
            self.registers.set(key, value)?;
        }
        let apply = start.elapsed();
        let start = Instant::now();
        self.leaves.clear();
        for (key, value) in batch {
            self.leaves.set(StatePath::of(key), key.len(), value);
        }
        self.trie.update(self.leaves.changes())?;
        let root = start.elapsed();
        let start = Instant::now();
        self.registers.commit(head(self.number))?;
        let commit = start.elapsed();
        Ok(Batch { apply, root, commit })
    }
}
