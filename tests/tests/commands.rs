//! Commands and options that the other tests do not come by.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::process::Command;

use cairn_tests::{Devnet, Running, binary, cairn, free_port};

#[test]
fn state_get_shows_registers_by_name_and_by_key() {
    let chain = Devnet::generate(200, &[]);
    let node = chain.path("node");
    let (folder, log, spec) = (
        node.to_str().unwrap(),
        chain.path("seed/blockchain"),
        chain.spec(),
    );
    let log = log.to_str().unwrap();
    drop(cairn(["replay", "-d", folder, "--block-log", log, "--chain", &spec]).expect_code(0));
    let get = |words: &[&str]| cairn(["state", "get", "-d", folder].iter().chain(words));

    let account = get(&["account", "initminer", "--json"]).expect_code(0).json();
    assert_eq!(account["name"], "initminer", "{account}");
    assert_eq!(
        account["active"]["key_auths"].as_array().map(Vec::len),
        Some(1),
        "{account}"
    );
    let field = get(&["account", "initminer", "active", "--json"])
        .expect_code(0)
        .json();
    assert_eq!(field["active"], account["active"]);
    assert_eq!(field.as_object().unwrap().len(), 1, "only the field");
    let witness = get(&["witness", "initminer", "--json"]).expect_code(0).json();
    assert!(
        witness["signing_key"].as_str().unwrap().starts_with("STM"),
        "{witness}"
    );
    let global = get(&["global", "--json"]).expect_code(0).stdout;
    assert!(global.contains("200"), "the head block is in it: {global}");

    let refused = get(&["account", "nobody-here"]).expect_code(1);
    assert!(
        refused.stderr.contains("there is no account nobody-here"),
        "{refused}"
    );
    let refused = get(&["account", "initminer", "balance"]).expect_code(1);
    assert!(
        refused.stderr.contains("no field balance") && refused.stderr.contains("memo_key"),
        "the fields are listed\n{refused}"
    );
    let refused = get(&["acount", "initminer"]).expect_code(2);
    assert!(refused.stderr.contains("account NAME, witness NAME"), "{refused}");
    drop(get(&["--key", "zz"]).expect_code(2));
    let refused = get(&["--key", "00ff"]).expect_code(1);
    assert!(
        refused.stderr.contains("there is no register with key 00ff"),
        "{refused}"
    );
}

#[test]
fn the_demo_ends_with_a_table_of_two_equal_nodes() {
    let finished = cairn(["demo", "--blocks", "300"]).expect_code(0);
    let row = |name: &str| {
        let line = finished
            .stdout
            .lines()
            .find_map(|line| line.trim().strip_prefix(name));
        line.unwrap_or_else(|| panic!("no row {name}\n{finished}"))
            .trim()
            .to_owned()
    };
    assert_eq!(row("equal"), "yes");
    assert_eq!(row("checkpoints reached"), "3 of 3");
    assert_eq!(row("undo sessions"), "0");
    let (seed, fresh) = (row("state of the seed"), row("state of the new node"));
    assert_eq!(seed, fresh);
    assert_eq!(seed.len(), 64, "a digest: {seed}");
    assert!(
        row("head block").starts_with("300 0000012c"),
        "{}",
        row("head block")
    );
    assert!(row("blocks").starts_with("300 in "), "{}", row("blocks"));
}

#[test]
fn stop_at_block_goes_on_serving() {
    let chain = Devnet::generate(300, &["--witnesses", "1"]);
    let (port, own) = (free_port(), free_port());
    let _seed = chain.seed(port);
    let lines =
        format!("p2p-seed-node = 127.0.0.1:{port}\np2p-endpoint = 127.0.0.1:{own}\nstop-at-block = 200\n");
    let folder = chain.config("node", &lines);
    let mut node = Running::start(["run", "-d", &folder, "--json"]);
    node.wait_for_line("Stopped syncing on user request. Last applied block number: 200.");
    node.wait_for_line("entering API mode");
    let other = chain.config("other", &format!("p2p-seed-node = 127.0.0.1:{own}\n"));
    let served = cairn(["run", "-d", &other, "--exit-at-block", "200", "--json"])
        .expect_code(0)
        .json();
    assert!(!node.has_ended());
    node.terminate();
    let record = node.wait().expect_code(0).json();
    assert_eq!(
        (&record["head"], &record["state"]),
        (&served["head"], &served["state"])
    );
    assert_eq!(record["head"]["number"], 200);
    assert_eq!(record["ended"], "stopped");
}

