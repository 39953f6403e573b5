//! The header file of a node that serves: an index of the log, made again from it whatever has become of it.

use std::fs;
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

use cairn_tests::{Devnet, PATIENCE, Running, cairn, free_port};

use crate::world::tear;

/// Two segments of 1,024 headers, and some.
const BLOCKS: u32 = 2_600;

fn wait_for(file: &Path, wanted: &[u8]) {
    let started = Instant::now();
    while fs::read(file).unwrap_or_default() != wanted {
        assert!(
            started.elapsed() < PATIENCE,
            "{} is not made again",
            file.display()
        );
        sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_header_file_in_any_condition_is_that_of_the_log_again() {
    let chain = Devnet::generate(BLOCKS, &["--witnesses", "1"]);
    let port = free_port();
    let mut seed = chain.seed(port);
    let file = chain.path("seed/p2p/headers");
    let started = Instant::now();
    // Two segments with more than 120 bytes a header.
    while fs::metadata(&file).map_or(0, |metadata| metadata.len()) < 2 * 1_024 * 120 {
        assert!(started.elapsed() < PATIENCE, "no header file is made");
        sleep(Duration::from_millis(20));
    }
    seed.terminate();
    drop(seed.wait().expect_code(0));
    let whole = fs::read(&file).unwrap();
    let damages: [(&str, &dyn Fn()); 4] = [
        ("missing", &|| fs::remove_file(&file).unwrap()),
        ("torn", &|| tear(&file, 100)),
        ("older", &|| tear(&file, whole.len() as u64 / 2)),
        ("newer", &|| {
            fs::write(&file, [whole.clone(), vec![7; 5_000]].concat()).unwrap();
        }),
    ];
    for (what, damage) in damages {
        damage();
        seed = chain.seed(port);
        wait_for(&file, &whole);
        seed.terminate();
        let ended = seed.wait().expect_code(0);
        assert!(!ended.stderr.contains(" ERROR "), "{what}\n{ended}");
    }

    // The log was lost and is filled: its headers are those of before.
    let point = chain.checkpoint(BLOCKS);
    let own = free_port();
    let seed = chain.seed(port);
    let lines = format!(
        "p2p-seed-node = 127.0.0.1:{port}\np2p-endpoint = 127.0.0.1:{own}\ncheckpoint = {point}\nblock-log-split = -1\n"
    );
    let folder = chain.config("node", &lines);
    let words = ["run", "-d", &folder, "--exit-at-block", "2600", "--json"];
    drop(cairn(words).expect_code(0));
    fs::write(chain.path("node/p2p/headers"), &whole).unwrap();
    fs::remove_dir_all(chain.path("node/blockchain")).unwrap();
    let mut node = Running::start(["run", "-d", &folder]);
    node.wait_for_line("blocks 1 to 2600 are in the block log again");
    wait_for(&chain.path("node/p2p/headers"), &whole);
    drop((node, seed));
}
