//! Room on the disks of a data folder.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use cairn_sync::room::{Needs, Room, Shortage};

use crate::data_dir::DataDir;

/// Bytes beside the log of the state's database that opening it may write.
const OPENING: u64 = 16 << 20;

/// Asks the file systems of state and block log.
#[derive(Clone, Debug)]
pub struct DiskRoom {
    state: PathBuf,
    log: PathBuf,
}

impl DiskRoom {
    /// For the folders of a data folder; they must be there when the disks are asked.
    pub fn of(data_dir: &DataDir) -> Self {
        Self {
            state: data_dir.registers(),
            log: data_dir.blockchain(),
        }
    }

    /// What opening the state may take: RocksDB writes what its log holds into files.
    pub fn needs_of_opening(&self) -> Needs {
        let logs = fs::read_dir(&self.state).map_or(0, |entries| {
            entries
                .flatten()
                .filter(|entry| entry.path().extension().is_some_and(|end| end == "log"))
                .filter_map(|entry| entry.metadata().ok())
                .map(|metadata| metadata.len())
                .sum()
        });
        Needs {
            state: OPENING.saturating_add(logs),
            log: 0,
        }
    }

    /// The disk that is nearest to its end, whether or not it has enough.
    pub fn tightest(&self, needs: Needs) -> Option<Shortage> {
        let of = |path: &Path, needed| {
            let free = free(path)?;
            Some(Shortage {
                path: path.to_owned(),
                free,
                needed,
            })
        };
        if needs.log == 0 {
            return of(&self.state, needs.state);
        }
        if device(&self.state).is_some() && device(&self.state) == device(&self.log) {
            return of(&self.state, needs.state.saturating_add(needs.log));
        }
        let left = |shortage: &Shortage| i128::from(shortage.free) - i128::from(shortage.needed);
        [of(&self.state, needs.state), of(&self.log, needs.log)]
            .into_iter()
            .flatten()
            .min_by_key(left)
    }
}

impl Room for DiskRoom {
    fn shortage(&self, needs: Needs) -> Option<Shortage> {
        // A file system that does not tell is not waited for.
        self.tightest(needs).filter(|disk| disk.free < disk.needed)
    }
}

/// Bytes that this process may still write, without what is kept for the administrator.
fn free(path: &Path) -> Option<u64> {
    let disk = rustix::fs::statvfs(existing(path)?).ok()?;
    Some(disk.f_bavail.saturating_mul(disk.f_frsize))
}

fn device(path: &Path) -> Option<u64> {
    fs::metadata(existing(path)?).ok().map(|metadata| metadata.dev())
}

/// The folder, or the one above it in which it will be made.
fn existing(path: &Path) -> Option<&Path> {
    path.ancestors().find(|path| path.exists())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_disk_is_short_when_more_is_needed_than_is_free() {
        let folder = tempfile::tempdir().unwrap();
        let room = DiskRoom::of(&DataDir::new(folder.path().join("not yet there")));
        let needs = |state, log| Needs { state, log };
        assert_eq!(room.shortage(needs(1, 1)), None);
        let short = room.shortage(needs(1 << 60, 0)).unwrap();
        assert!(short.free > 0 && short.needed == 1 << 60, "{short:?}");
        // One file system holds both, so that the needs add up.
        let both = room.shortage(needs(1 << 60, 1 << 60)).unwrap();
        assert_eq!(both.needed, 1 << 61);
    }

    #[test]
    fn opening_needs_room_for_what_the_log_of_the_database_holds() {
        let folder = tempfile::tempdir().unwrap();
        let data_dir = DataDir::new(folder.path());
        fs::create_dir_all(data_dir.registers()).unwrap();
        fs::write(data_dir.registers().join("000004.log"), vec![0; 5_000]).unwrap();
        fs::write(data_dir.registers().join("000005.sst"), vec![0; 7_000]).unwrap();
        let needs = DiskRoom::of(&data_dir).needs_of_opening();
        assert_eq!(needs.state, OPENING + 5_000);
    }
}
