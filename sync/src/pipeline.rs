//! From stored bytes to blocks that are ready for the writer, in parallel and in order.
//!
//! ```text
//! source ── RawBatch ──> Feed ──> worker threads: prepare ──> Prepared ── PreparedBatch ──> writer
//!                          └──────── tickets in order ───────────┘
//! ```
//!
//! Everything that needs only the block itself happens in the worker threads: decompression, decoding,
//! the id, the Merkle root, and where it is wanted the recovery of the signatures. For every batch the
//! feed puts a ticket into a bounded queue; the writer takes the tickets in order and waits for each
//! one's result. The queue of tickets bounds how many batches exist at once, so a slow writer stops the
//! feed, and order costs no sorting. Memory is bounded by decoded bytes (`memory`): a batch of blocks that become
//! large is handed over in parts, and workers pause while too much waits, but for the one whose batch the writer needs next.

mod batch;
mod memory;
mod pool;
mod prepare;
#[cfg(test)]
mod tests;

pub use batch::{BatchBuilder, MAX_BATCH_BLOCKS, MAX_BATCH_BYTES, Origin, PreparedBatch, RawBatch};
pub use pool::{Feed, FeedClosed, Next, Pipeline, PipelineOptions, Prepared};
pub use prepare::{LogEntry, LogForm, PrepareContext, PrepareError, PreparedBlock, ValidationPlan};
