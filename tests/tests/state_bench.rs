//! `cairn bench state`, small.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;

use cairn_tests::cairn;

/// Names and meanings are what scripts rely on.
const FIGURES: [&str; 21] = [
    "load_s",
    "updates_per_s",
    "apply_ms",
    "root_ms",
    "commit_ms",
    "apart_total_ms",
    "batch_apply_ms",
    "durable_ms",
    "total_ms",
    "reads_per_s",
    "batch_reads_per_s",
    "store_reads_per_s",
    "store_batch_reads_per_s",
    "trie_bytes_per_register",
    "cache_bytes_per_register",
    "trie_rebuild_s",
    "trie_file_load_s",
    "trie_file_speedup",
    "trie_file_mib",
    "disk_mib",
    "peak_rss_mib",
];

#[test]
fn every_figure_is_there_and_nothing_is_left_behind() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().to_str().unwrap();
    let sizes = [
        "--registers",
        "2000",
        "--batch",
        "100",
        "--rounds",
        "3",
        "--reads",
        "1000",
    ];
    let words = ["bench", "state", "--dir", dir];
    let result = cairn(words.into_iter().chain(sizes).chain(["--json"]))
        .expect_code(0)
        .json();
    assert_eq!(
        (&result["registers"], &result["batch"], &result["rounds"]),
        (&2000.into(), &100.into(), &3.into())
    );
    for figure in FIGURES {
        assert!(
            result[figure].as_f64().is_some_and(|value| value > 0.0),
            "{figure} in {result}"
        );
    }
    // A register of the load has 96 bytes: neither can be less, and both are far from wasteful.
    for (figure, least, most) in [
        ("trie_bytes_per_register", 64.0, 4_000.0),
        ("cache_bytes_per_register", 160.0, 400.0),
    ] {
        let bytes = result[figure].as_f64().unwrap();
        assert!((least..most).contains(&bytes), "{figure} in {result}");
    }
    assert_eq!(
        fs::read_dir(folder.path()).unwrap().count(),
        0,
        "the state is removed"
    );

    let table = cairn(words.into_iter().chain(sizes)).expect_code(0).stdout;
    assert!(
        table.contains("2000 registers, 3 batches of 100 operations, 1 thread for the trie"),
        "{table}"
    );
    assert_eq!(table.lines().count(), 1 + FIGURES.len(), "{table}");
}

#[test]
fn a_folder_that_is_not_there_is_named() {
    let refused = cairn(["bench", "state", "--dir", "/nowhere/at/all"]).expect_code(1);
    assert!(refused.stderr.contains("/nowhere/at/all"), "{refused}");
}
