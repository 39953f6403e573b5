//! The writer: one ordinary thread that owns the chain's state and the tail of the block log.
//!
//! [`ChainWriter`] applies one block after the other, follows the longest fork above the last checkpoint, and commits; [`WriterLoop`] is the loop around it that
//! takes batches from the pipeline. Nobody else writes. What others may know (head, durable head) is
//! published in a [`ChainView`](crate::ChainView) and in the meter.

mod chain;
mod clock;
mod error;
mod fill;
mod forks;
mod log_tail;
mod pause;
mod progress;
mod reached;
mod restore_points;
mod run;

pub use chain::{ChainWriter, ChainWriterOptions};
pub use clock::{Clock, SystemClock};
pub use error::{BlockFault, Contradiction, WriterError};
pub use fill::LogGap;
pub use forks::{MAX_REVERSIBLE_BLOCKS, MAX_REVERSIBLE_BYTES, Refused, SetAside, Taken};
pub use pause::Pause;
pub(crate) use progress::LIVE_SECONDS;
pub use progress::ProgressStyle;
pub use run::{AsideBlock, Ended, Rejected, Rejection, RunOptions, WriterLoop};
