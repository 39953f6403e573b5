//! The model of a disk that loses power, against a slow twin: random operations on a handful of files and folders.
//!
//! What this cannot find: an assumption about file systems that is wrong; `power_cut.rs` compares the model with the real
//! folder of each recorded run, where nothing is lost.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::{BTreeMap, BTreeSet};

use cairn_tests::power_cut::{Disk, Entry, Rng, Tree, cut, journal, moment};

/// A file by inode number and generation, or a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Name {
    Folder,
    File(u64, usize),
}

/// Everything as it is at a moment, kept whole.
#[derive(Clone, Debug, Default)]
struct Moment {
    names: BTreeMap<String, Name>,
    contents: BTreeMap<Name, Vec<u8>>,
    /// The operation that led here, for looking back.
    touched: BTreeSet<String>,
    /// The file that it wrote to.
    written: Option<Name>,
    /// What it synced.
    synced: Option<Result<Name, String>>,
    renames_or_makes: bool,
}

impl Moment {
    fn tree(&self) -> Tree {
        let entry = |name: &Name| match name {
            Name::Folder => Entry::Folder,
            file => Entry::File(self.contents[file].clone()),
        };
        Tree(
            self.names
                .iter()
                .map(|(path, name)| (path.clone(), entry(name)))
                .collect(),
        )
    }
}

/// A random history: the journal's bytes, and the world before the first operation, after it, and so on.
struct History {
    bytes: Vec<u8>,
    moments: Vec<Moment>,
    rng: Rng,
    generation: usize,
}

const FOLDERS: [&str; 3] = ["", "a", "a/b"];

impl History {
    fn new(seed: u64, length: usize) -> Self {
        let mut history = Self {
            bytes: Vec::new(),
            moments: vec![Moment::default()],
            rng: Rng::new(seed),
            generation: 0,
        };
        history.folder("a");
        history.folder("a/b");
        while history.moments.len() < length {
            history.step();
        }
        history
    }

    fn now(&self) -> &Moment {
        self.moments.last().unwrap()
    }

