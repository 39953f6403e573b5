//! Logs whose last bytes are missing, zero or garbage: readers refuse them and change nothing, the writer cuts exactly
//! what is not whole and goes on.

#![allow(clippy::unwrap_used, missing_docs, reason = "tests")]

mod common;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cairn_block_log::{
    BlockLog, BlockLogWriter, CutPolicy, Dictionaries, Layout, LogError, Repair, StoredBlock, WriterOptions,
    verify,
};
use cairn_chain::{BlockId, ChainSpec};
use common::{Chain, TESTNET_PART, blocks, dictionaries, hive, log_file, open, scratch};

/// A log to tear, and what is known about it.
struct Subject {
    folder: tempfile::TempDir,
    chain: ChainSpec,
    dictionaries: Arc<Dictionaries>,
    bytes: Vec<u8>,
    blocks: Vec<(StoredBlock, BlockId)>,
    /// End of each block with its trailer, from 0 blocks on.
    ends: Vec<usize>,
}

impl Subject {
    fn new(hive: &Path, name: &str, chain: Chain) -> Self {
        let source = log_file(hive, name);
        let log = open(hive, &source);
        let blocks = blocks(&log);
        let mut ends = vec![0];
        for (block, _) in &blocks {
            ends.push(ends.last().unwrap() + block.bytes.len() + 8);
        }
        Self {
            folder: scratch(),
            chain: chain.spec(),
            dictionaries: dictionaries(hive),
            bytes: fs::read(source).unwrap(),
            blocks,
            ends,
        }
    }

    fn file(&self) -> PathBuf {
        self.folder.path().join("block_log")
    }

    fn read(&self) -> Result<BlockLog, LogError> {
        BlockLog::open(&self.file(), TESTNET_PART, self.dictionaries.clone())
    }

    fn write(&self) -> Result<(BlockLogWriter, Repair), LogError> {
        let options = WriterOptions {
            layout: Layout::Single,
            chain: &self.chain,
            dictionaries: self.dictionaries.clone(),
            cut: CutPolicy::Torn,
        };
        BlockLogWriter::open(self.folder.path(), &options)
    }

    /// Blocks that are whole in `bytes`: those whose bytes are all as they were.
    fn whole(&self, bytes: &[u8]) -> usize {
        let same = bytes.iter().zip(&self.bytes).take_while(|(a, b)| a == b).count();
        self.ends.partition_point(|end| *end <= same) - 1
    }

