//! `cairn log verify` on whole logs and on logs that were damaged in a known way.

use std::fs;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use crate::fixtures::{LOGS, expected, hive_data};
use cairn_block_log::{BlockFault, LogError};
use cairn_node::chain_choice;
use cairn_node::exit::{CommandError, ExitCode};
use cairn_node::log_commands::source::LogSource;
use cairn_node::log_commands::verify::{Fault, Verified, verify};
use cairn_sync::checkpoint::{Checkpoints, ConfiguredCheckpoint};

/// Size of every block of `mirrornet_1k` with its trailer: blocks without transactions, stored as they are.
const STEP: usize = 129;

fn verify_path(path: &Path, chain: &str, data: &Path, checkpoints: &[&str]) -> Result<Verified, Fault> {
    let source = LogSource::open_path(
        path,
        chain_choice::load(chain).unwrap(),
        Some(&data.join("dictionaries")),
    )?;
    let values: Vec<_> = checkpoints
        .iter()
        .map(|text| ConfiguredCheckpoint::new(*text, "here"))
        .collect();
    let parsed = Checkpoints::parse(&values);
    assert_eq!(parsed.faults, []);
    verify(&source, &parsed.checkpoints, NonZeroUsize::new(3).unwrap())
}

/// A copy of a log with some bytes changed.
struct Damaged {
    folder: tempfile::TempDir,
    data: PathBuf,
    chain: &'static str,
}

