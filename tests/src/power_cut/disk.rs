//! A folder on a disk that may lose power: what is in the files and what of it is durable.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use super::journal::Operation;
use super::tree::{Entry, Tree, walk};

/// A change of a file since it was last synced.
#[derive(Clone, Copy, Debug)]
pub(super) enum Change<'a> {
    Write { offset: u64, data: &'a [u8] },
    Length(u64),
}

impl Change<'_> {
    pub(super) fn apply(&self, content: &mut Vec<u8>) {
        match *self {
            Change::Write { offset, data } => {
                let (start, end) = (offset as usize, offset as usize + data.len());
                if content.len() < end {
                    content.resize(end, 0);
                }
                content[start..end].copy_from_slice(data);
            }
            Change::Length(length) => content.resize(length as usize, 0),
        }
    }
}

/// A file, whatever its names are.
#[derive(Clone, Debug, Default)]
pub struct File<'a> {
    /// As it was when it was last synced.
    pub(super) synced: Vec<u8>,
    pub(super) pending: Vec<Change<'a>>,
    /// Changes of names up to the last one that concerns this file.
    named: usize,
}

impl File<'_> {
    /// What a reader sees now.
    #[must_use]
    pub fn content(&self) -> Vec<u8> {
        let mut content = self.synced.clone();
        for change in &self.pending {
            change.apply(&mut content);
        }
        content
    }

    fn sync(&mut self) {
        for change in std::mem::take(&mut self.pending) {
            change.apply(&mut self.synced);
        }
    }
}

/// What a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Name {
    Folder,
    /// By position in `Disk::files`.
    File(usize),
}

/// Names under the folder.
pub(super) type Names = BTreeMap<String, Name>;

#[derive(Clone, Debug)]
enum NameChange<'a> {
    Add(&'a str, Name),
    Rename(&'a str, &'a str),
    Remove(&'a str),
}

impl NameChange<'_> {
    fn apply(&self, names: &mut Names) {
        match *self {
            NameChange::Add(path, name) => {
                names.insert(path.to_owned(), name);
            }
            NameChange::Rename(from, to) => rename(names, from, to),
            NameChange::Remove(path) => {
                names.remove(path);
            }
        }
    }
}

/// With all that is below, if it is a folder.
fn rename(names: &mut Names, from: &str, to: &str) {
    let below = format!("{from}/");
    let moved: Vec<String> = names
        .range(from.to_owned()..)
        .map(|(path, _)| path)
        .take_while(|path| path.starts_with(from))
        .filter(|path| *path == from || path.starts_with(&below))
        .cloned()
        .collect();
    assert!(!moved.is_empty(), "{from} is renamed and was never there");
    for path in moved {
        let name = names.remove(&path).expect("it was listed just now");
        names.insert(format!("{to}{}", &path[from.len()..]), name);
    }
}

/// The folder that a name is in; empty for the recorded folder.
fn parent(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// The disk after some operations of a journal.
#[derive(Clone, Debug, Default)]
pub struct Disk<'a> {
    files: Vec<File<'a>>,
    by_inode: HashMap<u64, usize>,
    names: Names,
    /// Names before the first change.
    first_names: Names,
    changes: Vec<NameChange<'a>>,
    /// So many of the changes are durable.
    durable: usize,
    /// Changes up to the last one that concerns a folder.
    folders: HashMap<String, usize>,
}

impl<'a> Disk<'a> {
    /// A folder as it is, all of it durable. Later operations on its files name them by inode number.
    ///
    /// # Panics
    /// When something cannot be read.
    #[must_use]
    pub fn read(folder: &Path) -> Self {
        let mut disk = Self::default();
        walk(folder, "", &mut |path, entry, inode| {
            let name = match entry {
                Entry::Folder => Name::Folder,
                Entry::File(synced) => {
                    let known = disk.by_inode.get(&inode).copied();
                    Name::File(known.unwrap_or_else(|| disk.add_file(inode, synced)))
                }
            };
            disk.names.insert(path, name);
        });
        disk.first_names = disk.names.clone();
        disk
    }

    fn add_file(&mut self, inode: u64, synced: Vec<u8>) -> usize {
        self.files.push(File {
            synced,
            ..File::default()
        });
        self.by_inode.insert(inode, self.files.len() - 1);
        self.files.len() - 1
    }

