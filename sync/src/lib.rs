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
//! - [`writer`]: the one thread that applies blocks. [`fork`]: what lies above the last irreversible block.
//! - [`replay`](mod@replay): the source that is a file. [`download`]: the source that is a set of peers, known only
//!   through a trait of its own.
//! - [`preverify`]: are a log's headers on the chain of the checkpoints? Asked before anything of it is applied.
//! - [`room`]: what the writer asks of the disks before it writes.
//! - [`stats`]: where the writer's time goes.

#![cfg_attr(test, allow(clippy::unwrap_used))]

pub mod checkpoint;
pub mod download;
pub mod fork;
mod header_chain;
mod log_ids;
mod log_limit;
mod past;
pub mod pipeline;
pub mod preverify;
pub mod replay;
pub mod room;
pub mod stats;
mod step_back;
mod unproven_tail;
mod view;
pub mod walk;
pub mod writer;

pub use header_chain::{Break, HeaderChain, Link};
pub use log_ids::{block_error, id_if_there, link_of, read_id};
pub use past::{PastCheckpointError, check_past};
pub use step_back::Disputed;
pub use view::{ChainView, Heads, ReversibleBlocks};
