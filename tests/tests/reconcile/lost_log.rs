//! A block log that is behind the state: it is filled from peers, whatever its layout, and the state stays.

use std::fs;
use std::path::Path;

use cairn_tests::{Finished, Running, cairn, copy_files, free_port};
use serde_json::json;

use crate::world::{BASE, BLOCKS, World, assert_quiet, reconciled, run_to, tear};

fn log_command(world: &World, node: &str, words: &[&str]) -> Finished {
    let log = world.chain.path(node).join("blockchain");
    let spec = world.chain.spec();
    let words = ["log", words[0], log.to_str().unwrap()]
        .into_iter()
        .chain(words[1..].iter().copied())
        .chain(["--chain", &spec]);
    cairn(words).expect_code(0)
}

fn parts(node: &Path) -> Vec<String> {
    let entries = fs::read_dir(node.join("blockchain")).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<_> = names.filter(|name| !name.ends_with("artifacts")).collect();
    names.sort();
    names
}

/// What the log must hold again, by `block-log-split`.
#[test]
fn a_lost_log_begins_with_the_oldest_part_that_is_to_be_kept() {
    let world = World::new();
    let (head, digest) = world.truth();
    for (name, split, first, kept) in [
        ("all", "9999", 1, &["0001", "0002", "0003", "0004"][..]),
        ("one", "1", 401, &["0003", "0004"]),
        ("two", "2", 1, &["0002", "0003", "0004"]),
    ] {
        let folder = world.node(name, &format!("block-log-split = {split}\n"));
        drop(run_to(&folder, BASE).expect_code(0));
        let node = world.chain.path(name);
        fs::remove_dir_all(node.join("blockchain")).unwrap();
        // No further than where the state is: the log is made, nothing is applied.
        let filled = run_to(&folder, BASE).expect_code(0);
        let text =
            format!("there is no block log, the state is at block 1000: blocks {first} to 1000 are fetched");
        assert!(reconciled(&filled)[0].contains(&text), "{filled}");
        assert_eq!(reconciled(&filled).len(), 2, "{filled}");
        let record = filled.json();
        assert_eq!(
            (&record["blocks"], &record["blocks_logged"]),
            (&json!(0), &json!(BASE + 1 - first))
        );
        assert_eq!(record["durable_block"], BASE, "{filled}");
        assert_quiet(&run_to(&folder, BASE).expect_code(0), name);

        let ids = log_command(&world, name, &["ids"]).stdout;
        assert_eq!(ids.lines().count() as u32, BASE + 1 - first, "{name}");
        let info = log_command(&world, name, &["info", "--json"]).json();
        assert_eq!(info["head_block_num"], BASE, "{info}");
        drop(log_command(&world, name, &["verify"]));
        drop(cairn(["state", "check", "-d", &folder]).expect_code(0));

        let done = run_to(&folder, BLOCKS).expect_code(0);
        let record = done.json();
        assert_eq!(
            (&record["head"], &record["state"]["digest"]),
            (&head, &digest),
            "{name}"
        );
        assert_eq!(reconciled(&done), Vec::<&str>::new(), "{done}");
        let kept: Vec<_> = kept.iter().map(|part| format!("block_log_part.{part}")).collect();
        assert_eq!(parts(&node), kept, "{name}");
        let verified = log_command(&world, name, &["verify", "--json"]).json();
        assert_eq!(
            verified["head"]["number"].as_u64().unwrap_or(u64::from(BLOCKS)),
            u64::from(BLOCKS)
        );
        drop(cairn(["replay", "-d", &folder]).expect_code(0));
        drop(cairn(["state", "check", "-d", &folder]).expect_code(0));
    }
}

