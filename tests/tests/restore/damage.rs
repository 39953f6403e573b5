//! A damaged block in the own log.

use std::fs;
use std::sync::Arc;

use cairn_block_log::{BlockLog, Dictionaries};
use cairn_tests::Running;

use crate::world::{Bench, flip, reconciled};

/// Where in a damaged block the damage is, and what the node has beside the log.
#[derive(Debug, Clone, Copy)]
enum Damage {
    /// In a transaction: the pass over headers does not see it, its application does.
    Body,
    /// In the id of the block before: the pass over headers sees it.
    Header,
    /// In a transaction of a log without an index, which is checked as a whole when it is opened.
    BodyWithoutIndex,
}

#[test]
fn a_damaged_block_of_the_own_log_is_cut_and_fetched_again() {
    for damage in [Damage::Body, Damage::Header, Damage::BodyWithoutIndex] {
        let bench = Bench::new(300, "mixed");
        bench.own_the_log();
        bench.replay_own(&["--exit-at-block", "100"]).expect_code(0);
        let file = bench.path("node/blockchain/block_log");
        let log = BlockLog::open(&file, 400, Arc::new(Dictionaries::none())).unwrap();
        let at = |number| log.offset_of(number).unwrap().1;
        match damage {
            Damage::Header => flip(&file, at(120) + 4),
            // The last byte before the trailer.
            Damage::Body | Damage::BodyWithoutIndex => flip(&file, at(121) - 8 - 1),
        }
        if matches!(damage, Damage::BodyWithoutIndex) {
            fs::remove_file(file.with_extension("artifacts")).unwrap();
        }
        let (chain, spec) = (bench.text("chain"), bench.text("chain/chain.json"));
        let free = std::net::TcpListener::bind(("127.0.0.1", 0))
            .unwrap()
            .local_addr()
            .unwrap();
        let address = free.to_string();
        let words = [
            "run",
            "-d",
            &chain,
            "--chain",
            &spec,
            "--block-log-split",
            "-1",
            "--p2p-endpoint",
            &address,
        ];
        let mut seed = Running::start(words);
        seed.wait_for_line("Listening on");

        let (node, point) = (bench.text("node"), bench.checkpoint(200));
        let mut words = vec![
            "run",
            "-d",
            &node,
            "--block-log-split",
            "-1",
            "--exit-at-block",
            "300",
            "--json",
        ];
        words.extend([
            "--p2p-seed-node",
            &address,
            "--checkpoint",
            &point,
            "--enable-block-log-compression",
            "0",
        ]);
        let mended = bench.run(words.clone()).expect_code(0);
        let (offset, path) = (format!("offset {}", at(120)), file.display().to_string());
        let kept = "block_log.cut-120-300";
        for text in [
            "damaged",
            "block 120",
            "119",
            &offset,
            &path,
            "blocks 120 to 300 are fetched again",
            kept,
            "in the block log again",
        ] {
            assert!(
                mended.stderr.contains(text),
                "{damage:?}: {text} is missing\n{mended}"
            );
        }
        assert_eq!(mended.json()["head"]["number"], 300, "{mended}");
        assert!(fs::read(&file).unwrap() == fs::read(bench.path("chain/blockchain/block_log")).unwrap());
        assert!(!file.with_file_name(kept).exists(), "{damage:?}");
        let quiet = bench.run(words).expect_code(0);
        assert_eq!(reconciled(&quiet), Vec::<&str>::new(), "{quiet}");
    }
}

#[test]
fn a_damaged_block_is_only_told_about_when_nothing_is_to_be_fetched() {
    let bench = Bench::new(300, "mixed");
    bench.own_the_log();
    bench.replay_own(&["--exit-at-block", "100"]).expect_code(0);
    let file = bench.path("node/blockchain/block_log");
    let log = BlockLog::open(&file, 400, Arc::new(Dictionaries::none())).unwrap();
    flip(&file, log.offset_of(121).unwrap().1 - 8 - 1);
    let before = fs::read(&file).unwrap();
    for refused in [bench.start(), bench.replay_own(&[])] {
        let refused = refused.expect_code(1);
        assert!(refused.stderr.contains("log breaks at 120"), "{refused}");
        assert!(before == fs::read(&file).unwrap(), "nothing was cut");
    }
}
