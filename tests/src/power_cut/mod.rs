//! What is on the disk when the power goes at any moment of a recorded run.
//!
//! A run of the built binary is recorded through a [`Shim`]: every change of a file or folder, in order. A [`Disk`] goes
//! through the record up to a [`moment`] and keeps for each file what was synced and what was not; [`cut`] then builds one
//! of the folders that can be found afterwards, by a seed. [`timeline`] says which blocks must be in it.
//!
//! # The model
//!
//! Kept for sure:
//! - What was in a file when its last `fsync` or `fdatasync` returned, its length included.
//! - Changes of names (a file made, linked, renamed or removed, a folder made or removed) up to the last one that
//!   concerns a file or folder that was synced since. Names are durable in their order: if one is, all before it are, in
//!   whatever folder. That is what ext4 and xfs do, whose journal is one sequence and whose `fsync` of a file
//!   writes the journal through the file's own last change.
//!
//! Left to chance, for each file alone:
//! - Later changes of names: none, all, or the first so many.
//! - Later writes and changes of length: none, all, or the first so many with a part of the next; or each sector (512
//!   bytes) or page (4 KiB) as it was at a moment of its own, and the length of yet another moment, so that the file
//!   may be too long, too short, and hold zeros where data was written.
//!
//! A write may be torn at any byte where the file grows, and between sectors where bytes were there before: a disk writes
//! a sector or leaves it.
//!
//! Harsher than ext4 (`data=ordered`) and xfs: those write a file's data before the length that shows it, so that
//! zeros in the place of data and lengths without data do not come up; a new file that was renamed over another is
//! written before the rename; writes older than some seconds reach the disk by themselves.
//!
//! Not shown: a disk that loses what it said was synced; a system that reports a failed write once and forgets it; garbage
//! in the place of data (`cairn-block-log` tests that alone); a power cut during the repair of the file system.

mod cut;
mod disk;
mod durable;
pub mod journal;
mod rng;
mod shim;
mod tree;

pub use cut::{cut, moment};
pub use disk::{Disk, File};
pub use durable::{BlockEnds, Durable, timeline};
pub use rng::Rng;
pub use shim::Shim;
pub use tree::{Entry, Tree};
