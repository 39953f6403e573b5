//! What a recorded process did to its folder.

use std::fs;
use std::path::Path;

use cairn_tests::power_cut::journal::{self, Operation};
use cairn_tests::power_cut::{Disk, Rng, Tree, moment};

/// The changes of a folder, from its first to its last.
#[derive(Debug)]
pub(crate) struct Tape {
    pub(crate) start: Disk<'static>,
    /// Never freed: operations borrow from it in every case.
    pub(crate) bytes: &'static [u8],
    pub(crate) operations: Vec<Operation<'static>>,
}

impl Tape {
    /// Reads a journal of what happened in a folder since `start`.
    pub(crate) fn read(start: Disk<'static>, journal: &Path, folder: &Path) -> Self {
        let bytes: &'static [u8] = fs::read(journal).unwrap().leak();
        let operations = journal::parse(bytes);
        let mut disk: Disk<'_> = start.clone();
        operations.iter().for_each(|operation| disk.apply(operation));
        // Whatever way of writing the shim does not see would show here.
        let difference = disk.tree().difference(&Tree::read(folder));
        assert_eq!(
            difference,
            None,
            "{}: the journal leads elsewhere than the run",
            journal.display()
        );
        Self {
            start,
            bytes,
            operations,
        }
    }

    /// Number of recorded operations.
    pub(crate) fn length(&self) -> usize {
        self.operations.len()
    }

    /// Whether the run ever made a file of this name.
    pub(crate) fn makes(&self, name: &str) -> bool {
        let made =
            |operation: &Operation<'_>| matches!(operation, Operation::Create { path, .. } if *path == name);
        self.operations.iter().any(made)
    }

    /// Whether the run removed a file of this name.
    pub(crate) fn removes(&self, name: &str) -> bool {
        let removed =
            |operation: &Operation<'_>| matches!(operation, Operation::Unlink { path } if *path == name);
        self.operations.iter().any(removed)
    }

    /// How many names came about by a rename and fit.
    pub(crate) fn renames(&self, fits: impl Fn(&str) -> bool) -> usize {
        let renamed =
            |operation: &&Operation<'_>| matches!(operation, Operation::Rename { to, .. } if fits(to));
        self.operations.iter().filter(renamed).count()
    }

    /// A moment for a cut, as so many operations before it.
    pub(crate) fn moment(&self, rng: &mut Rng) -> usize {
        moment(&self.operations, rng)
    }

    /// The disk after so many operations. Nothing below `forgetful`, if given, was ever synced: as if the node had
    /// forgotten to.
    pub(crate) fn disk_after(&self, end: usize, forgetful: Option<&str>) -> Disk<'static> {
        let mut disk: Disk<'_> = self.start.clone();
        for operation in &self.operations[..end] {
            let path = match operation {
                Operation::Sync { inode } => disk.file(*inode).0,
                Operation::SyncFolder { path } => Some(*path),
                _ => None,
            };
            if !path
                .zip(forgetful)
                .is_some_and(|(path, below)| path.starts_with(below))
            {
                disk.apply(operation);
            }
        }
        disk
    }
}
