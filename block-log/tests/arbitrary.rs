//! Arbitrary bytes in place of a log or its artifacts: errors, but no panic, and no memory beyond what the bytes justify.

#![allow(clippy::unwrap_used, missing_docs, reason = "tests")]
#![allow(
    unsafe_code,
    reason = "an allocator that counts can only be put around the system's with unsafe code"
)]

mod common;

use std::alloc::{GlobalAlloc, Layout as Memory, System};
use std::cell::Cell;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use cairn_block_log::{
    Artifacts, Attributes, BlockDecoder, BlockLog, BlockLogWriter, CutPolicy, Dictionaries, Layout,
    WriterOptions, verify,
};
use cairn_chain::ChainSpec;
use common::{hive, log_file, scratch};
use proptest::prelude::*;

/// Remembers the largest single allocation of each thread: tests run beside each other.
struct Counting;

thread_local! {
    static LARGEST: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: hands everything on to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, memory: Memory) -> *mut u8 {
        // A thread that ends may allocate when its locals are gone.
        let _ = LARGEST.try_with(|largest| largest.set(largest.get().max(memory.size())));
        // SAFETY: the caller keeps the contract.
        unsafe { System.alloc(memory) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, memory: Memory) {
        // SAFETY: the caller keeps the contract.
        unsafe { System.dealloc(pointer, memory) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The largest thing that is ever allocated for a small file: the window of a recovery scan, four blocks of 2 MiB.
const MOST: usize = 4 * ((2 << 20) + 8);

/// Does everything with what is in a folder.
fn use_it(folder: &Path, chain: &ChainSpec, dictionaries: &Arc<Dictionaries>) {
    LARGEST.set(0);
    if let Ok(log) = BlockLog::open(folder, 7, dictionaries.clone()) {
        let mut decoder = BlockDecoder::new(dictionaries.clone());
        for number in [0, 1, 2, log.head_number().unwrap_or(9), u32::MAX] {
            if let Ok(block) = log.read(number) {
                let _ = decoder.decode(&block);
            }
        }
        let _ = log
            .sequential(log.first_number().unwrap_or(1))
            .filter_map(Result::ok)
            .count();
        let _ = verify(&log, log.first_number().unwrap_or(1), None, chain, |_| {});
    }
    let _ = BlockLog::open_whole_prefix(folder, 7, dictionaries.clone(), chain, CutPolicy::Anything);
    let options = WriterOptions {
        layout: Layout::Single,
        chain,
        dictionaries: dictionaries.clone(),
        cut: CutPolicy::Torn,
    };
    if let Ok((writer, _)) = BlockLogWriter::open(folder, &options) {
        writer.close().unwrap();
        // What the writer leaves is a log.
        let log = match BlockLog::open(folder, 7, dictionaries.clone()) {
            Ok(log) => log,
            Err(error) => {
                assert!(!folder.join("block_log").exists(), "{error}");
                return;
            }
        };
        for block in log.sequential(log.first_number().unwrap()) {
            block.unwrap();
        }
    }
    let largest = LARGEST.get();
    assert!(largest <= MOST, "{largest} bytes were allocated at once");
}

fn bytes() -> impl Strategy<Value = Vec<u8>> {
    let trailer = prop_oneof![
        any::<u64>(),
        (0..2000_u64, 0..4_u64).prop_map(|(offset, flags)| offset | (flags << 62)),
        (0..2000_u64).prop_map(|offset| offset | (0x81 << 56)),
    ];
    let piece = prop_oneof![
        proptest::collection::vec(any::<u8>(), 0..300),
        (0..300_usize, any::<u8>()).prop_map(|(len, byte)| vec![byte; len]),
        trailer.prop_map(|trailer| trailer.to_le_bytes().to_vec()),
    ];
    proptest::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn arbitrary_bytes(log in bytes(), artifacts in proptest::option::of(bytes())) {
        let folder = scratch();
        fs::write(folder.path().join("block_log"), log).unwrap();
        if let Some(artifacts) = artifacts {
            fs::write(folder.path().join("block_log.artifacts"), artifacts).unwrap();
        }
        use_it(folder.path(), &ChainSpec::hive_testnet(), &Arc::new(Dictionaries::none()));
    }

    #[test]
    fn mutated_logs(
        log in 0..3_usize,
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
        moved in proptest::option::of(any::<[prop::sample::Index; 3]>()),
    ) {
        let Some(hive) = hive() else { return Ok(()) };
        let (name, chain) = [
            ("transaction_pattern", ChainSpec::hive_testnet()),
            ("derived_mixed", ChainSpec::hive_testnet()),
            ("hf28_tests", ChainSpec::hive_testnet()),
        ][log].clone();
        let mut bytes = fs::read(log_file(&hive, name)).unwrap();
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        if let Some([from, to, at]) = moved {
            let (from, to) = (from.index(bytes.len()), to.index(bytes.len()));
            let piece = bytes[from.min(to)..from.max(to)].to_vec();
            let at = at.index(bytes.len());
            bytes.splice(at..at, piece);
        }
        let folder = scratch();
        fs::write(folder.path().join("block_log"), bytes).unwrap();
        use_it(folder.path(), &chain, &common::dictionaries(&hive));
    }

    #[test]
    fn arbitrary_artifacts(bytes in bytes(), minor in 0..2_u8, head in any::<u32>(), tail in any::<u32>()) {
        let folder = scratch();
        let path = folder.path().join("artifacts");
        let mut bytes = bytes;
        if bytes.len() >= 56 {
            bytes[..4].copy_from_slice(&head.to_le_bytes());
            bytes[45..48].copy_from_slice(&[1, minor, 0]);
            bytes[48..52].copy_from_slice(&tail.to_le_bytes());
        }
        fs::write(&path, &bytes).unwrap();
        LARGEST.set(0);
        if let Ok(artifacts) = Artifacts::open(&path) {
            for range in [0..1, 0..u32::MAX, 4..4, u32::MAX - 1..u32::MAX] {
                if let Ok(records) = artifacts.records(range) {
                    for record in records {
                        let _ = Attributes::unpack(record.trailer);
                    }
                }
            }
        }
        prop_assert!(LARGEST.get() <= 1 << 20);
    }
}
