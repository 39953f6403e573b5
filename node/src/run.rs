//! What `run` and `replay` have in common: the parts of a running writer and the record at its end.

mod block_log;
mod disk_room;
mod folder_lock;
mod heap;
mod noted_damage;
mod open_files;
mod progress_bar;
mod reconcile;
mod record;
mod refusal;
mod runtime;
mod session;
mod shutdown;

pub use block_log::{
    OwnLog, forget_set_aside, open_foreign_log, present_layout, refuse_pruned, tell_set_aside,
};
pub use disk_room::DiskRoom;
pub use folder_lock::{FolderError, FolderLock};
pub use heap::give_back_when_quiet;
pub use noted_damage::cut_noted_damage;
pub use open_files::{Demand, TooFewOpenFiles};
pub use progress_bar::ProgressBar;
pub use reconcile::Lag;
pub use record::{DigestWish, FinalRecord, RunFacts};
pub use refusal::{explain, is_disk_full};
pub use runtime::Runtime;
pub use session::Session;
pub use shutdown::{Shutdown, Stage};
