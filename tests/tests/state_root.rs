//! The root of a state, the trie file, proofs and the checker, through the built binary.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::PathBuf;

use cairn_state::trie::scheme::{self, NodeHash, ValueHash};
use cairn_state::{Path as RegisterPath, Registers, Store, StoreOptions};
use cairn_tests::{Devnet, Finished, Running, cairn};
use serde_json::Value;

const BLOCKS: u32 = 400;

struct Bench {
    devnet: Devnet,
}

impl Bench {
    fn new() -> Self {
        Self {
            devnet: Devnet::generate(BLOCKS, &["--profile", "mixed"]),
        }
    }

    fn words(&self, node: &str, more: &[&str]) -> Vec<String> {
        let log = self.devnet.path("seed/blockchain");
        let folder = self.devnet.path(node);
        let words = [
            "replay",
            "-d",
            folder.to_str().unwrap(),
            "--block-log",
            log.to_str().unwrap(),
            "--chain",
            &self.devnet.spec(),
            "--json",
        ];
        words.iter().chain(more).map(|word| (*word).to_owned()).collect()
    }

    fn replay(&self, node: &str, more: &[&str]) -> Finished {
        cairn(self.words(node, more)).expect_code(0)
    }

    fn state(&self, node: &str, words: &[&str]) -> Finished {
        let folder = self.devnet.path(node);
        let folder = folder.to_str().unwrap();
        cairn(
            ["state"]
                .iter()
                .chain(&words[..1])
                .chain(&["-d", folder, "--json"])
                .chain(&words[1..]),
        )
    }

    fn root(&self, node: &str) -> Value {
        self.state(node, &["root"]).expect_code(0).json()
    }

    fn trie_file(&self, node: &str) -> PathBuf {
        self.devnet.path(node).join("state/trie")
    }

    /// By the scheme's own words over all registers of the store: the judge.
    fn slow_root(&self, node: &str) -> String {
        let store = Store::open_read_only(self.devnet.path(node).join("state/registers")).unwrap();
        let mut leaves = Vec::new();
        store
            .scan(|key, value| {
                let path = RegisterPath::of(key);
                leaves.push((path, scheme::leaf(&path, &ValueHash::of(value))));
            })
            .unwrap();
        assert!(!leaves.is_empty(), "a state to look at");
        slow_root(&leaves, 0).to_string()
    }
}

fn slow_root(leaves: &[(RegisterPath, NodeHash)], depth: usize) -> NodeHash {
    match leaves {
        [] => NodeHash::EMPTY,
        [(_, hash)] => *hash,
        _ => {
            let (left, right) =
                leaves.split_at(leaves.partition_point(|(path, _)| !scheme::bit(path, depth)));
            scheme::interior(&slow_root(left, depth + 1), &slow_root(right, depth + 1))
        }
    }
}

