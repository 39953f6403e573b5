//! Where full validation begins.

use cairn_node::devnet::{BlocksOptions, Fault, FaultAt, RawBlock, blocks};
use cairn_tests::Running;
use cairn_tests::zoo::{Grower, Yard};

fn chain(faults: Vec<FaultAt>) -> Vec<RawBlock> {
    let options = BlocksOptions {
        faults,
        ..BlocksOptions::new(430)
    };
    blocks(&options).collect()
}

fn forged() -> Vec<RawBlock> {
    chain(vec![FaultAt {
        block: 305,
        fault: Fault::WitnessSignature,
    }])
}

const ON: &str =
    "Checkpoints enabled, blocks will be subject to reduced validation until final checkpoint [300,";
const OFF: &str = "Final checkpoint reached, resuming normal block validation.";

/// Each of these lines is there once, in this order.
fn expect_once(log: &str, texts: &[&str]) {
    let mut before = None;
    for text in texts {
        let found: Vec<usize> = log.match_indices(text).map(|(at, _)| at).collect();
        assert_eq!(found.len(), 1, "{text}\n{log}");
        assert!(before < Some(found[0]), "{text}\n{log}");
        before = Some(found[0]);
    }
}

/// Cases S12 and S10, in a sync: the first block above the last checkpoint is validated in full.
#[test]
fn full_validation_begins_behind_the_last_checkpoint() {
    let (yard, forged) = (Yard::new(430), forged());
    let liar = yard.keep(Grower::new(&forged));
    let checkpoint = format!("checkpoint = {}", yard.checkpoint(300));
    // Nobody else is connected who might have another block.
    let folder = yard.configure("node", &[&liar], &[checkpoint]);
    let mut node = Running::start(["run", "-d", &folder, "--json"]);
    let line = node.wait_for_line("block 305");
    assert!(line.contains("was refused"), "{line}");
    node.wait_for_line(OFF);
    node.wait_for_line("Banned peer");
    node.terminate();
    let finished = node.wait().expect_code(0);
    assert!(yard.banned("node").contains(&liar.id), "{finished}");
    expect_once(&finished.stderr, &[ON, "Checkpoint [300,", OFF]);
    let record = finished.json();
    assert_eq!(record["blocks"], 304, "{finished}");
    assert_eq!(record["validation"]["blocks_signed"], 4, "301 to 304: {finished}");
}

/// The same in the replay of a log.
#[test]
fn full_validation_begins_behind_the_last_checkpoint_of_a_log() {
    let yard = Yard::new(300);
    let lines = [format!("checkpoint = {}", yard.checkpoint(300))];
    let finished = yard.replay("forged", &forged(), &lines, &[]).expect_code(1);
    let record = finished.json();
    assert_eq!(record["head"]["number"], 304, "{finished}");
    assert_eq!(record["validation"]["blocks_signed"], 4, "{finished}");
    assert!(
        record["error"].as_str().unwrap().contains("log breaks at 305"),
        "{finished}"
    );
    expect_once(&finished.stderr, &[ON, "Checkpoint [300,", OFF]);

    let finished = yard
        .replay("whole", &chain(Vec::new()), &lines, &[])
        .expect_code(0);
    let record = finished.json();
    assert_eq!(record["head"]["number"], 430, "{finished}");
    assert_eq!(record["validation"]["blocks_signed"], 130, "{finished}");
    expect_once(&finished.stderr, &[ON, "Checkpoint [300,", OFF]);
}
