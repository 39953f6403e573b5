//! Another time of day for a process under test.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use cairn_chain::Time;

use crate::preload;

/// A clock that a test turns while a process looks at it. It goes on by itself, a second a second.
#[derive(Debug)]
pub struct TurnedClock {
    library: PathBuf,
    offset: PathBuf,
}

impl TurnedClock {
    /// A clock that is right, with its files in this folder.
    ///
    /// # Panics
    /// When they cannot be written, or there is no C compiler.
    #[must_use]
    pub fn new(folder: &Path) -> Self {
        let offset = folder.join("clock-offset");
        fs::write(&offset, 0_i64.to_le_bytes()).expect("the folder is ours");
        Self {
            library: preload::build("clock-shim", folder),
            offset,
        }
    }

    /// It is so many seconds after `time` from now on.
    ///
    /// # Panics
    /// When its file cannot be written.
    pub fn set(&self, time: Time, later: i64) {
        use std::os::unix::fs::FileExt;
        let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970");
        let now = i64::try_from(now.as_secs()).expect("not so late");
        let offset = i64::from(time.0) + later - now;
        let file = fs::OpenOptions::new()
            .write(true)
            .open(&self.offset)
            .expect("it is there");
        // In one write: the process must not see half of it.
        file.write_all_at(&offset.to_le_bytes(), 0)
            .expect("the folder is ours");
    }

    /// The environment of a process that goes by this clock.
    #[must_use]
    pub fn environment(&self) -> Vec<(&'static str, OsString)> {
        vec![
            ("LD_PRELOAD", self.library.clone().into()),
            ("CAIRN_CLOCK", self.offset.clone().into()),
        ]
    }
}
