//! Random walks of the engine beside a slow twin that cannot be wrong: ordered maps, copied whole.
#![allow(clippy::unwrap_used, missing_docs, reason = "tests")]

mod common;

use std::collections::{BTreeMap, VecDeque};

use cairn_state::{Counts, Head, Registers, StateError, Store};
use proptest::prelude::*;

type Map = BTreeMap<Vec<u8>, Vec<u8>>;

#[derive(Debug, Clone, Default, PartialEq)]
struct Twin {
    registers: Map,
    local: Map,
    head: Option<Head>,
}

impl Twin {
    fn counts(&self) -> Counts {
        let bytes = self
            .registers
            .iter()
            .map(|(key, value)| key.len() + value.len())
            .sum::<usize>();
        Counts {
            registers: self.registers.len() as u64,
            bytes: bytes as u64,
        }
    }

    fn digest(&self) -> [u8; 32] {
        let mut by_path: Vec<_> = self
            .registers
            .iter()
            .map(|(key, value)| (blake3::hash(key), key, value))
            .collect();
        by_path.sort_by_key(|(path, ..)| *path.as_bytes());
        let mut all = Vec::new();
        for (_, key, value) in by_path {
            all.extend((key.len() as u32).to_le_bytes());
            all.extend(key);
            all.extend((value.len() as u32).to_le_bytes());
            all.extend(value);
        }
        *blake3::hash(&all).as_bytes()
    }

    fn check_store(&self, store: &Store) {
        assert_eq!(store.head(), self.head);
        assert_eq!(store.counts(), self.counts());
        let digest = store.digest().unwrap();
        assert_eq!(digest.digest, self.digest());
        assert_eq!(
            Counts {
                registers: digest.registers,
                bytes: digest.bytes
            },
            self.counts()
        );

        let mut scanned = Vec::new();
        store
            .scan(|key, value| scanned.push((key.to_vec(), value.to_vec())))
            .unwrap();
        assert!(scanned.is_sorted_by_key(|(key, _)| *blake3::hash(key).as_bytes()));
        assert_eq!(scanned.into_iter().collect::<Map>(), self.registers);
        for (key, value) in &self.registers {
            assert_eq!(store.get(key).unwrap().as_ref(), Some(value));
        }
        // All at once, with repeats, in another order than the paths', and some that are not there.
        let mut keys: Vec<Vec<u8>> = self.registers.keys().rev().cloned().collect();
        keys.extend(keys.clone());
        keys.extend((0..6).map(|length| vec![length; usize::from(length)]));
        check_many(store.get_many(&keys).unwrap().iter(), &keys, &self.registers);

        for prefix in [&b""[..], b"\x01", b"\xff", b"\xff\xff"] {
            let mut found = Vec::new();
            store
                .scan_local(prefix, |key, value| found.push((key.to_vec(), value.to_vec())))
                .unwrap();
            assert!(found.is_sorted());
            let expected = self
                .local
                .clone()
                .into_iter()
                .filter(|(key, _)| key.starts_with(prefix));
            assert_eq!(found, expected.collect::<Vec<_>>(), "prefix {prefix:?}");
        }
    }
}

/// A batch read gives what a look into the map gives for each key.
fn check_many<'a>(found: impl ExactSizeIterator<Item = Option<&'a [u8]>>, keys: &[Vec<u8>], registers: &Map) {
    assert_eq!(found.len(), keys.len());
    for (found, key) in found.zip(keys) {
        assert_eq!(found, registers.get(key).map(Vec::as_slice), "{key:?}");
    }
}

#[derive(Debug, Clone)]
enum Step {
    Get(Vec<u8>),
    GetMany(Vec<Vec<u8>>),
    Set(Vec<u8>, Vec<u8>),
    Remove(Vec<u8>),
    LocalPut(Vec<u8>, Vec<u8>),
    LocalDelete(Vec<u8>),
    Begin,
    Accept,
    AcceptWithSession,
    Undo,
    UndoSession,
    DropOldestSession,
    Commit,
    Reopen,
}

/// Few keys, so that steps meet; some long enough for a two-byte length.
fn key() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        8 => (0..12_u8).prop_map(|number| vec![number; usize::from(number % 4)]),
        1 => (126..130_usize).prop_map(|length| vec![7; length]),
    ]
}

/// Lengths that repeat, so that values are overwritten in place too.
fn value() -> impl Strategy<Value = Vec<u8>> {
    (
        0..4_u8,
        prop_oneof![Just(0_usize), Just(1), Just(8), Just(8), Just(8), Just(200)],
    )
        .prop_map(|(byte, length)| vec![byte; length])
}

