//! Blocks copied one by one through the writer give the files that they came from, byte for byte.

#![allow(clippy::unwrap_used, missing_docs, reason = "tests")]

mod common;

use std::fs;
use std::path::Path;
use std::sync::Arc;

use cairn_block_log::{
    BlockLog, BlockLogWriter, CutPolicy, Dictionaries, Layout, LogError, StoredBlock, WriterOptions, verify,
};
use cairn_chain::{BlockId, ChainSpec};
use common::{Chain, SINGLE_LOGS, TESTNET_PART, blocks, dictionaries, hive, log_file, open, scratch};

const SPLIT: Layout = Layout::Split {
    blocks_per_part: TESTNET_PART,
};
/// The writer's revision in an artifacts header: who wrote a file is no part of what it says.
const REVISION: std::ops::Range<usize> = 4..45;

fn options<'a>(layout: Layout, chain: &'a ChainSpec, dictionaries: &Arc<Dictionaries>) -> WriterOptions<'a> {
    WriterOptions {
        layout,
        chain,
        dictionaries: dictionaries.clone(),
        cut: CutPolicy::Torn,
    }
}

fn start(folder: &Path, options: &WriterOptions<'_>) -> BlockLogWriter {
    let (writer, repair) = BlockLogWriter::open(folder, options).unwrap();
    assert!(repair.cut.is_none(), "{:?}", repair.cut);
    assert!(repair.artifacts_made.is_empty(), "{:?}", repair.artifacts_made);
    writer
}

fn append_all(writer: &mut BlockLogWriter, blocks: &[(StoredBlock, BlockId)]) {
    for (block, id) in blocks {
        writer.append(block, id).unwrap();
    }
}

#[test]
fn artifacts_that_were_never_finished_are_removed() {
    let (chain, dictionaries) = (ChainSpec::hive_testnet(), Arc::new(Dictionaries::none()));
    let folder = scratch();
    for name in [
        "block_log.artifacts.new",
        "block_log_part.0003.artifacts.new",
        "artifacts.new",
    ] {
        fs::write(folder.path().join(name), b"left").unwrap();
    }
    start(folder.path(), &options(SPLIT, &chain, &dictionaries));
    let left: Vec<_> = fs::read_dir(folder.path())
        .unwrap()
        .flatten()
        .map(|entry| entry.file_name())
        .collect();
    assert_eq!(left, ["artifacts.new"], "what is not the log's stays");
}

#[test]
fn copies_of_all_logs_are_identical() {
    let Some(hive) = hive() else { return };
    for (name, chain) in SINGLE_LOGS {
        let chain = chain.spec();
        let source = log_file(&hive, name);
        let log = open(&hive, &source);
        let folder = scratch();
        let mut writer = start(
            folder.path(),
            &options(Layout::Single, &chain, log.dictionaries()),
        );
        append_all(&mut writer, &blocks(&log));
        writer.close().unwrap();
        let copy = folder.path().join("block_log");
        assert!(fs::read(&copy).unwrap() == fs::read(&source).unwrap(), "{name}");
        // The artifacts that were written are an index that fits.
        let again = open(&hive, folder.path());
        assert_eq!(
            verify(&again, 1, None, &chain, |_| {}).unwrap().blocks,
            u64::from(log.head_number().unwrap())
        );
    }
}

#[test]
fn artifacts_are_those_of_derived_mixed() {
    let Some(hive) = hive() else { return };
    let chain = Chain::Testnet.spec();
    let source = log_file(&hive, "derived_mixed");
    let log = open(&hive, &source);
    let folder = scratch();
    let mut writer = start(
        folder.path(),
        &options(Layout::Single, &chain, log.dictionaries()),
    );
    // Synced at odd places, so that records are written in several pieces.
    for (block, id) in blocks(&log) {
        writer.append(&block, &id).unwrap();
        if block.number % 7 == 0 {
            writer.sync().unwrap();
        }
    }
    let artifacts = folder.path().join("block_log.artifacts");
    assert_eq!(fs::read(&artifacts).unwrap()[47], 1, "open for writing");
    writer.close().unwrap();
    let (mut written, mut expected) = (
        fs::read(&artifacts).unwrap(),
        fs::read(source.with_extension("artifacts")).unwrap(),
    );
    assert!(written[REVISION].starts_with(b"cairn "));
    written[REVISION].fill(0);
    expected[REVISION].fill(0);
    assert_eq!(written, expected);
}

