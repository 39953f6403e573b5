//! Crashes that lose bytes: what was written after the last sync may be missing, zero or garbage in any place, and the
//! artifacts' header may be the one from before. The next open finds the longest prefix of whole blocks, at least up to
//! the last sync, and what is missing can be appended again.
//!
//! What this cannot find: a file system that loses bytes that it said it had synced; and a lie of the operating system
//! about the order of two syncs.

#![allow(clippy::unwrap_used, missing_docs, reason = "tests")]

mod common;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use cairn_block_log::{
    BlockDecoder, BlockLog, BlockLogWriter, CutPolicy, Dictionaries, Layout, StoredBlock, WriterOptions,
};
use cairn_chain::{BlockId, ChainSpec, DecodedBlock};
use common::{Chain, blocks, dictionaries, hive, log_file, open, plain_log, scratch};
use proptest::prelude::*;

/// Blocks to a part when the log is split.
const PART: u32 = 9;

#[derive(Clone, Copy, Debug)]
enum Step {
    Append(usize),
    Flush,
    Sync,
    /// Close and open again.
    Reopen,
}

/// What happens to the bytes behind the last sync. Positions are fractions of them.
#[derive(Clone, Copy, Debug)]
enum Loss {
    Truncate(f64),
    Zero(f64, f64),
    Garbage(f64, f64, u8),
    /// Whole sectors, as a disk loses them.
    Sectors(u64),
    MoreZeros(usize),
    MoreGarbage(usize, u8),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (1..12_usize).prop_map(Step::Append),
        2 => Just(Step::Flush),
        1 => Just(Step::Sync),
        1 => Just(Step::Reopen),
    ]
}

fn loss() -> impl Strategy<Value = Loss> {
    prop_oneof![
        (0.0..1.0).prop_map(Loss::Truncate),
        (0.0..1.0, 0.0..1.0).prop_map(|(from, to)| Loss::Zero(from, to)),
        (0.0..1.0, 0.0..1.0, any::<u8>()).prop_map(|(from, to, seed)| Loss::Garbage(from, to, seed)),
        any::<u64>().prop_map(Loss::Sectors),
        (1..5000_usize).prop_map(Loss::MoreZeros),
        (1..5000_usize, any::<u8>()).prop_map(|(len, seed)| Loss::MoreGarbage(len, seed)),
    ]
}

fn noise(at: usize, seed: u8) -> u8 {
    ((at as u32 ^ (u32::from(seed) << 20)).wrapping_mul(2_654_435_761) >> 11) as u8
}

impl Loss {
    fn apply(self, bytes: &mut Vec<u8>, synced: usize) {
        let lost = bytes.len() - synced;
        let place = |fraction: f64| synced + (fraction * lost as f64) as usize;
        let range = |a: f64, b: f64| place(a.min(b))..place(a.max(b));
        match self {
            Self::Truncate(at) => bytes.truncate(place(at)),
            Self::Zero(from, to) => bytes[range(from, to)].fill(0),
            Self::Garbage(from, to, seed) => {
                for at in range(from, to) {
                    bytes[at] = noise(at, seed);
                }
            }
            Self::Sectors(mask) => {
                for (at, byte) in bytes.iter_mut().enumerate().skip(synced) {
                    if mask >> ((at / 512) % 64) & 1 == 1 {
                        *byte = 0;
                    }
                }
            }
            Self::MoreZeros(len) => bytes.resize(bytes.len() + len, 0),
            Self::MoreGarbage(len, seed) => {
                let end = bytes.len();
                bytes.extend((end..end + len).map(|at| noise(at, seed)));
            }
        }
    }
}

/// Blocks to write, and the chain that they are of.
struct Source {
    blocks: Vec<(StoredBlock, BlockId)>,
    chain: ChainSpec,
    dictionaries: Arc<Dictionaries>,
}

fn sources() -> &'static [Source] {
    static SOURCES: OnceLock<Vec<Source>> = OnceLock::new();
    SOURCES.get_or_init(|| {
        let Some(hive) = hive() else { return Vec::new() };
        [
            ("testnet_pattern", Chain::Testnet),
            ("steemd_live", Chain::SteemTestnet),
            ("derived_mixed", Chain::Testnet),
        ]
        .map(|(name, chain)| {
            let mut blocks = blocks(&open(&hive, &log_file(&hive, name)));
            blocks.truncate(60);
            Source {
                blocks,
                chain: chain.spec(),
                dictionaries: dictionaries(&hive),
            }
        })
        .into()
    })
}

fn file_of(folder: &Path, layout: Layout, number: u32) -> (PathBuf, usize) {
    match layout {
        Layout::Single => (folder.join("block_log"), 1),
        Layout::Split { .. } => {
            let part = (number - 1) / PART;
            (
                folder.join(format!("block_log_part.{:04}", part + 1)),
                (part * PART + 1) as usize,
            )
        }
    }
}

/// Whether an altered head block still is a block that follows `previous`: then nothing but chain state can tell.
fn is_another_block(source: &Source, folder: &Path, number: u32, previous: Option<BlockId>) -> bool {
    let log = BlockLog::open(folder, PART, source.dictionaries.clone()).unwrap();
    assert_eq!(log.head_number(), Some(number));
    let raw = BlockDecoder::new(source.dictionaries.clone())
        .decode(&log.read(number).unwrap())
        .unwrap();
    let block = DecodedBlock::decode(raw, source.chain.symbols).unwrap();
    block.block().header.previous == previous.unwrap_or(BlockId::ZERO)
        && block.check_merkle_root(&source.chain).is_ok()
        && block.id() != source.blocks[number as usize - 1].1
}