fn local_key() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(prop_oneof![Just(0_u8), Just(1), Just(255)], 0..3)
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => key().prop_map(Step::Get),
        6 => prop::collection::vec(key(), 0..40).prop_map(Step::GetMany),
        12 => (key(), value()).prop_map(|(key, value)| Step::Set(key, value)),
        4 => key().prop_map(Step::Remove),
        4 => (local_key(), value()).prop_map(|(key, value)| Step::LocalPut(key, value)),
        2 => local_key().prop_map(Step::LocalDelete),
        5 => Just(Step::Begin),
        4 => Just(Step::Accept),
        6 => Just(Step::AcceptWithSession),
        4 => Just(Step::Undo),
        3 => Just(Step::UndoSession),
        3 => Just(Step::DropOldestSession),
        2 => Just(Step::Commit),
        1 => Just(Step::Reopen),
    ]
}

fn walk(steps: Vec<Step>, cache_bytes: usize) {
    let dir = tempfile::tempdir().unwrap();
    let mut options = common::small();
    options.register_cache_bytes = cache_bytes;
    let open = || Registers::new(Store::open(dir.path(), &options).unwrap()).unwrap();
    let mut registers = open();
    let (mut twin, mut durable) = (Twin::default(), Twin::default());
    let mut before: Option<Twin> = None;
    // The states before the blocks that can be taken back.
    let mut sessions: VecDeque<Twin> = VecDeque::new();
    let mut number = 0;

    for step in steps.into_iter().chain([Step::Accept, Step::Commit]) {
        let changes = matches!(
            step,
            Step::Set(..) | Step::Remove(_) | Step::LocalPut(..) | Step::LocalDelete(_)
        );
        if changes && before.is_none() && !sessions.is_empty() {
            let refused = registers.set(b"outside", b"of a block").unwrap_err();
            assert!(matches!(refused, StateError::OutsideBlock), "{refused}");
            let refused = registers.local_put(b"outside", b"of a block").unwrap_err();
            assert!(matches!(refused, StateError::OutsideBlock), "{refused}");
            continue;
        }
        match step {
            Step::Get(key) => {
                assert_eq!(
                    registers.get(&key).unwrap(),
                    twin.registers.get(&key).map(Vec::as_slice)
                );
            }
            Step::GetMany(keys) => {
                check_many(registers.get_many(&keys).unwrap().iter(), &keys, &twin.registers);
            }
            Step::Set(key, value) => {
                registers.set(&key, &value).unwrap();
                if value.is_empty() {
                    twin.registers.remove(&key);
                } else {
                    twin.registers.insert(key, value);
                }
            }
            Step::Remove(key) => {
                registers.remove(&key).unwrap();
                twin.registers.remove(&key);
            }
            Step::LocalPut(key, value) => {
                registers.local_put(&key, &value).unwrap();
                twin.local.insert(key, value);
            }
            Step::LocalDelete(key) => {
                registers.local_delete(&key).unwrap();
                twin.local.remove(&key);
            }
            Step::Begin => {
                assert_eq!(registers.begin_block().is_ok(), before.is_none());
                before.get_or_insert_with(|| twin.clone());
            }
            Step::Accept => {
                registers.accept_block();
                let before = before.take().filter(|_| !sessions.is_empty());
                sessions.extend(before);
            }
            Step::AcceptWithSession => {
                registers.accept_block_with_session();
                sessions.extend(before.take());
            }
            Step::UndoSession if before.is_some() => {
                assert!(matches!(registers.undo_session(), Err(StateError::BlockOpen)));
            }
            Step::UndoSession => {
                let last = sessions.pop_back();
                assert_eq!(registers.undo_session().unwrap(), last.is_some());
                let head = twin.head;
                twin = Twin {
                    head,
                    ..last.unwrap_or(twin)
                };
            }
            Step::DropOldestSession => {
                assert_eq!(registers.drop_oldest_session(), sessions.pop_front().is_some());
            }
            Step::Undo => {
                registers.undo_block();
                if let Some(before) = before.take() {
                    twin = before;
                }
            }
            Step::Commit if before.is_some() => {
                assert!(registers.commit(Head { number, id: [1; 20] }).is_err());
            }
            Step::Commit => {
                number += 1;
                let head = Head {
                    number,
                    id: [number as u8; 20],
                };
                registers.commit(head).unwrap();
                twin.head = Some(head);
                durable = Twin {
                    head: twin.head,
                    ..sessions.front().unwrap_or(&twin).clone()
                };
                if sessions.is_empty() {
                    assert_eq!((registers.dirty_count(), registers.dirty_bytes()), (0, 0));
                }
                assert!(registers.cache_stats().clean_bytes <= cache_bytes);
                durable.check_store(registers.store());
            }
            Step::Reopen => {
                drop(registers);
                registers = open();
                before = None;
                sessions.clear();
                twin = durable.clone();
            }
        }
        assert_eq!(registers.counts().unwrap(), twin.counts());
        assert_eq!(registers.in_block(), before.is_some());
        assert_eq!(registers.sessions(), sessions.len());
        assert_eq!(
            registers.session_bytes() > 0,
            registers.session_bytes() > 0 && !sessions.is_empty()
        );
        if twin == durable && before.is_none() && sessions.is_empty() && registers.dirty_bytes() == 0 {
            assert_eq!(registers.dirty_count(), 0);
        }
    }
    for (key, value) in &twin.registers {
        assert_eq!(registers.get(key).unwrap(), Some(&value[..]));
    }
}

