//! Every log of the fixtures gives what is expected of it, by both ways of reading.

#![allow(clippy::unwrap_used, missing_docs, reason = "tests")]

mod common;

use std::fs;
use std::path::Path;

use cairn_block_log::{Artifacts, BlockDecoder, BlockLog, Compression, uncompressed_sha256, verify};
use cairn_chain::BlockId;
use common::{Chain, SINGLE_LOGS, TESTNET_PART, dictionaries, expected, hive, id_of, log_file, open};
use serde_json::Value;
use sha2::{Digest, Sha256};

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap()
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or(0)
}

fn sha256(bytes: &[u8]) -> String {
    hex::encode(Sha256::digest(bytes))
}

/// Checks blocks `first` to `last` of a log, which are one file, against its expected values.
fn check_file(log: &BlockLog, file: &Path, expected: &Value) {
    let name = file.display();
    let part = log.parts().into_iter().find(|part| part.path == file).unwrap();
    assert_eq!(
        u64::from(part.last - part.first + 1),
        number(&expected["block_count"]),
        "{name}"
    );
    assert_eq!(
        u64::from(part.last),
        number(&expected["head_block_num"]),
        "{name}"
    );
    assert_eq!(part.bytes, number(&expected["file_size"]), "{name}");
    assert_eq!(
        sha256(&fs::read(file).unwrap()),
        text(expected, "file_sha256"),
        "{name}"
    );
    let checksum = uncompressed_sha256(log, &part).unwrap();
    assert_eq!(
        checksum.to_string(),
        text(expected, "uncompressed_log_sha256"),
        "{name}"
    );

    let mut decoder = BlockDecoder::new(log.dictionaries().clone());
    let mut ids = Sha256::new();
    let mut head = BlockId::ZERO;
    let (mut as_is, mut plain, mut with_dictionary) = (0, 0, 0);
    let (mut stored_bytes, mut raw_bytes) = (0, 0);
    for block in log
        .sequential(part.first)
        .take((part.last - part.first + 1) as usize)
    {
        let block = block.unwrap();
        match block.compression {
            Compression::None => as_is += 1,
            Compression::Zstd { dictionary: None } => plain += 1,
            Compression::Zstd { dictionary: Some(_) } => with_dictionary += 1,
        }
        stored_bytes += block.bytes.len() as u64;
        raw_bytes += decoder.view(block.compression, &block.bytes).unwrap().len() as u64;
        head = id_of(&block, &mut decoder);
        assert_eq!(head.number(), block.number, "{name}");
        if let Some(id) = expected["block_ids"].get(block.number.to_string()) {
            assert_eq!(head.to_string(), id.as_str().unwrap(), "{name}");
        }
        ids.update(head.as_bytes());
        assert_eq!(
            log.read(block.number).unwrap(),
            block,
            "{name}: random and sequential reading differ"
        );
    }
    assert_eq!(head.to_string(), text(expected, "head_block_id"), "{name}");
    assert_eq!(
        hex::encode(ids.finalize()),
        text(expected, "id_list_sha256"),
        "{name}"
    );
    let storage = &expected["storage"];
    assert_eq!(
        [as_is, plain, with_dictionary],
        ["uncompressed", "zstd", "zstd_dict"].map(|key| number(&storage[key])),
        "{name}"
    );
    assert_eq!(stored_bytes, number(&expected["stored_block_bytes"]), "{name}");
    assert_eq!(raw_bytes, number(&expected["uncompressed_block_bytes"]), "{name}");
    println!("{name}: {} blocks, head {head}", part.last - part.first + 1);
}

#[test]
fn single_logs_give_what_is_expected() {
    let Some(hive) = hive() else { return };
    for (name, chain) in SINGLE_LOGS {
        let file = log_file(&hive, name);
        let expected = expected(&hive, name);
        let log = open(&hive, &file);
        check_file(&log, &file, &expected);
        // The folder that holds it is the same log.
        let folder = open(&hive, file.parent().unwrap());
        assert_eq!(folder.head_number(), log.head_number());
        let verified = verify(&log, 1, None, &chain.spec(), |_| {}).unwrap();
        assert_eq!(verified.blocks, number(&expected["block_count"]));
        assert_eq!(
            verified.head.unwrap().to_string(),
            text(&expected, "head_block_id")
        );
    }
}

