//! config.ini as operators write it, right and wrong.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::process::Command;

use cairn_tests::{Finished, Running, binary, cairn};
use tempfile::TempDir;

fn run_with(config: &str) -> (TempDir, Finished) {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("config.ini"), config).unwrap();
    let finished = cairn(["run", "-d", folder.path().to_str().unwrap(), "--exit-before-sync"]);
    (folder, finished)
}

#[test]
fn a_scalar_given_twice_is_refused_with_both_lines() {
    let (_folder, refused) =
        run_with("chain = hive-testnet\nblock-log-split = 1\n# more\nblock-log-split = 2\n");
    let refused = refused.expect_code(2);
    for text in ["block-log-split", "config.ini:2", "config.ini:4"] {
        assert!(refused.stderr.contains(text), "{text} is missing\n{refused}");
    }
}

#[test]
fn all_faults_are_told_at_once() {
    let (_folder, refused) = run_with(
        "checkpoint = [5,0000000600000000000000000000000000000000]\nblock-log-split = 10000\nstats-intervall = 3\n",
    );
    let refused = refused.expect_code(2);
    for text in [
        "config.ini:1",
        "(5)",
        "(6)",
        "Not supported block log split value 10000",
        "config.ini:3",
        "stats-interval",
    ] {
        assert!(refused.stderr.contains(text), "{text} is missing\n{refused}");
    }
}

#[test]
fn an_option_of_hived_without_effect_is_a_warning_with_its_name() {
    let (_folder, finished) =
        run_with("chain = hive-testnet\nplugin = witness account_by_key\nshared-file-size = 24G\n");
    let finished = finished.expect_code(0);
    for text in ["plugin", "shared-file-size"] {
        assert!(
            finished
                .stderr
                .lines()
                .any(|line| line.contains("WARN") && line.contains(text)),
            "{text} is missing\n{finished}"
        );
    }
}

#[test]
fn exit_at_block_works_in_the_file_too() {
    let chain = TempDir::new().unwrap();
    let seed = chain.path().join("seed");
    cairn([
        "devnet",
        "generate",
        "--blocks",
        "60",
        "--out",
        seed.to_str().unwrap(),
    ])
    .expect_code(0);
    fs::write(
        seed.join("config.ini"),
        format!(
            "chain = {}\nexit-at-block = 40\n",
            seed.join("chain.json").display()
        ),
    )
    .unwrap();
    let record = cairn(["run", "-d", seed.to_str().unwrap(), "--json"])
        .expect_code(0)
        .json();
    assert_eq!(record["head"]["number"], 40, "{record}");
}

#[test]
fn unusable_seeds_are_one_line_each_and_the_rest_is_used() {
    let folder = TempDir::new().unwrap();
    let config =
        "chain = hive-testnet\np2p-seed-node = [::1]:2001\np2p-seed-node = localhost:2001 bad:: [::1]:2001\n";
    fs::write(folder.path().join("config.ini"), config).unwrap();
    let mut node = Running::start(["run", "-d", folder.path().to_str().unwrap()]);
    node.wait_for_line("2 of 3");
    node.wait_for_line("bad::");
    node.terminate();
    node.wait().expect_code(0);
}

#[test]
fn the_printed_configuration_is_a_valid_one() {
    let text = cairn(["run", "--dump-config"]).expect_code(0).stdout;
    let (_folder, finished) = run_with(&text);
    finished.expect_code(0);
}

#[test]
fn a_misspelt_log_level_is_refused_wherever_it_is_given() {
    let (_folder, refused) = run_with("chain = hive-testnet\nlog-level = loud\n");
    let refused = refused.expect_code(2);
    let text = "config.ini:2: option `log-level`: `loud` is no level; expected error, warn";
    assert!(refused.stderr.contains(text), "{refused}");
    let folder = TempDir::new().unwrap();
    let words = ["run", "--exit-before-sync", "--chain", "hive-testnet", "-d"];
    let words = words.into_iter().chain([folder.path().to_str().unwrap()]);
    let refused = cairn(words.clone().chain(["--log-level", "inof"])).expect_code(2);
    let text = "command line: option `log-level`: `inof` is no level, did you mean `info`?";
    assert!(refused.stderr.contains(text), "{refused}");
    // A command without a configuration, and the variable.
    let refused = cairn(["--log-level", "debgu", "state", "info", "-d", "x"]).expect_code(2);
    assert!(refused.stderr.contains("did you mean `debug`?"), "{refused}");
    let refused = Command::new(binary())
        .args(words.clone())
        .env("RUST_LOG", "wran")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&refused.stderr);
    assert_eq!(refused.status.code(), Some(2), "{text}");
    assert!(
        text.contains("RUST_LOG: `wran` is no level, did you mean `warn`?"),
        "{text}"
    );
    let heard = cairn(words.chain(["--log-level", "error,run=info,reconcile=debug"])).expect_code(0);
    assert!(heard.stderr.contains(" run ] "), "{heard}");
}