#[test]
fn peers_are_told_where_a_log_begins_that_was_filled() {
    let world = World::new();
    let (_, digest) = world.truth();
    let port = free_port();
    let lines = format!("block-log-split = 1\np2p-endpoint = 127.0.0.1:{port}\n");
    let folder = world.node("server", &lines);
    drop(run_to(&folder, BASE).expect_code(0));
    fs::remove_dir_all(world.chain.path("server/blockchain")).unwrap();
    let mut server = Running::start(["run", "-d", &folder]);
    server.wait_for_line("blocks 401 to 1000 are in the block log again");
    // Whoever has the blocks before gets the rest; whoever has not is told why it gets none.
    let lines = format!("block-log-split = 0\np2p-seed-node = 127.0.0.1:{port}\n");
    let later = world.configure("later", &lines);
    let log = world.chain.path("seed/blockchain");
    let words = ["replay", "-d", &later, "--block-log", log.to_str().unwrap()];
    drop(cairn(words.into_iter().chain(["--exit-at-block", "900"])).expect_code(0));
    let record = run_to(&later, BLOCKS).expect_code(0).json();
    assert_eq!(record["state"]["digest"], digest);
    let fresh = world.configure("fresh", &lines);
    let mut fresh = Running::start(["run", "-d", &fresh]);
    fresh.wait_for_line("the connected peers keep only later blocks (the lowest is");
}

/// The log is damaged in blocks that the state has, and its index, which would keep that from being seen, is gone.
#[test]
fn a_log_that_is_damaged_below_the_states_head_is_cut_and_filled() {
    let world = World::new();
    let folder = world.node("node", "block-log-split = -1\n");
    drop(run_to(&folder, BASE).expect_code(0));
    let log = world.chain.path("node/blockchain/block_log");
    let mut bytes = fs::read(&log).unwrap();
    let place = bytes.len() / 2;
    bytes[place] ^= 1;
    fs::write(&log, &bytes).unwrap();
    fs::remove_file(log.with_extension("artifacts")).unwrap();
    let offline = cairn(["run", "-d", &folder, "--exit-before-sync"]).expect_code(1);
    assert!(offline.stderr.contains("nothing was cut"), "{offline}");
    assert!(fs::read(&log).unwrap() == bytes);
    let mended = run_to(&folder, BASE).expect_code(0);
    for text in [
        "damaged blocks cut off the block log",
        "are fetched from peers and put into the log",
    ] {
        assert!(mended.stderr.contains(text), "{text}\n{mended}");
    }
    let record = mended.json();
    assert_eq!(record["blocks"], 0, "{mended}");
    let logged = record["blocks_logged"].as_u64().unwrap();
    assert!((300..700).contains(&logged), "{mended}");
    assert!(mended.stderr.contains("in the block log again"), "{mended}");
    assert_quiet(&run_to(&folder, BASE).expect_code(0), "after mending");
    drop(run_to(&folder, BLOCKS).expect_code(0));
    let seeds = fs::read(world.chain.path("seed/blockchain/block_log")).unwrap();
    assert!(fs::read(&log).unwrap() == seeds);
    assert_eq!(
        parts(&world.chain.path("node")),
        ["block_log"],
        "nothing is left beside it"
    );
}

#[test]
fn a_log_of_another_chain_behind_the_state_is_refused_and_stays() {
    let world = World::new();
    let folder = world.node("node", "block-log-split = -1\n");
    drop(run_to(&folder, BASE).expect_code(0));
    let other = world.chain.path("other");
    let words = ["devnet", "generate", "--blocks", "700", "--seed", "2", "--out"];
    drop(cairn(words.into_iter().chain([other.to_str().unwrap()])).expect_code(0));
    let log = world.chain.path("node/blockchain");
    fs::remove_dir_all(&log).unwrap();
    copy_files(&other.join("blockchain"), &log);
    let refused = run_to(&folder, BLOCKS).expect_code(1);
    for text in [
        "the block log ends with block 700",
        "Nothing was changed",
        "move this one elsewhere",
    ] {
        assert!(refused.stderr.contains(text), "{text}\n{refused}");
    }
    let same = |name: &str| {
        fs::read(log.join(name)).unwrap() == fs::read(other.join("blockchain").join(name)).unwrap()
    };
    assert!(same("block_log"));
    let state = cairn(["state", "info", "-d", &folder, "--json"])
        .expect_code(0)
        .json();
    assert_eq!(state["head"]["number"], BASE);
}

