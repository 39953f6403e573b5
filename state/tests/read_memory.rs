//! What reads and the cache take of memory.
//!
//! One test in a binary of its own: the allocator counts what all threads do.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(
    unsafe_code,
    reason = "an allocator that counts can only be put around the system's with unsafe code"
)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use cairn_state::{Head, Registers, Store, StoreOptions};

struct Counting;

static ALLOCATIONS: AtomicUsize = AtomicUsize::new(0);
static BYTES: AtomicUsize = AtomicUsize::new(0);

/// What a general allocator takes for an allocation: a header of eight bytes, rounded up to 16, 32 at least.
fn taken(layout: Layout) -> usize {
    (layout.size() + 8).next_multiple_of(16).max(32)
}

// SAFETY: hands everything on to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Relaxed);
        BYTES.fetch_add(taken(layout), Relaxed);
        // SAFETY: the caller keeps the contract.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        BYTES.fetch_sub(taken(layout), Relaxed);
        // SAFETY: the caller keeps the contract.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const REGISTERS: u32 = 40_000;

fn key(register: u32) -> [u8; 32] {
    *blake3::hash(&register.to_le_bytes()).as_bytes()
}

/// Of many lengths: small ones first, so that there are many slots when the large ones come.
fn value(register: u32) -> Vec<u8> {
    vec![
        7;
        if register < REGISTERS / 2 {
            1
        } else {
            register as usize % 500 + 1
        }
    ]
}

fn head(number: u32) -> Head {
    Head { number, id: [1; 20] }
}

#[test]
fn reads_allocate_little_and_the_cache_keeps_its_limit() {
    let dir = tempfile::tempdir().unwrap();
    let options = StoreOptions {
        register_cache_bytes: 2 << 20,
        ..StoreOptions::new([1; 32])
    };
    let open = || Registers::new(Store::open(dir.path(), &options).unwrap()).unwrap();
    let mut registers = open();
    for register in 0..REGISTERS {
        registers.set(&key(register), &value(register)).unwrap();
    }
    registers.commit(head(1)).unwrap();

    // The registers pass through the cache several times.
    drop(registers);
    let before = BYTES.load(Relaxed);
    let mut registers = open();
    for number in 0..3 {
        for register in 0..REGISTERS {
            assert_eq!(
                registers.get(&key(register)).unwrap().unwrap().len(),
                value(register).len()
            );
        }
        let stats = registers.cache_stats();
        let bytes = BYTES.load(Relaxed) - before;
        let limit = options.register_cache_bytes;
        // The store itself takes a few allocations of Rust; one register may be above the limit.
        assert!(
            bytes < limit + 16_384,
            "{bytes} bytes after {number} rounds, {stats:?}"
        );
        assert!(stats.memory_bytes <= limit, "{stats:?}");
        assert!(
            stats.memory_bytes > limit / 2,
            "most of what the limit allows is used: {stats:?}"
        );
        assert!(
            stats.memory_bytes <= bytes,
            "nothing is counted that is not there: {stats:?}"
        );
        // Many dirty registers, which are above the limit until they are committed.
        for register in 0..REGISTERS / 2 {
            registers.set(&key(register), &[number; 90]).unwrap();
        }
        registers.commit(head(2)).unwrap();
        for register in 0..REGISTERS / 2 {
            registers.set(&key(register), &value(register)).unwrap();
        }
        registers.commit(head(3)).unwrap();
    }

    // A hundred at once: from the store, then from the cache, again and again.
    let keys: Vec<[u8; 32]> = (0..100).map(key).collect();
    let others: Vec<[u8; 32]> = (100..200).map(key).collect();
    let allocations = |registers: &mut Registers, keys: &[[u8; 32]]| {
        let before = ALLOCATIONS.load(Relaxed);
        assert_eq!(
            registers.get_many(keys).unwrap().iter().flatten().count(),
            keys.len()
        );
        ALLOCATIONS.load(Relaxed) - before
    };
    drop(registers);
    let mut registers = open();
    let lists = allocations(&mut registers, &keys[..1]);
    assert!(
        lists < 20,
        "the lists of a batch, and those of the cache: {lists}"
    );
    allocations(&mut registers, &keys);
    for _ in 0..3 {
        assert_eq!(allocations(&mut registers, &keys), 0, "everything is in memory");
    }
    // Not in memory: one for each value, five of RocksDB's binding for all of them together, and the cache's growth.
    let cold = allocations(&mut registers, &others);
    assert!(cold <= others.len() + 5 + 3, "{cold}");
    // From the store, without a cache: two lists and that of the values, which stay where they are, beside the binding's
    // five.
    let store = registers.store();
    let before = ALLOCATIONS.load(Relaxed);
    let found = store.get_many(&others).unwrap();
    let stored = ALLOCATIONS.load(Relaxed) - before;
    assert_eq!(found.iter().flatten().count(), others.len());
    assert!(stored <= 8, "{stored}");
}