#[test]
fn exit_at_block_below_a_checkpoint_proves_its_blocks_all_the_same() {
    let chain = Devnet::generate(300, &["--witnesses", "1"]);
    let port = free_port();
    let _seed = chain.seed(port);
    let point = chain.checkpoint(250);
    let lines = format!("p2p-seed-node = 127.0.0.1:{port}\ncheckpoint = {point}\n");
    let folder = chain.config("node", &lines);
    for (block, blocks) in [("100", 100), ("280", 180)] {
        let record = cairn(["run", "-d", &folder, "--exit-at-block", block, "--json"])
            .expect_code(0)
            .json();
        assert_eq!(record["head"]["number"].to_string(), block);
        assert_eq!(record["blocks"], blocks);
    }
}

#[test]
fn exit_before_sync_does_not_claim_a_block_that_was_not_reached() {
    let chain = Devnet::generate(60, &[]);
    let folder = chain.config("seed", "block-log-split = -1\n");
    let run = |block: &str| {
        cairn([
            "run",
            "-d",
            &folder,
            "--exit-before-sync",
            "--exit-at-block",
            block,
            "--json",
        ])
        .expect_code(0)
    };
    let finished = run("61");
    assert!(
        !finished.stderr.contains("Exiting application on user request"),
        "{finished}"
    );
    assert_eq!(finished.json()["head"]["number"], 60);
    let finished = run("60");
    assert!(
        finished
            .stderr
            .contains("because requested block 60 reached (--exit-at-block)"),
        "{finished}"
    );
    let finished = run("5");
    assert!(
        finished
            .stderr
            .contains("the head, block 60, was already beyond requested block 5 (--exit-at-block)"),
        "{finished}"
    );
    let (log, spec) = (chain.path("seed/blockchain"), chain.spec());
    let words = ["replay", "--chain", &spec, "--exit-at-block", "61", "--block-log"];
    let finished = cairn(words.into_iter().chain([log.to_str().unwrap()])).expect_code(0);
    let text = "requested block 61 was not reached (--exit-at-block): ";
    assert!(
        finished.stderr.contains(text) && finished.stderr.contains(" ends at block 60"),
        "{finished}"
    );
    let words = [
        "run",
        "-d",
        &folder,
        "--exit-at-block",
        "5",
        "--stop-at-block",
        "6",
    ];
    let refused = cairn(words).expect_code(2);
    assert!(
        refused.stderr.contains("cannot be used together") && !refused.stderr.contains("they stand at"),
        "no word of two command lines\n{refused}"
    );
    // A state without restore points is nothing that was typed wrongly.
    let refused = cairn(["state", "restore", "-d", &folder]).expect_code(1);
    assert!(
        refused.stderr.contains("there is no restore point in"),
        "{refused}"
    );
}

#[test]
fn a_terminal_shows_a_progress_bar_that_goes_when_the_work_is_done() {
    let chain = Devnet::generate(1_500, &[]);
    let (log, spec) = (chain.path("seed/blockchain"), chain.spec());
    let line = format!(
        "{} replay --block-log {} --chain {spec} --validate-during-replay --json",
        binary().display(),
        log.display()
    );
    // `script` runs a command on a terminal of its own.
    let out = Command::new("script")
        .args(["-qec", &line, "/dev/null"])
        .env("TERM", "xterm")
        .env_remove("RUST_LOG")
        .output();
    let Ok(out) = out else {
        eprintln!("skipped: progress bar: there is no `script` (util-linux) here");
        return;
    };
    let text = String::from_utf8_lossy(&out.stdout);
    assert!(out.status.success(), "{text}");
    assert!(
        text.contains("replaying ") && text.contains("/1500 blocks") && text.contains("eta"),
        "{text}"
    );
    let done = text.rfind("head block 1500").unwrap();
    assert!(
        !text[done..].contains("eta"),
        "the bar is gone at the end: {text}"
    );
    // Without a terminal there is none of it.
    let plain = cairn(line.split(' ').skip(1)).expect_code(0);
    assert!(
        !plain.stderr.contains("eta ") && !plain.stderr.contains('\u{1b}'),
        "{plain}"
    );
}

