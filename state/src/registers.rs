//! The writer's working set over a store.

use std::sync::Arc;
use std::time::Instant;

use crate::batch::{Batch, Values};
use crate::cache::{CacheStats, SlotNumber};
use crate::commit::{self, CommitStats};
use crate::counts::Counts;
use crate::error::{Activity, StateError};
use crate::head::Head;
use crate::keeper::{Changes, TrieKeeper, TrieOptions};
use crate::local::LocalChanges;
use crate::path::Path;
use crate::record::{MAX_KEY_BYTES, MAX_VALUE_BYTES};
use crate::restore::RestorePoint;
use crate::roots::StateRoot;
use crate::store::Store;
use crate::working_set::WorkingSet;

/// The registers as the writer sees them: the store's, with every change since the last commit. It has one owner
/// and no locks, and may move between threads.
///
/// Changes stay in memory until [`Self::commit`] and are lost when the value is dropped before. The caller keeps
/// them bounded by committing in time; see [`CommitPolicy`](crate::CommitPolicy).
pub struct Registers {
    /// Dropped before the store, which it shares the database with.
    trie: Option<TrieKeeper>,
    store: Store,
    set: WorkingSet,
    local: LocalChanges,
    batch: Batch,
    dead: Option<Arc<StateError>>,
}

impl Registers {
    /// Starts a working set over a store.
    ///
    /// # Errors
    /// [`StateError::ReadOnly`] for a store that was opened read-only.
    pub fn new(store: Store) -> Result<Self, StateError> {
        if store.is_read_only() {
            return Err(StateError::ReadOnly {
                dir: store.dir().to_path_buf(),
            });
        }
        Ok(Self::over(store))
    }

    /// Registers to be looked at, of any store. Of one that was opened read-only a commit is refused.
    #[must_use]
    pub fn for_reading(store: Store) -> Self {
        Self::over(store)
    }

    fn over(store: Store) -> Self {
        let set = WorkingSet::new(store.register_cache_bytes());
        Self {
            trie: None,
            store,
            set,
            local: LocalChanges::default(),
            batch: Batch::default(),
            dead: None,
        }
    }

    /// The store below, as the last commit left it.
    #[must_use]
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// Gives the store back and drops what was not committed.
    #[must_use]
    pub fn into_store(self) -> Store {
        drop(self.trie);
        self.store
    }

    #[cfg(test)]
    pub(crate) fn keeper(&self) -> Option<&TrieKeeper> {
        self.trie.as_ref()
    }

    /// Keeps the trie over the registers from now on, brought up to date at every commit by a thread of its own. Returns
    /// at once: the trie is read or made meanwhile.
    ///
    /// # Errors
    /// [`StateError::BlockOpen`] while a block is open, [`StateError::ReadOnly`], [`StateError::Files`] when there can be
    /// no thread.
    pub fn keep_trie(&mut self, options: TrieOptions) -> Result<(), StateError> {
        if self.set.in_block() {
            return Err(StateError::BlockOpen);
        }
        if self.store.is_read_only() {
            return Err(StateError::ReadOnly {
                dir: self.store.dir().to_path_buf(),
            });
        }
        self.trie = Some(TrieKeeper::start(&self.store, options)?);
        Ok(())
    }

    /// The root of the last commit; `None` when no trie is kept, or it is not there by `end`. Without an end it is waited
    /// for.
    ///
    /// # Errors
    /// [`StateError::TrieLost`].
    pub fn root(&self, end: Option<Instant>) -> Result<Option<StateRoot>, StateError> {
        self.trie.as_ref().map_or(Ok(None), |trie| trie.root(end))
    }

    /// Writes the trie file of the last commit, for the next start. False when there is none to be written: no trie is
    /// kept, it has no file, nothing was ever committed, or the trie is not there by `end`.
    ///
    /// # Errors
    /// [`StateError::TrieLost`]; [`StateError::Files`], [`StateError::DiskFull`] or [`StateError::Database`] when it
    /// cannot be written. The state is as good as before.
    pub fn write_trie_file(&self, end: Option<Instant>) -> Result<bool, StateError> {
        self.trie.as_ref().map_or(Ok(false), |trie| trie.write_file(end))
    }

    /// Goes on with the state of a restore point; everything since is lost. See [`Store::restore`].
    ///
    /// # Errors
    /// As [`Store::restore`].
    pub fn restore(self, point: &RestorePoint) -> Result<Self, StateError> {
        let trie = self.trie.map(|trie| trie.options().clone());
        let mut registers = Self::new(self.store.restore(point)?)?;
        if let Some(options) = trie {
            registers.keep_trie(options)?;
        }
        Ok(registers)
    }

    /// The head of the last commit.
    #[must_use]
    pub fn head(&self) -> Option<Head> {
        self.store.head()
    }

    /// The number of registers and their bytes, with the changes since the last commit.
    ///
    /// # Errors
    /// [`StateError::CorruptCounts`] when the store's own counts must be wrong.
    pub fn counts(&self) -> Result<Counts, StateError> {
        self.store
            .counts()
            .checked_add(self.set.change())
            .ok_or_else(|| StateError::CorruptCounts {
                dir: self.store.dir().to_path_buf(),
            })
    }

