//! Logs that are torn, overwritten, or have a wrong block in them.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs::{self, OpenOptions};
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cairn_block_log::{BlockLog, BlockLogWriter, CutPolicy, Dictionaries, Layout, WriterOptions};
use cairn_chain::ChainSpec;
use cairn_sync::read_id;
use cairn_tests::{Finished, cairn, copy_files, hive_data};
use tempfile::TempDir;

const CHAIN: [&str; 2] = ["--chain", "steem-testnet"];

/// A node's folder that owns a copy of `steemd_live` (241 blocks, stored as they are).
fn own_copy(test: &str) -> Option<(TempDir, PathBuf)> {
    let data = hive_data(test)?;
    let folder = TempDir::new().unwrap();
    let blockchain = folder.path().join("blockchain");
    copy_files(&data.join("logs/steemd_live"), &blockchain);
    fs::remove_file(blockchain.join("config.ini")).unwrap();
    Some((folder, blockchain.join("block_log")))
}

fn replay_own(folder: &Path, more: &[&str]) -> Finished {
    let words = ["replay", "-d", folder.to_str().unwrap(), "--json"];
    cairn(words.into_iter().chain(CHAIN).chain(more.iter().copied()))
}

fn overwrite(file: &Path, offset: u64, bytes: &[u8]) {
    let mut file = OpenOptions::new().write(true).open(file).unwrap();
    file.seek(SeekFrom::Start(offset)).unwrap();
    file.write_all(bytes).unwrap();
}

fn cut(file: &Path, bytes: u64) {
    let len = fs::metadata(file).unwrap().len();
    OpenOptions::new()
        .write(true)
        .open(file)
        .unwrap()
        .set_len(len - bytes)
        .unwrap();
}

#[test]
fn a_torn_tail_is_cut_with_a_line_and_the_index_stays_small() {
    let Some((folder, log)) = own_copy("torn tail") else {
        return;
    };
    cut(&log, 7);
    let finished = replay_own(folder.path(), &[]).expect_code(0);
    assert_eq!(finished.json()["head"]["number"], 240, "{finished}");
    assert!(
        finished.stderr.contains("torn tail cut off the block log"),
        "{finished}"
    );
    let artifacts = fs::metadata(log.with_file_name("block_log.artifacts"))
        .unwrap()
        .len();
    assert_eq!(artifacts, 56 + 24 * 240);
    let again = replay_own(folder.path(), &[]).expect_code(0);
    assert!(
        !again.stderr.contains("torn tail"),
        "a second start finds nothing to do\n{again}"
    );
}

#[test]
fn a_torn_tail_is_not_cut_when_it_must_not_be() {
    let Some((folder, log)) = own_copy("torn tail, no mending") else {
        return;
    };
    cut(&log, 7);
    let before = fs::read(&log).unwrap();
    let refused = replay_own(folder.path(), &["--enable-block-log-auto-fixing", "0"]).expect_code(1);
    assert!(
        refused.stderr.contains("does not end with a whole block"),
        "{refused}"
    );
    assert!(before == fs::read(&log).unwrap(), "nothing was changed");
}

#[test]
fn a_log_of_somebody_else_is_never_written() {
    let Some((_owner, log)) = own_copy("foreign torn log") else {
        return;
    };
    cut(&log, 7);
    let before = fs::read(&log).unwrap();
    let node = TempDir::new().unwrap();
    let words = [
        "replay",
        "-d",
        node.path().to_str().unwrap(),
        "--block-log",
        log.to_str().unwrap(),
    ];
    let auto_fixing_off = ["--enable-block-log-auto-fixing", "0"];
    let refused = cairn(words.into_iter().chain(CHAIN).chain(auto_fixing_off)).expect_code(1);
    assert!(
        refused.stderr.contains("does not end with a whole block"),
        "{refused}"
    );
    // The whole blocks are replayed, and what is left out is said.
    let replayed = cairn(words.into_iter().chain(CHAIN).chain(["--json"])).expect_code(0);
    assert_eq!(replayed.json()["head"]["number"], 240, "{replayed}");
    let warning = replayed
        .stderr
        .lines()
        .find(|line| line.contains("torn tail left out"));
    let warning = warning.unwrap_or_else(|| panic!("no warning\n{replayed}"));
    for text in [
        "block_log",
        "the last whole block is 240",
        "The file is not changed",
    ] {
        assert!(warning.contains(text), "{text} is missing in {warning}");
    }
    assert!(before == fs::read(&log).unwrap(), "nothing was changed");
    assert!(
        !log.with_file_name("block_log.artifacts").exists(),
        "nothing was written beside it"
    );
}

