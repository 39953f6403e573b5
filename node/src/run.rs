//! What `run` and `replay` have in common: the parts of a running writer and the record at its end.

mod block_log;
mod progress_bar;
mod reconcile;
mod record;
mod session;
mod signals;

pub use block_log::{OwnLog, forget_set_aside, open_foreign_log, present_layout, tell_set_aside};
pub use progress_bar::ProgressBar;
pub use record::{FinalRecord, RunFacts};
pub use session::Session;
pub use signals::stop_on_signals;