    /// The next operation happens.
    ///
    /// # Panics
    /// When it cannot have happened after those before: the journal is not what was done.
    pub fn apply(&mut self, operation: &Operation<'a>) {
        match *operation {
            Operation::Started | Operation::Killed => {}
            Operation::Create { path, inode } => {
                let file = self.add_file(inode, Vec::new());
                self.change_names(NameChange::Add(path, Name::File(file)), &[path], Some(file));
            }
            Operation::Write { inode, offset, data } => {
                self.file_mut(inode).pending.push(Change::Write { offset, data });
            }
            Operation::Length { inode, length } => self.file_mut(inode).pending.push(Change::Length(length)),
            Operation::Sync { inode } => {
                let file = self.file_mut(inode);
                file.sync();
                let named = file.named;
                self.durable = self.durable.max(named);
            }
            Operation::SyncFolder { path } => {
                let changed = self.folders.get(path).copied().unwrap_or(0);
                self.durable = self.durable.max(changed);
            }
            Operation::Rename { from, to } => {
                let file = self.file_named(from);
                self.change_names(NameChange::Rename(from, to), &[from, to], file);
            }
            Operation::Link { from, to } => {
                let file = self.file_named(from).expect("a file that is linked is there");
                self.change_names(NameChange::Add(to, Name::File(file)), &[to], Some(file));
            }
            Operation::Unlink { path } => {
                let file = self.file_named(path);
                assert!(file.is_some(), "{path} is removed and was never there");
                self.change_names(NameChange::Remove(path), &[path], file);
            }
            Operation::MakeFolder { path } => {
                self.change_names(NameChange::Add(path, Name::Folder), &[path], None);
                self.folders.insert(path.to_owned(), self.changes.len());
            }
            Operation::RemoveFolder { path } => self.change_names(NameChange::Remove(path), &[path], None),
        }
    }

    fn change_names(&mut self, change: NameChange<'a>, paths: &[&str], file: Option<usize>) {
        change.apply(&mut self.names);
        self.changes.push(change);
        let count = self.changes.len();
        for path in paths {
            self.folders.insert(parent(path).to_owned(), count);
            if self.names.get(*path) == Some(&Name::Folder) {
                self.folders.insert((*path).to_owned(), count);
            }
        }
        if let Some(file) = file {
            self.files[file].named = count;
        }
    }

    fn file_named(&self, path: &str) -> Option<usize> {
        match self.names.get(path) {
            Some(Name::File(file)) => Some(*file),
            _ => None,
        }
    }

    fn file_mut(&mut self, inode: u64) -> &mut File<'a> {
        let file = self
            .by_inode
            .get(&inode)
            .expect("a file is made before it is changed");
        &mut self.files[*file]
    }

    /// The file that an operation names by its inode number, with a name that it has, if it has one.
    ///
    /// # Panics
    /// When there has never been such a file.
    #[must_use]
    pub fn file(&self, inode: u64) -> (Option<&str>, &File<'a>) {
        let file = *self
            .by_inode
            .get(&inode)
            .expect("a file is made before it is changed");
        let path = self.names.iter().find(|(_, name)| **name == Name::File(file));
        (path.map(|(path, _)| path.as_str()), &self.files[file])
    }

    /// What a file holds for sure.
    #[must_use]
    pub fn synced<'d>(file: &'d File<'a>) -> &'d [u8] {
        &file.synced
    }

    /// Everything as it is without a power cut.
    #[must_use]
    pub fn tree(&self) -> Tree {
        self.tree_of(&self.names, File::content)
    }

    /// What is there whatever becomes of the rest: durable names and what was synced.
    #[must_use]
    pub fn surely(&self) -> Tree {
        self.tree_of(&self.names_after(self.durable), |file| file.synced.clone())
    }

    /// So many changes of names are durable, of so many.
    pub(super) fn name_changes(&self) -> (usize, usize) {
        (self.durable, self.changes.len())
    }

    /// The names when so many changes of names have happened.
    pub(super) fn names_after(&self, changes: usize) -> Names {
        let mut names = self.first_names.clone();
        for change in &self.changes[..changes] {
            change.apply(&mut names);
        }
        names
    }

    /// A tree of these names; each file's content is asked for once, however many names it has.
    pub(super) fn tree_of(&self, names: &Names, mut content: impl FnMut(&File<'a>) -> Vec<u8>) -> Tree {
        let mut contents: HashMap<usize, Vec<u8>> = HashMap::new();
        let entries = names.iter().map(|(path, name)| {
            let entry = match name {
                Name::Folder => Entry::Folder,
                Name::File(file) => Entry::File(
                    contents
                        .entry(*file)
                        .or_insert_with(|| content(&self.files[*file]))
                        .clone(),
                ),
            };
            (path.clone(), entry)
        });
        Tree(entries.collect())
    }
}
