//! `verify` names the first block that is wrong, where it is, what was expected and what was found.

#![allow(clippy::unwrap_used, missing_docs, reason = "tests")]

mod common;

use std::fs;
use std::path::Path;
use std::sync::Arc;

use cairn_block_log::{
    BlockEncoder, BlockFault, BlockLog, Compression, Dictionaries, LogError, StoredBlock, verify,
};
use cairn_chain::{BlockId, ChainSpec, DecodedBlock};
use common::{Chain, TESTNET_PART, blocks, dictionaries, hive, log_file, open, plain_log, scratch};

/// Offset of a block in a file of these blocks.
fn offset(blocks: &[(StoredBlock, BlockId)], number: u32) -> u64 {
    blocks[..number as usize - 1]
        .iter()
        .map(|(block, _)| block.bytes.len() as u64 + 8)
        .sum()
}

/// Writes blocks as they are into one file and verifies it from block `from`.
fn fault(
    folder: &Path,
    blocks: &[(StoredBlock, BlockId)],
    from: u32,
    chain: &ChainSpec,
    dictionaries: &Arc<Dictionaries>,
) -> LogError {
    fs::write(folder.join("block_log"), plain_log(blocks)).unwrap();
    let log = BlockLog::open(folder, TESTNET_PART, dictionaries.clone()).unwrap();
    verify(&log, from, None, chain, |_| {}).unwrap_err()
}

fn check_place(error: &LogError, blocks: &[(StoredBlock, BlockId)], number: u32) {
    let LogError::Block { place, .. } = error else {
        panic!("{error}")
    };
    assert_eq!(place.block, Some(number), "{error}");
    assert_eq!(place.offset, offset(blocks, number), "{error}");
    assert!(place.file.ends_with("block_log"), "{error}");
    let start = format!("block {number}, offset {} of ", place.offset);
    assert!(error.to_string().starts_with(&start), "{error}");
}

/// Case S07: block 301 replaced by a copy of 302.
#[test]
fn a_block_replaced_by_its_neighbour() {
    let Some(hive) = hive() else { return };
    let log = open(&hive, &log_file(&hive, "testnet_pattern"));
    let (chain, folder) = (Chain::Testnet.spec(), scratch());
    let mut blocks = blocks(&log);
    blocks[300].0 = StoredBlock {
        number: 301,
        ..blocks[301].0.clone()
    };
    for from in [1, 250, 301] {
        let error = fault(folder.path(), &blocks, from, &chain, log.dictionaries());
        check_place(&error, &blocks, 301);
        let LogError::Block {
            fault:
                BlockFault::Number {
                    expected: 301,
                    found: 302,
                },
            ..
        } = error
        else {
            panic!("{error}");
        };
    }
    println!("{}", fault(folder.path(), &blocks, 1, &chain, log.dictionaries()));
    // Behind it everything is right; only the link of the first block cannot be checked from there.
    let error = fault(folder.path(), &blocks, 302, &chain, log.dictionaries());
    check_place(&error, &blocks, 302);
    let log = open(&hive, &folder.path().join("block_log"));
    assert_eq!(verify(&log, 303, None, &chain, |_| {}).unwrap().blocks, 1009);
}

/// A block that is not there at all: then the count does not fit, and the log cannot be indexed.
#[test]
fn a_missing_block_and_one_too_many() {
    let Some(hive) = hive() else { return };
    let log = open(&hive, &log_file(&hive, "testnet_pattern"));
    let folder = scratch();
    let all = blocks(&log);
    let mut missing = all.clone();
    missing.remove(300);
    let mut twice = all.clone();
    twice.insert(300, all[299].clone());
    for (blocks, found) in [(missing, 302), (twice, 300)] {
        fs::write(folder.path().join("block_log"), plain_log(&blocks)).unwrap();
        let log = BlockLog::open(folder.path(), TESTNET_PART, log.dictionaries().clone()).unwrap();
        let error = log.read(5).unwrap_err();
        check_place(&error, &blocks, 301);
        let LogError::Block {
            fault:
                BlockFault::Number {
                    expected: 301,
                    found: number,
                },
            ..
        } = error
        else {
            panic!("{error}");
        };
        assert_eq!(number, found);
    }
}

/// A body altered under an unchanged header: the id is right, and every link.
#[test]
fn an_altered_body() {
    let Some(hive) = hive() else { return };
    for (name, chain) in [
        ("steemd_live", Chain::SteemTestnet),
        ("testnet_pattern", Chain::Testnet),
    ] {
        let log = open(&hive, &log_file(&hive, name));
        let (chain, folder) = (chain.spec(), scratch());
        let mut decoder = cairn_block_log::BlockDecoder::new(log.dictionaries().clone());
        let mut encoder = BlockEncoder::new(log.dictionaries().clone());
        let mut blocks = blocks(&log);
        let (block, id) = blocks
            .iter_mut()
            .find(|(block, _)| {
                let raw = decoder.decode(block).unwrap();
                !DecodedBlock::decode(raw, chain.symbols)
                    .unwrap()
                    .block()
                    .transactions
                    .is_empty()
            })
            .unwrap();
        let number = block.number;
        let mut raw = decoder.decode(block).unwrap();
        *raw.last_mut().unwrap() ^= 1; // the last byte of the last signature
        let altered = DecodedBlock::decode(raw.clone(), chain.symbols).unwrap();
        assert_eq!(altered.id(), *id);
        block.bytes = encoder.encode(&raw, block.compression).unwrap();
        let error = fault(folder.path(), &blocks, 1, &chain, log.dictionaries());
        check_place(&error, &blocks, number);
        let LogError::Block {
            fault: BlockFault::Merkle(mismatch),
            ..
        } = error
        else {
            panic!("{error}")
        };
        assert_eq!(mismatch.block, number);
        assert_ne!(mismatch.header, mismatch.computed);
    }
}