/// A pruned log cannot make a state that is missing; a restore point on its chain can.
#[test]
fn a_state_that_is_missing_beside_a_pruned_log_needs_a_restore_point() {
    let world = World::new();
    let (_, digest) = world.truth();
    let folder = world.node("node", "block-log-split = 1\n");
    drop(run_to(&folder, BLOCKS).expect_code(0));
    let node = world.chain.path("node");
    fs::remove_dir_all(node.join("state/registers")).unwrap();
    let mended = run_to(&folder, BLOCKS).expect_code(0);
    assert!(
        reconciled(&mended)[0].contains("missing, made again from the restore point at block 1300"),
        "{mended}"
    );
    assert_eq!(mended.json()["state"]["digest"], digest);
    assert_eq!(mended.json()["blocks"], BLOCKS - 1_300);
    assert_quiet(&run_to(&folder, BLOCKS).expect_code(0), "with restore points");

    fs::remove_dir_all(node.join("state")).unwrap();
    let refused = run_to(&folder, BLOCKS).expect_code(1);
    for text in [
        "the block log begins at block 801",
        "no restore point",
        "move the log's files elsewhere",
    ] {
        assert!(refused.stderr.contains(text), "{text}\n{refused}");
    }
    let away = node.join("away");
    fs::rename(node.join("blockchain"), &away).unwrap();
    assert_eq!(
        run_to(&folder, BLOCKS).expect_code(0).json()["state"]["digest"],
        digest
    );
}

/// A fill that was interrupted goes on where the log ends, in the middle of a part as well.
#[test]
fn a_fill_that_was_interrupted_goes_on() {
    let world = World::new();
    let folder = world.node("node", "block-log-split = 1\n");
    drop(run_to(&folder, BASE).expect_code(0));
    let blockchain = world.chain.path("node/blockchain");
    fs::remove_dir_all(&blockchain).unwrap();
    drop(run_to(&folder, BASE).expect_code(0));
    fs::remove_file(blockchain.join("block_log_part.0003")).unwrap();
    fs::remove_file(blockchain.join("block_log_part.0003.artifacts")).unwrap();
    tear(&blockchain.join("block_log_part.0002"), 20);
    let again = run_to(&folder, BASE).expect_code(0);
    assert!(
        reconciled(&again)[0]
            .contains("the block log ends at block 799, the state is at block 1000: blocks 800 to 1000"),
        "{again}"
    );
    assert_eq!(again.json()["blocks_logged"], 201, "{again}");
    assert_quiet(&run_to(&folder, BASE).expect_code(0), "after the second half");
    drop(log_command(&world, "node", &["verify"]));
}

/// A state is never thrown away unasked.
#[test]
fn a_state_that_cannot_be_opened_stays_and_the_remedies_work() {
    let world = World::new();
    let (_, digest) = world.truth();
    let folder = world.node("node", "block-log-split = -1\n");
    drop(run_to(&folder, BASE).expect_code(0));
    let registers = world.chain.path("node/state/registers");
    fs::remove_file(registers.join("CURRENT")).unwrap();
    let names = |folder: &Path| {
        let entries = fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name());
        let mut names: Vec<_> = entries.collect();
        names.sort();
        names
    };
    let before = names(&registers);
    let refused = run_to(&folder, BLOCKS).expect_code(1);
    for text in [
        "Nothing was changed",
        "cairn state restore -d",
        "elsewhere, and the next start makes it again",
    ] {
        assert!(refused.stderr.contains(text), "{text}\n{refused}");
    }
    assert_eq!(names(&registers), before);
    let aside = world.copy("node", "moved");
    fs::rename(
        world.chain.path("moved/state/registers"),
        world.chain.path("moved/away"),
    )
    .unwrap();
    drop(cairn(["state", "restore", "-d", &folder]).expect_code(0));
    for node in [&folder, &aside] {
        assert_eq!(
            run_to(node, BLOCKS).expect_code(0).json()["state"]["digest"],
            digest
        );
        assert_quiet(&run_to(node, BLOCKS).expect_code(0), node);
    }
}
