//! The whole table: each part of the folder, in each condition.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::world::{BASE, BLOCKS, OLDER, World, copy_all, is_quiet, reconciled, replace, run_to, tear};

/// Folders of the same node at other blocks.
struct Others {
    older: PathBuf,
    newer: PathBuf,
}

struct Cell {
    what: &'static str,
    damage: fn(&Path, &Others),
    /// Texts of lines of the first start.
    says: &'static [&'static str],
    /// Blocks that were put into the log only.
    logged: u32,
}

const LOG: &str = "blockchain/block_log";
const INDEX: &str = "blockchain/block_log.artifacts";
const TRIE: &str = "state/trie";
const BANS: &str = "p2p/bans.json";
const SKELETON: &str = "p2p/skeleton-1300";

fn remove(node: &Path, name: &str) {
    fs::remove_file(node.join(name)).unwrap();
}

fn take(from: &Path, node: &Path, name: &str) {
    fs::copy(from.join(name), node.join(name)).unwrap();
}

/// The newest file of RocksDB's log, which holds what no table file has yet.
fn write_ahead_log(node: &Path) -> PathBuf {
    let entries = fs::read_dir(node.join("state/registers")).unwrap();
    let logs = entries.map(|entry| entry.unwrap().path());
    logs.filter(|path| path.extension().is_some_and(|end| end == "log"))
        .max()
        .unwrap()
}

/// In the order of the parts; each part missing, torn, older, newer.
fn cells() -> Vec<Cell> {
    let cell = |what, damage, says, logged| Cell {
        what,
        damage,
        says,
        logged,
    };
    vec![
        cell(
            "block log missing",
            |node, _| fs::remove_dir_all(node.join("blockchain")).unwrap(),
            &["there is no block log, the state is at block 1000: blocks 1 to 1000 are fetched"],
            BASE,
        ),
        cell(
            "block log empty",
            |node, _| {
                fs::write(node.join(LOG), b"").unwrap();
                remove(node, INDEX);
            },
            &[
                "there is no block log, the state is at block 1000",
                "blocks 1 to 1000 are in the block log again",
            ],
            BASE,
        ),
        cell(
            "block log torn",
            |node, _| tear(&node.join(LOG), 7),
            &[
                "torn tail cut off the block log",
                "the block log ends at block 999, the state is at block 1000: blocks 1000 to 1000 are fetched",
            ],
            1,
        ),
        cell(
            "block log older",
            |node, others| replace(&others.older.join("blockchain"), &node.join("blockchain")),
            &["the block log ends at block 600, the state is at block 1000: blocks 601 to 1000 are fetched"],
            BASE - OLDER,
        ),
        cell(
            "block log newer",
            |node, others| replace(&others.newer.join("blockchain"), &node.join("blockchain")),
            &["Resume of replaying. Last applied block: 1000"],
            0,
        ),
        cell(
            "index missing",
            |node, _| remove(node, INDEX),
            &["index made from the blocks"],
            0,
        ),
        cell(
            "index torn",
            |node, _| tear(&node.join(INDEX), 30),
            &["index made from the blocks"],
            0,
        ),
        cell(
            "index older",
            |node, others| take(&others.older, node, INDEX),
            &[],
            0,
        ),
        cell(
            "index newer",
            |node, others| take(&others.newer, node, INDEX),
            &[],
            0,
        ),
        cell(
            "state missing, with its restore points",
            |node, _| fs::remove_dir_all(node.join("state")).unwrap(),
            &["state/registers: missing, made from the block log"],
            0,
        ),
        cell(
            "state missing, restore points there",
            |node, _| fs::remove_dir_all(node.join("state/registers")).unwrap(),
            &[
                "missing, made again from the restore point at block",
                "Resume of replaying",
            ],
            0,
        ),
        cell(
            "state torn",
            |node, _| tear(&write_ahead_log(node), 2_000),
            &["Resume of replaying"],
            0,
        ),
        cell(
            "state older",
            |node, others| replace(&others.older.join("state"), &node.join("state")),
            &["Resume of replaying. Last applied block: 600"],
            0,
        ),
        cell(
            "state newer",
            |node, others| replace(&others.newer.join("state"), &node.join("state")),
            &[
                "the block log ends at block 1000, the state is at block 1400: blocks 1001 to 1400 are fetched",
            ],
            BLOCKS - BASE,
        ),
        cell(
            "skeleton torn",
            |node, _| fs::write(node.join(SKELETON), [7; 100]).unwrap(),
            &[],
            0,
        ),
        cell(
            "skeleton older",
            |node, _| fs::write(node.join("p2p/skeleton-900"), [0; 64]).unwrap(),
            &[],
            0,
        ),
        cell(
            "skeleton newer",
            |node, _| fs::write(node.join("p2p/skeleton-999999"), [0; 64]).unwrap(),
            &[],
            0,
        ),
        cell(
            "ban list missing",
            |node, _| {
                let _ = fs::remove_file(node.join(BANS));
            },
            &[],
            0,
        ),
        cell(
            "ban list torn",
            |node, _| fs::write(node.join(BANS), b"{ \"version\": 1, \"ba").unwrap(),
            &["the ban list"],
            0,
        ),
        cell(
            "ban list older",
            |node, _| fs::write(node.join(BANS), bans(1_500_000_000)).unwrap(),
            &[],
            0,
        ),
        cell(
            "ban list newer",
            |node, _| fs::write(node.join(BANS), bans(u32::MAX)).unwrap(),
            &[],
            0,
        ),
        cell(
            "trie file missing",
            |node, _| remove(node, TRIE),
            &["the trie file is not used"],
            0,
        ),
        cell(
            "trie file torn",
            |node, _| tear(&node.join(TRIE), 9),
            &["the trie file is not used"],
            0,
        ),
        cell(
            "trie file older",
            |node, others| take(&others.older, node, TRIE),
            &["the trie file is not used"],
            0,
        ),
        cell(
            "trie file newer",
            |node, others| take(&others.newer, node, TRIE),
            &["the trie file is not used"],
            0,
        ),
        cell(
            "everything but the keys missing",
            |node, _| {
                fs::remove_dir_all(node.join("state")).unwrap();
                fs::remove_dir_all(node.join("blockchain")).unwrap();
            },
            &[],
            0,
        ),
    ]
}

