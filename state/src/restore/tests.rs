use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use tempfile::TempDir;

use super::*;
use crate::{Registers, StoreOptions};

const CHAIN: [u8; 32] = [9; 32];

/// A state's folder with one register, which says after which block it is.
struct Bench {
    folder: TempDir,
    points: RestorePoints,
}

fn head(number: u32) -> Head {
    let mut id = [7; 20];
    id[..4].copy_from_slice(&number.to_be_bytes());
    Head { number, id }
}

impl Bench {
    fn new() -> Self {
        let folder = TempDir::new().unwrap();
        let points = RestorePoints::in_dir(folder.path().join("restore-points"));
        Self { folder, points }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn registers(&self) -> PathBuf {
        self.path("registers")
    }

    fn open(&self) -> Registers {
        let options = StoreOptions {
            write_buffer_bytes: 64 << 10,
            ..StoreOptions::new(CHAIN)
        };
        Registers::new(Store::open(self.registers(), &options).unwrap()).unwrap()
    }

    /// Commits so many blocks, the last of which is `number`; some of what they write reaches table files.
    fn commit(&self, registers: &mut Registers, number: u32) {
        registers.set(b"block", &number.to_le_bytes()).unwrap();
        for filler in 0..200_u32 {
            let key = [&number.to_le_bytes()[..], &filler.to_le_bytes()].concat();
            registers.set(&key, &[number as u8; 500]).unwrap();
        }
        registers.commit(head(number)).unwrap();
    }

    /// The block that the state is after, by its head and by its register, which must agree.
    fn block(&self) -> u32 {
        let mut registers = self.open();
        let number = registers.head().map_or(0, |head| head.number);
        let stored = registers.get(b"block").unwrap().map(<[u8]>::to_vec);
        assert_eq!(stored, (number > 0).then(|| number.to_le_bytes().to_vec()));
        number
    }

    fn numbers(&self) -> Vec<u32> {
        self.points
            .list()
            .unwrap()
            .iter()
            .map(RestorePoint::number)
            .collect()
    }

    /// A state after block 20 with a restore point of block 10, nothing open.
    fn at_20_with_10() -> (Self, RestorePoint) {
        let bench = Self::new();
        let mut registers = bench.open();
        bench.commit(&mut registers, 10);
        let point = bench.points.keep(registers.store()).unwrap();
        bench.commit(&mut registers, 20);
        (bench, point)
    }
}

fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
    }
}

#[test]
fn a_restored_state_is_the_one_that_was_kept_and_can_be_restored_again() {
    let bench = Bench::new();
    let empty = bench.points.keep(bench.open().store()).unwrap();
    let mut registers = bench.open();
    for number in 1..=9 {
        bench.commit(&mut registers, number);
    }
    let counts = registers.counts().unwrap();
    let digest = registers.store().digest().unwrap();
    let point = bench.points.keep(registers.store()).unwrap();
    assert_eq!(bench.points.keep(registers.store()).unwrap(), point, "kept once");
    for number in 10..=12 {
        bench.commit(&mut registers, number);
    }
    for _ in 0..2 {
        registers = registers.restore(&point).unwrap();
        assert_eq!(registers.head(), Some(head(9)));
        assert_eq!(registers.counts().unwrap(), counts);
        assert_eq!(registers.store().digest().unwrap(), digest);
        // What is written now must not reach into the restore point's files.
        for number in 10..=30 {
            bench.commit(&mut registers, number);
        }
    }
    drop(registers);
    assert_eq!(bench.block(), 30);
    restore(&empty, &bench.registers(), &CHAIN).unwrap();
    assert_eq!(bench.block(), 0);
    assert_eq!(bench.numbers(), [0, 9]);
    let left: Vec<_> = fs::read_dir(bench.folder.path()).unwrap().collect();
    assert_eq!(left.len(), 2, "nothing is left beside the state: {left:?}");
}

#[test]
fn an_interrupted_restore_is_undone_or_finished_at_every_step() {
    // Before it was decided.
    let (bench, point) = Bench::at_20_with_10();
    copy_folder(&point.dir, &bench.path("registers.making"));
    fs::remove_file(bench.path("registers.making/CURRENT")).unwrap();
    let settled = settle(&bench.registers()).unwrap();
    assert_eq!(settled, [Settled::Unfinished(bench.path("registers.making"))]);
    assert_eq!(bench.block(), 20);

    // Decided, nothing moved.
    let (bench, point) = Bench::at_20_with_10();
    swap::prepare(&point, &bench.registers(), &CHAIN).unwrap();
    assert_eq!(bench.block(), 20, "the state is in use until the exchange");
    for entry in fs::read_dir(bench.path("registers.restored")).unwrap() {
        let path = entry.unwrap().path();
        let is_table = path.extension().is_some_and(|end| end == "sst");
        // What RocksDB may write to must not be the restore point's own file.
        assert!(is_table || fs::metadata(&path).unwrap().nlink() == 1, "{path:?}");
    }
    let settled = settle(&bench.registers()).unwrap();
    assert_eq!(settled, [Settled::Finished(bench.registers())]);
    assert_eq!(bench.block(), 10);

    // The old state moved away.
    let (bench, point) = Bench::at_20_with_10();
    swap::prepare(&point, &bench.registers(), &CHAIN).unwrap();
    fs::rename(bench.registers(), bench.path("registers.replaced")).unwrap();
    settle(&bench.registers()).unwrap();
    assert_eq!(bench.block(), 10);

    // The new state in its place, the old one half removed.
    let (bench, point) = Bench::at_20_with_10();
    swap::prepare(&point, &bench.registers(), &CHAIN).unwrap();
    fs::rename(bench.registers(), bench.path("registers.replaced")).unwrap();
    fs::rename(bench.path("registers.restored"), bench.registers()).unwrap();
    fs::remove_file(bench.path("registers.replaced/CURRENT")).unwrap();
    let settled = settle(&bench.registers()).unwrap();
    assert_eq!(settled, [Settled::Replaced(bench.path("registers.replaced"))]);
    assert_eq!(bench.block(), 10);

    // A copy that is gone although the old state was moved for it.
    let (bench, _) = Bench::at_20_with_10();
    fs::rename(bench.registers(), bench.path("registers.replaced")).unwrap();
    let settled = settle(&bench.registers()).unwrap();
    assert_eq!(settled, [Settled::PutBack(bench.registers())]);
    assert_eq!(bench.block(), 20);

    assert_eq!(
        settle(&bench.registers()).unwrap(),
        [],
        "a second pass finds nothing"
    );
}

