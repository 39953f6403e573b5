//! The source that is a set of peers.
//!
//! The [`Scheduler`] decides, without I/O and without a clock, which peer is asked for which range: it holds the
//! window of blocks between the writer and the furthest range asked for, bounded in bytes. A driver task
//! carries its decisions out over a [`BlockNetwork`]; a feeder thread hands what has become contiguous to
//! the pipeline. A block that the writer refuses is told back, its sender dropped, and asked for again
//! elsewhere.

mod driver;
mod feeder;
mod network;
mod peers;
mod scheduler;
mod shared;
mod sync;

pub use network::{BlockNetwork, BlockRange, Misbehavior, PeerOffer, RequestError};
pub use scheduler::{Assignment, ChunkId, Scheduler, SchedulerOptions, Unwanted};
pub use sync::{SyncError, SyncOptions, sync};