    /// Goes through everything that can be done with a torn log. Artifacts, if wanted, are put beside it before.
    fn check(&self, bytes: &[u8], artifacts: Option<&[u8]>) {
        let whole = self.whole(bytes);
        let (torn, end) = (bytes.len() != self.ends[whole], self.ends[whole] as u64);
        let what = format!(
            "{} of {} bytes, {whole} blocks whole",
            bytes.len(),
            self.bytes.len()
        );
        fs::write(self.file(), bytes).unwrap();
        let index = self.file().with_extension("artifacts");
        match artifacts {
            Some(artifacts) => fs::write(&index, artifacts).unwrap(),
            None => drop(fs::remove_file(&index)),
        }

        // A reader refuses it, or reads what is whole, and leaves everything as it is.
        match self.read() {
            Ok(log) => {
                assert!(!torn, "{what}");
                assert_eq!(log.head_number().unwrap_or(0) as usize, whole, "{what}");
            }
            Err(error) => {
                assert!(torn, "{what}: {error}");
                assert!(matches!(error, LogError::TornTail { .. }), "{what}: {error}");
                assert!(
                    error
                        .to_string()
                        .contains("open it for writing, which cuts the torn tail"),
                    "{error}"
                );
            }
        }
        let (prefix, cut) = BlockLog::open_whole_prefix(
            &self.file(),
            TESTNET_PART,
            self.dictionaries.clone(),
            &self.chain,
            CutPolicy::Torn,
        )
        .unwrap();
        assert_eq!(prefix.head_number().unwrap_or(0) as usize, whole, "{what}");
        assert_eq!(
            cut.map(|cut| (cut.from, cut.to)),
            torn.then_some((end, bytes.len() as u64)),
            "{what}"
        );
        if whole > 0 {
            assert_eq!(
                prefix.read(whole as u32).unwrap(),
                self.blocks[whole - 1].0,
                "{what}"
            );
        }
        assert!(
            fs::read(self.file()).unwrap() == bytes,
            "{what}: reading changes nothing"
        );
        assert_eq!(
            fs::read(&index).ok().as_deref(),
            artifacts,
            "{what}: reading changes nothing"
        );

        // The writer cuts it, and says what.
        let (mut writer, repair) = self.write().unwrap();
        assert_eq!(
            writer.head(),
            whole.checked_sub(1).map(|last| self.blocks[last].1),
            "{what}"
        );
        match repair.cut {
            None => assert!(!torn, "{what}"),
            Some(cut) => {
                assert_eq!(cut.file, self.file());
                assert_eq!((cut.from, cut.to), (end, bytes.len() as u64), "{what}");
                assert_eq!(cut.last_whole as usize, whole, "{what}");
                assert!(
                    cut.to_string()
                        .contains(&format!("from offset {end} to {}", bytes.len())),
                    "{cut}"
                );
            }
        }
        // The index is as small as the blocks that are there.
        let expected = if whole == 0 {
            None
        } else {
            Some(56 + 24 * whole as u64)
        };
        assert_eq!(
            fs::metadata(&index).ok().map(|metadata| metadata.len()),
            expected,
            "{what}"
        );
        // What is missing can be appended, and then the log is what it was.
        for (block, id) in &self.blocks[whole..] {
            writer.append(block, id).unwrap();
        }
        writer.close().unwrap();
        assert!(fs::read(self.file()).unwrap() == self.bytes, "{what}");
        // A second start is quiet.
        let (writer, repair) = self.write().unwrap();
        assert!(repair.cut.is_none() && repair.artifacts_made.is_empty(), "{what}");
        writer.close().unwrap();
    }
}

/// Cases S33 and S35: a log that ends anywhere in its last three blocks, without artifacts, with artifacts that name
/// blocks that are gone, and with artifacts that are older than the log.
#[test]
fn every_length_of_the_last_three_blocks() {
    let Some(hive) = hive() else { return };
    for (name, chain) in [
        ("transaction_pattern", Chain::Testnet),
        ("derived_mixed", Chain::Testnet),
    ] {
        let subject = Subject::new(&hive, name, chain);
        let artifacts = |count: usize| {
            fs::write(subject.file(), &subject.bytes[..subject.ends[count]]).unwrap();
            let _ = fs::remove_file(subject.file().with_extension("artifacts"));
            subject.write().unwrap().0.close().unwrap();
            fs::read(subject.file().with_extension("artifacts")).unwrap()
        };
        let count = subject.blocks.len();
        let (newer, older) = (artifacts(count), artifacts(count - 5));
        for len in subject.ends[count - 3]..=subject.bytes.len() {
            let bytes = &subject.bytes[..len];
            subject.check(bytes, None);
            subject.check(bytes, Some(&newer));
            subject.check(bytes, Some(&older));
        }
        println!(
            "{name}: {} lengths",
            subject.bytes.len() + 1 - subject.ends[count - 3]
        );
    }
}

/// The same for longer logs, at some lengths.
#[test]
fn some_lengths_of_longer_logs() {
    let Some(hive) = hive() else { return };
    for (name, chain) in [
        ("testnet_pattern", Chain::Testnet),
        ("mirrornet_1k", Chain::Mirrornet),
        ("steemd_live", Chain::SteemTestnet),
        ("hived", Chain::Testnet),
    ] {
        let subject = Subject::new(&hive, name, chain);
        let len = subject.bytes.len();
        let last = subject.ends[subject.blocks.len() - 1];
        for len in [
            len,
            len - 1,
            len - 7,
            len - 8,
            len - 9,
            last + 16,
            last + 1,
            last,
            last - 7,
            last - 20,
        ] {
            subject.check(&subject.bytes[..len], None);
        }
    }
}

