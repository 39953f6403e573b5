//! The statistics file: one JSON object a line.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::PathBuf;

/// A file that is appended to when that is possible, and opened again when it was not.
#[derive(Debug)]
pub(super) struct StatsFile {
    path: PathBuf,
    /// `None` since a record could not be written.
    file: Option<File>,
    /// Records that could not be written since one could.
    left_out: u64,
}

impl StatsFile {
    /// Opens the file for appending, or starts it.
    pub(super) fn open(path: PathBuf) -> io::Result<Self> {
        let file = Some(open(&path)?);
        Ok(Self {
            path,
            file,
            left_out: 0,
        })
    }

    /// Appends a record. One that cannot be written is left out: a disk that has room again later is no reason to be
    /// without the records from then on. Says so once, and once more when it is over.
    pub(super) fn append(&mut self, record: &[u8]) {
        match self.write(record) {
            Ok(()) if self.left_out > 0 => {
                tracing::info!(
                    target: "writer",
                    "statistics file {}: written again, {} records were left out",
                    self.path.display(),
                    self.left_out
                );
                self.left_out = 0;
            }
            Ok(()) => {}
            Err(error) => {
                if self.left_out == 0 {
                    tracing::warn!(
                        target: "writer",
                        "statistics file {}: {error}; records are left out until it can be written again",
                        self.path.display()
                    );
                }
                self.left_out += 1;
                self.file = None;
            }
        }
    }

    fn write(&mut self, record: &[u8]) -> io::Result<()> {
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(open(&self.path)?),
        };
        let before = file.metadata()?.len();
        let written = file.write_all(record);
        if written.is_err() {
            // A piece of a record would make the next one unreadable.
            let _ = file.set_len(before);
        }
        written
    }
}

fn open(path: &std::path::Path) -> io::Result<File> {
    OpenOptions::new().create(true).append(true).open(path)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn records_go_on_once_there_is_room_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("stats.jsonl");
        // Every write to it fails as on a full disk.
        symlink("/dev/full", &path).unwrap();
        let mut file = StatsFile::open(path.clone()).unwrap();
        file.append(b"1\n");
        file.append(b"2\n");
        std::fs::remove_file(&path).unwrap();
        file.append(b"3\n");
        file.append(b"4\n");
        assert_eq!(std::fs::read(&path).unwrap(), b"3\n4\n");
        assert_eq!(file.left_out, 0);
    }
}