#[test]
fn what_is_not_the_state_of_its_name_is_refused_and_the_state_stays() {
    let (bench, point) = Bench::at_20_with_10();
    let dir = bench.points.dir().join(name_of(Some(head(11))));
    copy_folder(&point.dir, &dir);
    let other = RestorePoint {
        head: Some(head(11)),
        dir,
    };
    let error = restore(&other, &bench.registers(), &CHAIN).unwrap_err();
    assert!(
        matches!(&error, StateError::DamagedRestorePoint { found, .. } if *found == Some(head(10))),
        "{error}"
    );
    let error = restore(&point, &bench.registers(), &[1; 32]).unwrap_err();
    assert!(matches!(error, StateError::OtherChain { .. }), "{error}");
    fs::remove_file(point.dir.join("CURRENT")).unwrap();
    let error = restore(&point, &bench.registers(), &CHAIN).unwrap_err();
    assert!(matches!(error, StateError::DamagedRestorePoint { .. }), "{error}");
    assert_eq!(settle(&bench.registers()).unwrap(), []);
    assert_eq!(bench.block(), 20);
}

#[test]
fn the_newest_are_kept_and_those_of_a_replaced_state_are_not() {
    let bench = Bench::new();
    let mut registers = bench.open();
    let mut points = Vec::new();
    for number in [10, 20, 30] {
        bench.commit(&mut registers, number);
        points.push(bench.points.keep(registers.store()).unwrap());
        bench.points.keep_newest(points.last().unwrap(), 2).unwrap();
    }
    assert_eq!(bench.numbers(), [20, 30]);
    let mut registers = registers.restore(&points[1]).unwrap();
    bench.commit(&mut registers, 25);
    let new = bench.points.keep(registers.store()).unwrap();
    assert_eq!(bench.numbers(), [20, 25, 30]);
    bench.points.keep_newest(&new, 2).unwrap();
    assert_eq!(bench.numbers(), [20, 25]);
}

#[test]
fn only_unfinished_restore_points_are_removed() {
    let (bench, point) = Bench::at_20_with_10();
    let name = name_of(point.head);
    let unfinished = [".making", ".making.tmp", ".removing"].map(|end| format!("{name}{end}"));
    for name in &unfinished {
        copy_folder(&point.dir, &bench.points.dir().join(name));
    }
    copy_folder(&point.dir, &bench.points.dir().join("mine.making"));
    assert_eq!(bench.numbers(), [10], "what is unfinished is in no list");
    assert_eq!(bench.points.settle().unwrap().len(), 3);
    assert_eq!(bench.points.settle().unwrap(), Vec::<PathBuf>::new());
    assert!(bench.points.dir().join("mine.making").is_dir());
    bench.points.remove(&point).unwrap();
    assert_eq!(bench.numbers(), []);
    assert!(
        RestorePoints::in_dir(bench.path("none"))
            .list()
            .unwrap()
            .is_empty()
    );
}

#[test]
fn one_that_cannot_be_made_leaves_the_store_as_it_was() {
    let bench = Bench::new();
    let mut registers = bench.open();
    bench.commit(&mut registers, 10);
    // A file is where the directory should be.
    fs::write(bench.points.dir(), b"").unwrap();
    let error = bench.points.keep(registers.store()).unwrap_err();
    assert!(matches!(error, StateError::Files { .. }), "{error}");
    bench.commit(&mut registers, 20);
    drop(registers);
    assert_eq!(bench.block(), 20);
}

proptest! {
    #[test]
    fn any_name_is_read_without_a_panic_and_only_its_own_spelling_counts(name in ".{0,60}") {
        if let Some(head) = parse_name(&name) {
            prop_assert_eq!(name_of(head), name);
        }
    }

    #[test]
    fn names_come_back(head in any::<(u32, [u8; 20])>()) {
        let head = (head != (0, [0; 20])).then_some(Head { number: head.0, id: head.1 });
        let name = name_of(head);
        prop_assert_eq!(parse_name(&name), Some(head));
        prop_assert_eq!(parse_name(&format!("0{name}")), None);
    }
}
