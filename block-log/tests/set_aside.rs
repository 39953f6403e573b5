//! Blocks that are cut off a log keep their bytes in files beside it.

#![allow(clippy::unwrap_used, missing_docs, reason = "tests")]

mod common;

use std::fs;
use std::path::Path;

use cairn_block_log::{BlockLogWriter, CutPolicy, Layout, LogError, SetAside, WriterOptions};
use cairn_chain::ChainSpec;
use common::{Chain, TESTNET_PART, blocks, hive, log_file, open, scratch};

const SPLIT: Layout = Layout::Split {
    blocks_per_part: TESTNET_PART,
};

/// Everything that is in files beside a log, in the order of the blocks.
fn kept_bytes(kept: &SetAside) -> Vec<u8> {
    let files = kept.files.iter().map(|file| fs::read(file).unwrap());
    files.collect::<Vec<_>>().concat()
}

fn log_bytes(folder: &Path) -> Vec<Vec<u8>> {
    let parts = (1..=4).map(|part| folder.join(format!("block_log_part.{part:04}")));
    parts.filter_map(|path| fs::read(path).ok()).collect()
}

#[test]
fn what_is_cut_is_kept_and_can_be_appended_again() {
    let Some(hive) = hive() else { return };
    let chain = Chain::Testnet.spec();
    let log = open(&hive, &log_file(&hive, "testnet_pattern"));
    let all = blocks(&log);
    for head in [1310, 1200, 1199, 500, 400, 1, 0] {
        let folder = scratch();
        let options = WriterOptions {
            layout: SPLIT,
            chain: &chain,
            dictionaries: log.dictionaries().clone(),
            cut: CutPolicy::Torn,
        };
        let (mut writer, _) = BlockLogWriter::open(folder.path(), &options).unwrap();
        all.iter()
            .for_each(|(block, id)| writer.append(block, id).unwrap());
        writer.flush().unwrap();
        let whole = log_bytes(folder.path());
        let kept = writer.set_aside_after(head).unwrap().unwrap();
        assert_eq!((kept.first, kept.last), (head + 1, 1311));
        assert_eq!(writer.head().map_or(0, |id| id.number()), head);
        assert_eq!(
            [log_bytes(folder.path()).concat(), kept_bytes(&kept)].concat(),
            whole.concat(),
            "{head}: every byte is in the log or beside it"
        );
        assert!(writer.set_aside_after(head).unwrap().is_none());

        for (block, id) in &all[head as usize..] {
            writer.append(block, id).unwrap();
        }
        writer.close().unwrap();
        assert!(log_bytes(folder.path()) == whole, "{head}");
        // The files do not stand in the way of the log, and are found by their names.
        BlockLogWriter::open(folder.path(), &options)
            .unwrap()
            .0
            .close()
            .unwrap();
        let found = SetAside::find(folder.path()).unwrap();
        assert_eq!(found.len(), kept.files.len());
        assert_eq!(found.first().unwrap().first, head + 1);
        assert_eq!(found.last().unwrap().last, 1311);
        found.iter().for_each(|kept| kept.remove().unwrap());
        assert_eq!(SetAside::find(folder.path()).unwrap(), []);
    }
}

#[test]
fn damage_inside_a_log_is_cut_on_request_and_kept() {
    let Some(hive) = hive() else { return };
    let source = log_file(&hive, "steemd_live");
    let log = open(&hive, &source);
    let chain = ChainSpec::steem_testnet();
    let folder = scratch();
    let file = folder.path().join("block_log");
    let mut bytes = fs::read(&source).unwrap();
    let at = |number| log.offset_of(number).unwrap().1 as usize;
    // In the id of the block before.
    bytes[at(120) + 4] ^= 1;
    fs::write(&file, &bytes).unwrap();
    let options = |cut| WriterOptions {
        layout: Layout::Single,
        chain: &chain,
        dictionaries: log.dictionaries().clone(),
        cut,
    };
    let refused = BlockLogWriter::open(folder.path(), &options(CutPolicy::Torn)).unwrap_err();
    assert!(matches!(refused, LogError::DamagedInside { .. }), "{refused}");
    let (writer, repair) = BlockLogWriter::open(folder.path(), &options(CutPolicy::AnythingKept)).unwrap();
    assert_eq!(writer.head().unwrap().number(), 119);
    let kept = repair.kept.unwrap();
    assert_eq!((kept.first, kept.last), (120, 241));
    assert!(kept_bytes(&kept) == bytes[at(120)..]);
    assert!(fs::read(&file).unwrap() == bytes[..at(120)]);
}
