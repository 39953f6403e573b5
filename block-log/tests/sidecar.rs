//! An artifacts file is an index, never evidence: whatever it says, the same blocks are read.

#![allow(clippy::unwrap_used, missing_docs, reason = "tests")]

mod common;

use std::fs;
use std::path::Path;
use std::sync::Arc;

use cairn_block_log::{BlockLog, Dictionaries, uncompressed_sha256, verify};
use common::{Chain, TESTNET_PART, dictionaries, expected, hive, log_file, scratch};
use proptest::prelude::*;

/// Where the records start.
const RECORDS: usize = 56;

struct Copy {
    folder: tempfile::TempDir,
    dictionaries: Arc<Dictionaries>,
    artifacts: Vec<u8>,
    checksum: String,
}

impl Copy {
    /// derived_mixed, with its artifacts to be put beside it.
    fn new(hive: &Path) -> Self {
        let source = log_file(hive, "derived_mixed");
        let folder = scratch();
        fs::copy(&source, folder.path().join("block_log")).unwrap();
        Self {
            folder,
            dictionaries: dictionaries(hive),
            artifacts: fs::read(source.with_extension("artifacts")).unwrap(),
            checksum: expected(hive, "derived_mixed")["uncompressed_log_sha256"]
                .as_str()
                .unwrap()
                .to_owned(),
        }
    }

    /// With these artifacts, every way to read gives the blocks that are in the log.
    fn check(&self, artifacts: &[u8]) -> Result<(), TestCaseError> {
        let index = self.folder.path().join("block_log.artifacts");
        fs::write(&index, artifacts).unwrap();
        for start in 0..3 {
            let log = BlockLog::open(self.folder.path(), TESTNET_PART, self.dictionaries.clone()).unwrap();
            prop_assert_eq!((log.first_number(), log.head_number()), (Some(1), Some(30)));
            // The first use of the index is another one each time.
            match start {
                0 => prop_assert_eq!(log.read(17).unwrap().number, 17),
                1 => prop_assert_eq!(log.offset_of(30).unwrap().1, 0x17cc),
                _ => {}
            }
            let checksum = uncompressed_sha256(&log, &log.parts()[0]).unwrap();
            prop_assert_eq!(checksum.to_string(), &self.checksum[..]);
            for (number, block) in (1..=30).zip(log.sequential(1)) {
                prop_assert_eq!(log.read(number).unwrap(), block.unwrap());
            }
        }
        prop_assert_eq!(fs::read(index).unwrap(), artifacts, "a reader writes nothing");
        Ok(())
    }
}

#[test]
fn artifacts_that_do_not_fit() {
    let Some(hive) = hive() else { return };
    let copy = Copy::new(&hive);
    let good = &copy.artifacts;
    copy.check(good).unwrap();
    type Change = fn(&mut Vec<u8>);
    let changes: [(&str, Change); 14] = [
        ("empty", |a| a.clear()),
        ("half a header", |a| a.truncate(30)),
        ("no records", |a| a.truncate(RECORDS)),
        ("a record short", |a| a.truncate(RECORDS + 24 * 29)),
        ("of a log that was shorter", |a| {
            a.truncate(RECORDS + 24 * 25);
            a[0] = 25;
        }),
        ("of a log that is longer", |a| {
            a.extend_from_slice(&[1; 24]);
            a[0] = 31;
        }),
        ("version 1.0 in name only", |a| a[46] = 0),
        ("open", |a| a[47] = 1),
        ("interrupted", |a| a[52] = 12),
        ("starting at block 2", |a| a[48] = 2),
        ("an offset beyond the end", |a| a[RECORDS + 24 * 10 + 4] = 1),
        ("an offset that goes back", |a| {
            a[RECORDS + 24 * 10..][..8].fill(0);
        }),
        ("records exchanged", |a| {
            let (low, high) = a.split_at_mut(RECORDS + 24 * 8);
            low[RECORDS + 24 * 7..][..24].swap_with_slice(&mut high[..24]);
        }),
        ("zeros from block 5 to 20", |a| {
            a[RECORDS + 24 * 4..RECORDS + 24 * 20].fill(0);
        }),
    ];
    for (what, change) in changes {
        let mut artifacts = good.clone();
        change(&mut artifacts);
        assert_ne!(&artifacts, good);
        copy.check(&artifacts)
            .unwrap_or_else(|error| panic!("{what}: {error}"));
    }
}

#[test]
fn forged_ids_do_not_matter() {
    let Some(hive) = hive() else { return };
    let copy = Copy::new(&hive);
    let mut artifacts = copy.artifacts.clone();
    for record in artifacts[RECORDS..].as_chunks_mut::<24>().0 {
        record[8..].fill(0xee);
    }
    copy.check(&artifacts).unwrap();
    let log = BlockLog::open(copy.folder.path(), TESTNET_PART, copy.dictionaries.clone()).unwrap();
    let verified = verify(&log, 1, None, &Chain::Testnet.spec(), |_| {}).unwrap();
    assert_eq!(
        verified.head.unwrap().to_string(),
        "0000001e0c3e135d52f7bdd235902c03afd47240"
    );
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn arbitrary_records(
        changes in proptest::collection::vec((0..776_usize, any::<u8>()), 1..40),
        len in 0..900_usize,
        keep_header in any::<bool>(),
    ) {
        let Some(hive) = hive() else { return Ok(()) };
        let copy = Copy::new(&hive);
        let mut artifacts = copy.artifacts.clone();
        for (at, byte) in changes {
            if at >= RECORDS || !keep_header {
                artifacts[at] = byte;
            }
        }
        if !keep_header {
            artifacts.resize(len, 7);
        }
        copy.check(&artifacts)?;
    }
}
