//! The files and folders under a folder, with what is in them.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// A file or a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entry {
    /// Its names are entries of the tree.
    Folder,
    /// What is in it.
    File(Vec<u8>),
}

/// By path under the folder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tree(pub BTreeMap<String, Entry>);

impl Tree {
    /// Reads a folder.
    ///
    /// # Panics
    /// When something cannot be read.
    #[must_use]
    pub fn read(folder: &Path) -> Self {
        let mut tree = Self::default();
        walk(folder, "", &mut |path, entry, _| {
            tree.0.insert(path, entry);
        });
        tree
    }

    /// Makes the tree in a folder, which must not be there.
    ///
    /// # Panics
    /// When something cannot be written.
    pub fn write(&self, folder: &Path) {
        fs::create_dir(folder).expect("the folder is new");
        for (path, entry) in &self.0 {
            let path = folder.join(path);
            match entry {
                Entry::Folder => fs::create_dir(&path),
                Entry::File(bytes) => fs::write(&path, bytes),
            }
            .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        }
    }

    /// Says what is in one tree and not the same in the other; `None` if they are equal.
    #[must_use]
    pub fn difference(&self, other: &Self) -> Option<String> {
        let describe = |entry: Option<&Entry>| match entry {
            None => "not there".to_owned(),
            Some(Entry::Folder) => "a folder".to_owned(),
            Some(Entry::File(bytes)) => format!("a file of {} bytes", bytes.len()),
        };
        let mut lines = Vec::new();
        for path in self
            .0
            .keys()
            .chain(other.0.keys().filter(|path| !self.0.contains_key(*path)))
        {
            let (left, right) = (self.0.get(path), other.0.get(path));
            if left == right {
                continue;
            }
            let mut line = format!("{path}: {} and {}", describe(left), describe(right));
            if let (Some(Entry::File(left)), Some(Entry::File(right))) = (left, right) {
                let equal = left
                    .iter()
                    .zip(right)
                    .take_while(|(left, right)| left == right)
                    .count();
                line.push_str(&format!(", equal up to offset {equal}"));
            }
            lines.push(line);
        }
        (!lines.is_empty()).then(|| lines.join("\n"))
    }
}

/// Calls a function with each entry below a folder and its inode number, a folder before what is in it.
///
/// # Panics
/// When something cannot be read.
pub(super) fn walk(folder: &Path, prefix: &str, each: &mut impl FnMut(String, Entry, u64)) {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    for entry in entries {
        let entry = entry.expect("the entry can be read");
        let name = entry.file_name().into_string().expect("Cairn's names are UTF-8");
        let path = format!("{prefix}{name}");
        let facts = entry.metadata().expect("it is there");
        if facts.is_dir() {
            each(path.clone(), Entry::Folder, facts.ino());
            walk(&entry.path(), &format!("{path}/"), each);
        } else {
            let bytes = fs::read(entry.path()).unwrap_or_else(|error| panic!("{path}: {error}"));
            each(path, Entry::File(bytes), facts.ino());
        }
    }
}
