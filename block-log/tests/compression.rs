//! Frames: hived's are reproduced, bombs and garbage are refused, threads share dictionaries.

#![allow(clippy::unwrap_used, missing_docs, reason = "tests")]

mod common;

use std::sync::Arc;

use cairn_block_log::{
    Artifacts, Attributes, BlockDecoder, BlockEncoder, Compression, DecodeError, Dictionaries,
    DictionaryError, EncodeError, MAX_RAW_SIZE, MAX_STORED_SIZE, Record, StoredBlock,
};
use common::{blocks, dictionaries, hive, log_file, open};
use proptest::prelude::*;
use sha2::{Digest, Sha256};

const PLAIN: Compression = Compression::Zstd { dictionary: None };
const WITH_0: Compression = Compression::Zstd { dictionary: Some(0) };
const WITH_1: Compression = Compression::Zstd { dictionary: Some(1) };

#[test]
fn frames_of_compressed_logs_are_reproduced() {
    let Some(hive) = hive() else { return };
    for (name, least) in [
        ("derived_mainnet_700", 80),
        ("derived_mixed", 40),
        ("testnet_pattern", 90),
        ("hived", 85),
        ("hf28_upvoting", 95),
    ] {
        let log = open(&hive, &log_file(&hive, name));
        let mut decoder = BlockDecoder::new(log.dictionaries().clone());
        let mut encoder = BlockEncoder::new(log.dictionaries().clone());
        let (mut same, mut same_size, mut all) = (0, 0, 0);
        for (block, _) in blocks(&log) {
            let raw = decoder.decode(&block).unwrap();
            let bytes = encoder.encode(&raw, block.compression).unwrap();
            all += 1;
            same += usize::from(bytes == block.bytes);
            same_size += usize::from(bytes.len() == block.bytes.len());
            // Whatever the bytes, they give the block back.
            assert_eq!(decoder.decode_bytes(block.compression, &bytes).unwrap(), raw);
        }
        println!("{name}: {same} of {all} blocks have the stored bytes, {same_size} the stored size");
        // zstd's releases differ in how they search, so not all frames can be equal: with the same settings, release
        // 1.5.6 reproduces 575 of the mainnet blocks and 1.5.7, the one that is built in, 579. A wrong setting (another
        // level, the dictionary copied instead of attached, a content size) gives next to none.
        assert!(
            same * 100 >= all * least,
            "{name}: level and frame parameters are those of the fixture"
        );
    }
}

#[test]
fn blocks_get_the_dictionary_of_their_height() {
    let Some(hive) = hive() else { return };
    let dictionaries = dictionaries(&hive);
    let mut encoder = BlockEncoder::new(dictionaries.clone());
    let mut decoder = BlockDecoder::new(dictionaries);
    let raw = vec![0; 100];
    for (number, compression) in [
        (1, WITH_0),
        (999_999, WITH_0),
        (1_000_000, WITH_1),
        (90_000_000, WITH_1),
    ] {
        let stored = encoder.encode_block(number, &raw).unwrap();
        assert_eq!((stored.number, stored.compression), (number, compression));
        assert_eq!(
            stored.bytes[0], 0,
            "frame header: no content size, no dictionary number, no checksum"
        );
        assert_eq!(decoder.decode(&stored).unwrap(), raw);
    }
    let mut without = BlockEncoder::new(Arc::new(Dictionaries::none()));
    assert_eq!(without.encode_block(5, &raw).unwrap().compression, PLAIN);
}

/// The sizes that a real hived gave the same mainnet blocks.
#[test]
fn sizes_are_those_of_hived() {
    let Some(hive) = hive() else { return };
    let log = open(&hive, &log_file(&hive, "derived_mainnet_700"));
    let artifacts = Artifacts::open(&hive.join("artifacts/block_log.artifacts.v_1_0")).unwrap();
    let records = artifacts.records(0..701).unwrap();
    let offset = |record: &Record| Attributes::unpack(record.trailer).unwrap().offset();
    let mut decoder = BlockDecoder::new(log.dictionaries().clone());
    let mut encoder = BlockEncoder::new(log.dictionaries().clone());
    let (mut same, mut smaller) = (0, 0);
    for (block, pair) in log.sequential(1).zip(records.windows(2)) {
        let raw = decoder.decode(&block.unwrap()).unwrap();
        let theirs = offset(&pair[1]) - offset(&pair[0]) - 8;
        let ours = encoder.encode(&raw, WITH_0).unwrap().len() as u64;
        same += u32::from(ours == theirs);
        smaller += u32::from(ours < theirs);
    }
    println!("mainnet blocks 1 to 700: {same} have hived's stored size, {smaller} are smaller");
    assert!(same >= 650 && same + smaller >= 695, "{same}, {smaller}");
}

