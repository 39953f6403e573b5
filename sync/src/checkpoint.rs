//! Checkpoints: trusted `[number, id]` pairs that the operator copied from a node of their own.
//!
//! [`parse`] reads one pair in the spellings that hived accepts, [`Checkpoints`] is the checked set,
//! and [`mod@file`] reads a `checkpoint-file`. All faults of all values are found in one go, each with the
//! place where the value was written, so that an operator mends a configuration in one round.

pub mod file;
pub mod parse;
mod set;

pub use set::{Checkpoint, CheckpointFault, CheckpointNotice, Checkpoints, ConfiguredCheckpoint, Parsed};