#[test]
fn garbage_at_a_block_boundary_is_a_precise_error() {
    let Some((folder, log)) = own_copy("garbage length") else {
        return;
    };
    let reader = BlockLog::open(&log, 400, Arc::new(Dictionaries::none())).unwrap();
    let (_, offset) = reader.offset_of(120).unwrap();
    drop(reader);
    overwrite(&log, offset - 8, &[0xff; 16]);
    let words = ["log", "verify", log.to_str().unwrap()];
    let refused = cairn(words.into_iter().chain(CHAIN)).expect_code(1);
    let place = format!("offset {} of {}", offset - 8, log.display());
    assert!(refused.stderr.contains(&place), "{place} is missing\n{refused}");
    let refused = replay_own(folder.path(), &[]).expect_code(1);
    let place = format!("of {}", log.display());
    for text in ["block 119", &place, "nothing was cut"] {
        assert!(refused.stderr.contains(text), "{text} is missing\n{refused}");
    }
}

#[test]
fn a_block_in_the_wrong_place_is_named_with_its_offset() {
    let Some(data) = hive_data("wrong block") else {
        return;
    };
    let spec = ChainSpec::builtin("steem-testnet").unwrap();
    let dictionaries = Arc::new(Dictionaries::none());
    let source = BlockLog::open(
        &data.join("logs/steemd_generated"),
        400,
        Arc::clone(&dictionaries),
    )
    .unwrap();
    let bad = TempDir::new().unwrap();
    let options = WriterOptions {
        layout: Layout::Single,
        chain: &spec,
        dictionaries,
        cut: CutPolicy::Torn,
    };
    let (mut writer, _) = BlockLogWriter::open(bad.path(), &options).unwrap();
    for number in 1..=400 {
        let mut stored = source.read(number).unwrap();
        let id = read_id(&source, number).unwrap();
        if number == 301 {
            stored.bytes = source.read(302).unwrap().bytes;
        }
        writer.append(&stored, &id).unwrap();
    }
    writer.flush().unwrap();
    let (file, offset) = writer.reader().offset_of(301).unwrap();
    writer.close().unwrap();
    let node = TempDir::new().unwrap();
    let words = [
        "replay",
        "-d",
        node.path().to_str().unwrap(),
        "--block-log",
        bad.path().to_str().unwrap(),
        "--json",
    ];
    let refused = cairn(words.into_iter().chain(CHAIN)).expect_code(1);
    let place = format!("log breaks at 301 ({}, offset {offset})", file.display());
    assert!(refused.stderr.contains(&place), "{place} is missing\n{refused}");
    assert!(
        refused.stderr.contains("cairn log verify"),
        "the remedy is named\n{refused}"
    );
    assert_eq!(refused.json()["head"]["number"], 300);
    let words = ["log", "verify", bad.path().to_str().unwrap()];
    let refused = cairn(words.into_iter().chain(CHAIN)).expect_code(1);
    assert!(refused.stderr.contains("301"), "{refused}");

    // Below a checkpoint it is found before anything is applied.
    let node = TempDir::new().unwrap();
    let checkpoint = format!("[350,{}]", read_id(&source, 350).unwrap());
    let words = [
        "replay",
        "-d",
        node.path().to_str().unwrap(),
        "--block-log",
        bad.path().to_str().unwrap(),
        "--checkpoint",
        &checkpoint,
        "--json",
    ];
    let refused = cairn(words.into_iter().chain(CHAIN)).expect_code(3);
    assert_eq!(refused.json()["blocks"], 0, "{refused}");
    let place = format!("block 301, offset {offset} of {}", file.display());
    for text in ["log breaks at 301", &place, "Blocks 1..350 of"] {
        assert!(refused.stderr.contains(text), "{text} is missing\n{refused}");
    }
}

#[test]
fn an_index_older_than_its_log_does_not_hurt() {
    let Some((folder, log)) = own_copy("old index") else {
        return;
    };
    let whole = fs::read(&log).unwrap();
    let reader = BlockLog::open(&log, 400, Arc::new(Dictionaries::none())).unwrap();
    let (_, offset) = reader.offset_of(100).unwrap();
    drop(reader);
    fs::write(&log, &whole[..offset as usize]).unwrap();
    replay_own(folder.path(), &["--exit-at-block", "50"]).expect_code(0);
    // The log is copied later than its index, as from a running node.
    fs::write(&log, &whole).unwrap();
    let finished = replay_own(folder.path(), &[]).expect_code(0);
    assert_eq!(finished.json()["head"]["number"], 241, "{finished}");
}