#[test]
fn a_frame_too_long_for_a_log_is_stored_as_is() {
    let mut encoder = BlockEncoder::new(Arc::new(Dictionaries::none()));
    // Bytes that do not compress, so that the frame is longer than its content.
    let mut raw = Vec::with_capacity(MAX_RAW_SIZE);
    let mut hash = Sha256::digest(b"seed");
    while raw.len() < MAX_RAW_SIZE {
        raw.extend_from_slice(&hash);
        hash = Sha256::digest(hash);
    }
    assert!(encoder.encode(&raw, PLAIN).unwrap().len() > MAX_STORED_SIZE);
    let stored = encoder.encode_block(1, &raw).unwrap();
    assert_eq!(stored.compression, Compression::None);
    assert!(stored.bytes == raw);
    let error = encoder.encode(&vec![0; MAX_RAW_SIZE + 1], PLAIN).unwrap_err();
    assert!(matches!(error, EncodeError::TooLarge { .. }), "{error}");
}

/// A frame of `chunks` blocks that each repeat one byte 128 KiB times: four bytes of input for each.
fn bomb(chunks: usize) -> Vec<u8> {
    let mut frame = vec![0, 0x38]; // descriptor; a window of 128 KiB
    for chunk in 1..=chunks {
        let header = u32::from(chunk == chunks) | (1 << 1) | ((128 << 10) << 3);
        frame.extend_from_slice(&header.to_le_bytes()[..3]);
        frame.push(0);
    }
    frame
}

#[test]
fn a_bomb_is_refused_at_the_limit() {
    let mut decoder = BlockDecoder::new(Arc::new(Dictionaries::none()));
    let at_limit = MAX_RAW_SIZE / (128 << 10);
    assert_eq!(
        decoder.decode_bytes(PLAIN, &bomb(at_limit)).unwrap().len(),
        MAX_RAW_SIZE
    );
    for chunks in [at_limit + 1, 8 * at_limit, 400_000] {
        let frame = bomb(chunks);
        assert!(frame.len() <= MAX_STORED_SIZE, "52 GB in a block of allowed size");
        let error = decoder.decode_bytes(PLAIN, &frame).unwrap_err();
        assert!(matches!(error, DecodeError::Frame { .. }), "{error}");
    }
    // One byte over the limit, by a last chunk of one byte.
    let mut frame = bomb(at_limit);
    let last = frame.len() - 4;
    frame[last] &= !1;
    frame.extend_from_slice(&[0b0000_1001, 0, 0, 7]);
    let error = decoder.decode_bytes(PLAIN, &frame).unwrap_err();
    assert!(matches!(error, DecodeError::Frame { .. }), "{error}");
}

#[test]
fn exactly_one_frame_is_a_block() {
    let mut encoder = BlockEncoder::new(Arc::new(Dictionaries::none()));
    let mut decoder = BlockDecoder::new(Arc::new(Dictionaries::none()));
    let frame = encoder.encode(b"the bytes of a block", PLAIN).unwrap();
    assert_eq!(
        decoder.decode_bytes(PLAIN, &frame).unwrap(),
        b"the bytes of a block"
    );
    let empty = encoder.encode(b"", PLAIN).unwrap();
    for bytes in [
        [frame.clone(), empty].concat(),
        [&frame[..], &[0]].concat(),
        frame[1..].to_vec(),
        vec![],
    ] {
        let error = decoder.decode_bytes(PLAIN, &bytes).unwrap_err();
        assert!(matches!(error, DecodeError::NotOneFrame { .. }), "{error}");
    }
    let error = decoder
        .decode_bytes(PLAIN, &vec![0; MAX_STORED_SIZE + 1])
        .unwrap_err();
    assert!(matches!(error, DecodeError::StoredTooLarge { .. }), "{error}");
}