/// From an empty file on: there may be no whole block at all.
#[test]
fn every_length_of_the_first_block() {
    let Some(hive) = hive() else { return };
    let subject = Subject::new(&hive, "mirrornet_1k", Chain::Mirrornet);
    for len in 0..=subject.ends[1] + 1 {
        let bytes = &subject.bytes[..len];
        let whole = subject.whole(bytes);
        fs::write(subject.file(), bytes).unwrap();
        let (writer, repair) = subject.write().unwrap();
        assert_eq!(writer.head().is_some(), whole == 1, "{len}");
        assert_eq!(repair.cut.is_some(), len != subject.ends[whole], "{len}");
        assert_eq!(subject.file().exists(), whole == 1, "{len}");
        drop(writer);
    }
}

/// Case S34, and what a file system may leave behind the end of a file.
#[test]
fn garbage_and_zeros_behind_the_end() {
    let Some(hive) = hive() else { return };
    for (name, chain) in [
        ("op_update_proposal_votes", Chain::Testnet),
        ("steemd_live", Chain::SteemTestnet),
    ] {
        let subject = Subject::new(&hive, name, chain);
        let count = subject.blocks.len();
        let garbage: Vec<u8> = (0..9000_u32)
            .map(|n| (n.wrapping_mul(2_654_435_761) >> 13) as u8)
            .collect();
        let tails: [&[u8]; 7] = [
            &[0xff; 16],
            &[0; 8],
            &[0; 4096],
            &[0; 100_000],
            &garbage,
            // Blocks that are whole but do not belong here.
            &subject.bytes[..subject.ends[3]],
            &subject.bytes[subject.ends[count - 1]..],
        ];
        for tail in tails {
            for cut in [
                subject.ends[count],
                subject.ends[count - 1],
                subject.ends[count - 1] + 40,
            ] {
                let mut bytes = subject.bytes[..cut].to_vec();
                bytes.extend_from_slice(tail);
                if subject.whole(&bytes) == count && bytes.len() == subject.bytes.len() {
                    continue;
                }
                subject.check(&bytes, None);
            }
        }
        // Zeros in place of the last pages.
        let mut bytes = subject.bytes.clone();
        bytes[subject.ends[count - 3] + 30..].fill(0);
        subject.check(&bytes, None);
    }
}

/// A file of zeros is not an empty block 1, although it decodes as one.
#[test]
fn zeros_are_no_block() {
    let Some(hive) = hive() else { return };
    let subject = Subject::new(&hive, "mirrornet_1k", Chain::Mirrornet);
    for len in [8, 120, 200, 4096] {
        fs::write(subject.file(), vec![0; len]).unwrap();
        let (writer, repair) = subject.write().unwrap();
        assert_eq!(writer.head(), None, "{len}");
        assert_eq!(repair.cut.unwrap().to, len as u64);
    }
}

/// Whole blocks behind a fault: no crash leaves that, and nothing is cut unless it is asked for.
#[test]
fn damage_inside_is_not_cut() {
    let Some(hive) = hive() else { return };
    let subject = Subject::new(&hive, "op_update_proposal_votes", Chain::Testnet);
    for at in [subject.ends[50], subject.ends[50] + 30, subject.ends[51] - 3] {
        let mut bytes = subject.bytes.clone();
        bytes[at..at + 3].fill(0xff);
        fs::write(subject.file(), &bytes).unwrap();
        let error = subject.write().unwrap_err();
        let LogError::DamagedInside { place, .. } = &error else {
            panic!("{error}")
        };
        assert!(matches!(place.block, Some(51 | 52)), "{error}");
        assert!(fs::read(subject.file()).unwrap() == bytes, "nothing was changed");
        let prefix = |policy| {
            BlockLog::open_whole_prefix(
                &subject.file(),
                TESTNET_PART,
                subject.dictionaries.clone(),
                &subject.chain,
                policy,
            )
        };
        let refused = prefix(CutPolicy::Torn).unwrap_err();
        assert!(matches!(refused, LogError::DamagedInside { .. }), "{refused}");
        let (log, cut) = prefix(CutPolicy::Anything).unwrap();
        assert_eq!(log.head_number(), cut.map(|cut| cut.last_whole));
        let options = WriterOptions {
            layout: Layout::Single,
            chain: &subject.chain,
            dictionaries: subject.dictionaries.clone(),
            cut: CutPolicy::Anything,
        };
        let (writer, repair) = BlockLogWriter::open(subject.folder.path(), &options).unwrap();
        assert_eq!(repair.cut.unwrap().last_whole, writer.head().unwrap().number());
        drop(writer);
        fs::remove_file(subject.file().with_extension("artifacts")).unwrap();
    }
    // With the specification of another chain most blocks are not blocks; the log is fine all the same.
    fs::write(subject.file(), &subject.bytes[..subject.bytes.len() - 7]).unwrap();
    let options = WriterOptions {
        layout: Layout::Single,
        chain: &ChainSpec::hive(),
        dictionaries: subject.dictionaries.clone(),
        cut: CutPolicy::Torn,
    };
    let error = BlockLogWriter::open(subject.folder.path(), &options).unwrap_err();
    assert!(matches!(error, LogError::DamagedInside { .. }), "{error}");
    assert!(error.to_string().contains("another chain"), "{error}");
}

