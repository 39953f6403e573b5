//! Recovery of files that are longer than the reach of a crash, which takes another way than small ones: the reach is
//! made small here. The small ones are in `tests/torn_tail.rs`.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cairn_chain::ChainSpec;

use super::{Recovered, Subject, recover};
use crate::{BlockFault, BlockLog, Dictionaries, LogError};

/// Reach of a crash in these tests: some 20 blocks of the log below.
const REACH: u64 = 15_000;

struct Log {
    folder: tempfile::TempDir,
    bytes: Vec<u8>,
    /// Where each block starts, and the end.
    starts: Vec<u64>,
}

impl Log {
    /// A log of 241 blocks that are stored as is, and hold transactions.
    fn new() -> Option<Self> {
        let hive = match std::env::var_os("CAIRN_HIVE_DATA") {
            Some(folder) => PathBuf::from(folder),
            None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/hive"),
        };
        let path = hive.join("logs/steemd_live/block_log");
        if !path.is_file() {
            println!(
                "skipped: no Hive data at {} (set CAIRN_HIVE_DATA)",
                hive.display()
            );
            return None;
        }
        let log = BlockLog::open(&path, 400, Arc::new(Dictionaries::none())).unwrap();
        let bytes = fs::read(path).unwrap();
        let mut starts: Vec<u64> = (1..=241).map(|number| log.offset_of(number).unwrap().1).collect();
        starts.push(bytes.len() as u64);
        Some(Self {
            folder: tempfile::tempdir_in("/dev/shm")
                .or_else(|_| tempfile::tempdir())
                .unwrap(),
            bytes,
            starts,
        })
    }

    fn recover(&self, bytes: &[u8], anything: bool) -> Result<Recovered, LogError> {
        let path = self.folder.path().join("block_log");
        fs::write(&path, bytes).unwrap();
        let subject = Subject {
            path: &path,
            file: &File::open(&path).unwrap(),
            len: bytes.len() as u64,
            first: Some(1),
            previous: None,
            chain: &ChainSpec::steem_testnet(),
            dictionaries: &Arc::new(Dictionaries::none()),
            reach: REACH,
        };
        recover(&subject, anything)
    }

    /// Checks that exactly the blocks up to `last` are found.
    fn expect(&self, bytes: &[u8], last: u32) {
        let recovered = self.recover(bytes, false).unwrap();
        assert_eq!((recovered.first, recovered.count), (Some(1), last));
        assert_eq!(recovered.head.unwrap().number(), last);
        assert_eq!(recovered.end, self.starts[last as usize]);
        let index = recovered.index.unwrap();
        assert_eq!(index.len(), last);
        assert_eq!(index.trailers(0..last).unwrap(), self.starts[..last as usize]);
        match recovered.cut {
            None => assert_eq!(bytes.len() as u64, recovered.end),
            Some(cut) => {
                assert_eq!(
                    (cut.from, cut.to, cut.last_whole),
                    (recovered.end, bytes.len() as u64, last)
                );
            }
        }
    }
}

#[test]
fn a_whole_log_is_left_alone() {
    let Some(log) = Log::new() else { return };
    log.expect(&log.bytes, 241);
}

#[test]
fn every_length_of_the_last_blocks() {
    let Some(log) = Log::new() else { return };
    for len in log.starts[239]..=log.starts[241] {
        let whole = log.starts.partition_point(|start| *start <= len) as u32 - 1;
        log.expect(&log.bytes[..len as usize], whole);
    }
}

#[test]
fn garbage_and_zeros_behind() {
    let Some(log) = Log::new() else { return };
    let garbage: Vec<u8> = (0..5000_u32)
        .map(|n| (n.wrapping_mul(2_654_435_761) >> 13) as u8)
        .collect();
    for tail in [&garbage[..], &[0; 4096], &[0xff; 16], &log.bytes[..3000]] {
        for len in [log.starts[241], log.starts[240] + 9, log.starts[239] - 3] {
            let bytes = [&log.bytes[..len as usize], tail].concat();
            // A tail may happen to go on as the log did: a trailer ends with zeros.
            let same = bytes.iter().zip(&log.bytes).take_while(|(a, b)| a == b).count() as u64;
            let whole = log.starts.partition_point(|start| *start <= same) as u32 - 1;
            log.expect(&bytes, whole);
        }
    }
}

#[test]
fn damage_inside_is_not_cut() {
    let Some(log) = Log::new() else { return };
    for block in [230, 238] {
        let mut bytes = log.bytes.clone();
        bytes[log.starts[block] as usize + 60] ^= 1;
        let error = log.recover(&bytes, false).err().unwrap();
        let LogError::DamagedInside { place, .. } = &error else {
            panic!("{error}")
        };
        // The changed block's own header is still a header; the next one does not name its new id.
        assert!(
            (block as u32..=block as u32 + 2).contains(&place.block.unwrap()),
            "{error}"
        );
        // On request it is cut all the same.
        let recovered = log.recover(&bytes, true).unwrap();
        assert!(recovered.count >= block as u32 && recovered.cut.is_some());
    }
}

#[test]
fn damage_out_of_reach_is_an_error() {
    let Some(log) = Log::new() else { return };
    // A trailer deep inside: the way back to the start is broken.
    let mut bytes = log.bytes.clone();
    let at = log.starts[100] as usize - 8;
    bytes[at..at + 8].fill(0xff);
    let error = log.recover(&bytes, false).err().unwrap();
    let LogError::Block {
        place,
        fault: BlockFault::Trailer(_),
    } = &error
    else {
        panic!("{error}")
    };
    assert_eq!(place.offset, at as u64);

    // More than a crash can tear.
    let mut bytes = log.bytes.clone();
    bytes.resize(bytes.len() + REACH as usize + 1, 0);
    let error = log.recover(&bytes, false).err().unwrap();
    assert!(matches!(error, LogError::TooMuchDamage { .. }), "{error}");
}
