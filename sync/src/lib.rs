//! Getting blocks, verified, into the chain's state.
//!
//! ```text
//! peers ── download ──┐
//!                     ├─> pipeline (prevalidation in parallel, in order) ─> writer ─> state, block log
//! block log ─ replay ─┘                                                      └─> stats
//! ```
//!
//! - [`checkpoint`]: the trusted `[number, id]` pairs.
//! - [`pipeline`]: from stored bytes to blocks that are whole in themselves.
//! - [`writer`]: the one thread that applies blocks.
//! - [`replay`](mod@replay): the source that is a file. [`download`]: the source that is a set of peers, known only
//!   through a trait of its own.
//! - [`stats`]: where the writer's time goes.

#![cfg_attr(test, allow(clippy::unwrap_used))]

pub mod checkpoint;
pub mod download;
mod log_ids;
mod past;
pub mod pipeline;
pub mod replay;
pub mod stats;
mod view;
pub mod writer;

pub use log_ids::{id_if_there, read_id};
pub use past::{PastCheckpointError, check_past};
pub use view::{ChainView, Heads};
