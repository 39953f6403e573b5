//! Where the writer's time goes.
//!
//! The writer enters a [`Phase`] whenever its work changes; the time spent in each is kept in a
//! [`PhaseClock`]. A thread of its own, the [`Reporter`], reads the clock every interval and prints a
//! line, so that the line also appears while the writer never waits, or sits in one slow block.

mod file;
mod interval;
mod meter;
mod phase;
mod reporter;
mod way;

pub use interval::{Headers, Interval, Outlook, Verdict, WorkSource};
pub use meter::{HeadMeter, HeaderMeter, HeaderReading, Meter, MeterReading};
pub use phase::{Phase, PhaseClock, PhaseTimes};
pub use reporter::{Reporter, ReporterOptions};
pub use way::{Standing, Way};
