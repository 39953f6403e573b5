//! This project's engine.

use std::path::Path;
use std::time::Instant;

use anyhow::Context;
use cairn_state::trie::{LeafBatch, Trie};
use cairn_state::{Head, Path as StatePath, Registers, Store, StoreOptions, TrieOptions};

use crate::workload::{Key, Value};
use crate::{Engine, Took};

/// With the trie beside the commits, as a node has it, and a second one whose root is measured by itself.
pub(crate) struct Cairn {
    registers: Registers,
    number: u32,
    trie: Trie,
    leaves: LeafBatch,
}

impl Cairn {
    pub(crate) fn open(folder: &Path) -> anyhow::Result<Self> {
        let mut registers = Registers::new(Store::open(folder, &StoreOptions::new([0xbe; 32]))?)?;
        registers.keep_trie(TrieOptions {
            file: None,
            ..TrieOptions::in_file("")
        })?;
        let mut trie = Trie::new();
        trie.set_threads(1);
        Ok(Self {
            registers,
            number: 0,
            trie,
            leaves: LeafBatch::new(),
        })
    }
}

impl Engine for Cairn {
    fn name(&self) -> &'static str {
        "cairn-state, 1 thread for the trie"
    }

    fn batch(&mut self, batch: &[(Key, Value)]) -> anyhow::Result<Took> {
        self.number += 1;
        let start = Instant::now();
        let keys: Vec<&Key> = batch.iter().map(|(key, _)| key).collect();
        self.registers.get_many(&keys)?;
        for (key, value) in batch {
            self.registers.set(key, value)?;
        }
        self.registers.commit(Head {
            number: self.number,
            id: [0; 20],
        })?;
        let kept = self.registers.root(None)?.context("no root")?;
        let durable = start.elapsed();

        let start = Instant::now();
        self.leaves.clear();
        for (key, value) in batch {
            self.leaves.set(StatePath::of(key), key.len(), value);
        }
        self.trie.update(self.leaves.changes())?;
        let root = start.elapsed();
        anyhow::ensure!(kept.root == self.trie.root(), "two roots of one state");
        Ok(Took { root, durable })
    }

    fn read(&mut self, key: &Key) -> anyhow::Result<bool> {
        Ok(self.registers.get(key)?.is_some())
    }
}
