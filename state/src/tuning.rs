//! RocksDB's options, and why they are what they are.
//!
//! The load: one writer that reads single registers in no order and writes sorted batches of thousands, rarely
//! and synced; few readers; keys that are hashes, so that neighbours have nothing in common and every level may
//! hold any key; two cores that also decode blocks.
//!
//! # Figures
//!
//! Options compared in turn under `cairn bench state`'s load, two rounds or more, on two shared cores; differences below
//! a tenth are noise. Reads are of a compacted state in RocksDB's block cache, a commit is of 10,000 registers. Given is
//! the time with the option as it is set, as a multiple of the time otherwise.
//!
//! | option | set to | instead of | measured |
//! |---|---|---|---|
//! | index and filter of a file | in one piece | in pieces of 4 KiB | a read 0.6 to 0.8, of an absent register 0.4 to 0.8, of 100 at once 0.6 to 0.85 |
//! | the same | in the block cache | outside | no difference, and a bound on the memory |
//! | hash index in data blocks | no | yes | no difference: the time goes into finding the block |
//! | size of data blocks | 4 KiB | 8 KiB | no difference in the cache, and half of what a miss reads |
//! | block cache | LRU | hyper-clock | no difference with one reader |
//! | LZ4 | from level 2 | none | no difference in reads of what cannot be compressed |
//! | bloom filter of the write buffer | yes | no | setting registers 0.65 to 0.8, a commit 0.9 to 1.4 |
//! | write buffer for one thread | yes | for several; unordered writes | a commit 0.7 to 1.15: no clear difference |
//! | insertion begins at the last one's place | yes | at the top | processor time of a write 0.8 to 0.93 (10.5 to 12.1 ms without) |
//! | write buffer is a hash table of lists | no | yes | processor time of a write 1 / 1.5 |
//! | write buffer | 64 MiB | 16 MiB | processor time of a write 1 / 0.75; a quarter of the merges with the level below |
//! | arena of the write buffer | 1 MiB | 64 KiB, 4 MiB | no difference |
//! | lookups of a batch in the write buffer | one by one | from the last one's place | 100 at once: no difference |
//! | write buffer on huge pages | no | yes | no difference |
//! | pipelined writes | no | yes | refused with atomic flushes |
//! | log files used again | no | yes | a commit 0.75 to 1.0, and half the disk |
//! | log written back every 256 KiB | no | yes | no difference |
//!
//! 100 reads at once take 0.84 to 0.9 of single ones from RocksDB in every setting of these (blocks of 4 and 16 KiB,
//! write buffers of 16 to 128 MiB, index inside and outside of the block cache, half of the registers in the write buffer
//! or few): what a batch shares are the lookups of filter and index in the cache; the search in the index, the lookup of
//! the data block and the search in it are done for each key.
//!
//! Without the sync a commit takes 0.5 to 0.95 of its time, without any log 0.7 to 0.9. What is left is mostly RocksDB's
//! insertion into the sorted write buffer, somewhat less than 1 us a register.

use rocksdb::{
    BlockBasedOptions, Cache, ColumnFamilyDescriptor, DBCompressionType, LogLevel, Options, WriteOptions,
};
use rocksdb::{InfoLogger, ReadOptions};

use crate::options::StoreOptions;

/// The column family of the registers.
pub(crate) const REGISTERS: &str = "registers";
/// The column family of the node-local index.
pub(crate) const LOCAL: &str = "local";

/// Write buffers of a column family at most: one being filled, two waiting for the disk.
const WRITE_BUFFERS: i32 = 3;
/// Bytes of the block cache of a store that is opened read-only, for tools.
const READ_ONLY_BLOCK_CACHE: usize = 32 << 20;
/// Bytes that merging files may take beside the files that it replaces. Four youngest files of 64 MiB and the level
/// below them (256 MiB) is the usual merge of a large state; a smaller state has no more than it has.
pub(crate) const MERGE_ROOM: u64 = 512 << 20;
/// Bytes for what is written beside registers: RocksDB's own log (4 MiB), manifest, options, lock files.
pub(crate) const ROOM_MARGIN: u64 = 8 << 20;
/// Read ahead by scans, in bytes: whole-state scans are sequential and want the disk's full speed.
const SCAN_READAHEAD: usize = 2 << 20;

/// The options of the database as a whole, for a writer.
pub(crate) fn database(options: &StoreOptions) -> Options {
    let mut database = Options::default();
    database.create_if_missing(true);
    database.create_missing_column_families(true);
    // One flush and one compaction beside each other; more would take the cores from decoding and applying.
    database.set_max_background_jobs(2);
    database.set_max_open_files(i32::from(options.max_open_files));
    // All column families reach the files together. The log of a commit is then dropped as soon as the registers
    // are flushed, not kept for a small family that is never full; and files agree even without a log.
    database.set_atomic_flush(true);
    // Bounds the write buffers of all families together, and with them the log to be replayed when opening.
    database.set_db_write_buffer_size(options.write_buffer_bytes.saturating_mul(WRITE_BUFFERS as usize));
    // Spread write-back of files over time, so that the sync of a commit does not wait behind a whole flush.
    database.set_bytes_per_sync(1 << 20);
    // Only one thread writes; without this the buffer is built for several.
    database.set_allow_concurrent_memtable_write(false);
    // Opening must not read a property of each file first.
    database.set_skip_stats_update_on_db_open(true);
    // RocksDB's own log: warnings only, 4 files of 1 MiB at most.
    database.set_log_level(LogLevel::Warn);
    database.set_max_log_file_size(1 << 20);
    database.set_keep_log_file_num(4);
    database.set_stats_dump_period_sec(0);
    database
}

