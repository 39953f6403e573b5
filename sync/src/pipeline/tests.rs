use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::thread;
use std::time::Duration;

use cairn_block_log::{Compression, Dictionaries, StoredBlock};
use cairn_chain::{ChainSpec, DecodedBlock};

use super::memory::{MAX_PART, MAX_WAITING};
use super::*;
use crate::stats::Meter;

/// Operations of three bytes in a block that decodes to some 20 MB.
const OPERATIONS: usize = 100_000;

/// A block that is small on the wire and large in memory: one transaction of the shortest operations.
fn swelling_block(number: u32, spec: &ChainSpec) -> StoredBlock {
    let mut body = vec![1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    let mut count = OPERATIONS;
    while count >= 0x80 {
        body.push(count as u8 | 0x80);
        count >>= 7;
    }
    body.push(count as u8);
    // decline_voting_rights of the account "".
    body.extend([36, 0, 1].repeat(OPERATIONS));
    body.extend([0, 0]);
    let block = |root: [u8; 20]| {
        let mut bytes = (number - 1).to_be_bytes().to_vec();
        bytes.extend([0; 16]);
        bytes.extend((number * 3).to_le_bytes());
        bytes.extend([1, b'a']);
        bytes.extend(root);
        bytes.push(0);
        bytes.extend([1; 65]);
        bytes.extend(&body);
        bytes
    };
    let decoded = DecodedBlock::decode(block([0; 20]), spec.symbols).unwrap();
    let root = decoded.check_merkle_root(spec).unwrap_err().computed;
    StoredBlock {
        number,
        compression: Compression::None,
        bytes: block(root.0),
    }
}

fn context(spec: ChainSpec) -> PrepareContext {
    PrepareContext {
        spec: Arc::new(spec),
        dictionaries: Arc::new(Dictionaries::none()),
        log_form: LogForm::None,
        plan: ValidationPlan::REDUCED,
    }
}

/// Many batches that are done at once, and few that come in many parts.
#[test]
fn blocks_that_swell_wait_undecoded_and_come_in_order() {
    swell(5, 48, 1);
    swell(2, 4, 12);
}

/// So many workers and batches of `each` blocks, and a writer that does nothing for a while.
fn swell(threads: usize, batches: u32, each: u32) {
    let spec = ChainSpec::hive_testnet();
    let blocks: Vec<_> = (1..=batches * each)
        .map(|number| swelling_block(number, &spec))
        .collect();
    let meter = Arc::new(Meter::default());
    let options = PipelineOptions { threads };
    let (pipeline, feed, mut prepared) = Pipeline::start(&context(spec), options, &meter).unwrap();
    let feeder = thread::spawn(move || {
        for batch in blocks.chunks(each as usize) {
            let batch = RawBatch {
                blocks: batch.to_vec(),
                origin: Origin::BlockLog,
                epoch: 0,
            };
            feed.push(batch).unwrap();
        }
    });
    // The writer does nothing for a while: the workers come to rest.
    let (mut waiting, mut rests) = (0, 0);
    while rests < 10 {
        thread::sleep(Duration::from_millis(50));
        let now = prepared.waiting_bytes();
        rests = if now == waiting && now > 0 { rests + 1 } else { 0 };
        waiting = now;
    }
    let (mut next, mut most, mut largest) = (1, waiting, 0);
    loop {
        match prepared.next(Duration::from_secs(60)) {
            Next::Batch(batch) => {
                assert!(batch.failure.is_none(), "{:?}", batch.failure);
                for block in batch.blocks {
                    assert_eq!(block.block.number(), next);
                    largest = largest.max(block.memory());
                    next += 1;
                }
                most = most.max(prepared.waiting_bytes());
            }
            Next::Nothing => panic!("no batch within a minute"),
            Next::Ended => break,
        }
    }
    assert_eq!(next, batches * each + 1, "all of them came");
    assert!(largest > MAX_PART / 4, "the blocks do not swell: {largest} bytes");
    let all = largest * (batches * each) as usize;
    let limit = MAX_WAITING + threads * largest;
    assert!(all > 2 * limit, "{all} bytes in all prove nothing");
    assert!(most <= limit, "{most} bytes waited, {limit} may");
    assert_eq!(prepared.waiting_bytes(), 0);
    feeder.join().unwrap();
    drop(prepared);
    pipeline.join();
}

#[test]
fn workers_end_with_the_writer_whatever_they_wait_for() {
    let spec = ChainSpec::hive_testnet();
    let blocks: Vec<_> = (1..=40).map(|number| swelling_block(number, &spec)).collect();
    let meter = Arc::new(Meter::default());
    let (pipeline, feed, prepared) =
        Pipeline::start(&context(spec), PipelineOptions { threads: 2 }, &meter).unwrap();
    let fed = Arc::new(AtomicBool::new(false));
    let done = Arc::clone(&fed);
    let feeder = thread::spawn(move || {
        for batch in blocks.chunks(10) {
            let batch = RawBatch {
                blocks: batch.to_vec(),
                origin: Origin::BlockLog,
                epoch: 0,
            };
            feed.push(batch).unwrap();
        }
        done.store(true, Relaxed);
    });
    while !fed.load(Relaxed) || prepared.waiting_bytes() < MAX_PART {
        thread::sleep(Duration::from_millis(10));
    }
    drop(prepared);
    feeder.join().unwrap();
    pipeline.join();
}