/// Reduced and full, in one go and in pieces, with many commits and few, with undo sessions, without a trie, and through
/// kills: all have the judge's root.
#[test]
fn every_way_to_a_block_has_its_root() {
    let bench = Bench::new();
    let record = bench.replay("plain", &[]).json();
    let expected = bench.slow_root("plain");
    assert_eq!(record["state"]["root"], expected);
    let root = bench.root("plain");
    assert_eq!(
        (&root["root"], &root["source"]),
        (&expected.clone().into(), &"trie file".into())
    );
    assert_eq!(root["head"]["number"], BLOCKS);
    assert_eq!(root["registers"], record["state"]["registers"]);
    assert_eq!(root["bytes"], record["state"]["bytes"]);

    for (node, more) in [
        ("often", &["--flush-state-interval", "7"][..]),
        (
            "sessions",
            &["--undo-below-checkpoint", "--flush-state-interval", "31"],
        ),
    ] {
        assert_eq!(
            bench.replay(node, more).json()["state"]["root"],
            expected,
            "{node}"
        );
        assert_eq!(bench.slow_root(node), expected, "{node}");
    }
    for stop in ["1", "2", "150", "399", "400"] {
        let record = bench.replay("pieces", &["--exit-at-block", stop]).json();
        assert_eq!(record["state"]["root"], bench.slow_root("pieces"), "at {stop}");
        assert_eq!(bench.root("pieces")["source"], "trie file", "at {stop}");
    }
    assert_eq!(bench.root("pieces")["root"], expected);

    // Full validation keeps more registers than nothing at all, but the same ones for everybody.
    let full = bench.replay("full", &["--validate-during-replay"]).json();
    assert_eq!(full["state"]["root"], bench.slow_root("full"));
    assert_eq!(full["state"]["root"], expected);

    let without = bench.replay("without", &["--state-trie", "0"]).json();
    assert_eq!(without["state"]["root"], Value::Null);
    assert!(!bench.trie_file("without").exists());
    let root = bench.root("without");
    assert_eq!(
        (&root["root"], &root["source"]),
        (&expected.clone().into(), &"registers".into())
    );

    for milliseconds in [5, 20, 40, 60, 80, 120, 160] {
        let replay = Running::start(bench.words("killed", &["--flush-state-interval", "11"]));
        drop(replay.kill_after(milliseconds));
        if bench.devnet.path("killed/state/registers/CURRENT").exists() {
            // Whatever it had, what is there has its root, and is whole.
            let checked = bench.state("killed", &["check"]);
            if !checked.stderr.contains("there is no state") {
                assert_eq!(checked.expect_code(0).json()["faults"], 0);
            }
        }
    }
    let record = bench.replay("killed", &["--flush-state-interval", "11"]).json();
    assert_eq!(record["state"]["root"], expected);
    assert_eq!(bench.slow_root("killed"), expected);
}

#[test]
fn a_trie_file_that_is_not_the_states_is_made_again_with_a_line() {
    let bench = Bench::new();
    let early = bench.replay("node", &["--exit-at-block", "100"]);
    assert!(
        !early.stderr.contains("trie file"),
        "nothing to say about a first start\n{early}"
    );
    let file = bench.trie_file("node");
    let old = fs::read(&file).unwrap();
    let expected = bench.replay("node", &[]).json()["state"]["root"].clone();
    let good = fs::read(&file).unwrap();

    let mut altered = good.clone();
    altered[good.len() / 2] ^= 1;
    for (bytes, reason) in [
        (Some(&old[..]), "it is of block [100,"),
        (Some(&good[..good.len() - 20]), "it is torn"),
        (Some(&altered[..]), "is altered"),
        (Some(b"nothing of the kind"), "it is torn"),
        (Some(&[b'x'; 200]), "it is no trie file"),
        (None, "there is none"),
    ] {
        match bytes {
            Some(bytes) => fs::write(&file, bytes).unwrap(),
            None => fs::remove_file(&file).unwrap(),
        }
        let asked = bench.state("node", &["root"]).expect_code(0);
        assert_eq!(
            (&asked.json()["root"], &asked.json()["source"]),
            (&expected, &"registers".into())
        );
        assert!(asked.stderr.contains(reason), "{reason}\n{asked}");
        let started = bench.replay("node", &[]);
        assert_eq!(started.json()["state"]["root"], expected);
        let lines = started
            .stderr
            .lines()
            .filter(|line| line.contains("the trie file is not used"));
        let lines: Vec<_> = lines.collect();
        assert!(
            lines.len() == 1 && lines[0].contains(reason),
            "{reason}\n{started}"
        );
        assert_eq!(fs::read(&file).unwrap(), good, "written again");
        let quiet = bench.replay("node", &[]);
        assert!(!quiet.stderr.contains("trie file is not used"), "{quiet}");
    }
    assert!(!file.with_file_name("trie.new").exists());
}

#[test]
fn a_restored_state_has_the_root_of_its_block() {
    let bench = Bench::new();
    let checkpoint = bench.devnet.checkpoint(200);
    bench.replay("node", &["--checkpoint", &checkpoint]);
    let folder = bench.devnet.path("node");
    cairn(["state", "restore", "-d", folder.to_str().unwrap()]).expect_code(0);
    let root = bench.root("node");
    assert_eq!(
        (&root["head"]["number"], &root["source"]),
        (&200.into(), &"registers".into())
    );
    bench.replay("at200", &["--exit-at-block", "200"]);
    assert_eq!(root["root"], bench.root("at200")["root"]);
    let again = bench.replay("node", &[]);
    assert!(
        again
            .stderr
            .contains("the trie file is not used: it is of block [400,"),
        "{again}"
    );
    assert_eq!(again.json()["state"]["root"], bench.slow_root("node"));
}

