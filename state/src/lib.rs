//! The state engine: registers on RocksDB, committed atomically with the chain's head.
//!
//! A *register* is a key with a value, both plain bytes. The engine knows bytes and paths, not blocks or
//! accounts; what a key means is its caller's matter. A register with an empty value is unallocated, that is,
//! it does not exist.
//!
//! - [`Store`] is what is on disk: a RocksDB database with the registers, a node-local index, and one metadata
//!   record that names the chain, the head and the running counts. It is read in [path](Path) order.
//! - [`Registers`] is the writer's working set over a store. It caches registers, collects changes, puts the
//!   changes of a failed block back, and makes everything durable in one atomic, synced write together with
//!   the head.
//! - [`CommitPolicy`] says when such a write is due.
//! - [`trie`] gives a state one root hash that commits to all of its registers. [`Registers::keep_trie`] keeps one beside the writer,
//!   [`trie_file`] is how it outlives the process, [`proof`] what it proves about single registers, and [`check`] looks
//!   over a whole state with it.
//! - [`RestorePoints`] are whole states of earlier blocks, kept beside the present one for the price of hard links.
//!
//! ```
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let dir = tempfile::tempdir()?;
//! use cairn_state::{Head, Registers, Store, StoreOptions};
//!
//! let store = Store::open(dir.path(), &StoreOptions::new([7; 32]))?;
//! let mut registers = Registers::new(store)?;
//!
//! registers.begin_block()?;
//! registers.set(b"account/alice", b"posting authority")?;
//! registers.accept_block();
//!
//! registers.begin_block()?;
//! registers.remove(b"account/alice")?;
//! registers.undo_block(); // the block failed: the register is back
//!
//! registers.commit(Head { number: 1, id: [1; 20] })?;
//! assert_eq!(registers.get(b"account/alice")?, Some(&b"posting authority"[..]));
//! assert_eq!(registers.counts()?.registers, 1);
//! # Ok(())
//! # }
//! ```
//!
//! # What survives a crash
//!
//! Assumed of the machine: once RocksDB's write-ahead log is synced, what it holds is still there after a crash
//! or a power cut. A commit is one RocksDB write batch, which is one record of that log: it is replayed whole or
//! not at all. So a process that dies at any moment leaves the state of the last commit that returned, or, if it
//! died inside a commit, of that commit or the one before, never a mixture.
#![cfg_attr(test, allow(clippy::unwrap_used, reason = "a test fails by panicking"))]

mod batch;
mod cache;
pub mod check;
mod commit;
mod counts;
mod cursor;
mod digest;
mod error;
mod head;
mod hex;
mod journal;
mod keeper;
mod local;
mod metadata;
mod open;
mod options;
mod path;
mod policy;
pub mod proof;
mod read_only;
mod record;
mod registers;
mod restore;
mod roots;
mod sessions;
mod store;
mod stream;
pub mod trie;
pub mod trie_file;
mod tuning;
mod working_set;

pub use batch::{StoredValues, Values};
pub use cache::CacheStats;
pub use commit::CommitStats;
pub use counts::Counts;
pub use cursor::{Entry, LocalCursor, RegisterCursor};
pub use digest::StateDigest;
pub use error::{Activity, StateError};
pub use head::Head;
pub use keeper::TrieOptions;
pub use metadata::{FORMAT_VERSION, MetadataError};
pub use options::StoreOptions;
pub use path::Path;
pub use policy::CommitPolicy;
pub use record::{MAX_KEY_BYTES, MAX_VALUE_BYTES, RecordError};
pub use registers::Registers;
pub use restore::{RestorePoint, RestorePoints, Settled, restore, settle};
pub use roots::StateRoot;
pub use store::Store;