    /// The value of a register, `None` when it does not exist.
    ///
    /// # Errors
    /// [`StateError::Dead`], or an error of reading the store.
    pub fn get(&mut self, key: &[u8]) -> Result<Option<&[u8]>, StateError> {
        let at = self.load(key)?;
        let value = self.set.value(at);
        Ok((!value.is_empty()).then_some(value))
    }

    /// The values of many registers, in the order of their keys; a key may be there more than once. What is not in
    /// memory is read from the store at once, so that this is faster than one [`Self::get`] after the other. All of
    /// them are in memory when this returns, even if they exceed the cache's size, which holds again with the next
    /// read.
    ///
    /// # Errors
    /// [`StateError::Dead`], or an error of reading the store.
    pub fn get_many<K: AsRef<[u8]>>(&mut self, keys: &[K]) -> Result<Values<'_>, StateError> {
        self.alive()?;
        // Not while the batch is taken in: it must not drive out what it needs itself.
        self.set.make_room(keys.len());
        self.batch.begin(keys);
        self.set.find_many(&mut self.batch);
        if !self.batch.misses.is_empty() {
            self.load_misses(keys)?;
        }
        Ok(Values::new(&self.set, &self.batch.slots))
    }

    /// Sets a register; an empty value removes it.
    ///
    /// # Errors
    /// [`StateError::KeyTooLong`] or [`StateError::ValueTooLong`] above [`MAX_KEY_BYTES`] and [`MAX_VALUE_BYTES`],
    /// [`StateError::Dead`], [`StateError::OutsideBlock`], or an error of reading the store: the value before has to
    /// be known.
    pub fn set(&mut self, key: &[u8], value: &[u8]) -> Result<(), StateError> {
        if key.len() > MAX_KEY_BYTES {
            return Err(StateError::KeyTooLong { length: key.len() });
        }
        if value.len() > MAX_VALUE_BYTES {
            return Err(StateError::ValueTooLong { length: value.len() });
        }
        self.may_change()?;
        let at = self.load(key)?;
        self.set.write(at, key, value);
        Ok(())
    }

    /// Removes a register; one that does not exist stays so.
    ///
    /// # Errors
    /// As [`Self::set`].
    pub fn remove(&mut self, key: &[u8]) -> Result<(), StateError> {
        self.set(key, b"")
    }

    /// Sets an entry of the node-local index. Such entries are read at start, from the store, with
    /// [`Store::scan_local`]; they are in no digest and not counted. An empty value is a value.
    ///
    /// # Errors
    /// [`StateError::Dead`], [`StateError::OutsideBlock`].
    pub fn local_put(&mut self, key: &[u8], value: &[u8]) -> Result<(), StateError> {
        self.alive()?;
        self.may_change()?;
        self.local.change(key, Some(value.into()), self.set.in_block());
        Ok(())
    }

    /// Deletes an entry of the node-local index; one that does not exist stays so.
    ///
    /// # Errors
    /// [`StateError::Dead`], [`StateError::OutsideBlock`].
    pub fn local_delete(&mut self, key: &[u8]) -> Result<(), StateError> {
        self.alive()?;
        self.may_change()?;
        self.local.change(key, None, self.set.in_block());
        Ok(())
    }

    /// Begins a block: what is changed from here on can be undone together. Blocks do not nest.
    ///
    /// # Errors
    /// [`StateError::BlockOpen`] when a block is open already, [`StateError::Dead`].
    pub fn begin_block(&mut self) -> Result<(), StateError> {
        self.alive()?;
        if self.set.in_block() {
            return Err(StateError::BlockOpen);
        }
        self.set.begin_block();
        Ok(())
    }

    /// Keeps the open block's changes. Without an open block nothing happens. While there are undo sessions this block gets
    /// one too: it goes with the block below it.
    pub fn accept_block(&mut self) {
        if self.sessions() > 0 {
            return self.accept_block_with_session();
        }
        self.set.accept_block();
        self.local.accept();
    }

    /// Puts back everything as it was when the open block began: registers, node-local index and counts. Without
    /// an open block nothing happens.
    pub fn undo_block(&mut self) {
        if self.set.in_block() {
            self.set.undo_block();
            self.local.undo();
        }
    }

    /// Keeps the open block's changes, and what they replaced in an undo session, so that the block can be taken back
    /// later. Without an open block nothing happens.
    ///
    /// While there are sessions, a commit makes the state before the oldest one durable.
    pub fn accept_block_with_session(&mut self) {
        if self.set.in_block() {
            self.set.accept_block_with_session();
            self.local.accept_with_session();
        }
    }

    /// Takes back the block of the newest session; false when there is none.
    ///
    /// # Errors
    /// [`StateError::BlockOpen`] while a block is open.
    pub fn undo_session(&mut self) -> Result<bool, StateError> {
        if self.set.in_block() {
            return Err(StateError::BlockOpen);
        }
        let undone = self.set.undo_session();
        if undone {
            self.local.undo_session();
        }
        Ok(undone)
    }

    /// Drops the oldest session: its block stays. False when there is none.
    pub fn drop_oldest_session(&mut self) -> bool {
        let dropped = self.set.drop_oldest_session();
        if dropped {
            self.local.drop_oldest_session();
        }
        dropped
    }

    /// How many sessions there are.
    #[must_use]
    pub fn sessions(&self) -> usize {
        self.set.sessions().len()
    }

    /// Bytes of memory that the sessions hold for registers.
    #[must_use]
    pub fn session_bytes(&self) -> usize {
        self.set.sessions().bytes()
    }

    /// Whether a block is open.
    #[must_use]
    pub fn in_block(&self) -> bool {
        self.set.in_block()
    }

    /// Makes all changes durable together with the head that they belong to, in one atomic write, and returns when
    /// it is on the disk. What undo sessions can take back is not written: `head` is that before the oldest session.
    ///
    /// # Errors
    /// [`StateError::BlockOpen`] while a block is open, [`StateError::ReadOnly`]: nothing has happened then. After
    /// [`StateError::DiskFull`] or [`StateError::Database`] every later call is [`StateError::Dead`]: opened
    /// again, the store has this commit or the one before, as a whole.
    pub fn commit(&mut self, head: Head) -> Result<CommitStats, StateError> {
        self.alive()?;
        if self.set.in_block() {
            return Err(StateError::BlockOpen);
        }
        if self.store.is_read_only() {
            return Err(StateError::ReadOnly {
                dir: self.store.dir().to_path_buf(),
            });
        }
        let mut changes = self
            .trie
            .is_some()
            .then(|| Changes::with_room(self.set.dirty_count(), self.set.dirty_record_bytes()));
        let prepared = commit::prepare(&self.store, &self.set, &self.local, changes.as_mut())?;
        if let (Some(trie), Some(changes)) = (&self.trie, changes) {
            trie.changes(changes);
        }
        match commit::write(&mut self.store, prepared, head) {
            Ok(stats) => {
                if let Some(trie) = &self.trie {
                    trie.committed(head, self.store.counts());
                }
                self.set.committed();
                self.local.committed();
                Ok(stats)
            }
            Err(source) => {
                // It has changes that the store has not.
                self.trie = None;
                let error = |source| StateError::database(self.store.dir(), Activity::Commit, source);
                self.dead = Some(Arc::new(error(source.clone())));
                Err(error(source))
            }
        }
    }

    /// Registers that changed since the last commit.
    #[must_use]
    pub fn dirty_count(&self) -> usize {
        self.set.dirty_count()
    }

    /// Bytes of memory that wait for the next commit: changed registers and node-local entries, with what keeping
    /// them costs.
    #[must_use]
    pub fn dirty_bytes(&self) -> usize {
        self.set.dirty_bytes() + self.local.bytes()
    }

    /// Figures of the register cache.
    #[must_use]
    pub fn cache_stats(&self) -> CacheStats {
        self.set.cache_stats()
    }

    /// The slot of a key's register, read from the store when it is not in memory.
    fn load(&mut self, key: &[u8]) -> Result<SlotNumber, StateError> {
        self.alive()?;
        let path = Path::of(key);
        if let Some(at) = self.set.find(&path) {
            return Ok(at);
        }
        let record = self.store.record(&path, key)?;
        Ok(self.set.admit(path, record))
    }

    /// Reads what a batch did not find in memory.
    fn load_misses<K: AsRef<[u8]>>(&mut self, keys: &[K]) -> Result<(), StateError> {
        let Self {
            store, set, batch, ..
        } = self;
        let Batch {
            paths,
            slots,
            misses,
            distinct,
        } = batch;
        let path = |place: u32| &paths[place as usize];
        misses.sort_unstable_by(|&left, &right| path(left).cmp(path(right)));
        let same = |left: &u32, right: &u32| path(*left) == path(*right);
        distinct.extend(misses.chunk_by(same).map(|places| places[0]));
        let records = store.stored_many(distinct.iter().map(|&place| path(place).as_bytes()));
        for (places, stored) in misses.chunk_by(same).zip(records) {
            let (path, key) = (*path(places[0]), keys[places[0] as usize].as_ref());
            let record = store.checked(&path, key, stored?)?;
            let at = set.admit_beyond_limit(path, record);
            for &place in places {
                slots[place as usize] = at;
            }
        }
        Ok(())
    }

    /// A change that no block holds could not be told from those of the newest session.
    fn may_change(&self) -> Result<(), StateError> {
        if self.set.in_block() || self.set.sessions().len() == 0 {
            Ok(())
        } else {
            Err(StateError::OutsideBlock)
        }
    }

    fn alive(&self) -> Result<(), StateError> {
        match &self.dead {
            None => Ok(()),
            Some(cause) => Err(StateError::Dead {
                cause: Arc::clone(cause),
            }),
        }
    }
}