/// Another block of the same number, whole in itself: the link behind it breaks.
#[test]
fn an_altered_header() {
    let Some(hive) = hive() else { return };
    let log = open(&hive, &log_file(&hive, "mirrornet_1k"));
    let (chain, folder) = (Chain::Mirrornet.spec(), scratch());
    let mut blocks = blocks(&log);
    let id = blocks[499].1;
    let last = blocks[499].0.bytes.len() - 2;
    blocks[499].0.bytes[last] ^= 1; // in the witness signature; whose it is, only chain state can tell
    let error = fault(folder.path(), &blocks, 1, &chain, log.dictionaries());
    check_place(&error, &blocks, 501);
    let LogError::Block {
        fault: BlockFault::Link { expected, found },
        ..
    } = error
    else {
        panic!("{error}")
    };
    assert_eq!(found, id);
    assert_eq!(expected.number(), 500);
    assert_ne!(expected, id);
}

#[test]
fn bytes_that_are_no_block() {
    let Some(hive) = hive() else { return };
    let log = open(&hive, &log_file(&hive, "testnet_pattern"));
    let (chain, folder) = (Chain::Testnet.spec(), scratch());
    let good = blocks(&log);
    let raw = |bytes: Vec<u8>, compression| StoredBlock {
        number: 700,
        compression,
        bytes,
    };
    let no_frame = raw(vec![0xff; 300], Compression::Zstd { dictionary: Some(0) });
    let garbage = raw((0..200).map(|n| n as u8 | 0x80).collect(), Compression::None);
    let mut longer = good[699].0.clone();
    longer.bytes.push(0);
    for (block, is_expected) in [
        (
            no_frame,
            (|fault| matches!(fault, BlockFault::Decode(_))) as fn(&BlockFault) -> bool,
        ),
        (garbage, |fault| matches!(fault, BlockFault::Unpack(_))),
        (longer, |fault| matches!(fault, BlockFault::Decode(_))),
    ] {
        let mut blocks = good.clone();
        blocks[699].0 = block;
        let error = fault(folder.path(), &blocks, 600, &chain, log.dictionaries());
        check_place(&error, &blocks, 700);
        let LogError::Block { fault, .. } = &error else {
            panic!("{error}")
        };
        assert!(is_expected(fault) && fault.is_damage(), "{error}");
    }
}

#[test]
fn ranges_outside_the_log() {
    let Some(hive) = hive() else { return };
    let log = open(&hive, &hive.join("logs/derived_split/block_log_part.0002"));
    let chain = Chain::Testnet.spec();
    assert_eq!((log.first_number(), log.head_number()), (Some(401), Some(800)));
    assert_eq!(verify(&log, 401, None, &chain, |_| {}).unwrap().blocks, 400);
    for (from, to) in [(400, None), (1, Some(500)), (500, Some(801))] {
        let error = verify(&log, from, to, &chain, |_| {}).unwrap_err();
        assert!(
            matches!(
                error,
                LogError::OutOfRange {
                    range: Some((401, 800)),
                    ..
                }
            ),
            "{error}"
        );
    }
}

/// Parts that do not belong together.
#[test]
fn a_part_of_another_log() {
    let Some(hive) = hive() else { return };
    let folder = scratch();
    let log = open(&hive, &log_file(&hive, "testnet_pattern"));
    let other = open(&hive, &log_file(&hive, "steemd_generated"));
    let (ours, theirs) = (blocks(&log), blocks(&other));
    fs::write(
        folder.path().join("block_log_part.0001"),
        plain_log(&theirs[..400]),
    )
    .unwrap();
    fs::write(
        folder.path().join("block_log_part.0002"),
        plain_log(&ours[400..500]),
    )
    .unwrap();
    let log = BlockLog::open(folder.path(), TESTNET_PART, dictionaries(&hive)).unwrap();
    let error = log.read(450).unwrap_err();
    let LogError::Block {
        place,
        fault: BlockFault::Link { expected, found },
    } = error
    else {
        panic!("{error}")
    };
    assert_eq!((place.block, place.offset), (Some(401), 0));
    assert_eq!((expected, found), (theirs[399].1, ours[399].1));
    // A part by the wrong name.
    fs::write(
        folder.path().join("block_log_part.0002"),
        plain_log(&ours[800..900]),
    )
    .unwrap();
    let error = BlockLog::open(folder.path(), TESTNET_PART, dictionaries(&hive)).unwrap_err();
    assert!(
        matches!(
            error,
            LogError::PartEnd {
                expected: 800,
                found: 900,
                ..
            }
        ),
        "{error}"
    );
}
