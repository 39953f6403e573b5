//! A node that is started and stopped again and again, without new blocks.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use cairn_tests::{Devnet, cairn, free_port};

#[test]
fn fifteen_starts_without_new_blocks_change_nothing() {
    let chain = Devnet::generate(200, &[]);
    let port = free_port();
    let _seed = chain.seed(port);
    let lines = format!(
        "p2p-seed-node = 127.0.0.1:{port}\ncheckpoint = {}\nblock-log-split = -1\n",
        chain.checkpoint(150)
    );
    let folder = chain.config("node", &lines);
    let run = || {
        let finished = cairn(["run", "-d", &folder, "--exit-at-block", "200", "--json"]).expect_code(0);
        let record = finished.json();
        (finished, record)
    };
    let (_, first) = run();
    // The last blocks can be taken back: they are not kept, and fetched again each time.
    let kept = first["head"]["number"].as_u64().unwrap();
    assert!((179..200).contains(&kept), "{first}");
    assert_eq!(first["reversible_blocks"], 200 - kept, "{first}");
    let log = std::fs::read(chain.path("node/blockchain/block_log")).unwrap();
    for _ in 0..15 {
        let (finished, record) = run();
        for key in ["head", "reversible_blocks", "durable_block", "state"] {
            assert_eq!(record[key], first[key], "{key}\n{finished}");
        }
        assert_eq!(
            record["blocks"],
            200 - kept,
            "only what can be taken back\n{finished}"
        );
        for line in finished.stderr.lines() {
            assert!(!line.contains(" WARN ") && !line.contains(" ERROR "), "{line}");
            assert!(!line.contains("reconcile"), "{line}");
        }
    }
    assert!(log == std::fs::read(chain.path("node/blockchain/block_log")).unwrap());
}