#[test]
fn proofs_hold_elsewhere_and_lies_do_not() {
    let bench = Bench::new();
    bench.replay("node", &[]);
    let printed = bench
        .state("node", &["get", "--proof", "account", "initminer"])
        .expect_code(0);
    let root = printed.json()["root"].as_str().unwrap().to_owned();
    assert_eq!(root, bench.slow_root("node"));
    assert!(!printed.stderr.contains("trie file"), "{printed}");
    fs::rename(
        bench.trie_file("node"),
        bench.trie_file("node").with_extension("away"),
    )
    .unwrap();
    let without = bench
        .state("node", &["get", "--proof", "account", "initminer"])
        .expect_code(0);
    assert!(
        without.stderr.contains("the trie file is not used: "),
        "{without}"
    );
    assert_eq!(without.json(), printed.json());
    let registers = printed.json()["registers"].as_array().unwrap().clone();
    let exist = registers
        .iter()
        .filter(|register| !register["value"].is_null())
        .count();
    assert!(
        exist >= 4 && exist < registers.len(),
        "some exist, some do not: {exist} of {}",
        registers.len()
    );

    let file = bench.devnet.path("proofs.json");
    fs::write(&file, &printed.stdout).unwrap();
    let file = file.to_str().unwrap();
    let verified = cairn(["state", "verify-proof", &root, file, "--json"])
        .expect_code(0)
        .json();
    assert_eq!(
        (&verified["holds"], verified["proofs"].as_array().unwrap().len()),
        (&true.into(), registers.len())
    );
    let plain = cairn(["state", "verify-proof", &root, file])
        .expect_code(0)
        .stdout;
    assert!(
        plain.contains("does not exist") && plain.contains("has value"),
        "{plain}"
    );

    // Each one in hex, and with its last bit altered.
    for register in &registers {
        let proof = register["proof"].as_str().unwrap();
        cairn(["state", "verify-proof", &root, proof]).expect_code(0);
        let (start, last) = proof.split_at(proof.len() - 1);
        let digit = u8::from_str_radix(last, 16).unwrap() ^ 1;
        let lie = cairn([
            "state",
            "verify-proof",
            &root,
            &format!("{start}{digit:x}"),
            "--json",
        ])
        .expect_code(3);
        assert_eq!(lie.json()["holds"], false);
    }
    // Another block's root.
    bench.replay("early", &["--exit-at-block", "100"]);
    let other = bench.root("early")["root"].as_str().unwrap().to_owned();
    let refused = cairn(["state", "verify-proof", &other, file]).expect_code(3);
    assert!(refused.stdout.contains("does not hold"), "{refused}");

    for (root, proof) in [
        ("12", file),
        (root.as_str(), "nonsense"),
        (root.as_str(), "cafe"),
        (root.as_str(), "/nonexistent"),
    ] {
        cairn(["state", "verify-proof", root, proof]).expect_code(2);
    }
    let by_key = registers[0]["key"].as_str().unwrap();
    let one = bench
        .state("node", &["get", "--proof", "--key", by_key])
        .expect_code(0)
        .json();
    assert_eq!(one["registers"][0]["proof"], registers[0]["proof"]);
    let nobody = bench
        .state("node", &["get", "--proof", "comment", "nobody/nothing"])
        .expect_code(0);
    assert_eq!(nobody.json()["registers"][0]["value"], Value::Null);
}