/// A torn last part of a split log, down to nothing of it.
#[test]
fn torn_parts() {
    let Some(hive) = hive() else { return };
    let chain = Chain::Testnet.spec();
    let dictionaries = dictionaries(&hive);
    let source = hive.join("logs/derived_split");
    let options = WriterOptions {
        layout: Layout::Split {
            blocks_per_part: TESTNET_PART,
        },
        chain: &chain,
        dictionaries: dictionaries.clone(),
        cut: CutPolicy::Torn,
    };
    let last = fs::read(source.join("block_log_part.0004")).unwrap();
    let second = open(&hive, &source).offset_of(1202).unwrap().1 as usize;
    for (len, head) in [
        (last.len() - 7, 1310),
        (second + 9, 1201),
        (second - 1, 1200),
        (0, 1200),
    ] {
        let folder = scratch();
        let file = |part: u32| folder.path().join(format!("block_log_part.000{part}"));
        for part in 1..=3 {
            fs::copy(source.join(format!("block_log_part.000{part}")), file(part)).unwrap();
        }
        fs::write(file(4), &last[..len]).unwrap();
        let (writer, repair) = BlockLogWriter::open(folder.path(), &options).unwrap();
        assert_eq!(writer.head().unwrap().number(), head);
        assert_eq!(repair.cut.is_some(), len > 0);
        // The other parts had no artifacts; now they have.
        assert_eq!(repair.artifacts_made.len(), if head == 1200 { 3 } else { 4 });
        assert_eq!(file(4).exists(), head != 1200);
        writer.close().unwrap();
        let log = BlockLog::open(folder.path(), TESTNET_PART, dictionaries.clone()).unwrap();
        assert_eq!(
            verify(&log, 1, None, &chain, |_| {}).unwrap().blocks,
            u64::from(head)
        );
    }
    // A part that is torn although another follows is not a crash of ours.
    let folder = scratch();
    for part in [1, 2] {
        let name = format!("block_log_part.000{part}");
        fs::copy(source.join(&name), folder.path().join(&name)).unwrap();
    }
    let first = folder.path().join("block_log_part.0001");
    let bytes = fs::read(&first).unwrap();
    fs::write(&first, &bytes[..bytes.len() - 7]).unwrap();
    let error = BlockLogWriter::open(folder.path(), &options).unwrap_err();
    assert!(matches!(error, LogError::TornTail { .. }), "{error}");
    let log = open(&hive, &source);
    let (path, offset) = log.offset_of(399).unwrap();
    assert!(path.ends_with("block_log_part.0001"));
    fs::write(&first, &bytes[..offset as usize]).unwrap();
    let error = BlockLogWriter::open(folder.path(), &options).unwrap_err();
    assert!(
        matches!(
            error,
            LogError::PartEnd {
                expected: 400,
                found: 398,
                ..
            }
        ),
        "{error}"
    );
}
