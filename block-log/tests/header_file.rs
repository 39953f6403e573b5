//! The header file gives the log's headers or none, whatever is in it.

#![allow(clippy::unwrap_used, missing_docs, reason = "tests")]

mod common;

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use cairn_block_log::{
    BlockEncoder, BlockLog, BlockLogWriter, Compression, CutPolicy, Dictionaries, HeaderFile, Headers,
    Layout, LogHeaders, SEGMENT_BLOCKS, WriterOptions,
};
use cairn_chain::{BlockId, ChainId, ChainSpec, SignedHeader};
use common::scratch;
use proptest::prelude::*;
use tempfile::TempDir;

const CHAIN: ChainId = ChainId([7; 32]);
static GO_ON: AtomicBool = AtomicBool::new(false);

/// Blocks `first` to `last` of a made-up chain; from `fork` on, of another one.
fn chain(last: u32, fork: u32) -> Vec<Vec<u8>> {
    let mut previous = BlockId::ZERO;
    let mut blocks = Vec::new();
    for number in 1..=last {
        let mut bytes = previous.0.to_vec();
        bytes.extend_from_slice(&number.to_le_bytes());
        bytes.extend_from_slice(b"\x05maker");
        bytes.extend([if number >= fork { 9 } else { 8 }; 20]);
        // An extension now and then, so that headers differ in length.
        bytes.extend_from_slice(if number.is_multiple_of(5) {
            &[1, 1, 0, 0, 28, 1]
        } else {
            &[0]
        });
        bytes.extend([0x1f; 65]);
        previous = SignedHeader::unpack_prefix(&bytes).unwrap().0.id();
        bytes.push(0);
        blocks.push(bytes);
    }
    blocks
}

struct Bench {
    folder: TempDir,
    log: BlockLog,
    headers: Vec<Vec<u8>>,
    writer: BlockLogWriter,
}

impl Bench {
    fn new(last: u32) -> Self {
        let blocks = chain(last, u32::MAX);
        Self::of(&blocks)
    }

    fn of(blocks: &[Vec<u8>]) -> Self {
        let folder = scratch();
        let spec = ChainSpec::hive_testnet();
        let options = WriterOptions {
            layout: Layout::Single,
            chain: &spec,
            dictionaries: Arc::new(Dictionaries::none()),
            cut: CutPolicy::Torn,
        };
        let (mut writer, _) = BlockLogWriter::open(&folder.path().join("log"), &options)
            .or_else(|_| {
                fs::create_dir_all(folder.path().join("log")).unwrap();
                BlockLogWriter::open(&folder.path().join("log"), &options)
            })
            .unwrap();
        append(&mut writer, 1, blocks);
        Self {
            log: writer.reader(),
            headers: blocks
                .iter()
                .map(|block| block[..block.len() - 1].to_vec())
                .collect(),
            folder,
            writer,
        }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("headers")
    }

    fn head(&self) -> u32 {
        self.headers.len() as u32
    }

    fn open(&self) -> HeaderFile {
        HeaderFile::open(&self.path(), &CHAIN, &self.log, self.head()).unwrap()
    }

    fn filled(&self) -> HeaderFile {
        let file = self.open();
        while file.extend(&self.log, self.head(), &GO_ON).unwrap() {}
        file
    }

    fn expected(&self, first: u32, count: u32) -> Vec<u8> {
        let behind = self.headers.iter().skip(first as usize - 1);
        behind.take(count as usize).flatten().copied().collect()
    }

    /// Reads here and there; what comes must be the log's.
    fn check(&self, file: &HeaderFile) -> u32 {
        let mut all = 0;
        for (first, count) in [
            (1, 1),
            (1, 2048),
            (1000, 100),
            (1025, 1024),
            (2048, 2),
            (2049, 3000),
            (3000, 2048),
        ] {
            let Headers { bytes, count: found } = file.read(first, count, 1 << 20).unwrap();
            assert!(found <= count);
            assert!(
                bytes == self.expected(first, found),
                "{found} of {count} from {first}"
            );
            all += found;
        }
        all
    }
}

