//! The fork database: blocks above the last irreversible one, on all their branches.
//!
//! ```text
//!                        ┌─ 8b ── 9b            a held branch
//! root ── 6 ── 7 ── 8 ── 9 ── 10                the main branch: the blocks of the state
//!  │                           └── head
//!  last irreversible block          12 ── 13    unlinked: block 11 is not here yet
//! ```
//!
//! - [`ForkDatabase`] knows ids and parents and nothing of states: which block is longest, how to get there from the main
//!   branch, what lies on a dead fork. The writer applies and takes back.
//! - [`Finality`](cairn_rules::Finality) says what makes a block irreversible; [`ForkDatabase::irreversible`] counts.
//!
//! Blocks come in any order and from anybody. What is held before it was applied is only as good as its sender, so that
//! everything here is bounded, and only blocks that were applied have a say in what is irreversible.

mod database;
mod refused;
mod room;
#[cfg(test)]
mod tests;
mod unlinked;
mod votes;

pub use database::{ForkBlock, ForkDatabase, Push, Route};
pub use refused::MAX_REFUSED;
pub use room::{MAX_SIDE_BLOCKS, MAX_SIDE_BYTES};
pub use unlinked::{MAX_UNLINKED_BLOCKS, MAX_UNLINKED_BYTES};