/// The options of the database as a whole, for a reader beside a writer. Nothing is written, not even a log.
pub(crate) fn read_only() -> Options {
    let mut database = Options::default();
    // All files are opened at once and stay open: the writer beside deletes those that it has compacted.
    database.set_max_open_files(-1);
    database.set_skip_stats_update_on_db_open(true);
    database.set_info_logger(InfoLogger::new_callback_logger(LogLevel::Error, |_, message| {
        tracing::debug!(target: "cairn_state::rocksdb", "{message}");
    }));
    database
}

/// The column families for a writer.
pub(crate) fn families(options: &StoreOptions) -> Vec<ColumnFamilyDescriptor> {
    let cache = Cache::new_lru_cache(options.block_cache_bytes);
    describe(&cache, options.write_buffer_bytes)
}

/// The column families for a reader.
pub(crate) fn read_only_families() -> Vec<ColumnFamilyDescriptor> {
    describe(&Cache::new_lru_cache(READ_ONLY_BLOCK_CACHE), 1 << 20)
}

fn describe(cache: &Cache, write_buffer: usize) -> Vec<ColumnFamilyDescriptor> {
    [REGISTERS, LOCAL, rocksdb::DEFAULT_COLUMN_FAMILY_NAME]
        .map(|name| ColumnFamilyDescriptor::new(name, family(cache, write_buffer)))
        .into()
}

fn family(cache: &Cache, write_buffer: usize) -> Options {
    let mut table = BlockBasedOptions::default();
    table.set_block_cache(cache);
    // A register that does not exist, the usual answer for a new key, costs no read of a file in 99 of 100 cases.
    table.set_bloom_filter(10.0, false);
    // Filters and indexes live in the bounded cache, not beside it; together 2.3 bytes a register, so that the default
    // cache has room for those of 100 million beside nothing else. One of each a file: in pieces, each lookup would search
    // the list of pieces first.
    table.set_cache_index_and_filter_blocks(true);
    table.set_pin_l0_filter_and_index_blocks_in_cache(true);
    table.set_block_size(4_096);

    // The last insertion's place is where the next one's is looked for. The interface has no call for it; should RocksDB
    // not know the text any more, insertions only take longer.
    let mut family = Options::default()
        .get_options_from_string("memtable_insert_with_hint_prefix_extractor=fixed:0")
        .unwrap_or_default();
    family.set_block_based_table_factory(&table);
    family.set_write_buffer_size(write_buffer);
    family.set_max_write_buffer_number(WRITE_BUFFERS);
    // A lookup that misses the working set asks the write buffer first; this answers "no" without walking it.
    family.set_memtable_prefix_bloom_ratio(0.02);
    family.set_memtable_whole_key_filtering(true);
    // Values share names and small numbers although the order of their paths has no meaning, so LZ4 finds something
    // and costs little either way; the two youngest levels are soon rewritten and stay as they are.
    family.set_compression_per_level(&[
        DBCompressionType::None,
        DBCompressionType::None,
        DBCompressionType::Lz4,
        DBCompressionType::Lz4,
        DBCompressionType::Lz4,
        DBCompressionType::Lz4,
        DBCompressionType::Lz4,
    ]);
    family
}

/// A commit returns when the log is on the disk.
pub(crate) fn synced() -> WriteOptions {
    let mut options = WriteOptions::default();
    options.set_sync(true);
    options
}

/// Scans read everything once, so they read ahead and leave the block cache to the writer.
pub(crate) fn scan() -> ReadOptions {
    let mut options = ReadOptions::default();
    options.fill_cache(false);
    options.set_readahead_size(SCAN_READAHEAD);
    options
}

#[cfg(test)]
mod tests {
    use std::fs;

    use crate::{Store, StoreOptions};

    /// RocksDB takes it as a text and says nothing when it does not know it any more.
    #[test]
    fn insertions_begin_where_the_last_one_was() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path(), &StoreOptions::new([1; 32])).unwrap();
        let written = fs::read_dir(dir.path())
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .find(|path| path.to_string_lossy().contains("OPTIONS-"))
            .unwrap();
        let text = fs::read_to_string(written).unwrap();
        let hint = "memtable_insert_with_hint_prefix_extractor=rocksdb.FixedPrefix.0";
        assert_eq!(text.matches(hint).count(), 3, "one for each family");
        drop(store);
    }
}
