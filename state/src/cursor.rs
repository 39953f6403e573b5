//! Reading a store in order, one entry at a time, in memory that does not grow.

use std::path::Path as FilePath;

use rocksdb::{DB, DBRawIterator};

use crate::error::{Activity, StateError};
use crate::path::Path;
use crate::record;
use crate::tuning::{self, REGISTERS};

/// A key and its value, lent.
pub type Entry<'a> = (&'a [u8], &'a [u8]);

/// A path with the key and the value there, lent.
pub(crate) type PlacedEntry<'a> = (Path, &'a [u8], &'a [u8]);

/// Steps of a cursor over RocksDB.
struct Steps<'a> {
    iterator: DBRawIterator<'a>,
    started: bool,
    dir: &'a FilePath,
}

impl Steps<'_> {
    /// The next key and value; `None` at the end, and again after it.
    fn next(&mut self) -> Result<Option<Entry<'_>>, StateError> {
        if !self.started {
            self.started = true;
        } else if self.iterator.valid() {
            self.iterator.next();
        }
        if !self.iterator.valid() {
            // At the end, or at an error: only the status tells.
            self.iterator
                .status()
                .map_err(|source| StateError::database(self.dir, Activity::Read, source))?;
        }
        Ok(self.iterator.item())
    }
}

/// Walks over the registers of a store in path order, as they were when the cursor was made.
pub struct RegisterCursor<'a> {
    steps: Steps<'a>,
}

impl<'a> RegisterCursor<'a> {
    /// Takes an iterator that has been placed.
    pub(crate) fn new(iterator: DBRawIterator<'a>, dir: &'a FilePath) -> Self {
        Self {
            steps: Steps {
                iterator,
                started: false,
                dir,
            },
        }
    }

    /// A cursor over all registers of a store's database.
    pub(crate) fn over_all(db: &'a DB, dir: &'a FilePath) -> Self {
        let family = db
            .cf_handle(REGISTERS)
            .expect("every column family is opened with the database");
        let mut iterator = db.raw_iterator_cf_opt(family, tuning::scan());
        iterator.seek_to_first();
        Self::new(iterator, dir)
    }

    /// The key and value of the next register, `None` at the end. They are lent until the next call.
    ///
    /// # Errors
    /// [`StateError::CorruptRegister`] and [`StateError::CorruptPath`] for what is not a register,
    /// [`StateError::Database`] when reading fails.
    #[expect(
        clippy::should_implement_trait,
        reason = "an iterator cannot lend, and this can fail"
    )]
    pub fn next(&mut self) -> Result<Option<Entry<'_>>, StateError> {
        Ok(self.next_with_path()?.map(|(_, key, value)| (key, value)))
    }

    /// The same with the register's path, which is where it is stored.
    pub(crate) fn next_with_path(&mut self) -> Result<Option<PlacedEntry<'_>>, StateError> {
        let dir = self.steps.dir;
        let Some((path, stored)) = self.steps.next()? else {
            return Ok(None);
        };
        let path = <[u8; 32]>::try_from(path).map_err(|_| StateError::CorruptPath {
            dir: dir.to_path_buf(),
            length: path.len(),
        })?;
        match record::split(stored) {
            Ok((key, value)) => Ok(Some((Path::from_bytes(path), key, value))),
            Err(source) => Err(StateError::CorruptRegister {
                dir: dir.to_path_buf(),
                path: Path::from_bytes(path),
                source,
            }),
        }
    }
}

/// Walks over the entries of the node-local index that begin with a prefix, in key order, as they were when the
/// cursor was made.
pub struct LocalCursor<'a> {
    steps: Steps<'a>,
    prefix: Box<[u8]>,
}

impl<'a> LocalCursor<'a> {
    /// Takes an iterator that has been placed at the prefix.
    pub(crate) fn new(iterator: DBRawIterator<'a>, prefix: &[u8], dir: &'a FilePath) -> Self {
        Self {
            steps: Steps {
                iterator,
                started: false,
                dir,
            },
            prefix: prefix.into(),
        }
    }

    /// The key and value of the next entry, `None` at the end. They are lent until the next call.
    ///
    /// # Errors
    /// [`StateError::Database`] when reading fails.
    #[expect(
        clippy::should_implement_trait,
        reason = "an iterator cannot lend, and this can fail"
    )]
    pub fn next(&mut self) -> Result<Option<Entry<'_>>, StateError> {
        let entry = self.steps.next()?;
        Ok(entry.filter(|(key, _)| key.starts_with(&self.prefix)))
    }
}