fn run(
    source: &Source,
    layout: Layout,
    steps: &[Step],
    losses: &[Loss],
    old_header: bool,
) -> Result<bool, TestCaseError> {
    let folder = scratch();
    let options = WriterOptions {
        layout,
        chain: &source.chain,
        dictionaries: source.dictionaries.clone(),
        cut: CutPolicy::Torn,
    };
    let open = || BlockLogWriter::open(folder.path(), &options).unwrap();
    let all = source.blocks.len();
    let mut writer = open().0;
    let mut appended = 0;
    // The artifacts' header as it was before the last sync: the new one may not have reached the disk.
    let mut header = None;
    for step in steps {
        match step {
            Step::Append(count) => {
                for (block, id) in &source.blocks[appended..(appended + count).min(all)] {
                    writer.append(block, id).unwrap();
                }
                appended = (appended + count).min(all);
            }
            Step::Flush => writer.flush().unwrap(),
            Step::Sync => {
                header = appended.checked_sub(1).and_then(|last| {
                    let (file, _) = file_of(folder.path(), layout, last as u32 + 1);
                    let index = format!("{}.artifacts", file.display());
                    Some((index.clone(), fs::read(&index).ok()?.get(..56)?.to_vec()))
                });
                writer.sync().unwrap();
            }
            Step::Reopen => {
                writer.close().unwrap();
                let (again, repair) = open();
                prop_assert!(repair.cut.is_none() && repair.artifacts_made.is_empty());
                writer = again;
                header = None;
            }
        }
    }
    writer.flush().unwrap();
    let synced = writer.synced_head().map_or(0, |id| id.number() as usize);
    drop(writer);
    if appended == 0 {
        return Ok(false);
    }

    // The crash. Only the last file can have unsynced bytes: a part is synced before the next one is begun.
    let (file, first) = file_of(folder.path(), layout, appended as u32);
    let original = fs::read(&file).unwrap();
    let numbered: Vec<(StoredBlock, BlockId)> = source.blocks[first - 1..appended].to_vec();
    prop_assert!(original == plain_log(&numbered));
    let synced_blocks = (synced + 1).saturating_sub(first).min(numbered.len());
    let synced_bytes = plain_log(&numbered[..synced_blocks]).len();
    let mut bytes = original.clone();
    for loss in losses {
        loss.apply(&mut bytes, synced_bytes);
    }
    fs::write(&file, &bytes).unwrap();
    let current = format!("{}.artifacts", file.display());
    if let Some((index, header)) = header.filter(|(index, _)| old_header && *index == current)
        && let Ok(mut artifacts) = fs::read(&index)
    {
        artifacts[..56].copy_from_slice(&header);
        fs::write(&index, artifacts).unwrap();
    }

    // The slow twin: blocks whose bytes are as they were.
    let same = bytes.iter().zip(&original).take_while(|(a, b)| a == b).count();
    let mut whole = 0;
    while whole < numbered.len() && plain_log(&numbered[..=whole]).len() <= same {
        whole += 1;
    }
    let end = plain_log(&numbered[..whole]).len();
    prop_assert!(whole >= synced_blocks);

    let (mut writer, repair) = open();
    let head = writer.head().map_or(0, |id| id.number() as usize);
    if head != first - 1 + whole {
        // One more block may be taken: altered, but a block all the same.
        prop_assert_eq!(head, first + whole);
        let previous = (first + whole - 1)
            .checked_sub(1)
            .map(|last| source.blocks[last].1);
        prop_assert!(is_another_block(source, folder.path(), head as u32, previous));
        return Ok(true);
    }
    prop_assert_eq!(repair.cut.is_some(), bytes.len() != end);
    if let Some(cut) = &repair.cut {
        prop_assert_eq!(
            (cut.from, cut.to, cut.last_whole as usize),
            (end as u64, bytes.len() as u64, head)
        );
    }
    prop_assert!(repair.artifacts_made.is_empty(), "{:?}", repair.artifacts_made);
    // Go on to the end of the chain.
    for (block, id) in &source.blocks[head..] {
        writer.append(block, id).unwrap();
    }
    writer.close().unwrap();
    let log = BlockLog::open(folder.path(), PART, source.dictionaries.clone()).unwrap();
    let copied: Vec<StoredBlock> = log.sequential(1).map(Result::unwrap).collect();
    prop_assert!(copied.iter().eq(source.blocks.iter().map(|(block, _)| block)));
    Ok(false)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_longest_whole_prefix_is_recovered(
        source in 0..3_usize,
        split in any::<bool>(),
        steps in proptest::collection::vec(step(), 1..12),
        losses in proptest::collection::vec(loss(), 1..4),
        old_header in any::<bool>(),
    ) {
        let Some(source) = sources().get(source) else { return Ok(()) };
        let layout = if split { Layout::Split { blocks_per_part: PART } } else { Layout::Single };
        run(source, layout, &steps, &losses, old_header)?;
    }
}

/// A page in the middle is lost and all others are there: the file's end looks whole.
#[test]
fn a_lost_page_in_the_middle() {
    for source in sources() {
        for steps in [
            &[Step::Append(60)][..],
            &[Step::Append(20), Step::Sync, Step::Append(40)],
        ] {
            run(source, Layout::Single, steps, &[Loss::Zero(0.3, 0.4)], false).unwrap();
        }
    }
}
