//! The statistics come on time, also from a writer or a pool that is always busy.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use cairn_tests::cairn;
use tempfile::TempDir;

/// The five shares of hived's sentence, in percent.
fn shares(line: &str) -> Option<Vec<f64>> {
    let (_, sentence) = line.split_once("waiting for work: ")?;
    let shares = sentence
        .split('%')
        .filter_map(|part| part.rsplit(' ').next()?.parse().ok());
    Some(shares.collect())
}

#[test]
fn a_busy_replay_reports_every_second() {
    let folder = TempDir::new().unwrap();
    let seed = folder.path().join("seed");
    cairn([
        "devnet",
        "generate",
        "--blocks",
        "3000",
        "--out",
        seed.to_str().unwrap(),
    ])
    .expect_code(0);
    let (log, spec, stats) = (
        seed.join("blockchain"),
        seed.join("chain.json"),
        folder.path().join("stats.jsonl"),
    );
    let node = folder.path().join("node");
    let finished = cairn([
        "replay",
        "-d",
        node.to_str().unwrap(),
        "--block-log",
        log.to_str().unwrap(),
        "--chain",
        spec.to_str().unwrap(),
        "--validate-during-replay",
        "--stats-interval",
        "1",
        "--stats-file",
        stats.to_str().unwrap(),
        "--json",
    ])
    .expect_code(0);
    let seconds = finished.json()["seconds"].as_f64().unwrap();
    let lines: Vec<Vec<f64>> = finished.stderr.lines().filter_map(shares).collect();
    assert!(
        seconds > 2.0,
        "the replay was too short to show anything: {seconds} s"
    );
    assert!(
        lines.len() as f64 >= seconds.floor() - 1.0,
        "{} lines in {seconds} s\n{finished}",
        lines.len()
    );
    for line in &lines {
        assert_eq!(line.len(), 5, "{line:?}");
        let sum: f64 = line.iter().sum();
        assert!((sum - 100.0).abs() < 0.1, "the shares of a line add up to {sum}");
    }
    let records = std::fs::read_to_string(stats).unwrap();
    assert_eq!(
        records.lines().count(),
        lines.len(),
        "the file has the same intervals"
    );
    let writer = finished.json()["writer"].clone();
    let sum: f64 = writer
        .as_object()
        .unwrap()
        .values()
        .map(|value| value.as_f64().unwrap())
        .sum();
    assert!(
        (sum - seconds).abs() < 0.25 * seconds,
        "the writer's phases add up to the run: {sum} of {seconds}"
    );
}
