//! The register trie against its slow twin, over random walks whose paths share prefixes of chosen lengths.
//!
//! Each walk is gone three times: in place; with a root held at every step, so that every touched node is copied;
//! and with holds that come and go at random. What these tests cannot find: an interior node that is torn by
//! updates and reads at once in a way that needs more than two threads, and what only happens above 2^31 nodes.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "common/slow_trie.rs"]
mod slow_trie;

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use cairn_state::Path;
use cairn_state::trie::{
    DuplicatePath, HeldRoot, Lanes, Leaf, LeafBatch, LeafChange, NodeHash, NotAscending, Trie, ValueHash,
    Way, scheme,
};
use proptest::collection::vec;
use proptest::prelude::*;

/// The registers as a map: hash of the value, and bytes.
type Model = BTreeMap<[u8; 32], ([u8; 32], u32)>;

/// One change of the walk: a path, and a value's number with a size, or a removal.
type Change = ([u8; 32], Option<(u8, u32)>);

fn twin_root(model: &Model) -> NodeHash {
    let registers: Vec<_> = model.iter().map(|(&path, &(value, _))| (path, value)).collect();
    NodeHash::from_bytes(slow_trie::root(&registers, 0))
}

fn leaf(path: [u8; 32], value: [u8; 32], bytes: u32) -> Leaf {
    Leaf {
        hash: scheme::leaf(&Path::from_bytes(path), &ValueHash::from_bytes(value)),
        bytes: NonZeroU32::new(bytes).unwrap(),
    }
}

fn changes(batch: &BTreeMap<[u8; 32], Option<(u8, u32)>>) -> Vec<LeafChange> {
    // The order of hashes, so that the trie has something to sort.
    let mut changes: Vec<_> = batch
        .iter()
        .map(|(&path, change)| LeafChange {
            path: Path::from_bytes(path),
            leaf: change.map(|(value, bytes)| leaf(path, [value; 32], bytes)),
        })
        .collect();
    changes.sort_by_key(|change| *blake3::hash(change.path.as_bytes()).as_bytes());
    changes
}

fn apply(model: &mut Model, batch: &BTreeMap<[u8; 32], Option<(u8, u32)>>) {
    for (&path, change) in batch {
        match change {
            Some((value, bytes)) => {
                model.insert(path, ([*value; 32], *bytes));
            }
            None => {
                model.remove(&path);
            }
        }
    }
}

fn leaves_of(model: &Model) -> Vec<(Path, Leaf)> {
    let leaves = model
        .iter()
        .map(|(&path, &(value, bytes))| (Path::from_bytes(path), leaf(path, value, bytes)));
    leaves.collect()
}

fn sums(model: &Model) -> (u64, u64) {
    (
        model.len() as u64,
        model.values().map(|(_, bytes)| u64::from(*bytes)).sum(),
    )
}

/// `like`, except that it differs in bit `bit` and, behind it, by `seed`.
fn diverge(like: [u8; 32], bit: usize, seed: u8) -> [u8; 32] {
    let mut path = like;
    path[bit / 8] ^= 0x80 >> (bit % 8);
    for byte in &mut path[bit / 8 + 1..] {
        *byte ^= seed;
    }
    path
}

/// Paths that share 0, 1, 7, 8, 15, 31 or 255 bits with another one, or any number.
fn pool() -> impl Strategy<Value = Vec<[u8; 32]>> {
    let edge = prop_oneof![
        prop::sample::select(vec![0_usize, 1, 3, 4, 5, 6, 7, 8, 15, 31, 254, 255]),
        0..256_usize
    ];
    let step = (any::<prop::sample::Index>(), edge, any::<u8>());
    (any::<[u8; 32]>(), vec(step, 1..40)).prop_map(|(first, steps)| {
        let mut pool = vec![first];
        for (of, bit, seed) in steps {
            pool.push(diverge(pool[of.index(pool.len())], bit, seed));
        }
        pool.sort_unstable();
        pool.dedup();
        pool
    })
}

#[derive(Debug, Clone)]
struct Step {
    batch: BTreeMap<[u8; 32], Option<(u8, u32)>>,
    hold: bool,
    release: Option<prop::sample::Index>,
}

