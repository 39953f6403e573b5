//! The source that is a set of peers.
//!
//! The [`Scheduler`] decides, without a clock, which peer is asked for which range: it holds the window of blocks
//! between the writer and the furthest range asked for, bounded in bytes, and proves them against the next checkpoint
//! ([`proof`]). A driver task carries its decisions out over a [`BlockNetwork`]; a feeder thread hands what has become
//! contiguous and proven to the pipeline. A block that the writer refuses is told back, its sender dropped, and asked
//! for again elsewhere.
//!
//! Near the peers' heads, and where their chains part, ranges in order are no good: there each peer's branch is
//! followed by itself (`follow`). `mode` says which of the two it is.

mod arrival;
mod blame;
mod chunks;
mod complaints;
mod driver;
mod feeder;
mod follow;
mod mode;
mod network;
mod peers;
pub mod proof;
mod runs;
mod scheduler;
mod shared;
mod sync;
mod window;

pub use arrival::{Arrival, ArrivalError};
pub use network::{BlockNetwork, BlockRange, HeaderRange, Misbehavior, PeerOffer, RequestError};
pub use scheduler::{Assignment, ChunkId, GivenUp, Scheduler, SchedulerOptions, Unwanted, Work};
pub use sync::{OnMismatch, SyncError, SyncOptions, fill_log, sync};
pub use window::ReadyBlocks;