#[test]
fn a_replay_of_what_is_no_block_log_fails_and_makes_nothing() {
    let chain = Devnet::generate(20, &[]);
    let (empty, node) = (chain.path("block_log"), chain.path("node"));
    std::fs::write(&empty, "").unwrap();
    let replay = |more: &[&str]| {
        let (folder, spec) = (node.to_str().unwrap(), chain.spec());
        let words = ["replay", "-d", folder, "--chain", &spec, "--json"];
        cairn(words.iter().chain(more)).expect_code(1)
    };
    for file in [chain.spec(), empty.to_str().unwrap().to_owned()] {
        let refused = replay(&["--block-log", &file]);
        assert!(
            refused.stderr.contains("error: there is no whole block of chain")
                && refused.stderr.contains("--block-log PATH"),
            "{refused}"
        );
        assert!(!refused.stderr.contains("Done reindexing"), "{refused}");
        assert!(!node.join("state").exists() && !node.join("blockchain").exists());
    }
    std::fs::remove_dir_all(&node).unwrap();
    let refused = replay(&[]);
    assert!(
        refused.stderr.contains("error: there is no block log in"),
        "{refused}"
    );
    assert!(!node.exists(), "nothing is made where nothing is");
}

#[test]
fn a_state_that_has_lost_a_table_file_is_told_and_restored() {
    let chain = Devnet::generate(300, &[]);
    let (node, log) = (chain.path("node"), chain.path("seed/blockchain"));
    let (folder, log, spec, point) = (
        node.to_str().unwrap(),
        log.to_str().unwrap(),
        chain.spec(),
        chain.checkpoint(200),
    );
    let words = ["replay", "-d", folder, "--block-log", log, "--chain", &spec];
    let replay = |more: &[&str]| cairn(words.iter().chain(more));
    drop(replay(&["--checkpoint", &point, "--json"]).expect_code(0));
    // Each opening writes what the log had into a table file.
    drop(replay(&[]).expect_code(0));
    let tables = || {
        let files = std::fs::read_dir(node.join("state/registers")).unwrap();
        let paths = files.map(|entry| entry.unwrap().path());
        paths.filter(|path| path.extension().is_some_and(|ending| ending == "sst"))
    };
    assert!(tables().count() > 0);
    tables().for_each(|path| std::fs::remove_file(path).unwrap());

    let checked = cairn(["state", "check", "-d", folder, "--json"])
        .expect_code(3)
        .json();
    assert_eq!(
        (&checked["faults"], &checked["head"]),
        (&1.into(), &serde_json::Value::Null)
    );
    let fault = checked["fault_list"][0].as_str().unwrap();
    assert!(
        fault.contains("is damaged") && fault.contains(".sst"),
        "{checked}"
    );
    let remedy = checked["remedy"].as_str().unwrap();
    assert!(
        remedy.contains("restore point of block 200 with `cairn state restore`"),
        "{checked}"
    );
    let plain = cairn(["state", "check", "-d", folder]).expect_code(3).stdout;
    assert!(
        plain.contains("fault       ") && plain.contains("result      "),
        "{plain}"
    );
    let refused = replay(&[]).expect_code(1);
    assert!(refused.stderr.contains("go back to a restore point"), "{refused}");
    drop(cairn(["state", "restore", "-d", folder]).expect_code(0));
    drop(cairn(["state", "check", "-d", folder]).expect_code(0));
    let record = replay(&["--json"]).expect_code(0).json();
    assert_eq!(record["blocks"], 100, "{record}");
}
