//! A small file system in memory, to be filled up.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

/// A mounted tmpfs; unmounted when dropped.
#[derive(Debug)]
pub struct SmallDisk {
    at: TempDir,
}

impl SmallDisk {
    /// Mounts one of so many MiB; `None`, with a line that says what was skipped, where that is not allowed.
    ///
    /// # Panics
    /// When there is no temporary folder.
    #[must_use]
    pub fn mount(test: &str, mebibytes: u64) -> Option<Self> {
        let at = TempDir::new().expect("a temporary folder");
        let options = format!("size={mebibytes}m");
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &options, "tmpfs"])
            .arg(at.path())
            .status();
        if mounted.is_ok_and(|status| status.success()) {
            return Some(Self { at });
        }
        eprintln!("skipped: {test}: this user may not mount a small file system to fill it up");
        None
    }

    /// Where it is mounted.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.at.path()
    }

    fn ballast(&self) -> PathBuf {
        self.path().join("ballast")
    }

    /// Fills it up until so many MiB are left.
    ///
    /// # Panics
    /// When the ballast cannot be written.
    pub fn leave(&self, mebibytes: u64) {
        let ballast = self.ballast();
        let _ = fs::remove_file(&ballast);
        let size = self.free().saturating_sub(mebibytes << 20);
        fs::write(ballast, vec![1; usize::try_from(size).expect("small")]).expect("the ballast fits");
    }

    /// Takes the ballast away.
    ///
    /// # Panics
    /// When it is not there.
    pub fn relieve(&self) {
        fs::remove_file(self.ballast()).expect("the ballast was there");
    }

    /// Free bytes, as `df` has them.
    ///
    /// # Panics
    /// When `df` cannot be run.
    #[must_use]
    pub fn free(&self) -> u64 {
        let out = Command::new("df")
            .args(["--output=avail", "-B1"])
            .arg(self.path())
            .output()
            .expect("df runs");
        let text = String::from_utf8_lossy(&out.stdout);
        text.split_whitespace()
            .nth(1)
            .and_then(|number| number.parse().ok())
            .unwrap_or_else(|| panic!("df gave {text:?}"))
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        // Lazily, so that a process that is still there does not keep the mount.
        let _ = Command::new("umount").arg("-l").arg(self.path()).status();
    }
}
