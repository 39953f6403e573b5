//! nomt, with blake3.

use std::path::Path;
use std::time::Instant;

use nomt::hasher::Blake3Hasher;
use nomt::{KeyReadWrite, Nomt, Options, SessionParams};

use crate::workload::{Key, Value};
use crate::{Engine, Took};

/// Buckets of its hash table of pages: enough for ten million registers.
const BUCKETS: u32 = 512_000;
/// MiB for each of its caches, so that it reads nothing from the disk.
const CACHE: usize = 2_048;

pub(crate) struct Peer(Nomt<Blake3Hasher>);

impl Peer {
    pub(crate) fn open(folder: &Path) -> anyhow::Result<Self> {
        let mut options = Options::new();
        options.path(folder);
        options.commit_concurrency(2);
        options.hashtable_buckets(BUCKETS);
        options.page_cache_size(CACHE);
        options.leaf_cache_size(CACHE);
        options.bitbox_seed([7; 16]);
        Ok(Self(Nomt::open(options)?))
    }
}

impl Engine for Peer {
    fn name(&self) -> &'static str {
        "nomt 1.0.5, blake3, 2 workers"
    }

    fn batch(&mut self, batch: &[(Key, Value)]) -> anyhow::Result<Took> {
        let writes = batch
            .iter()
            .map(|(key, value)| (*key, KeyReadWrite::Write(Some(value.to_vec()))))
            .collect();
        let start = Instant::now();
        let finished = self.0.begin_session(SessionParams::default()).finish(writes)?;
        let root = start.elapsed();
        finished.commit(&self.0)?;
        Ok(Took {
            root,
            durable: start.elapsed(),
        })
    }

    fn read(&mut self, key: &Key) -> anyhow::Result<bool> {
        Ok(self.0.read(*key)?.is_some())
    }
}
