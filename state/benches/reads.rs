//! Reads of single registers and of a hundred at once: from the cache of registers, and from RocksDB's block cache.
//!
//! 200,000 registers with keys of 32 and values of 64 bytes, all of them in both caches.
#![allow(clippy::unwrap_used, missing_docs, reason = "a benchmark ends by panicking")]

use std::hint::black_box;

use cairn_state::{Head, Registers, Store, StoreOptions};
use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};

const REGISTERS: u64 = 200_000;
const AT_ONCE: usize = 100;

type Key = [u8; 32];

fn key(register: u64) -> Key {
    *blake3::hash(&register.to_le_bytes()).as_bytes()
}

/// Keys of registers at random, the same ones in every run.
fn keys(from: &mut u64) -> Vec<Key> {
    let mut next = || {
        *from += 1;
        let number = u64::from_le_bytes(key(*from)[..8].try_into().unwrap());
        key(number % REGISTERS)
    };
    (0..AT_ONCE).map(|_| next()).collect()
}

fn reads(criterion: &mut Criterion) {
    let dir = tempfile::tempdir().unwrap();
    let options = StoreOptions::new([1; 32]);
    let mut registers = Registers::new(Store::open(dir.path(), &options).unwrap()).unwrap();
    for register in 0..REGISTERS {
        registers.set(&key(register), &[register as u8; 64]).unwrap();
    }
    registers
        .commit(Head {
            number: 1,
            id: [1; 20],
        })
        .unwrap();
    // Opened again, so that everything is in files, and read once.
    drop(registers);
    let mut registers = Registers::new(Store::open(dir.path(), &options).unwrap()).unwrap();
    for register in 0..REGISTERS {
        registers.get(&key(register)).unwrap().unwrap();
    }

    let mut group = criterion.benchmark_group("100 reads");
    group.throughput(Throughput::Elements(AT_ONCE as u64));
    let mut number = 0;
    let mut fresh = move || keys(&mut number);
    group.bench_function("register cache, one by one", |bencher| {
        bencher.iter_batched(
            &mut fresh,
            |keys| {
                for key in &keys {
                    black_box(registers.get(key).unwrap());
                }
            },
            BatchSize::SmallInput,
        );
    });
    group.bench_function("register cache, at once", |bencher| {
        bencher.iter_batched(
            &mut fresh,
            |keys| black_box(registers.get_many(&keys).unwrap().iter().flatten().count()),
            BatchSize::SmallInput,
        );
    });
    let store = registers.into_store();
    group.bench_function("block cache, one by one", |bencher| {
        bencher.iter_batched(
            &mut fresh,
            |keys| {
                for key in &keys {
                    black_box(store.get(key).unwrap());
                }
            },
            BatchSize::SmallInput,
        );
    });
    group.bench_function("block cache, at once", |bencher| {
        bencher.iter_batched(
            &mut fresh,
            |keys| black_box(store.get_many(&keys).unwrap().iter().flatten().count()),
            BatchSize::SmallInput,
        );
    });
    group.finish();
}

criterion_group!(benches, reads);
criterion_main!(benches);