fn walk() -> impl Strategy<Value = (Vec<[u8; 32]>, Vec<Step>)> {
    pool().prop_flat_map(|pool| {
        let value = prop_oneof![2 => (0..4_u8, 1..4_u32).prop_map(Some), 1 => Just(None)];
        let change = (prop::sample::select(pool.clone()), value);
        let step = (
            vec(change, 0..20),
            any::<bool>(),
            any::<Option<prop::sample::Index>>(),
        );
        let step = step.prop_map(|(batch, hold, release): (Vec<Change>, _, _)| Step {
            batch: batch.into_iter().collect(),
            hold,
            release,
        });
        (Just(pool), vec(step, 1..25))
    })
}

/// That the way along a path proves what the model says.
fn check_way(way: &Way, path: [u8; 32], model: &Model, root: NodeHash) {
    let path = Path::from_bytes(path);
    assert_eq!(
        scheme::root_above(&path, way.end_hash(), &way.siblings),
        Some(root)
    );
    let expected = model.get(path.as_bytes());
    match way.end {
        Some((found, end)) if found == path => {
            let &(value, bytes) = expected.unwrap();
            assert_eq!(end, leaf(*path.as_bytes(), value, bytes));
        }
        other => {
            assert_eq!(expected, None);
            if let Some((found, _)) = other {
                let shared =
                    (0..way.siblings.len()).all(|bit| scheme::bit(&found, bit) == scheme::bit(&path, bit));
                assert!(shared, "{found} is not on the way along {path}");
            }
        }
    }
}

fn check_held(held: &HeldRoot, model: &Model) {
    assert_eq!(held.root(), twin_root(model));
    assert_eq!((held.counts().registers, held.counts().bytes), sums(model));
    assert_eq!(held.leaves().collect::<Vec<_>>(), leaves_of(model));
}

fn check(trie: &Trie, pool: &[[u8; 32]], model: &Model) {
    assert_eq!(trie.root(), twin_root(model));
    assert_eq!((trie.counts().registers, trie.counts().bytes), sums(model));
    assert_eq!(trie.leaves().collect::<Vec<_>>(), leaves_of(model));
    for &path in pool {
        let expected = model.get(&path).map(|&(value, bytes)| leaf(path, value, bytes));
        assert_eq!(trie.leaf(&Path::from_bytes(path)), expected);
        check_way(&trie.way(&Path::from_bytes(path)), path, model, trie.root());
    }
}

