//! Opening a database that another process may be writing to.
//!
//! RocksDB opens read-only in steps: it reads the manifest, which names the files and the oldest log that is still
//! needed, and then the files and those logs. A writer that flushes in between deletes a log that the reader's
//! manifest still needs. RocksDB does not notice: it goes on with the logs that are left, and gives a state with a
//! hole in it, which never was. Or a file is gone, which it does notice.
//!
//! The writer changes the manifest before it deletes anything that the manifest needed, and only ever appends to
//! it, or begins another. So when the manifest is the same before and after opening, nothing that was needed can
//! have gone in between; otherwise the reader tries again.

use std::fs::File;
use std::io::Read;
use std::path::Path as FilePath;
use std::time::{Duration, Instant};

use rocksdb::DB;

use crate::error::{Activity, StateError, is_lost_file};

/// How long opening is tried. A writer flushes about once a second at full speed, and opening replays at most the
/// log between two flushes, so that a few attempts do.
const PATIENCE: Duration = Duration::from_secs(20);
/// A file that is missing in so many attempts, while the manifest stays as it is, is lost: nobody has deleted it who works
/// as told above. One attempt would do; the others are for what a file system tells late.
const LOST_AFTER: u32 = 3;
/// The pause between two attempts.
const PAUSE: Duration = Duration::from_millis(10);
/// `CURRENT` holds the manifest's name and a line feed, about 16 bytes.
const LONGEST_CURRENT: u64 = 64;

/// Opens with a function, again and again until the manifest stayed as it was meanwhile.
pub(crate) fn steadily(
    dir: &FilePath,
    open: impl Fn() -> Result<DB, rocksdb::Error>,
) -> Result<DB, StateError> {
    let start = Instant::now();
    let mut missed = 0;
    loop {
        let before = manifest(dir);
        let opened = open();
        let stayed = before == manifest(dir);
        match opened {
            Ok(db) if stayed && before.is_some() => return Ok(db),
            Err(error) if !is_lost_file(error.as_ref()) => {
                return Err(StateError::database(dir, Activity::Open, error));
            }
            Err(error) if stayed => {
                missed += 1;
                if missed == LOST_AFTER {
                    return Err(StateError::database(dir, Activity::Open, error));
                }
            }
            // A file that is missing while a writer works is one that the writer has deleted meanwhile.
            _ => missed = 0,
        }
        if start.elapsed() > PATIENCE {
            return Err(StateError::Changing {
                dir: dir.to_path_buf(),
            });
        }
        std::thread::sleep(PAUSE);
    }
}

/// The name of the manifest in use and its length; `None` when it cannot be told.
fn manifest(dir: &FilePath) -> Option<(String, u64)> {
    let mut name = String::new();
    File::open(dir.join("CURRENT"))
        .ok()?
        .take(LONGEST_CURRENT)
        .read_to_string(&mut name)
        .ok()?;
    let name = name.trim_end().to_owned();
    let length = dir.join(&name).metadata().ok()?.len();
    name.starts_with("MANIFEST-").then_some((name, length))
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::fs;

    use super::*;

    #[test]
    fn opening_is_repeated_while_the_manifest_changes() {
        let dir = tempfile::tempdir().unwrap();
        let mut options = rocksdb::Options::default();
        options.create_if_missing(true);
        drop(DB::open(&options, dir.path()).unwrap());

        let attempts = Cell::new(0);
        let open = || {
            attempts.set(attempts.get() + 1);
            let db = DB::open_for_read_only(&options, dir.path(), false);
            let (name, length) = manifest(dir.path()).unwrap();
            match attempts.get() {
                1 => {
                    fs::copy(dir.path().join(name), dir.path().join("MANIFEST-000099")).unwrap();
                    fs::write(dir.path().join("CURRENT"), "MANIFEST-000099\n").unwrap();
                }
                2 => {
                    let file = fs::OpenOptions::new()
                        .write(true)
                        .open(dir.path().join(name))
                        .unwrap();
                    file.set_len(length + 1).unwrap();
                }
                _ => {}
            }
            db
        };
        steadily(dir.path(), open).unwrap();
        assert_eq!(attempts.get(), 3);
    }
}
