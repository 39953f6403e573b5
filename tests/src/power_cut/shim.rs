//! The library that records a process, made from C when the tests run.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The built shim.
#[derive(Debug)]
pub struct Shim {
    library: PathBuf,
}

impl Shim {
    /// Compiles the shim into a folder.
    ///
    /// # Panics
    /// When there is no C compiler, or it fails.
    #[must_use]
    pub fn build(folder: &Path) -> Self {
        let library = crate::preload::build("crash-shim", folder);
        Self { library }
    }

    /// The environment for a process whose changes under `folder` go to the end of the file `journal`. With
    /// `kill_after` the process kills itself behind so many of them.
    ///
    /// # Panics
    /// When the folder is not there.
    #[must_use]
    pub fn environment(
        &self,
        folder: &Path,
        journal: &Path,
        kill_after: Option<usize>,
    ) -> Vec<(&str, OsString)> {
        let folder = folder.canonicalize().expect("the folder is there");
        let mut environment = vec![
            ("LD_PRELOAD", self.library.clone().into()),
            ("CAIRN_CRASH_ROOT", folder.into()),
            ("CAIRN_CRASH_JOURNAL", journal.into()),
        ];
        if let Some(count) = kill_after {
            environment.push(("CAIRN_CRASH_KILL_AFTER", count.to_string().into()));
        }
        environment
    }

    /// The environment for a process that finds no room for files whose paths under `folder` begin with one of `paths`, as
    /// long as the file `flag` is there: of the first write to each half is written. Changes under `folder` are recorded
    /// in `journal`.
    ///
    /// # Panics
    /// When the folder is not there.
    #[must_use]
    pub fn full_for(
        &self,
        folder: &Path,
        journal: &Path,
        flag: &Path,
        paths: &[&str],
    ) -> Vec<(&str, OsString)> {
        let mut environment = self.environment(folder, journal, None);
        environment.push(("CAIRN_CRASH_FULL_FLAG", flag.into()));
        environment.push(("CAIRN_CRASH_FULL_PATHS", paths.join(":").into()));
        environment
    }

    /// The environment for a process on whose disk RocksDB finds no room behind its first `after` log writes, as long as
    /// the file `flag` is there: the write in hand is cut in half. Changes under `folder` are recorded in `journal`.
    ///
    /// # Panics
    /// When the folder is not there.
    #[must_use]
    pub fn full_disk(
        &self,
        folder: &Path,
        journal: &Path,
        flag: &Path,
        after: usize,
    ) -> Vec<(&str, OsString)> {
        let mut environment = self.environment(folder, journal, None);
        environment.push(("CAIRN_CRASH_FULL_FLAG", flag.into()));
        environment.push(("CAIRN_CRASH_FULL_AFTER", after.to_string().into()));
        environment
    }
}
