//! What time it is.

use std::fmt::Debug;
use std::time::{SystemTime, UNIX_EPOCH};

use cairn_chain::Time;

/// The time by which a block is told to come from the future.
pub trait Clock: Debug + Send {
    /// Now.
    fn now(&self) -> Time;
}

/// The machine's clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Time {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Time(u32::try_from(since.as_secs()).unwrap_or(u32::MAX))
    }
}