fn append(writer: &mut BlockLogWriter, first: u32, blocks: &[Vec<u8>]) {
    let mut encoder = BlockEncoder::new(Arc::new(Dictionaries::none()));
    for (block, number) in blocks.iter().zip(first..) {
        let id = SignedHeader::unpack_prefix(block).unwrap().0.id();
        let form = if number.is_multiple_of(2) {
            Compression::None
        } else {
            Compression::Zstd { dictionary: None }
        };
        let stored = cairn_block_log::StoredBlock {
            number,
            compression: form,
            bytes: encoder.encode(block, form).unwrap(),
        };
        writer.append(&stored, &id).unwrap();
    }
    writer.flush().unwrap();
}

#[test]
fn headers_are_those_of_the_log_in_whole_segments() {
    let mut bench = Bench::new(2 * SEGMENT_BLOCKS + 900);
    let file = bench.filled();
    assert_eq!(file.next_number(), 2 * SEGMENT_BLOCKS + 1);
    let read = |first, count, bytes| file.read(first, count, bytes).unwrap();
    assert_eq!(read(1, 3000, 1 << 20).count, 2 * SEGMENT_BLOCKS);
    assert_eq!(read(1000, 100, 1 << 20).bytes, bench.expected(1000, 100));
    assert_eq!(read(2048, 1, 1 << 20).bytes, bench.expected(2048, 1));
    for (first, count) in [(0, 5), (2049, 1), (u32::MAX, 7), (5, 0)] {
        assert_eq!(
            read(first, count, 1 << 20),
            Headers::default(),
            "{count} from {first}"
        );
    }
    // A limit in bytes keeps headers whole, also across segments.
    for limit in [0, 114, 115, 116, 1000, 110_000] {
        let Headers { bytes, count } = read(900, 1000, limit);
        assert!(bytes.len() <= limit && bytes == bench.expected(900, count));
        assert!(bytes.len() + bench.headers[899 + count as usize].len() > limit);
    }
    // It grows with the log, while it is open and when it is opened again.
    let more = chain(4 * SEGMENT_BLOCKS, u32::MAX);
    let head = bench.head();
    append(&mut bench.writer, head + 1, &more[head as usize..]);
    bench.headers = more
        .iter()
        .map(|block| block[..block.len() - 1].to_vec())
        .collect();
    assert!(!file.extend(&bench.log, 3 * SEGMENT_BLOCKS - 1, &GO_ON).unwrap());
    assert!(file.extend(&bench.log, 3 * SEGMENT_BLOCKS, &GO_ON).unwrap());
    assert_eq!(bench.check(&file), bench.check(&bench.open()));
    let stopped = AtomicBool::new(true);
    assert!(!file.extend(&bench.log, bench.head(), &stopped).unwrap());
    let file = bench.filled();
    assert_eq!(file.next_number(), 4 * SEGMENT_BLOCKS + 1);
    assert_eq!(bench.check(&file), 1 + 2048 + 100 + 1024 + 2 + 2048 + 1097);
}

#[test]
fn headers_of_a_log_without_a_file() {
    let bench = Bench::new(700);
    let mut source = LogHeaders::new(&bench.log, 650);
    let mut bytes = Vec::new();
    for number in 650..=700 {
        assert_eq!(source.take(&mut bytes).unwrap().unwrap().number, number);
    }
    assert!(source.take(&mut bytes).is_none());
    assert_eq!(bytes, bench.expected(650, 51));
}

#[test]
fn a_file_never_holds_more_than_the_log() {
    let long = Bench::new(4 * SEGMENT_BLOCKS);
    long.filled();
    // A log that was cut, and one that went on with other blocks.
    for (last, fork, kept) in [
        (2500, u32::MAX, 2),
        (1500, u32::MAX, 1),
        (500, u32::MAX, 0),
        (4096, 2049, 2),
        (4096, 2050, 2),
        (4096, 1, 0),
    ] {
        let bench = Bench::of(&chain(last, fork));
        fs::copy(long.path(), bench.path()).unwrap();
        let file = bench.open();
        let segments = (file.next_number() - 1) / SEGMENT_BLOCKS;
        assert!(
            segments <= kept,
            "{segments} of {kept} for {last} blocks, fork from {fork}"
        );
        while file.extend(&bench.log, bench.head(), &GO_ON).unwrap() {}
        assert_eq!(
            file.next_number(),
            bench.head() / SEGMENT_BLOCKS * SEGMENT_BLOCKS + 1
        );
        bench.check(&file);
    }
    // Cut while the file is open.
    let file = HeaderFile::open(&long.path(), &CHAIN, &long.log, long.head()).unwrap();
    assert_eq!(file.next_number(), 4 * SEGMENT_BLOCKS + 1);
    assert!(!file.extend(&long.log, 2 * SEGMENT_BLOCKS + 1023, &GO_ON).unwrap());
    assert_eq!(file.next_number(), 2 * SEGMENT_BLOCKS + 1);
    while file.extend(&long.log, long.head(), &GO_ON).unwrap() {}
    // What is not durable yet is not taken for granted.
    let file = HeaderFile::open(&long.path(), &CHAIN, &long.log, 3 * SEGMENT_BLOCKS + 5).unwrap();
    assert_eq!(file.next_number(), 3 * SEGMENT_BLOCKS + 1);
}