/// What a reader of the file sees is what the proofs show, or the file is refused.
#[test]
fn every_field_beside_a_proof_is_held_against_it() {
    let bench = Bench::new();
    bench.replay("node", &["--exit-at-block", "60"]);
    let account = ["get", "--proof", "account", "initminer"];
    let honest = bench.state("node", &account).expect_code(0).json();
    let root = honest["root"].as_str().unwrap();
    let file = bench.devnet.path("proofs.json");
    let verify = |value: &Value| {
        fs::write(&file, value.to_string()).unwrap();
        cairn(["state", "verify-proof", root, file.to_str().unwrap(), "--json"])
    };
    assert_eq!(verify(&honest).expect_code(0).json()["holds"], true);
    let other_key = honest["registers"][1]["key"].clone();
    for (field, lie) in [
        ("/registers/0/value", Value::from("00")),
        ("/registers/0/value", Value::Null),
        ("/registers/0/key", other_key),
        ("/registers/0/register", Value::from("witness")),
        ("/root", Value::from("00".repeat(32))),
        ("/head/number", Value::from(61)),
        ("/head/id", Value::from("00".repeat(20))),
        ("/head/proof", honest["registers"][0]["proof"].clone()),
        ("/head/proof", Value::Null),
    ] {
        let mut altered = honest.clone();
        *altered.pointer_mut(field).unwrap() = lie;
        let refused = verify(&altered).expect_code(3);
        assert_eq!(refused.json()["holds"], false, "{field}");
        let plain = cairn(["state", "verify-proof", root, file.to_str().unwrap()]).expect_code(3);
        let lies = plain
            .stdout
            .lines()
            .filter(|line| line.starts_with("does not hold: "));
        assert_eq!(lies.count(), 1, "{field}\n{plain}");
    }
    let by_key = honest["registers"][0]["key"].as_str().unwrap();
    let one = bench.state("node", &["get", "--proof", "--key", by_key]).json();
    assert_eq!(verify(&one).expect_code(0).json()["holds"], true);
}

#[test]
fn the_checker_says_what_is_wrong_and_what_to_do() {
    let bench = Bench::new();
    bench.replay("node", &[]);
    let good = bench.state("node", &["check"]).expect_code(0).json();
    assert_eq!((&good["faults"], &good["trie_file"]), (&0.into(), &"fits".into()));
    assert_eq!(good["root"], bench.slow_root("node"));

    let file = bench.trie_file("node");
    let whole = fs::read(&file).unwrap();
    let mut bytes = whole.clone();
    bytes[200] ^= 1;
    fs::write(&file, bytes).unwrap();
    let folder = bench.devnet.path("node");
    let words = ["state", "check", "-d", folder.to_str().unwrap()];
    let damaged = cairn(words).expect_code(3).stdout;
    assert!(
        damaged.contains("group at offset 132 is altered")
            && damaged.contains("the registers are whole; remove"),
        "{damaged}"
    );
    fs::remove_file(&file).unwrap();
    let none = cairn(words).expect_code(0).stdout;
    assert!(
        none.contains("not used: there is none") && none.contains("no fault"),
        "{none}"
    );
    fs::write(&file, &whole).unwrap();

    // One register is another one: nothing but the root can tell, and only the trie file can tell which.
    let registers = folder.join("state/registers");
    let reader = Store::open_read_only(&registers).unwrap();
    let (chain, head) = (*reader.chain(), reader.head().unwrap());
    let (mut key, mut value) = (Vec::new(), Vec::new());
    reader
        .scan(|found, was| (key, value) = (found.to_vec(), was.to_vec()))
        .unwrap();
    drop(reader);
    value[0] ^= 1;
    let mut writer = Registers::new(Store::open(&registers, &StoreOptions::new(chain)).unwrap()).unwrap();
    writer.set(&key, &value).unwrap();
    writer.commit(head).unwrap();
    drop(writer);
    let damaged = cairn(words).expect_code(3).stdout;
    let path = RegisterPath::of(&key).to_string();
    assert!(
        damaged.contains(&path) && damaged.contains("have another hash"),
        "{damaged}"
    );
    assert!(
        damaged.contains("the registers are damaged; make the state again"),
        "{damaged}"
    );
    fs::remove_file(&file).unwrap();
    let json = bench.state("node", &["check"]).expect_code(3).json();
    assert_eq!(json["faults"], 1);
    assert!(
        json["fault_list"][0]
            .as_str()
            .unwrap()
            .contains("at this block it was"),
        "{json}"
    );
}