#[test]
fn split_copy_is_identical() {
    let Some(hive) = hive() else { return };
    let chain = Chain::Testnet.spec();
    let log = open(&hive, &log_file(&hive, "testnet_pattern"));
    let blocks = blocks(&log);
    let folder = scratch();
    let options = options(SPLIT, &chain, log.dictionaries());
    // In several sessions, one of which ends exactly with a part.
    for range in [0..1, 1..400, 400..801, 801..1311] {
        let mut writer = start(folder.path(), &options);
        assert_eq!(writer.head().map_or(0, |id| id.number() as usize), range.start);
        append_all(&mut writer, &blocks[range]);
        writer.close().unwrap();
    }
    for part in 1..=4 {
        let name = format!("block_log_part.000{part}");
        let written = fs::read(folder.path().join(&name)).unwrap();
        assert!(
            written == fs::read(hive.join("logs/derived_split").join(&name)).unwrap(),
            "{name}"
        );
        let artifacts = fs::read(folder.path().join(format!("{name}.artifacts"))).unwrap();
        let count = if part == 4 { 111 } else { 400 };
        assert_eq!(artifacts.len(), 56 + 24 * count, "{name}");
        assert_eq!(artifacts[47], 0, "{name} was closed");
        assert_eq!(
            artifacts[48..52],
            ((part - 1) * TESTNET_PART + 1).to_le_bytes(),
            "{name}"
        );
    }
    let copy = BlockLog::open(folder.path(), TESTNET_PART, log.dictionaries().clone()).unwrap();
    assert_eq!(verify(&copy, 1, None, &chain, |_| {}).unwrap().blocks, 1311);
}

#[test]
fn a_split_log_may_start_with_any_part() {
    let Some(hive) = hive() else { return };
    let chain = Chain::Testnet.spec();
    let log = open(&hive, &log_file(&hive, "testnet_pattern"));
    let blocks = blocks(&log);
    let folder = scratch();
    let options = options(SPLIT, &chain, log.dictionaries());
    let mut writer = start(folder.path(), &options);
    let error = writer.append(&blocks[401].0, &blocks[401].1).unwrap_err();
    assert!(
        matches!(error, LogError::NotPartStart { found: 402, .. }),
        "{error}"
    );
    append_all(&mut writer, &blocks[400..900]);
    writer.close().unwrap();
    let copy = BlockLog::open(folder.path(), TESTNET_PART, log.dictionaries().clone()).unwrap();
    assert_eq!((copy.first_number(), copy.head_number()), (Some(401), Some(900)));
    assert_eq!(copy.read(600).unwrap(), blocks[599].0);
    for outside in [0, 400, 901, u32::MAX] {
        let error = copy.read(outside).unwrap_err();
        assert!(
            matches!(
                error,
                LogError::OutOfRange {
                    range: Some((401, 900)),
                    ..
                }
            ),
            "{error}"
        );
    }
    let writer = start(folder.path(), &options);
    assert_eq!(writer.head(), Some(blocks[899].1));
}

#[test]
fn only_the_next_block_is_taken() {
    let Some(hive) = hive() else { return };
    let chain = Chain::Testnet.spec();
    let log = open(&hive, &log_file(&hive, "transaction_pattern"));
    let blocks = blocks(&log);
    let folder = scratch();
    let mut writer = start(
        folder.path(),
        &options(Layout::Single, &chain, log.dictionaries()),
    );
    let not_next = |result: Result<(), LogError>, expected_next, given| {
        let error = result.unwrap_err();
        assert!(
            matches!(error, LogError::NotNext { expected, found } if (expected, found) == (expected_next, given)),
            "{error}"
        );
    };
    not_next(writer.append(&blocks[1].0, &blocks[1].1), 1, 2);
    writer.append(&blocks[0].0, &blocks[0].1).unwrap();
    not_next(writer.append(&blocks[0].0, &blocks[0].1), 2, 1);
    not_next(writer.append(&blocks[2].0, &blocks[2].1), 2, 3);
    not_next(writer.append(&blocks[1].0, &blocks[2].1), 2, 3);
    let mut large = blocks[1].0.clone();
    large.bytes = vec![7; (2 << 20) + 1];
    let error = writer.append(&large, &blocks[1].1).unwrap_err();
    assert!(matches!(error, LogError::Size { block: 2, .. }), "{error}");
    // None of these harmed the writer.
    append_all(&mut writer, &blocks[1..]);
    writer.close().unwrap();
    assert_eq!(
        fs::read(folder.path().join("block_log")).unwrap(),
        fs::read(log_file(&hive, "transaction_pattern")).unwrap()
    );
}

