//! Room on the disks that the writer writes to.
//!
//! A full disk is no fault of the hardware and none of the state: the writer waits until there is room, before it
//! begins what would not fit.

use std::fmt;
use std::path::PathBuf;

/// Bytes that the next writes may take at most.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// Where the state lies.
    pub state: u64,
    /// Where the block log lies.
    pub log: u64,
}

impl Needs {
    /// A quarter more: what must be free for the work to go on once it has stopped, so that it does not stop again
    /// right away.
    #[must_use]
    pub fn with_margin(self) -> Self {
        let more = |bytes: u64| bytes.saturating_add(bytes / 4);
        Self {
            state: more(self.state),
            log: more(self.log),
        }
    }
}

/// A file system that has not enough room.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shortage {
    /// A folder on it.
    pub path: PathBuf,
    /// Bytes that are free for this process.
    pub free: u64,
    /// Bytes that must be.
    pub needed: u64,
}

impl fmt::Display for Shortage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mebibytes = |bytes: u64| bytes as f64 / f64::from(1 << 20);
        write!(
            f,
            "{}: {:.1} MiB free, {:.1} MiB needed",
            self.path.display(),
            mebibytes(self.free),
            mebibytes(self.needed)
        )
    }
}

/// Tells whether there is room.
pub trait Room: fmt::Debug + Send {
    /// The file system that has too little for these needs, if one has.
    fn shortage(&self, needs: Needs) -> Option<Shortage>;
}

/// Room without end, for a writer whose disks nobody watches.
impl Room for () {
    fn shortage(&self, _: Needs) -> Option<Shortage> {
        None
    }
}
