//! The witness schedule: whose turn it is, as far as a node without stake can tell.
//!
//! Blocks are made in *slots* of three seconds ([`slots`]). An absolute counter grows by the slots from each block to the
//! next, missed ones included; the counter modulo the length of the list of scheduled witnesses is the *turn*, and says
//! which entry of the list may make the block. A list is in force for a *round*, blocks 21r + 1 to 21r + 21. It is drawn
//! ([`mod@draw`]) and shuffled ([`mod@shuffle`]) at the end of a round; since hardfork 26 one round ahead.
//!
//! Who is on the list depends on votes, and votes on stake. Where nobody votes, where a single witness exists, and in
//! mainnet's mining era the list is known all the same. Everywhere else it is [`Schedule::Unknown`], and a weaker rule is
//! left: within a round, blocks with equal turns have the same witness, and (since hardfork 4, when no list can name a
//! witness twice) blocks with different turns have different ones.
//!
//! # How to use it
//!
//! [`ScheduleState`] is kept in one register ([`ScheduleState::to_bytes`]) and fed every block of the chain from the
//! first on:
//!
//! ```text
//! at genesis          ScheduleState::genesis("initminer")
//! block 1             note_hardfork(n) for each hardfork that is applied before its transactions
//! before a block      slot = state.slot(genesis_time, block.time)?          parent as the state has it
//!                     state.check(slot, block.witness)?                     only in full validation
//!                     state.missed(slot)                                    hardforks 14 to 19: who may be switched off
//! in its operations   state.note_vote()                                     whenever a vote for a witness is added or
//!                                                                           removed (vote, proxy, declining, expiry)
//! after its           state.advance(number, block.time, slot, block.witness)
//!   transactions      state.end_of_block(&RoundInput { .. }, || witnesses)? every block; does something every 21st
//!                       -> RoundEnd { dequeued, counted }: mining queue, hardfork votes (`majority::agreed`)
//! at its end          note_hardfork(n) for each hardfork that takes effect
//! ```
//!
//! Which witnesses missed slots is to be asked *before* `advance`, with the head's number for "since its last block".
//! Hardforks that a block brings come after everything else in it, so that `end_of_block` still sees the one before.
//!
//! hived refuses a block that ends a round when fewer witnesses than min(21, all of them) can be scheduled, that is when
//! too many are switched off; nothing here checks that.

mod bytes;
pub mod draw;
pub mod majority;
pub mod shuffle;
pub mod slots;
mod state;
#[cfg(test)]
mod tests;

pub use bytes::CorruptSchedule;
pub use draw::{Dequeued, Schedule, Undecidable, WitnessCounts, WitnessFact};
pub use state::{Missed, RoundEnd, RoundInput, ScheduleState, Slot, SlotCheck, SlotError};