#[test]
fn readers_follow_the_writer() {
    let Some(hive) = hive() else { return };
    let chain = Chain::Testnet.spec();
    let log = open(&hive, &log_file(&hive, "testnet_pattern"));
    let blocks = blocks(&log);
    let folder = scratch();
    let mut writer = start(folder.path(), &options(SPLIT, &chain, log.dictionaries()));
    let reader = writer.reader();
    assert_eq!((reader.first_number(), reader.head_number()), (None, None));
    assert!(reader.sequential(1).next().is_none());
    append_all(&mut writer, &blocks[..10]);
    assert_eq!((writer.synced_head(), reader.head_number()), (None, None));
    writer.flush().unwrap();
    assert_eq!((writer.synced_head(), reader.head_number()), (None, Some(10)));
    writer.sync().unwrap();
    assert_eq!(writer.synced_head(), Some(blocks[9].1));
    let mut sequential = reader.sequential(1);
    assert_eq!(
        sequential.by_ref().map(|block| block.unwrap().number).last(),
        Some(10)
    );

    // Several threads read while the writer goes on over the ends of parts.
    std::thread::scope(|scope| {
        for _ in 0..3 {
            let (reader, blocks) = (reader.clone(), &blocks);
            scope.spawn(move || {
                let mut next = 1;
                while next <= 1311 {
                    for block in reader.sequential(next) {
                        let block = block.unwrap();
                        assert_eq!(block, blocks[next as usize - 1].0);
                        assert_eq!(reader.read(block.number).unwrap(), block);
                        next += 1;
                    }
                }
            });
        }
        for chunk in blocks[10..].chunks(13) {
            append_all(&mut writer, chunk);
            writer.flush().unwrap();
        }
        writer.sync().unwrap();
    });
    writer.close().unwrap();
    assert_eq!(reader.parts().len(), 4);
}

#[test]
fn truncation() {
    let Some(hive) = hive() else { return };
    let chain = Chain::Testnet.spec();
    let source = open(&hive, &log_file(&hive, "testnet_pattern"));
    let blocks = blocks(&source);
    for layout in [Layout::Single, SPLIT] {
        let folder = scratch();
        let options = options(layout, &chain, source.dictionaries());
        let mut writer = start(folder.path(), &options);
        append_all(&mut writer, &blocks);
        writer.sync().unwrap();
        let mut head = 1311;
        for cut in [2000, 1311, 1310, 1201, 1200, 801, 399, 1] {
            let reader = writer.reader();
            writer.truncate_after(cut).unwrap();
            head = head.min(cut);
            let id = Some(blocks[head as usize - 1].1);
            assert_eq!(
                (writer.head(), writer.synced_head()),
                (id, id),
                "{layout:?} {cut}"
            );
            assert_eq!(reader.head_number(), Some(head), "{layout:?} {cut}");
            assert_eq!(
                reader.sequential(1).map(|block| block.unwrap().number).last(),
                Some(head)
            );
            // A block appended behind the cut, and cut off again.
            if let Some((block, id)) = blocks.get(head as usize) {
                writer.append(block, id).unwrap();
                writer.truncate_after(head).unwrap();
            }
            // What a fresh reader and a fresh writer find, after a crash and after a clean close.
            let fresh = BlockLog::open(folder.path(), TESTNET_PART, source.dictionaries().clone()).unwrap();
            assert_eq!(fresh.head_number(), Some(head), "{layout:?} {cut}");
            drop(writer);
            writer = start(folder.path(), &options);
            assert_eq!(writer.head(), id);
            writer.close().unwrap();
            writer = start(folder.path(), &options);
            assert_eq!(writer.head(), id);
        }
        writer.truncate_after(0).unwrap();
        assert_eq!(writer.head(), None);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "no file is left");
        append_all(&mut writer, &blocks[..500]);
        writer.close().unwrap();
        let fresh = BlockLog::open(folder.path(), TESTNET_PART, source.dictionaries().clone()).unwrap();
        assert_eq!(
            verify(&fresh, 1, None, &chain, |_| {}).unwrap().head,
            Some(blocks[499].1)
        );
    }
}

#[test]
fn the_other_layout_is_refused() {
    let Some(hive) = hive() else { return };
    let chain = Chain::Testnet.spec();
    let dictionaries = dictionaries(&hive);
    let log = open(&hive, &log_file(&hive, "transaction_pattern"));
    let blocks = blocks(&log);
    for (first, second) in [(Layout::Single, SPLIT), (SPLIT, Layout::Single)] {
        let folder = scratch();
        let mut writer = start(folder.path(), &options(first, &chain, &dictionaries));
        append_all(&mut writer, &blocks);
        writer.close().unwrap();
        let error = BlockLogWriter::open(folder.path(), &options(second, &chain, &dictionaries)).unwrap_err();
        assert!(matches!(error, LogError::OtherLayout { .. }), "{error}");
    }
}

