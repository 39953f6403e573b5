//! A disk that fills up while blocks are appended leaves a log that ends with a whole block.

#![allow(clippy::unwrap_used, missing_docs, reason = "tests")]

mod common;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use cairn_block_log::{BlockLog, BlockLogWriter, CutPolicy, Layout, WriterOptions};
use common::{Chain, TESTNET_PART, blocks, hive, log_file, open};

/// A small file system in memory; unmounted when dropped.
struct SmallDisk {
    at: tempfile::TempDir,
}

impl SmallDisk {
    fn mount(size: &str) -> Option<Self> {
        let at = tempfile::tempdir().unwrap();
        let options = format!("size={size}");
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &options, "tmpfs"])
            .arg(at.path())
            .status();
        if mounted.is_ok_and(|status| status.success()) {
            return Some(Self { at });
        }
        println!("skipped: this user may not mount a small file system to fill it up");
        None
    }

    fn path(&self) -> PathBuf {
        self.at.path().join("log")
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.at.path()).status();
    }
}

fn options<'a>(chain: &'a cairn_chain::ChainSpec, log: &BlockLog) -> WriterOptions<'a> {
    WriterOptions {
        layout: Layout::Single,
        chain,
        dictionaries: log.dictionaries().clone(),
        cut: CutPolicy::Torn,
    }
}

/// The head of a log for those who only read it: they are refused a torn one.
fn read_only_head(folder: &Path, log: &BlockLog) -> Option<u32> {
    BlockLog::open(folder, TESTNET_PART, log.dictionaries().clone())
        .unwrap()
        .head_number()
}

#[test]
fn a_short_append_is_cut_and_the_log_goes_on_when_there_is_room() {
    let Some(hive) = hive() else { return };
    let Some(disk) = SmallDisk::mount("200k") else {
        return;
    };
    let chain = Chain::Testnet.spec();
    let log = open(&hive, &log_file(&hive, "testnet_pattern"));
    let blocks = blocks(&log);
    let (mut writer, _) = BlockLogWriter::open(&disk.path(), &options(&chain, &log)).unwrap();
    let mut appended = 0;
    let error = loop {
        let (block, id) = &blocks[appended];
        // Flushed block by block, so that the disk is full in the middle of one.
        if let Err(error) = writer.append(block, id).and_then(|()| writer.flush()) {
            break error;
        }
        appended += 1;
    };
    assert!(error.is_disk_full(), "{error}");
    assert!(
        error.to_string().contains("block_log"),
        "the file is named: {error}"
    );
    assert_eq!(
        read_only_head(&disk.path(), &log),
        Some(appended as u32),
        "every block before is whole, and no piece of the next one is left"
    );
    drop(writer);

    let remounted = Command::new("mount")
        .args(["-o", "remount,size=4m"])
        .arg(disk.at.path())
        .status()
        .unwrap();
    assert!(remounted.success());
    let (mut writer, repair) = BlockLogWriter::open(&disk.path(), &options(&chain, &log)).unwrap();
    assert!(repair.cut.is_none(), "{:?}", repair.cut);
    let head = writer.head().map_or(0, |id| id.number() as usize);
    assert_eq!(head, appended);
    for (block, id) in &blocks[head..] {
        writer.append(block, id).unwrap();
    }
    writer.close().unwrap();
    assert_eq!(
        fs::read(disk.path().join("block_log")).unwrap(),
        fs::read(log_file(&hive, "testnet_pattern")).unwrap()
    );
}