    fn record(&mut self, kind: u8, fields: &[Field<'_>]) {
        let mut record = vec![kind];
        for field in fields {
            match field {
                Field::Number(number) => record.extend_from_slice(&number.to_le_bytes()),
                Field::Bytes(bytes) => {
                    record.extend_from_slice(&(bytes.len() as u32).to_le_bytes());
                    record.extend_from_slice(bytes);
                }
            }
        }
        self.bytes.extend_from_slice(&(record.len() as u32).to_le_bytes());
        self.bytes.extend_from_slice(&record);
    }

    fn happens(&mut self, change: impl FnOnce(&mut Moment)) {
        let mut next = Moment {
            touched: BTreeSet::new(),
            written: None,
            synced: None,
            renames_or_makes: false,
            ..self.now().clone()
        };
        change(&mut next);
        self.moments.push(next);
    }

    fn folder(&mut self, path: &str) {
        self.record(b'M', &[Field::Bytes(path.as_bytes())]);
        self.happens(|now| {
            now.names.insert(path.to_owned(), Name::Folder);
            now.touched.insert(path.to_owned());
            now.renames_or_makes = true;
        });
    }

    fn path(&mut self) -> String {
        let folder = FOLDERS[self.rng.below(FOLDERS.len())];
        let name = format!("f{}", self.rng.below(3));
        match folder {
            "" => name,
            folder => format!("{folder}/{name}"),
        }
    }

    /// A file that has a name.
    fn file(&mut self) -> Option<(String, u64, Name)> {
        let files: Vec<(String, u64, Name)> = self
            .now()
            .names
            .iter()
            .filter_map(|(path, name)| match name {
                Name::File(inode, _) => Some((path.clone(), *inode, *name)),
                Name::Folder => None,
            })
            .collect();
        (!files.is_empty()).then(|| files[self.rng.below(files.len())].clone())
    }

    fn step(&mut self) {
        match self.rng.below(14) {
            0 | 1 => self.create(),
            2..=6 => self.write(),
            7 => self.set_length(),
            8 | 9 => self.sync(),
            10 => self.sync_folder(),
            11 => self.rename(),
            12 => self.link(),
            _ => self.unlink(),
        }
    }

    fn create(&mut self) {
        let path = self.path();
        if self.now().names.contains_key(&path) {
            return;
        }
        // A number that no file has now; one that is gone may have had it.
        let used: BTreeSet<u64> = self
            .now()
            .names
            .values()
            .filter_map(|name| match name {
                Name::File(inode, _) => Some(*inode),
                Name::Folder => None,
            })
            .collect();
        let inode = (1..).find(|inode| !used.contains(inode)).unwrap();
        self.generation += 1;
        let name = Name::File(inode, self.generation);
        self.record(b'C', &[Field::Bytes(path.as_bytes()), Field::Number(inode)]);
        self.happens(|now| {
            now.names.insert(path.clone(), name);
            now.contents.insert(name, Vec::new());
            now.touched.insert(path);
            now.renames_or_makes = true;
        });
    }

    fn write(&mut self) {
        let Some((_, inode, name)) = self.file() else {
            return;
        };
        let length = self.now().contents[&name].len();
        let offset = match self.rng.below(4) {
            0 => self.rng.below(length + 1),
            1 => length + self.rng.below(700),
            _ => length,
        };
        let count = self.rng.between(1, 3000);
        let data: Vec<u8> = (0..count).map(|_| self.rng.between(1, 255) as u8).collect();
        self.record(
            b'W',
            &[
                Field::Number(inode),
                Field::Number(offset as u64),
                Field::Bytes(&data),
            ],
        );
        self.happens(|now| {
            let content = now.contents.get_mut(&name).unwrap();
            for (at, byte) in data.into_iter().enumerate() {
                while content.len() <= offset + at {
                    content.push(0);
                }
                content[offset + at] = byte;
            }
            now.written = Some(name);
        });
    }

    fn set_length(&mut self) {
        let Some((_, inode, name)) = self.file() else {
            return;
        };
        let length = self.rng.below(6000);
        self.record(b'T', &[Field::Number(inode), Field::Number(length as u64)]);
        self.happens(|now| {
            now.contents.get_mut(&name).unwrap().resize(length, 0);
            now.written = Some(name);
        });
    }

    fn sync(&mut self) {
        let Some((_, inode, name)) = self.file() else {
            return;
        };
        self.record(b'S', &[Field::Number(inode)]);
        self.happens(|now| now.synced = Some(Ok(name)));
    }

    fn sync_folder(&mut self) {
        let folder = FOLDERS[self.rng.below(FOLDERS.len())];
        self.record(b'G', &[Field::Bytes(folder.as_bytes())]);
        self.happens(|now| now.synced = Some(Err(folder.to_owned())));
    }

    fn rename(&mut self) {
        let (Some((from, _, name)), to) = (self.file(), self.path()) else {
            return;
        };
        // Two names of one file: rename does nothing then.
        if self.now().names.get(&to) == Some(&name) {
            return;
        }
        self.record(
            b'R',
            &[Field::Bytes(from.as_bytes()), Field::Bytes(to.as_bytes())],
        );
        self.happens(|now| {
            now.names.remove(&from);
            now.names.insert(to.clone(), name);
            now.touched.extend([from, to]);
            now.renames_or_makes = true;
        });
    }

    fn link(&mut self) {
        let (Some((from, _, name)), to) = (self.file(), self.path()) else {
            return;
        };
        if self.now().names.contains_key(&to) {
            return;
        }
        self.record(
            b'L',
            &[Field::Bytes(from.as_bytes()), Field::Bytes(to.as_bytes())],
        );
        self.happens(|now| {
            now.names.insert(to.clone(), name);
            now.touched.insert(to);
            now.renames_or_makes = true;
        });
    }

    fn unlink(&mut self) {
        let Some((path, ..)) = self.file() else { return };
        self.record(b'U', &[Field::Bytes(path.as_bytes())]);
        self.happens(|now| {
            now.names.remove(&path);
            now.touched.insert(path);
            now.renames_or_makes = true;
        });
    }

    fn sync_all(&mut self) {
        let files: Vec<Name> = self.now().names.values().copied().collect();
        for name in files {
            if let Name::File(inode, _) = name {
                self.record(b'S', &[Field::Number(inode)]);
                self.happens(|now| now.synced = Some(Ok(name)));
            }
        }
        for folder in FOLDERS {
            self.record(b'G', &[Field::Bytes(folder.as_bytes())]);
            self.happens(|now| now.synced = Some(Err(folder.to_owned())));
        }
    }

    /// The first moment whose names a cut after `end` operations may leave: names are durable in their order, up to the
    /// last change that concerns something that was synced later.
    fn first_names(&self, end: usize) -> usize {
        let mut first = 0;
        for (at, moment) in self.moments[..=end].iter().enumerate() {
            let Some(synced) = &moment.synced else { continue };
            let concerns = |past: usize| {
                let (before, change) = (&self.moments[past - 1], &self.moments[past]);
                change.renames_or_makes
                    && change.touched.iter().any(|path| match synced {
                        Ok(name) => {
                            let now = change.names.get(path);
                            now == Some(name) || now.is_none() && before.names.get(path) == Some(name)
                        }
                        Err(folder) => {
                            path.rsplit_once('/').map_or("", |(parent, _)| parent) == folder || path == folder
                        }
                    })
            };
            if let Some(last) = (1..=at).rev().find(|past| concerns(*past)) {
                first = first.max(last);
            }
        }
        first
    }

    /// What a file must hold after a cut: known if it was not changed since it was last synced.
    fn certain(&self, name: Name, end: usize) -> Option<&Vec<u8>> {
        let changed = (0..=end).rev().find(|at| self.moments[*at].written == Some(name));
        let synced = (0..=end)
            .rev()
            .find(|at| self.moments[*at].synced == Some(Ok(name)));
        match (changed, synced) {
            (None, _) => self.moments[end].contents.get(&name),
            (Some(changed), Some(synced)) if synced > changed => self.moments[end].contents.get(&name),
            _ => None,
        }
    }
}

enum Field<'a> {
    Number(u64),
    Bytes(&'a [u8]),
}

#[test]
fn without_a_cut_the_tree_is_what_was_done() {
    for seed in 0..40 {
        let history = History::new(seed, 60);
        let operations = journal::parse(&history.bytes);
        assert_eq!(operations.len() + 1, history.moments.len());
        let mut disk = Disk::default();
        for (operation, moment) in operations.iter().zip(&history.moments[1..]) {
            disk.apply(operation);
            let difference = disk.tree().difference(&moment.tree());
            assert_eq!(difference, None, "seed {seed}, {operation:?}");
        }
    }
}

#[test]
fn what_is_synced_as_a_whole_is_there_as_a_whole() {
    for seed in 0..40 {
        let mut history = History::new(seed, 60);
        history.sync_all();
        let operations = journal::parse(&history.bytes);
        let mut disk = Disk::default();
        operations.iter().for_each(|operation| disk.apply(operation));
        for luck in 0..20 {
            let difference = cut(&disk, &mut Rng::new(luck)).difference(&history.now().tree());
            assert_eq!(difference, None, "seed {seed}, luck {luck}");
        }
    }
}

#[test]
fn a_cut_keeps_what_was_synced_and_names_in_their_order() {
    let (mut kept, mut torn) = (0, 0);
    for seed in 0..300 {
        let history = History::new(seed, 60);
        let operations = journal::parse(&history.bytes);
        let mut rng = Rng::new(seed);
        let end = moment(&operations, &mut rng);
        let mut disk = Disk::default();
        operations[..end]
            .iter()
            .for_each(|operation| disk.apply(operation));
        let found = cut(&disk, &mut rng);
        let names: Vec<&String> = found.0.keys().collect();
        // Several moments may have equal names, of different files; one of them must explain everything.
        let explained = (history.first_names(end)..=end).any(|at| {
            let moment = &history.moments[at];
            moment.names.keys().collect::<Vec<_>>() == names
                && found
                    .0
                    .iter()
                    .all(|(path, entry)| match (moment.names[path], entry) {
                        (Name::Folder, entry) => *entry == Entry::Folder,
                        (name, Entry::File(bytes)) => {
                            history.certain(name, end).is_none_or(|certain| certain == bytes)
                        }
                        _ => false,
                    })
        });
        assert!(explained, "seed {seed}, cut after {end}: {names:?}");
        for (path, entry) in &found.0 {
            let (Some(name), Entry::File(bytes)) = (history.moments[end].names.get(path), entry) else {
                continue;
            };
            let whole = history.moments[..=end]
                .iter()
                .any(|moment| moment.contents.get(name) == Some(bytes));
            *if whole { &mut kept } else { &mut torn } += 1;
        }
    }
    assert!(
        kept > 300 && torn > 100,
        "{kept} whole files, {torn} torn ones: the cuts are too kind or too cruel"
    );
}