#[test]
fn a_truncation_below_the_start_leaves_the_writer_usable() {
    let Some(hive) = hive() else { return };
    let chain = Chain::Testnet.spec();
    let source = open(&hive, &log_file(&hive, "testnet_pattern"));
    let blocks = blocks(&source);
    let folder = scratch();
    let mut writer = start(folder.path(), &options(SPLIT, &chain, source.dictionaries()));
    // Nothing is flushed yet: the start is known all the same.
    append_all(&mut writer, &blocks[400..500]);
    let error = writer.truncate_after(399).unwrap_err();
    assert!(
        matches!(
            error,
            LogError::OutOfRange {
                block: 399,
                range: Some((401, 500))
            }
        ),
        "{error}"
    );
    append_all(&mut writer, &blocks[500..510]);
    writer.truncate_after(450).unwrap();
    assert_eq!(writer.head(), Some(blocks[449].1));
    writer.truncate_after(400).unwrap();
    assert_eq!(writer.head(), None, "one block before the start empties the log");
}

/// Files of a folder, sorted.
fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn pruning_keeps_the_newest_full_parts_and_the_one_that_grows() {
    let Some(hive) = hive() else { return };
    let chain = Chain::Testnet.spec();
    let source = open(&hive, &log_file(&hive, "testnet_pattern"));
    let blocks = blocks(&source);
    let folder = scratch();
    let options = options(SPLIT, &chain, source.dictionaries());
    let mut writer = start(folder.path(), &options);
    let reader = writer.reader();
    append_all(&mut writer, &blocks[..1200]);
    writer.flush().unwrap();
    assert!(
        writer.prune(2, 1200).unwrap().is_empty(),
        "the third part is not durable"
    );
    let mut in_the_first = reader.sequential(1);
    in_the_first.next().unwrap().unwrap();
    writer.sync().unwrap();
    assert!(writer.prune(3, 1200).unwrap().is_empty());
    assert!(
        writer.prune(2, 399).unwrap().is_empty(),
        "block 400 is still wanted"
    );
    let removed = writer.prune(2, 400).unwrap();
    assert_eq!(removed, [folder.path().join("block_log_part.0001")]);
    assert_eq!(
        (reader.first_number(), reader.head_number()),
        (Some(401), Some(1200))
    );
    assert!(matches!(reader.read(400), Err(LogError::OutOfRange { .. })));
    assert!(
        in_the_first.next().unwrap().is_ok(),
        "what is being read is read on"
    );

    append_all(&mut writer, &blocks[1200..]);
    writer.sync().unwrap();
    assert_eq!(
        writer.prune(0, 1000).unwrap().len(),
        1,
        "part 3 has blocks above 1000"
    );
    assert_eq!(
        names(folder.path()),
        [
            "block_log_part.0003",
            "block_log_part.0003.artifacts",
            "block_log_part.0004",
            "block_log_part.0004.artifacts"
        ]
    );
    writer.close().unwrap();

    // A crash between a part and its artifacts.
    fs::write(folder.path().join("block_log_part.0002.artifacts"), "left").unwrap();
    let mut writer = start(folder.path(), &options);
    assert!(!folder.path().join("block_log_part.0002.artifacts").exists());
    assert_eq!(writer.head(), Some(blocks[1310].1));
    assert_eq!(
        writer.prune(0, u32::MAX).unwrap().len(),
        1,
        "the part that grows stays"
    );
    let copy = BlockLog::open(folder.path(), TESTNET_PART, source.dictionaries().clone()).unwrap();
    assert_eq!(verify(&copy, 1201, None, &chain, |_| {}).unwrap().blocks, 111);

    let single = scratch();
    let mut writer = start(
        single.path(),
        &WriterOptions {
            layout: Layout::Single,
            ..options.clone()
        },
    );
    append_all(&mut writer, &blocks);
    writer.sync().unwrap();
    assert!(writer.prune(0, u32::MAX).unwrap().is_empty());
}

#[test]
fn a_new_log_begins_with_the_oldest_part_that_is_kept() {
    let (chain, dictionaries) = (ChainSpec::hive_testnet(), Arc::new(Dictionaries::none()));
    let folder = scratch();
    let split = start(folder.path(), &options(SPLIT, &chain, &dictionaries));
    for (block, full, first) in [
        (1, Some(1), 1),
        (400, Some(0), 1),
        (401, Some(0), 401),
        (1_000, Some(0), 801),
        (1_000, Some(1), 401),
        (1_000, Some(2), 1),
        (1_000, Some(9_000), 1),
        (u32::MAX, Some(u32::MAX), 1),
        (1_000, None, 1),
    ] {
        assert_eq!(split.first_with(block, full), first, "{block}, {full:?}");
    }
    let folder = scratch();
    let single = start(folder.path(), &options(Layout::Single, &chain, &dictionaries));
    assert_eq!(single.first_with(1_000, Some(1)), 1);
}
