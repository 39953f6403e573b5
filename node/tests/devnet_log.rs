//! Devnets on disk: what `generate` writes, read by the readers of the other crates.

#![allow(
    clippy::unwrap_used,
    missing_docs,
    reason = "a test that cannot go on shall stop"
)]

use std::cell::RefCell;
use std::path::Path;
use std::sync::Arc;

use cairn_block_log::{BlockDecoder, BlockLog, Compression, Dictionaries};
use cairn_chain::{ChainSpec, DecodedBlock};
use cairn_node::devnet::{
    self, BlocksOptions, ChainShape, GenerateError, GenerateOptions, Generated, MAX_BLOCKS, Progress,
    generate,
};

fn options(out: &Path) -> GenerateOptions {
    GenerateOptions {
        blocks: 300,
        out: out.to_owned(),
        shape: ChainShape::new(5),
        compress: false,
        threads: 2,
        faults: Vec::new(),
        broken: None,
        forks: Vec::new(),
    }
}

fn write(options: &GenerateOptions) -> Generated {
    generate(options, &|_| {}).unwrap()
}

/// The raw blocks of a log.
fn read(path: &Path, spec: &ChainSpec) -> Vec<Vec<u8>> {
    let dictionaries = Arc::new(Dictionaries::none());
    let log = BlockLog::open(path, spec.blocks_per_log_part, Arc::clone(&dictionaries)).unwrap();
    let mut decoder = BlockDecoder::new(dictionaries);
    log.sequential(1)
        .map(|block| decoder.decode(&block.unwrap()).unwrap())
        .collect()
}

#[test]
fn the_log_holds_the_blocks_and_the_specification_describes_them() {
    let folder = tempfile::tempdir().unwrap();
    let generated = write(&options(folder.path()));
    let spec = ChainSpec::from_json(&std::fs::read_to_string(&generated.chain_spec_path).unwrap()).unwrap();
    assert_eq!(spec.name, "devnet-5");
    assert_eq!(spec.chain_id(), generated.chain_id);
    assert_eq!(
        generated.block_log_path,
        folder.path().join("blockchain").join("block_log")
    );
    assert_eq!(
        generated.bytes,
        std::fs::metadata(&generated.block_log_path).unwrap().len()
    );

    let raw = read(&generated.block_log_path, &spec);
    let made = devnet::blocks(&BlocksOptions {
        blocks: 300,
        shape: ChainShape::new(5),
        threads: 1,
        faults: Vec::new(),
    });
    assert!(made.map(|block| block.bytes).eq(raw.iter().cloned()));
    let blocks: Vec<DecodedBlock> = raw
        .into_iter()
        .map(|bytes| DecodedBlock::decode(bytes, spec.symbols).unwrap())
        .collect();
    let head = blocks.last().unwrap();
    assert_eq!(
        (head.id(), head.block().header.timestamp),
        (generated.head, generated.head_time)
    );
    let transactions: usize = blocks.iter().map(|block| block.block().transactions.len()).sum();
    assert_eq!(transactions as u64, generated.transactions);
    assert!(generated.operations > generated.transactions);
}

#[test]
fn files_do_not_depend_on_the_number_of_threads() {
    let content = |compress, threads| {
        let folder = tempfile::tempdir().unwrap();
        let generated = write(&GenerateOptions {
            compress,
            threads,
            ..options(folder.path())
        });
        let artifacts = generated.block_log_path.with_file_name("block_log.artifacts");
        (
            std::fs::read(generated.block_log_path).unwrap(),
            std::fs::read(artifacts).unwrap(),
        )
    };
    for compress in [false, true] {
        let one = content(compress, 1);
        assert!(one == content(compress, 3), "compress: {compress}");
    }
}

#[test]
fn a_compressed_log_holds_the_same_blocks_in_less_room() {
    let spec = devnet::chain_spec(5);
    let (plain, compressed) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let plain = write(&options(plain.path()));
    let options = GenerateOptions {
        compress: true,
        ..options(compressed.path())
    };
    let compressed = write(&options);
    assert_eq!(plain.head, compressed.head);
    assert!(
        compressed.bytes * 5 < plain.bytes * 4,
        "{} of {} bytes",
        compressed.bytes,
        plain.bytes
    );
    assert!(read(&plain.block_log_path, &spec) == read(&compressed.block_log_path, &spec));
    let log = BlockLog::open(
        &compressed.block_log_path,
        spec.blocks_per_log_part,
        Arc::new(Dictionaries::none()),
    )
    .unwrap();
    assert_eq!(
        log.read(200).unwrap().compression,
        Compression::Zstd { dictionary: None }
    );
}

#[test]
fn progress_grows_to_the_end() {
    let folder = tempfile::tempdir().unwrap();
    let calls = RefCell::new(Vec::new());
    let generated = generate(&options(folder.path()), &|progress| {
        calls.borrow_mut().push(progress);
    })
    .unwrap();
    let calls = calls.into_inner();
    assert!(calls.len() > 3 && calls.windows(2).all(|pair| pair[0].bytes < pair[1].bytes));
    assert_eq!(
        calls.last(),
        Some(&Progress {
            blocks: 300,
            total: 300,
            bytes: generated.bytes
        })
    );
}

#[test]
fn a_log_that_is_there_stays() {
    let folder = tempfile::tempdir().unwrap();
    let generated = write(&options(folder.path()));
    let before = std::fs::read(&generated.block_log_path).unwrap();
    let other = GenerateOptions {
        shape: ChainShape::new(6),
        ..options(folder.path())
    };
    assert!(matches!(
        generate(&other, &|_| {}),
        Err(GenerateError::LogExists { .. })
    ));
    assert!(std::fs::read(&generated.block_log_path).unwrap() == before);
    assert_eq!(
        std::fs::read_to_string(&generated.chain_spec_path).unwrap(),
        devnet::chain_spec_json(5)
    );
}

#[test]
fn impossible_numbers_of_blocks_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    for blocks in [0, MAX_BLOCKS + 1, u32::MAX] {
        let options = GenerateOptions {
            blocks,
            ..options(folder.path())
        };
        assert!(
            matches!(generate(&options, &|_| {}), Err(GenerateError::BlockCount { found }) if found == blocks)
        );
    }
    assert!(
        std::fs::read_dir(folder.path()).unwrap().next().is_none(),
        "nothing was written"
    );
}
