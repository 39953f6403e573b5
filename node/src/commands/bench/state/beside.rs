//! Batches as a node makes them: the trie follows the commits in a thread of its own.

use std::time::{Duration, Instant};

use anyhow::Context;
use cairn_state::trie::NodeHash;
use cairn_state::{Registers, TrieOptions};

use super::apart::Apart;
use super::head;
use super::workload::{Key, Value};

/// What a batch took.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Batch {
    /// To read what is there, at once, and to set it.
    pub(super) apply: Duration,
    /// From the call of the commit until the batch was on the disk and its root known.
    pub(super) durable: Duration,
}

impl Batch {
    pub(super) fn total(&self) -> Duration {
        self.apply + self.durable
    }
}

/// The engine with a trie of its own, which has no file.
pub(super) struct Beside {
    pub(super) registers: Registers,
    number: u32,
}

impl Beside {
    /// Gives up the trie for one that the registers keep themselves.
    pub(super) fn instead_of(apart: Apart) -> anyhow::Result<Self> {
        let Apart {
            mut registers,
            trie,
            number,
            ..
        } = apart;
        drop(trie);
        registers.keep_trie(without_file())?;
        Ok(Self { registers, number })
    }

    pub(super) fn root(&self) -> anyhow::Result<NodeHash> {
        let root = self.registers.root(None)?;
        Ok(root.context("the registers keep no trie")?.root)
    }

    pub(super) fn batch(&mut self, batch: &[(Key, Value)]) -> anyhow::Result<Batch> {
        self.number += 1;
        let keys: Vec<&Key> = batch.iter().map(|(key, _)| key).collect();
        let start = Instant::now();
        self.registers.get_many(&keys)?;
        for (key, value) in batch {
            self.registers.set(key, value)?;
        }
        let apply = start.elapsed();
        let start = Instant::now();
        self.registers.commit(head(self.number))?;
        self.root()?;
        let durable = start.elapsed();
        Ok(Batch { apply, durable })
    }
}

/// A trie that is made from the registers at every start.
pub(super) fn without_file() -> TrieOptions {
    TrieOptions {
        file: None,
        ..TrieOptions::in_file("")
    }
}
