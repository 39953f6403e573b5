//! The writer: one ordinary thread that owns the chain's state and the tail of the block log.
//!
//! [`ChainWriter`] applies one block after the other and commits; [`WriterLoop`] is the loop around it that
//! takes batches from the pipeline. Nobody else writes. What others may know (head, durable head) is
//! published in a [`ChainView`](crate::ChainView) and in the meter.

mod chain;
mod error;
mod pause;
mod progress;
mod restore_points;
mod run;

pub use chain::{ChainWriter, ChainWriterOptions};
pub use error::{BlockFault, Contradiction, WriterError};
pub use pause::Pause;
pub use progress::ProgressStyle;
pub use run::{Ended, Rejected, Rejection, RunOptions, WriterLoop};