#[test]
fn split_log_gives_what_is_expected() {
    let Some(hive) = hive() else { return };
    let folder = hive.join("logs/derived_split");
    let log = open(&hive, &folder);
    assert_eq!((log.first_number(), log.head_number()), (Some(1), Some(1311)));
    for part in 1..=4 {
        let file = folder.join(format!("block_log_part.000{part}"));
        check_file(
            &log,
            &file,
            &expected(&hive, &format!("derived_split_part_000{part}")),
        );
        // A part by itself is a log too.
        let alone = open(&hive, &file);
        assert_eq!(alone.first_number(), Some((part - 1) * TESTNET_PART + 1));
    }
    let single = open(&hive, &log_file(&hive, "testnet_pattern"));
    for (split, single) in log.sequential(1).zip(single.sequential(1)) {
        assert_eq!(split.unwrap(), single.unwrap());
    }
    let verified = verify(&log, 1, None, &Chain::Testnet.spec(), |_| {}).unwrap();
    assert_eq!(verified.blocks, 1311);
    let verified = verify(&log, 399, Some(402), &Chain::Testnet.spec(), |_| {}).unwrap();
    assert_eq!(verified.blocks, 4);
}

#[test]
fn original_artifacts_agree_with_mainnet() {
    let Some(hive) = hive() else { return };
    let artifacts = |name: &str| Artifacts::open(&hive.join("artifacts").join(name)).unwrap();
    let old = artifacts("block_log.artifacts.v_1_0");
    let new = artifacts("block_log.artifacts.v_1_1.interrupted_at_19313");
    assert_eq!((old.header().head_block, old.header().tail_block), (100_000, 1));
    assert_eq!(old.header().revision, "7fb873585a6936334224ab5c486338f4bcd7f0da");
    assert!(old.header().is_complete() && !old.header().dirty);
    assert_eq!((new.header().head_block, new.header().tail_block), (100_000, 1));
    assert_eq!(new.header().interrupted_at, 19_313);
    assert!(!new.header().is_complete() && !new.header().dirty);

    let mut position = 0;
    while position < 100_000 {
        let (old, new) = (
            old.records(position..100_000).unwrap(),
            new.records(position..100_000).unwrap(),
        );
        assert!(!old.is_empty());
        for (old, new) in old.iter().zip(&new) {
            position += 1;
            if position < 19_313 {
                assert_eq!((new.trailer, new.id_tail), (0, [0; 16]));
            } else {
                assert_eq!(old, new);
            }
        }
    }

    let blocks = fs::read_to_string(hive.join("mainnet/blocks.json")).unwrap();
    let blocks: Vec<Value> = serde_json::from_str(&blocks).unwrap();
    let mut compared = 0;
    for block in &blocks {
        let number = number(&block["number"]) as u32;
        if number > 100_000 {
            continue;
        }
        let record = old.records(number - 1..number).unwrap()[0];
        assert_eq!(record.id(number).to_string(), text(block, "id"));
        compared += 1;
    }
    println!("{compared} ids of mainnet blocks agree with both artifacts files");
    assert!(compared >= 702, "{compared}");
}

#[test]
fn derived_artifacts_are_used_and_agree() {
    let Some(hive) = hive() else { return };
    let file = log_file(&hive, "derived_mixed");
    let artifacts = Artifacts::open(&file.with_extension("artifacts")).unwrap();
    let mut decoder = BlockDecoder::new(dictionaries(&hive));
    let log = open(&hive, &file);
    for block in log.sequential(1) {
        let block = block.unwrap();
        let record = artifacts.records(block.number - 1..block.number).unwrap()[0];
        assert_eq!(record.id(block.number), id_of(&block, &mut decoder));
        let (path, offset) = log.offset_of(block.number).unwrap();
        assert_eq!(path, file);
        assert_eq!(record.trailer & 0xffff_ffff_ffff, offset);
    }
}