impl Damaged {
    fn new(log: &str, chain: &'static str, change: impl FnOnce(&mut Vec<u8>)) -> Option<Self> {
        let data = hive_data()?;
        let mut bytes = fs::read(data.join("logs").join(log).join("block_log")).unwrap();
        change(&mut bytes);
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("block_log"), bytes).unwrap();
        Some(Self { folder, data, chain })
    }

    fn verify(&self, checkpoints: &[&str]) -> Result<Verified, Fault> {
        verify_path(self.folder.path(), self.chain, &self.data, checkpoints)
    }

    /// The fault of one block, and its place.
    fn fault(&self) -> (u32, u64, BlockFault) {
        match self.verify(&[]).unwrap_err() {
            Fault::Log { error, good } => match *error {
                LogError::Block { place, fault } => {
                    assert_eq!(place.file, self.folder.path().join("block_log"));
                    assert_eq!(good.map(|good| good + 1), place.block);
                    (place.block.unwrap(), place.offset, fault)
                }
                other => panic!("{other}"),
            },
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn every_log_is_whole() {
    let Some(data) = hive_data() else { return };
    for (name, log, chain) in LOGS {
        let verified = verify_path(&data.join("logs").join(log), chain, &data, &[])
            .unwrap_or_else(|fault| panic!("{name}: {fault:?}"));
        let known = expected(&data, name);
        assert_eq!(
            verified.head.to_string(),
            known["head_block_id"].as_str().unwrap(),
            "{name}"
        );
        assert_eq!(
            verified.transactions,
            known["transaction_count"].as_u64().unwrap(),
            "{name}"
        );
    }
    let split = verify_path(&data.join("logs/derived_split"), "hive-testnet", &data, &[]).unwrap();
    assert_eq!((split.first, split.head.number()), (1, 1311));
}

/// Case S07: a block in the place of another one.
#[test]
fn a_block_in_the_wrong_place_is_named() {
    let Some(log) = Damaged::new("mirrornet_1k", "hive-mirrornet", |bytes| {
        bytes.copy_within(301 * STEP..302 * STEP - 8, 300 * STEP);
    }) else {
        return;
    };
    let (block, offset, fault) = log.fault();
    assert_eq!((block, offset), (301, 300 * STEP as u64));
    assert!(
        matches!(
            fault,
            BlockFault::Number {
                expected: 301,
                found: 302
            }
        ),
        "{fault}"
    );
    let error = CommandError::from(log.verify(&[]).unwrap_err());
    assert_eq!(error.exit_code(), ExitCode::Failed);
    let text = error.to_string();
    assert!(
        text.starts_with("log breaks at block 301: block 301, offset 38700 of "),
        "{text}"
    );
    assert!(text.contains("Blocks up to 300 are without fault"), "{text}");
}

/// A header that was changed has another id, which the next block does not name.
#[test]
fn a_changed_header_breaks_the_link_behind_it() {
    let Some(log) = Damaged::new("mirrornet_1k", "hive-mirrornet", |bytes| {
        bytes[300 * STEP + 20] ^= 1;
    }) else {
        return;
    };
    let (block, _, fault) = log.fault();
    assert_eq!(block, 302);
    assert!(
        matches!(fault, BlockFault::Link { expected, found }
        if expected.number() == 301 && found.number() == 301 && expected != found),
        "{fault}"
    );
}

#[test]
fn a_first_block_that_names_another_one_is_refused() {
    let Some(log) = Damaged::new("mirrornet_1k", "hive-mirrornet", |bytes| bytes[5] = 1) else {
        return;
    };
    let fault = log.verify(&[]).unwrap_err();
    let Fault::Log { error, good: None } = fault else {
        panic!("{fault:?}")
    };
    assert!(error.to_string().contains("block 1, offset 0 of "), "{error}");
}

/// The last bytes of a block are those of its last transaction's signature: the header and the id stay the same.
#[test]
fn a_changed_body_does_not_fit_its_header() {
    let Some(data) = hive_data() else { return };
    let chain = chain_choice::load("steem-testnet").unwrap();
    let source = LogSource::open_path(&data.join("logs/steemd_live"), chain, None).unwrap();
    let place = |number| source.log.offset_of(number).unwrap().1;
    let (start, next) = (place(120), place(121));
    let log = Damaged::new("steemd_live", "steem-testnet", |bytes| {
        bytes[next as usize - 9] ^= 1;
    })
    .unwrap();
    let (block, offset, fault) = log.fault();
    assert_eq!((block, offset), (120, start));
    let BlockFault::Merkle(mismatch) = fault else {
        panic!("{fault}")
    };
    assert_ne!(mismatch.header, mismatch.computed);
}

#[test]
fn a_torn_tail_is_named_with_its_place() {
    let Some(log) = Damaged::new("mirrornet_1k", "hive-mirrornet", |bytes| {
        bytes.truncate(bytes.len() - 7);
    }) else {
        return;
    };
    let fault = log.verify(&[]).unwrap_err();
    let Fault::Log { error, .. } = &fault else {
        panic!("{fault:?}")
    };
    assert!(matches!(**error, LogError::TornTail { .. }), "{error}");
    assert_eq!(CommandError::from(fault).exit_code(), ExitCode::Failed);
}

#[test]
fn checkpoints_are_compared_and_contradictions_have_their_exit_code() {
    let Some(data) = hive_data() else { return };
    let path = data.join("logs/mirrornet_1k");
    let right = [
        "[100,00000064388635f269e2ab2e0e572d6f7a83cc0e]",
        "[2000,000007d0388635f269e2ab2e0e572d6f7a83cc0e]",
    ];
    let verified = verify_path(&path, "hive-mirrornet", &data, &right).unwrap();
    let numbers =
        |list: &[cairn_sync::checkpoint::Checkpoint]| list.iter().map(|c| c.number).collect::<Vec<_>>();
    assert_eq!(numbers(&verified.checkpoints_reached), [100]);
    assert_eq!(numbers(&verified.checkpoints_outside), [2000]);

    let wrong = [right[0], "[1000,000003e85c351b9427adefbace12cafcf986239f]"];
    let fault = verify_path(&path, "hive-mirrornet", &data, &wrong).unwrap_err();
    let Fault::Checkpoint(contradiction) = &fault else {
        panic!("{fault:?}")
    };
    assert_eq!(
        contradiction.found.to_string(),
        "000003e85c351b9427adefbace12cafcf986239e"
    );
    assert_eq!(contradiction.place.offset, 999 * STEP as u64);
    let error = CommandError::from(fault);
    assert_eq!(error.exit_code(), ExitCode::Contradiction);
    assert!(
        error
            .to_string()
            .starts_with("Block did not match checkpoint [1000,000003e85c351b94"),
        "{error}"
    );
}

/// The log says which blocks a later part of a split log follows only by their ids.
#[test]
fn a_part_alone_is_verified_from_its_first_block() {
    let Some(data) = hive_data() else { return };
    let path = data.join("logs/derived_split/block_log_part.0003");
    let verified = verify_path(&path, "hive-testnet", &data, &[]).unwrap();
    assert_eq!((verified.first, verified.head.number()), (801, 1200));
}