/// That a trie has no more nodes than one that is made of its registers alone.
fn check_no_leak(trie: &Trie, model: &Model) {
    let fresh = Trie::from_sorted(leaves_of(model)).unwrap();
    assert_eq!(fresh.root(), trie.root());
    let (fresh, walked) = (fresh.memory(), trie.memory());
    assert_eq!((fresh.interiors, fresh.leaves), (walked.interiors, walked.leaves));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn every_way_of_updating_gives_the_twins_root_and_leaks_nothing((pool, steps) in walk()) {
        let mut model = Model::new();
        let (mut in_place, mut copying, mut mixed) = (Trie::new(), Trie::new(), Trie::new());
        in_place.set_lanes(Lanes::one());
        let mut holds: Vec<(HeldRoot, Model)> = Vec::new();
        let mut previous = copying.hold();
        for Step { batch, hold, release } in &steps {
            let before = model.clone();
            apply(&mut model, batch);
            let changes = changes(batch);

            let stats = in_place.update(&changes).unwrap();
            check(&in_place, &pool, &model);
            let ((registers, bytes), (old_registers, old_bytes)) = (sums(&model), sums(&before));
            prop_assert_eq!(stats.registers, registers as i64 - old_registers as i64);
            prop_assert_eq!(stats.bytes, bytes as i64 - old_bytes as i64);

            let held = copying.hold();
            prop_assert_eq!(copying.update(&changes).unwrap(), stats);
            check(&copying, &[], &model);
            check_held(&held, &before);
            previous = held;

            if *hold {
                holds.push((mixed.hold(), before.clone()));
            }
            // There and back and there again.
            let mut exchanged = changes.clone();
            prop_assert_eq!(mixed.exchange(&mut exchanged).unwrap(), stats);
            mixed.exchange(&mut exchanged).unwrap();
            check(&mixed, &[], &before);
            mixed.exchange(&mut exchanged).unwrap();
            check(&mixed, &[], &model);
            for (held, then) in &holds {
                check_held(held, then);
                for &path in &pool {
                    check_way(&held.way(&Path::from_bytes(path)), path, then, held.root());
                }
            }
            if let Some(which) = release && !holds.is_empty() {
                holds.swap_remove(which.index(holds.len()));
            }
        }
        check_no_leak(&in_place, &model);
        drop(previous);
        check_no_leak(&copying, &model);
        drop(holds);
        check_no_leak(&mixed, &model);
    }

    #[test]
    fn pairs_that_part_at_any_bit(first in any::<[u8; 32]>(), bit in 0..256_usize, seed in any::<u8>()) {
        let second = diverge(first, bit, seed);
        let mut trie = Trie::new();
        let mut model = Model::new();
        for batch in [
            BTreeMap::from([(first, Some((1, 7)))]),
            BTreeMap::from([(second, Some((2, 9)))]),
            BTreeMap::from([(first, None)]),
            BTreeMap::from([(first, Some((3, 1))), (second, None)]),
            BTreeMap::from([(first, Some((3, 2))), (second, Some((4, 4)))]),
            BTreeMap::from([(first, None), (second, None)]),
        ] {
            trie.update(&changes(&batch)).unwrap();
            apply(&mut model, &batch);
            check(&trie, &[first, second], &model);
        }
        prop_assert_eq!(trie.root(), NodeHash::EMPTY);
        prop_assert_eq!((trie.memory().interiors, trie.memory().leaves), (0, 0));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    /// As many nodes as an updated trie has, too, and it goes on like one.
    #[test]
    fn leaves_in_order_make_the_twins_trie(pool in pool(), again in any::<prop::sample::Index>()) {
        let mut model: Model = pool.iter().map(|&path| (path, ([path[31]; 32], 1 + u32::from(path[0])))).collect();
        let mut built = Trie::from_sorted(leaves_of(&model)).unwrap();
        check(&built, &pool, &model);
        let mut updated = Trie::new();
        let batch = pool.iter().map(|&path| (path, Some((path[31], 1 + u32::from(path[0])))));
        updated.update(&changes(&batch.collect())).unwrap();
        let (one, other) = (built.memory(), updated.memory());
        prop_assert_eq!((one.interiors, one.leaves), (other.interiors, other.leaves));
        let batch = BTreeMap::from([(pool[again.index(pool.len())], None), ([1; 32], Some((1, 1)))]);
        built.update(&changes(&batch)).unwrap();
        apply(&mut model, &batch);
        check(&built, &pool, &model);
    }
}

#[test]
fn many_leaves_in_order_make_the_twins_trie() {
    let mut model = Model::new();
    apply(&mut model, &numbered(0..100_000, 1));
    let trie = Trie::from_sorted(leaves_of(&model)).unwrap();
    check(&trie, &[], &model);
    assert_eq!(Trie::from_sorted([]).unwrap().root(), NodeHash::EMPTY);
}

/// Registers with paths that look random, by number.
fn numbered(numbers: std::ops::Range<u32>, value: u8) -> BTreeMap<[u8; 32], Option<(u8, u32)>> {
    let path = |number: u32| *blake3::hash(&number.to_le_bytes()).as_bytes();
    numbers
        .map(|number| (path(number), Some((value, 1 + number % 99))))
        .collect()
}

#[test]
fn large_batches_in_any_number_of_threads_give_the_twins_root() {
    let mut batches = vec![numbered(0..20_000, 1), numbered(10_000..25_000, 2)];
    let removed: BTreeMap<_, _> = numbered(5_000..15_000, 0)
        .into_keys()
        .map(|path| (path, None))
        .collect();
    batches.push(removed);
    let mut model = Model::new();
    let mut tries = [1, 2, 5].map(|threads| {
        let mut trie = Trie::new();
        trie.set_threads(threads);
        trie
    });
    for batch in batches {
        apply(&mut model, &batch);
        for trie in &mut tries {
            trie.update(&changes(&batch)).unwrap();
            check(trie, &[], &model);
        }
    }
    check_no_leak(&tries[1], &model);
}

#[test]
fn a_held_root_is_read_in_another_thread_while_the_trie_goes_on() {
    let mut trie = Trie::new();
    let first = numbered(0..5_000, 1);
    trie.update(&changes(&first)).unwrap();
    let mut model = Model::new();
    apply(&mut model, &first);
    let held = trie.hold();
    std::thread::scope(|scope| {
        let reader = scope.spawn(|| {
            for _ in 0..20 {
                check_held(&held, &model);
            }
        });
        let mut value = 2;
        while !reader.is_finished() {
            trie.update(&changes(&numbered(0..3_000, value))).unwrap();
            value = value.wrapping_add(1);
        }
        reader.join().unwrap();
    });
    // The trie may go before what is held of it.
    drop(trie);
    check_held(&held, &model);
}

#[test]
fn exactly_the_touched_nodes_are_copied() {
    let mut trie = Trie::new();
    trie.update(&changes(&numbered(0..1_000, 1))).unwrap();
    let before = trie.memory();
    let held = trie.hold();
    let (&path, _) = numbered(0..1, 2)
        .iter()
        .next()
        .map(|(path, change)| (path, *change))
        .unwrap();
    // Another value of the same size: all interior nodes of its way, and no leaf.
    let way = trie.way(&Path::from_bytes(path)).siblings.len() as u64;
    let above = 5;
    for value in 2..9 {
        trie.update(&changes(&numbered(0..1, value))).unwrap();
        assert_eq!(trie.memory().interiors, before.interiors + way - above);
        assert_eq!(trie.memory().leaves, before.leaves);
    }
    // Another size: the leaf too, once.
    for bytes in 200..203 {
        trie.update(&changes(&BTreeMap::from([(path, Some((9, bytes)))])))
            .unwrap();
        assert_eq!(trie.memory().leaves, before.leaves + 1);
    }
    drop(held);
    assert_eq!(
        (trie.memory().interiors, trie.memory().leaves),
        (before.interiors, before.leaves)
    );
}

#[test]
fn one_register_twice_in_a_batch_is_refused_and_changes_nothing() {
    let mut trie = Trie::new();
    trie.update(&changes(&numbered(0..10, 1))).unwrap();
    let root = trie.root();
    let mut twice = changes(&numbered(5..15, 2));
    twice.push(LeafChange {
        leaf: None,
        ..twice[3]
    });
    let path = twice[3].path;
    assert_eq!(trie.update(&twice), Err(DuplicatePath { path }));
    let given = twice.clone();
    assert_eq!(trie.exchange(&mut twice), Err(DuplicatePath { path }));
    assert_eq!(twice, given);
    twice.sort_by_key(|change| change.path);
    assert_eq!(trie.update(&twice), Err(DuplicatePath { path }));
    assert_eq!(trie.root(), root);
}

#[test]
fn leaves_out_of_order_are_refused() {
    let model = {
        let mut model = Model::new();
        apply(&mut model, &numbered(0..3, 1));
        leaves_of(&model)
    };
    let [a, b, c] = model[..] else { panic!() };
    let refused =
        |leaves: &[(Path, Leaf)]| Trie::from_sorted(leaves.iter().copied()).map(|_| ()).unwrap_err();
    assert_eq!(
        refused(&[a, c, b]),
        NotAscending {
            path: b.0,
            before: c.0
        }
    );
    assert_eq!(
        refused(&[a, b, b, c]),
        NotAscending {
            path: b.0,
            before: b.0
        }
    );
}

#[test]
fn the_lowest_height_is_that_of_the_deepest_place_reached() {
    let mut trie = Trie::new();
    assert_eq!(trie.update(&[]).unwrap().lowest_height, 256);
    let first = [0; 32];
    let second = diverge(first, 99, 0);
    let mut set = |path, value| {
        let batch = BTreeMap::from([(path, value)]);
        trie.update(&changes(&batch)).unwrap().lowest_height
    };
    set(first, Some((1, 1)));
    assert_eq!(set(second, Some((1, 1))), 256 - 100);
    assert_eq!(set(diverge(first, 20, 3), None), 256 - 21);
    assert_eq!(set(second, None), 256 - 100);
}

#[test]
fn a_batch_hashes_leaves_as_the_scheme_does() {
    let mut batch = LeafBatch::new();
    let mut expected = Vec::new();
    for number in 0..100_u8 {
        let key = [number; 5];
        let value = vec![number; usize::from(number) * 40];
        let path = Path::of(&key);
        batch.set(path, key.len(), &value);
        let leaf = (number > 0).then(|| {
            leaf(
                *path.as_bytes(),
                *blake3::hash(&value).as_bytes(),
                5 + 40 * u32::from(number),
            )
        });
        assert_eq!(Leaf::of(&path, key.len(), &value), leaf);
        expected.push(LeafChange { path, leaf });
        if number % 30 == 7 {
            batch.remove(Path::of(&[number]));
            expected.push(LeafChange {
                path: Path::of(&[number]),
                leaf: None,
            });
            // Asked for in between, leaves are hashed once.
            assert_eq!(batch.changes(), expected);
        }
    }
    assert_eq!(batch.changes(), expected);
    batch.set_lanes(Lanes::one());
    batch.clear();
    assert!(batch.is_empty());
    batch.set(Path::of(b"a"), 1, b"b");
    assert_eq!(batch.changes()[0].leaf, Leaf::of(&Path::of(b"a"), 1, b"b"));
}