/// A list with one peer that is nobody's here.
fn bans(until: u32) -> String {
    let peer = "12D3KooWEyoppNCUx8Yx66oV9fJnriXwCcXwDDUA2kj6vnc6iDEp";
    format!(
        r#"{{ "version": 1, "bans": [ {{ "peer": "{peer}", "until": {until}, "seconds": 600, "offences": 1, "reason": "x" }} ] }}"#
    )
}

#[test]
fn every_part_in_every_condition_is_brought_in_line_and_the_second_start_is_quiet() {
    let world = World::new();
    let folder = world.node("base", "block-log-split = -1\n");
    drop(run_to(&folder, OLDER).expect_code(0));
    world.copy("base", "older");
    drop(run_to(&folder, BASE).expect_code(0));
    world.copy("base", "newer");
    let newer = world.chain.path("newer").to_str().unwrap().to_owned();
    drop(run_to(&newer, BLOCKS).expect_code(0));
    let others = Others {
        older: world.chain.path("older"),
        newer: world.chain.path("newer"),
    };
    let truth = world.truth();
    let log = fs::read(world.chain.path("seed").join(LOG)).unwrap();
    let index = fs::read(world.chain.path("seed").join(INDEX)).unwrap();
    let end = End {
        head: truth.0,
        digest: truth.1,
        log,
        records: index[INDEX_HEADER..].to_vec(),
    };
    let mut faults = Vec::new();
    for cell in cells() {
        let node = world.chain.path("node");
        let _ = fs::remove_dir_all(&node);
        copy_all(&world.chain.path("base"), &node);
        (cell.damage)(&node, &others);
        if let Err(fault) = start_twice(&node, &cell, &end) {
            faults.push(format!("{}: {fault}", cell.what));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n\n"));
}

/// Bytes before the first record of an index.
const INDEX_HEADER: usize = 56;

/// What every node comes to.
struct End {
    head: Value,
    digest: Value,
    log: Vec<u8>,
    records: Vec<u8>,
}

fn start_twice(node: &Path, cell: &Cell, end: &End) -> Result<(), String> {
    let folder = node.to_str().unwrap();
    let first = run_to(folder, BLOCKS);
    if first.code() != 0 {
        return Err(format!("first start\n{first}"));
    }
    for text in cell.says {
        let lines = first.stderr.lines().filter(|line| line.contains(text)).count();
        if lines != 1 {
            return Err(format!("{text:?} is said {lines} times\n{first}"));
        }
    }
    let record = first.json();
    if record["blocks_logged"] != cell.logged {
        return Err(format!(
            "{} blocks go into the log only\n{first}",
            record["blocks_logged"]
        ));
    }
    if (&record["head"], &record["state"]["digest"]) != (&end.head, &end.digest) {
        return Err(format!("another state\n{first}"));
    }
    if cell.says.is_empty() && !reconciled(&first).is_empty() {
        return Err(format!("there was nothing to say\n{first}"));
    }
    let second = run_to(folder, BLOCKS);
    if second.code() != 0 {
        return Err(format!("second start\n{second}"));
    }
    if let Some(fault) = is_quiet(&second) {
        return Err(format!("the second start: {fault}\n{second}"));
    }
    if fs::read(node.join(LOG)).unwrap() != end.log {
        return Err(format!("the log is not the seed's\n{first}"));
    }
    if fs::read(node.join(INDEX)).unwrap().get(INDEX_HEADER..) != Some(&end.records) {
        return Err(format!("the index is not the seed's\n{first}"));
    }
    Ok(())
}