proptest! {
    // Each case creates a database and syncs it several times, so they are few and long.
    #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]

    #[test]
    fn the_engine_does_as_its_twin(steps in prop::collection::vec(step(), 1..250)) {
        walk(steps, 1 << 20);
    }

    #[test]
    fn so_it_does_when_hardly_anything_is_cached(steps in prop::collection::vec(step(), 1..250)) {
        walk(steps, 300);
    }
}

#[test]
fn a_failed_block_leaves_no_trace() {
    let dir = tempfile::tempdir().unwrap();
    let mut registers = common::open(dir.path());
    registers.set(b"stored", b"in the store").unwrap();
    registers.local_put(b"stored", b"locally").unwrap();
    registers.commit(common::whole::head(1)).unwrap();
    registers.set(b"pending", b"not in the store yet").unwrap();
    let before = (
        registers.counts().unwrap(),
        registers.dirty_count(),
        registers.dirty_bytes(),
    );

    registers.begin_block().unwrap();
    registers.set(b"stored", b"changed").unwrap();
    registers.remove(b"stored").unwrap();
    registers.remove(b"pending").unwrap();
    registers.set(b"new", b"value").unwrap();
    registers.local_put(b"stored", b"changed").unwrap();
    registers.local_delete(b"stored").unwrap();
    registers.local_put(b"new", b"").unwrap();
    registers.undo_block();

    assert_eq!(
        (
            registers.counts().unwrap(),
            registers.dirty_count(),
            registers.dirty_bytes()
        ),
        before
    );
    assert_eq!(registers.get(b"stored").unwrap(), Some(&b"in the store"[..]));
    assert_eq!(
        registers.get(b"pending").unwrap(),
        Some(&b"not in the store yet"[..])
    );
    assert_eq!(registers.get(b"new").unwrap(), None);
    let stats = registers.commit(common::whole::head(2)).unwrap();
    assert_eq!(
        (
            stats.registers_written,
            stats.registers_removed,
            stats.local_changes
        ),
        (1, 0, 0)
    );
}

#[test]
fn what_comes_and_goes_between_commits_is_not_written() {
    let dir = tempfile::tempdir().unwrap();
    let mut registers = common::open(dir.path());
    registers.set(b"short-lived", b"value").unwrap();
    registers.remove(b"short-lived").unwrap();
    registers.set(b"kept", b"value").unwrap();
    let stats = registers.commit(common::whole::head(1)).unwrap();
    assert_eq!((stats.registers_written, stats.registers_removed), (1, 0));

    registers.set(b"kept", b"value").unwrap();
    assert_eq!(registers.dirty_count(), 0, "the same value is not a change");
    registers.remove(b"kept").unwrap();
    let stats = registers.commit(common::whole::head(2)).unwrap();
    assert_eq!((stats.registers_written, stats.registers_removed), (0, 1));
    assert_eq!(registers.counts().unwrap(), Counts::default());
}

#[test]
fn limits_are_exact() {
    use cairn_state::{MAX_KEY_BYTES, MAX_VALUE_BYTES, StateError};
    let dir = tempfile::tempdir().unwrap();
    let mut registers = common::open(dir.path());
    let (key, value) = (vec![1; MAX_KEY_BYTES], vec![2; MAX_VALUE_BYTES]);
    registers.set(&key, &value).unwrap();
    registers.commit(common::whole::head(1)).unwrap();
    let store = registers.into_store();
    assert_eq!(store.get(&key).unwrap(), Some(value));
    assert_eq!(store.digest().unwrap().registers, 1);

    let mut registers = Registers::new(store).unwrap();
    let long = registers.set(&vec![1; MAX_KEY_BYTES + 1], b"v").unwrap_err();
    assert!(matches!(long, StateError::KeyTooLong { length } if length == MAX_KEY_BYTES + 1));
    let long = registers.set(b"k", &vec![1; MAX_VALUE_BYTES + 1]).unwrap_err();
    assert!(matches!(long, StateError::ValueTooLong { length } if length == MAX_VALUE_BYTES + 1));
}
