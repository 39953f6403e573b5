//! jmt, with SHA-256, its nodes and values in RocksDB.

use std::path::Path;
use std::time::Instant;

use anyhow::Context;
use jmt::storage::{LeafNode, Node, NodeKey, TreeReader};
use jmt::{KeyHash, OwnedValue, Sha256Jmt, Version};
use rocksdb::{BlockBasedOptions, Cache, DB, Direction, IteratorMode, Options, WriteBatch, WriteOptions};

use crate::workload::{Key, Value};
use crate::{Engine, Took};

/// Bytes of RocksDB's block cache, so that nothing is read from the disk.
const CACHE: usize = 2 << 30;

/// Nodes under `n` and their key, values under `v`, hash of the key, version from the highest byte on.
pub(crate) struct Peer {
    store: Nodes,
    version: Version,
}

struct Nodes(DB);

impl Peer {
    pub(crate) fn open(folder: &Path) -> anyhow::Result<Self> {
        let mut table = BlockBasedOptions::default();
        table.set_block_cache(&Cache::new_lru_cache(CACHE));
        table.set_bloom_filter(10.0, false);
        let mut options = Options::default();
        options.create_if_missing(true);
        options.set_block_based_table_factory(&table);
        options.set_write_buffer_size(128 << 20);
        Ok(Self {
            store: Nodes(DB::open(&options, folder)?),
            version: 0,
        })
    }
}

fn node_key(key: &NodeKey) -> anyhow::Result<Vec<u8>> {
    let mut bytes = vec![b'n'];
    borsh::to_writer(&mut bytes, key)?;
    Ok(bytes)
}

fn value_key(key: KeyHash, version: Version) -> Vec<u8> {
    [&b"v"[..], &key.0, &version.to_be_bytes()].concat()
}

impl TreeReader for Nodes {
    fn get_node_option(&self, key: &NodeKey) -> anyhow::Result<Option<Node>> {
        let stored = self.0.get_pinned(node_key(key)?)?;
        Ok(stored.map(|stored| borsh::from_slice(&stored)).transpose()?)
    }

    fn get_value_option(&self, most: Version, key: KeyHash) -> anyhow::Result<Option<OwnedValue>> {
        let from = value_key(key, most);
        let mode = IteratorMode::From(&from, Direction::Reverse);
        let Some((found, stored)) = self.0.iterator(mode).next().transpose()? else {
            return Ok(None);
        };
        Ok((found[..33] == from[..33]).then(|| stored.into()))
    }

    fn get_rightmost_leaf(&self) -> anyhow::Result<Option<(NodeKey, LeafNode)>> {
        anyhow::bail!("nothing is restored here")
    }
}

impl Engine for Peer {
    fn name(&self) -> &'static str {
        "jmt 0.12.0, SHA-256, RocksDB"
    }

    fn batch(&mut self, batch: &[(Key, Value)]) -> anyhow::Result<Took> {
        let values: Vec<_> = batch
            .iter()
            .map(|(key, value)| (KeyHash(*key), Some(value.to_vec())))
            .collect();
        let start = Instant::now();
        let (_, update) = Sha256Jmt::new(&self.store).put_value_set(values, self.version)?;
        let root = start.elapsed();
        let mut writes = WriteBatch::default();
        for (key, node) in update.node_batch.nodes() {
            writes.put(node_key(key)?, borsh::to_vec(node)?);
        }
        for ((version, key), value) in update.node_batch.values() {
            let value = value.as_ref().context("nothing was removed")?;
            writes.put(value_key(*key, *version), value);
        }
        let mut synced = WriteOptions::default();
        synced.set_sync(true);
        self.store.0.write_opt(writes, &synced)?;
        let durable = start.elapsed();
        self.version += 1;
        Ok(Took { root, durable })
    }

    fn read(&mut self, key: &Key) -> anyhow::Result<bool> {
        let value = self.store.get_value_option(self.version, KeyHash(*key))?;
        Ok(value.is_some())
    }
}