#[test]
fn a_file_of_another_chain_is_made_anew() {
    let bench = Bench::new(3 * SEGMENT_BLOCKS);
    bench.filled();
    let file = HeaderFile::open(&bench.path(), &ChainId([8; 32]), &bench.log, bench.head()).unwrap();
    assert_eq!(file.next_number(), 1);
    assert_eq!(fs::metadata(bench.path()).unwrap().len(), 56);
}

#[test]
fn a_segment_that_is_altered_is_cut_and_built_again() {
    let bench = Bench::new(3 * SEGMENT_BLOCKS);
    let file = bench.filled();
    let whole = fs::read(bench.path()).unwrap();
    let mut altered = whole.clone();
    // In the second segment.
    altered[whole.len() / 2] ^= 1;
    fs::write(bench.path(), &altered).unwrap();
    assert_eq!(file.read(1, 2048, 1 << 20).unwrap().count, SEGMENT_BLOCKS);
    assert_eq!(file.next_number(), SEGMENT_BLOCKS + 1);
    assert_eq!(file.read(2500, 10, 1 << 20).unwrap().count, 0);
    while file.extend(&bench.log, bench.head(), &GO_ON).unwrap() {}
    assert!(fs::read(bench.path()).unwrap() == whole);
    bench.check(&file);
    // Torn at every kind of place: in the file's head, a segment's head, in headers.
    for cut in [0, 1, 55, 56, 57, 71, 72, 500, whole.len() - 1] {
        fs::write(bench.path(), &whole[..cut]).unwrap();
        let file = bench.filled();
        bench.check(&file);
        assert!(fs::read(bench.path()).unwrap() == whole, "cut at {cut}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn a_changed_file_gives_the_logs_headers_or_none(
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        heads in proptest::collection::vec((0usize..3, 0usize..16, any::<u8>()), 0..3),
        cut in proptest::option::of(any::<prop::sample::Index>()),
    ) {
        // Made once: proptest runs this many times.
        use std::sync::OnceLock;
        static WHOLE: OnceLock<Vec<u8>> = OnceLock::new();
        let bench = Bench::new(3 * SEGMENT_BLOCKS + 10);
        let whole = WHOLE.get_or_init(|| {
            bench.filled();
            fs::read(bench.path()).unwrap()
        });
        let mut bytes = whole.clone();
        for (at, with) in &changes {
            let at = at.index(bytes.len());
            bytes[at] = *with;
        }
        // The fields that lengths and places come from are a small part of the file.
        let segment = (whole.len() - 56) / 3;
        for (number, at, with) in &heads {
            bytes[56 + number * segment + at] = *with;
        }
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len() + 1));
        }
        fs::write(bench.path(), &bytes).unwrap();
        let file = bench.open();
        bench.check(&file);
        while file.extend(&bench.log, bench.head(), &GO_ON).unwrap() {}
        bench.check(&file);
    }

    #[test]
    fn arbitrary_bytes_give_no_header(bytes in proptest::collection::vec(any::<u8>(), 0..4000), keep_head: bool) {
        let bench = Bench::new(SEGMENT_BLOCKS);
        let mut bytes = bytes;
        if keep_head {
            bench.filled();
            let whole = fs::read(bench.path()).unwrap();
            bytes = [&whole[..72], &bytes[..]].concat();
        }
        fs::write(bench.path(), &bytes).unwrap();
        let file = bench.open();
        prop_assert_eq!(bench.check(&file), 0);
    }
}
