//! What is on disk.
//!
//! A RocksDB database with three column families: `registers` (path to record, see `record.rs`), `local` (the
//! node-local index: plain keys in byte order, what only this node needs and no other would agree on; it is in no
//! digest) and the default one with the metadata record (see `metadata.rs`).

use std::path::{Path as FilePath, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use rocksdb::{ColumnFamily, DB, DBPinnableSlice, WriteBatch};

use crate::batch::StoredValues;
use crate::counts::Counts;
use crate::cursor::{LocalCursor, RegisterCursor};
use crate::digest::{self, StateDigest};
use crate::error::{Activity, StateError};
use crate::head::Head;
use crate::metadata::{self, Metadata};
use crate::open;
use crate::options::StoreOptions;
use crate::path::Path;
use crate::record::{self, Record};
use crate::restore::{self, RestorePoint};
use crate::trie::ValueHash;
use crate::trie_file::{self, Expected, FileRecord};
use crate::tuning::{self, LOCAL, REGISTERS};

/// A state on disk. Everything that it reads is what the last commit left; what [`Registers`](crate::Registers)
/// has changed since is not in it.
pub struct Store {
    /// Shared with the keeper of the trie, which is gone before the store is opened anew.
    db: Arc<DB>,
    dir: PathBuf,
    metadata: Metadata,
    /// `None`: opened read-only.
    options: Option<StoreOptions>,
}

impl Store {
    /// Opens the store in a directory for reading and writing, and creates it when there is none.
    ///
    /// # Errors
    /// [`StateError::Locked`], [`Unwritable`](StateError::Unwritable), [`OtherChain`](StateError::OtherChain),
    /// [`NewerFormat`](StateError::NewerFormat), [`NotAStore`](StateError::NotAStore),
    /// [`CorruptMetadata`](StateError::CorruptMetadata), [`DiskFull`](StateError::DiskFull) or
    /// [`Database`](StateError::Database).
    pub fn open(dir: impl AsRef<FilePath>, options: &StoreOptions) -> Result<Self, StateError> {
        let dir = dir.as_ref();
        let (db, metadata) = open::for_writing(dir, options)?;
        Ok(Self {
            db: Arc::new(db),
            dir: dir.to_path_buf(),
            metadata,
            options: Some(options.clone()),
        })
    }

    /// Opens the store in a directory as it is at this moment, while another process may be writing to it. The
    /// store stays as it was at this moment, and nothing is written to the directory. It keeps all of the store's
    /// files open, and the changes that are not in files yet in memory.
    ///
    /// # Errors
    /// [`StateError::Missing`], [`StateError::Changing`], and what [`Self::open`] gives except `Locked`.
    pub fn open_read_only(dir: impl AsRef<FilePath>) -> Result<Self, StateError> {
        let dir = dir.as_ref();
        let (db, metadata) = open::for_reading(dir)?;
        Ok(Self {
            db: Arc::new(db),
            dir: dir.to_path_buf(),
            metadata,
            options: None,
        })
    }

    /// The directory of the store.
    #[must_use]
    pub fn dir(&self) -> &FilePath {
        &self.dir
    }

    /// The tag of the chain, given when the store was created.
    #[must_use]
    pub fn chain(&self) -> &[u8; 32] {
        &self.metadata.chain
    }

    /// The block that the state belongs to; `None` before the first commit.
    #[must_use]
    pub fn head(&self) -> Option<Head> {
        self.metadata.head
    }

    /// The number of registers and their bytes, as the last commit stored them.
    #[must_use]
    pub fn counts(&self) -> Counts {
        self.metadata.counts
    }

    /// The value of a register.
    ///
    /// # Errors
    /// [`StateError::CorruptRegister`] or [`StateError::Database`].
    pub fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, StateError> {
        let path = Path::of(key);
        let stored = self.read(&path)?;
        let value = |stored: DBPinnableSlice<'_>| self.split(path, key, &stored).map(<[u8]>::to_vec);
        stored.map(value).transpose()
    }

    /// The values of many registers, in the order of their keys; a key may be there more than once. Each register is
    /// read once, all of them in one call of RocksDB, and neither keys nor values are copied.
    ///
    /// # Errors
    /// [`StateError::CorruptRegister`] or [`StateError::Database`].
    pub fn get_many<K: AsRef<[u8]>>(&self, keys: &[K]) -> Result<StoredValues<'_>, StateError> {
        let path = |(place, key): (usize, &K)| (Path::of(key.as_ref()), place as u32);
        let mut order: Vec<(Path, u32)> = keys.iter().enumerate().map(path).collect();
        order.sort_unstable();
        let mut places = vec![0; keys.len()];
        let mut distinct = 0;
        for (at, &(path, place)) in order.iter().enumerate() {
            distinct += u32::from(at == 0 || order[at - 1].0 != path);
            places[place as usize] = distinct - 1;
        }
        order.dedup_by_key(|(path, _)| *path);
        let found = self.stored_many(order.iter().map(|(path, _)| path.as_bytes()));
        // Collecting results would grow the list step by step.
        let mut records = Vec::with_capacity(order.len());
        for (&(path, place), stored) in order.iter().zip(found) {
            let stored = stored?;
            if let Some(stored) = &stored {
                self.split(path, keys[place as usize].as_ref(), stored)?;
            }
            records.push(stored);
        }
        Ok(StoredValues { records, places })
    }

    /// A cursor over all registers in path order.
    #[must_use]
    pub fn registers(&self) -> RegisterCursor<'_> {
        RegisterCursor::over_all(&self.db, &self.dir)
    }

    /// Calls a function with the key and value of every register, in path order.
    ///
    /// # Errors
    /// See [`RegisterCursor::next`].
    pub fn scan(&self, mut each: impl FnMut(&[u8], &[u8])) -> Result<(), StateError> {
        let mut registers = self.registers();
        while let Some((key, value)) = registers.next()? {
            each(key, value);
        }
        Ok(())
    }

    /// A cursor over the entries of the node-local index whose keys begin with a prefix, in key order.
    #[must_use]
    pub fn local(&self, prefix: &[u8]) -> LocalCursor<'_> {
        let mut iterator = self.db.raw_iterator_cf_opt(self.family(LOCAL), tuning::scan());
        iterator.seek(prefix);
        LocalCursor::new(iterator, prefix, &self.dir)
    }

    /// Calls a function with each entry of the node-local index whose key begins with a prefix, in key order. The
    /// keys are whole, with the prefix.
    ///
    /// # Errors
    /// See [`LocalCursor::next`].
    pub fn scan_local(&self, prefix: &[u8], mut each: impl FnMut(&[u8], &[u8])) -> Result<(), StateError> {
        let mut entries = self.local(prefix);
        while let Some((key, value)) = entries.next()? {
            each(key, value);
        }
        Ok(())
    }

    /// The digest of all registers; see [`StateDigest`]. It reads all of them and compares nothing.
    ///
    /// # Errors
    /// See [`RegisterCursor::next`].
    pub fn digest(&self) -> Result<StateDigest, StateError> {
        // Without an end there is always a digest.
        Ok(digest::of(self.registers(), None)?.unwrap_or_default())
    }

    /// As [`digest`](Self::digest), but gives up at `end`: `None` then. For whoever has promised to end in time.
    ///
    /// # Errors
    /// See [`RegisterCursor::next`].
    pub fn digest_until(&self, end: Instant) -> Result<Option<StateDigest>, StateError> {
        digest::of(self.registers(), Some(end))
    }

    /// Bytes that the next commit may take on the disk until everything that follows from it is settled: the log gets
    /// the batch, and a flush writes it again with what waits in the write buffers; then files are merged, which needs
    /// the new ones beside the old ones. Errs on the high side; `changed` is
    /// [`Registers::dirty_bytes`](crate::Registers::dirty_bytes).
    #[must_use]
    pub fn commit_room(&self, changed: u64) -> u64 {
        let sum = |property| -> u64 {
            let of = |name| self.db.property_int_value_cf(self.family(name), property);
            [REGISTERS, LOCAL, rocksdb::DEFAULT_COLUMN_FAMILY_NAME]
                .map(|name| of(name).ok().flatten().unwrap_or(0))
                .into_iter()
                .fold(0, u64::saturating_add)
        };
        let buffered = sum(rocksdb::properties::SIZE_ALL_MEM_TABLES);
        let merged = sum(rocksdb::properties::LIVE_SST_FILES_SIZE).min(tuning::MERGE_ROOM);
        changed
            .saturating_mul(2)
            .saturating_add(buffered)
            .saturating_add(merged)
            .saturating_add(tuning::ROOM_MARGIN)
    }

    /// Puts a restore point in the place of this state and opens it with the same options. What was committed here
    /// is lost; the restore point stays.
    ///
    /// # Errors
    /// As [`restore`](crate::restore) and [`Self::open`]; [`StateError::ReadOnly`]; [`StateError::OtherChain`] when the
    /// restore point is not this chain's.
    pub fn restore(self, point: &RestorePoint) -> Result<Self, StateError> {
        let Self { db, dir, options, .. } = self;
        let Some(options) = options else {
            return Err(StateError::ReadOnly { dir });
        };
        // RocksDB removes obsolete files by their names when it is closed, which must be before others get those names.
        drop(db);
        restore::restore(point, &dir, &options.chain)?;
        Self::open(dir, &options)
    }

    /// What the store knows of its trie file.
    pub(crate) fn trie_file_record(&self) -> Option<FileRecord> {
        let stored = self.db.get_pinned(trie_file::RECORD_KEY).ok().flatten()?;
        FileRecord::decode(&stored)
    }

    /// What a trie file must say to be this store's.
    pub(crate) fn expected_trie_file(&self) -> Expected {
        Expected {
            chain: self.metadata.chain,
            head: self.metadata.head,
            counts: self.metadata.counts,
            record: self.trie_file_record(),
        }
    }

    /// The hash of the value at a path, where there is a register.
    pub(crate) fn value_hash(&self, path: &Path) -> Result<ValueHash, StateError> {
        let stored = self.read(path)?;
        let (_, value) = record::split(stored.as_deref().unwrap_or_default())
            .map_err(|source| self.corrupt(*path, source))?;
        Ok(ValueHash::of(value))
    }

    pub(crate) fn is_read_only(&self) -> bool {
        self.options.is_none()
    }

    pub(crate) fn register_cache_bytes(&self) -> usize {
        self.options
            .as_ref()
            .map_or(0, |options| options.register_cache_bytes)
    }

    pub(crate) fn db(&self) -> &DB {
        &self.db
    }

    pub(crate) fn shared_db(&self) -> Arc<DB> {
        Arc::clone(&self.db)
    }

    /// The record at the path of a key, of a register that may not exist.
    pub(crate) fn record(&self, path: &Path, key: &[u8]) -> Result<Record, StateError> {
        let stored = self.read(path)?;
        self.checked(path, key, stored)
    }

    /// The record of what was stored at the path of a key.
    pub(crate) fn checked(
        &self,
        path: &Path,
        key: &[u8],
        stored: Option<DBPinnableSlice<'_>>,
    ) -> Result<Record, StateError> {
        match stored {
            None => Ok(Record::default()),
            Some(stored) => Record::from_stored(key, &stored).map_err(|source| self.corrupt(*path, source)),
        }
    }

    /// What is stored at paths, which must be in order and different.
    pub(crate) fn stored_many<'a, 'p>(
        &'a self,
        paths: impl Iterator<Item = &'p [u8; 32]>,
    ) -> impl Iterator<Item = Result<Option<DBPinnableSlice<'a>>, StateError>> {
        let found = self.db.batched_multi_get_cf(self.family(REGISTERS), paths, true);
        found
            .into_iter()
            .map(|stored| stored.map_err(|source| StateError::database(&self.dir, Activity::Read, source)))
    }

    pub(crate) fn family(&self, name: &str) -> &ColumnFamily {
        self.db
            .cf_handle(name)
            .expect("every column family is opened with the database")
    }

    /// Writes a batch together with a head and counts, atomically, and returns when it is durable.
    pub(crate) fn write(
        &mut self,
        mut batch: WriteBatch,
        head: Head,
        counts: Counts,
    ) -> Result<(), rocksdb::Error> {
        let metadata = Metadata {
            head: Some(head),
            counts,
            ..self.metadata
        };
        batch.put(metadata::KEY, metadata.encode());
        self.db.write_opt(batch, &tuning::synced())?;
        self.metadata = metadata;
        Ok(())
    }

    fn read(&self, path: &Path) -> Result<Option<DBPinnableSlice<'_>>, StateError> {
        self.db
            .get_pinned_cf(self.family(REGISTERS), path.as_bytes())
            .map_err(|source| StateError::database(&self.dir, Activity::Read, source))
    }

    /// The value in what was stored at the path of a key.
    fn split<'s>(&self, path: Path, key: &[u8], stored: &'s [u8]) -> Result<&'s [u8], StateError> {
        match record::split(stored) {
            Ok((found, value)) if found == key => Ok(value),
            Ok(_) => Err(self.corrupt(path, record::RecordError::OtherKey)),
            Err(source) => Err(self.corrupt(path, source)),
        }
    }

    fn corrupt(&self, path: Path, source: record::RecordError) -> StateError {
        StateError::CorruptRegister {
            dir: self.dir.clone(),
            path,
            source,
        }
    }
}