#[test]
fn a_missing_dictionary_is_named() {
    let Some(hive) = hive() else { return };
    let log = open(&hive, &log_file(&hive, "derived_mainnet_700"));
    let block = log.read(5).unwrap();
    let error = BlockDecoder::new(Arc::new(Dictionaries::none()))
        .decode(&block)
        .unwrap_err();
    assert!(!error.is_damage());
    assert!(
        matches!(
            error,
            DecodeError::Dictionary(DictionaryError::Missing {
                number: 0,
                folder: None
            })
        ),
        "{error}"
    );
    assert!(error.to_string().contains("000M.dict.zst"), "{error}");
    // Opening a log that needs one says so too, and does not speak of damage.
    let error = cairn_block_log::BlockLog::open(log.path(), 400, Arc::new(Dictionaries::none())).unwrap_err();
    assert!(error.to_string().contains("000M.dict.zst"), "{error}");
}

#[test]
fn sixteen_threads_give_one_digest() {
    let Some(hive) = hive() else { return };
    for (name, turns) in [
        ("testnet_pattern", 4),
        ("derived_mainnet_700", 1),
        ("derived_mixed", 10),
    ] {
        let log = open(&hive, &log_file(&hive, name));
        let digest = |log: &cairn_block_log::BlockLog, seed: u32| {
            let mut decoder = BlockDecoder::new(log.dictionaries().clone());
            let head = log.head_number().unwrap();
            let mut digests = vec![[0; 32]; head as usize];
            // Each thread goes through the blocks in another order, half of them by number.
            for step in 0..head {
                let number = (step * 7919 + seed * 131) % head + 1;
                let block = log.read(number).unwrap();
                digests[number as usize - 1] = Sha256::digest(decoder.decode(&block).unwrap()).into();
            }
            Sha256::digest(digests.concat())
        };
        let expected = digest(&log, 0);
        for round in 0..5 {
            // A fresh set each round: the dictionaries are unpacked under contention.
            let log = open(&hive, log.path());
            std::thread::scope(|scope| {
                let threads: Vec<_> = (0..16)
                    .map(|thread| {
                        let log = log.clone();
                        scope.spawn(move || {
                            (0..turns)
                                .map(|turn| digest(&log, thread + turn))
                                .collect::<Vec<_>>()
                        })
                    })
                    .collect();
                for thread in threads {
                    assert!(
                        thread.join().unwrap().iter().all(|found| *found == expected),
                        "{name}, round {round}"
                    );
                }
            });
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn arbitrary_frames_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..400), start in any::<bool>()) {
        let mut bytes = bytes;
        if start && bytes.len() > 2 {
            bytes[..2].copy_from_slice(&[0, 0x40]);
        }
        let mut decoder = BlockDecoder::new(Arc::new(Dictionaries::none()));
        for compression in [Compression::None, PLAIN, WITH_0] {
            if let Ok(raw) = decoder.decode_bytes(compression, &bytes) {
                prop_assert!(raw.len() <= MAX_RAW_SIZE);
            }
        }
    }

    #[test]
    fn mutated_frames_never_panic(
        raw in proptest::collection::vec(0..9_u8, 1..3000),
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..5),
        with_dictionary in any::<bool>(),
    ) {
        let dictionaries = hive().map_or_else(|| Arc::new(Dictionaries::none()), |hive| dictionaries(&hive));
        let compression = if with_dictionary && dictionaries.numbers().count() > 0 { WITH_1 } else { PLAIN };
        let mut bytes = BlockEncoder::new(dictionaries.clone()).encode(&raw, compression).unwrap();
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        let mut decoder = BlockDecoder::new(dictionaries);
        if let Ok(raw) = decoder.decode(&StoredBlock { number: 1, compression, bytes }) {
            prop_assert!(raw.len() <= MAX_RAW_SIZE);
        }
        // The context is good for the next block, whatever happened.
        let mut encoder = BlockEncoder::new(Arc::new(Dictionaries::none()));
        let frame = encoder.encode(&raw, PLAIN).unwrap();
        prop_assert_eq!(decoder.decode_bytes(PLAIN, &frame).unwrap(), raw);
    }
}
