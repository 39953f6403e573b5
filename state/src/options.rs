//! How a store is opened.

/// What [`Store::open`](crate::Store::open) needs to know. The memory that a store and its working set use is
/// bounded by the sum of the four sizes here, plus the dirty registers (see
/// [`CommitPolicy`](crate::CommitPolicy)) and about as much again while a commit is written.
#[derive(Debug, Clone)]
pub struct StoreOptions {
    /// The chain that the state belongs to, in any 32 bytes. A new store is tagged with it, a store with another
    /// tag is refused.
    pub chain: [u8; 32],
    /// Bytes for clean registers in [`Registers`](crate::Registers). The writer's hot registers should fit:
    /// a hit is tens of times cheaper than a read from RocksDB. Default 256 MiB, about 1.2 million registers of 100 bytes.
    pub register_cache_bytes: usize,
    /// Bytes for RocksDB's block cache, which also holds the bloom filters and indexes. A register that is in
    /// neither cache costs a read from the disk, or from the operating system's page cache. Default 256 MiB.
    pub block_cache_bytes: usize,
    /// Bytes of one of RocksDB's write buffers, of which at most three exist. Larger ones merge more
    /// rewrites of a register before they reach a file, and make opening after a crash slower, as the log that is
    /// replayed is longer. Default 64 MiB.
    pub write_buffer_bytes: usize,
    /// Files that RocksDB keeps open. Must stay well below the process's limit (`ulimit -n`, often 1,024), which
    /// block log parts and peers share. Below the number of a store's files, reads open and close files.
    /// Default 256, which covers 16 GiB of registers in files of 64 MiB.
    pub max_open_files: u16,
}

impl StoreOptions {
    /// The defaults for a chain.
    #[must_use]
    pub const fn new(chain: [u8; 32]) -> Self {
        Self {
            chain,
            register_cache_bytes: 256 << 20,
            block_cache_bytes: 256 << 20,
            write_buffer_bytes: 64 << 20,
            max_open_files: 256,
        }
    }
}
