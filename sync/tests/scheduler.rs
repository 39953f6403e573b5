//! The download scheduler against peers that come, go, stall, lie about their range and answer late, in
//! virtual time: every block is handed out exactly once and in order, and the window keeps its bound.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use cairn_block_log::{Compression, StoredBlock};
use cairn_chain::BlockId;
use cairn_sync::checkpoint::Checkpoints;
use cairn_sync::download::proof::ProofOptions;
use cairn_sync::download::{
    Arrival, Assignment, BlockRange, PeerOffer, Scheduler, SchedulerOptions, Unwanted, Work,
};
use proptest::prelude::*;

const STEP: Duration = Duration::from_millis(100);

/// The id of a block of the one chain there is.
fn id(number: u32) -> BlockId {
    let mut bytes = [0; 20];
    bytes[..4].copy_from_slice(&number.to_be_bytes());
    BlockId(bytes)
}

fn block(number: u32, size: usize) -> Arrival {
    Arrival {
        stored: StoredBlock {
            number,
            compression: Compression::None,
            bytes: vec![0; size],
        },
        id: id(number),
        previous: id(number - 1),
    }
}

fn scheduler(options: SchedulerOptions) -> Scheduler {
    let proof = ProofOptions {
        checkpoints: Checkpoints::default(),
        head: (0, BlockId::ZERO),
        folder: "/nonexistent".into(),
        patience: Duration::ZERO,
        wait_on_mismatch: false,
    };
    Scheduler::new(options, proof)
}

fn range(assignment: &Assignment) -> BlockRange {
    match assignment.work {
        Work::Blocks(range) => range,
        Work::Headers(_) => panic!("headers are asked for without a checkpoint"),
    }
}

fn offer(peer: usize, first: u32, head: u32) -> PeerOffer {
    PeerOffer {
        peer: Arc::from(format!("peer-{peer}")),
        first,
        head,
        head_id: BlockId::ZERO,
    }
}

/// How a scripted peer behaves.
#[derive(Clone, Copy, Debug)]
struct Script {
    first: u32,
    head: u32,
    /// Blocks it sends in a step.
    pace: u32,
    /// It never sends this block.
    missing: u32,
    /// It breaks off after so many blocks of a request.
    breaks_after: u32,
}

/// A request as the scripted peer works on it.
struct Running {
    peer: usize,
    assignment: Assignment,
    sent: u32,
}

struct Simulation {
    scheduler: Scheduler,
    scripts: Vec<Script>,
    running: VecDeque<Running>,
    now: Instant,
    size: usize,
    /// Blocks that peers have sent.
    answered: u32,
}

impl Simulation {
    fn new(scripts: Vec<Script>, options: SchedulerOptions, size: usize) -> Self {
        let scheduler = scheduler(options);
        Self {
            scheduler,
            scripts,
            running: VecDeque::new(),
            now: Instant::now(),
            size,
            answered: 0,
        }
    }

    /// One step of time; what became ready.
    fn step(&mut self) -> Vec<u32> {
        self.now += STEP;
        let given_up = self.scheduler.give_up(self.now);
        self.running.retain(|running| {
            !given_up
                .iter()
                .any(|given_up| given_up.end && given_up.chunk == running.assignment.chunk)
        });
        let offers: Vec<_> = self
            .scripts
            .iter()
            .enumerate()
            .map(|(i, script)| offer(i, script.first, script.head))
            .collect();
        for assignment in self.scheduler.assign(self.now, &offers, 0) {
            let peer = offers
                .iter()
                .position(|offer| offer.peer == assignment.peer)
                .unwrap();
            assert!(
                offers[peer].serves(range(&assignment).first),
                "{assignment:?} asked of {:?}",
                offers[peer]
            );
            self.running.push_back(Running {
                peer,
                assignment,
                sent: 0,
            });
        }
        for mut running in std::mem::take(&mut self.running) {
            if self.answer(&mut running) {
                self.running.push_back(running);
            }
        }
        let mut numbers = Vec::new();
        while let Some(ready) = self.scheduler.take_ready(32) {
            numbers.extend(ready.blocks.iter().map(|block| block.number));
        }
        numbers
    }

    /// Sends the blocks of one step; false when the request has ended.
    fn answer(&mut self, running: &mut Running) -> bool {
        let (script, range, chunk) = (
            self.scripts[running.peer],
            range(&running.assignment),
            running.assignment.chunk,
        );
        for _ in 0..script.pace {
            let number = range.first + running.sent;
            let sent_bytes = u64::from(running.sent) * self.size as u64;
            if running.sent == range.count || number > script.head || sent_bytes >= range.max_bytes {
                self.scheduler.finished(self.now, chunk);
                return false;
            }
            if running.sent == script.breaks_after {
                self.scheduler.failed(self.now, chunk);
                return false;
            }
            if number == script.missing {
                return true; // It hangs here until it is given up.
            }
            self.scheduler
                .received(self.now, chunk, block(number, self.size))
                .unwrap();
            running.sent += 1;
            self.answered += 1;
        }
        true
    }
}

fn options(window_bytes: u64) -> SchedulerOptions {
    SchedulerOptions {
        window_bytes,
        ..SchedulerOptions::default()
    }
}

#[test]
fn a_block_that_one_peer_never_sends_comes_from_another_within_ten_seconds() {
    let honest = Script {
        first: 1,
        head: 400,
        pace: 50,
        missing: 0,
        breaks_after: u32::MAX,
    };
    let mute = Script {
        missing: 137,
        pace: 500,
        ..honest
    };
    let mut simulation = Simulation::new(vec![mute, honest], options(64 << 20), 500);
    let mut last = 0;
    let mut silence = Duration::ZERO;
    let mut longest = Duration::ZERO;
    while last < 400 {
        match simulation.step().last() {
            Some(number) => (last, silence) = (*number, Duration::ZERO),
            None => silence += STEP,
        }
        longest = longest.max(silence);
        assert!(
            silence < Duration::from_secs(10),
            "no progress after block {last}"
        );
    }
    assert!(
        longest > Duration::from_millis(500),
        "the mute peer was never asked: the test shows nothing"
    );
}

#[test]
fn a_pruned_peer_is_not_asked_for_what_it_does_not_have() {
    let pruned = Script {
        first: 400,
        head: 500,
        pace: 50,
        missing: 0,
        breaks_after: u32::MAX,
    };
    let mut simulation = Simulation::new(vec![pruned], options(64 << 20), 500);
    for _ in 0..50 {
        assert!(simulation.step().is_empty());
    }
    assert_eq!(simulation.scheduler.next_needed(), 1);
}

#[test]
fn duplicates_and_late_answers_are_harmless() {
    let now = Instant::now();
    let mut scheduler = scheduler(options(64 << 20));
    let offers = [offer(0, 1, 10)];
    let assignment = scheduler.assign(now, &offers, 0).remove(0);
    scheduler.received(now, assignment.chunk, block(1, 100)).unwrap();
    let repeated = scheduler.received(now, assignment.chunk, block(1, 100));
    assert_eq!(
        repeated,
        Err(Unwanted::OutOfOrder {
            expected: 2,
            found: 1
        })
    );
    let late = scheduler.received(now, assignment.chunk, block(2, 100));
    assert_eq!(
        late,
        Err(Unwanted::Superseded),
        "the request was ended by the fault"
    );
    assert_eq!(scheduler.take_ready(10).map(|ready| ready.blocks.len()), Some(1));
}

/// Case S14: on a slow line an answer may come after somebody else was asked.
#[test]
fn a_late_answer_is_used() {
    let mut now = Instant::now();
    let mut scheduler = scheduler(options(64 << 20));
    let offers = [offer(0, 1, 10), offer(1, 1, 10)];
    let first = scheduler.assign(now, &offers, 0).remove(0);
    now += Duration::from_secs(6);
    let given_up = scheduler.give_up(now);
    assert_eq!(given_up.len(), 1);
    assert!(!given_up[0].end && given_up[0].missing == Some(1));
    let second = scheduler.assign(now, &offers, 0).remove(0);
    assert_ne!(first.peer, second.peer);
    assert_eq!(range(&second).first, 1);
    for number in 1..=10 {
        scheduler.received(now, first.chunk, block(number, 100)).unwrap();
    }
    scheduler.finished(now, first.chunk);
    assert_eq!(scheduler.take_ready(32).map(|ready| ready.blocks.len()), Some(10));
    let pointless = scheduler.give_up(now);
    assert_eq!((pointless[0].chunk, pointless[0].end), (second.chunk, true));
    assert_eq!(pointless[0].missing, None);
}

/// A peer that sends a block every three seconds never stalls, and holds everybody up all the same.
#[test]
fn a_slow_drip_is_raced() {
    let honest = Script {
        first: 1,
        head: 400,
        pace: 50,
        missing: 0,
        breaks_after: u32::MAX,
    };
    let drip = Script { pace: 0, ..honest };
    let mut simulation = Simulation::new(vec![drip, honest], options(64 << 20), 500);
    let (mut last, mut steps) = (0, 0);
    while last < 400 {
        steps += 1;
        assert!(steps < 100, "block {last} after ten seconds");
        if steps % 30 == 0 {
            simulation.scripts[0].pace = 1;
        }
        last = simulation.step().last().copied().unwrap_or(last);
        simulation.scripts[0].pace = 0;
    }
}

/// Case S13: when everybody is equally slow, nobody is raced, dropped or asked twice.
#[test]
fn slow_lines_are_not_made_slower() {
    let slow = Script {
        first: 1,
        head: 1000,
        pace: 1,
        missing: 0,
        breaks_after: u32::MAX,
    };
    let mut simulation = Simulation::new(vec![slow, slow, slow], options(64 << 20), 1000);
    let mut received = 0;
    while received < 1000 {
        received += simulation.step().len();
    }
    // The last requests of a sync are made twice; they are a second's work each.
    let answered = simulation.answered;
    assert!(answered <= 1000 + 60, "{answered} blocks were sent for 1000");
}

#[test]
fn an_answer_larger_than_was_asked_for_is_cut_off() {
    let now = Instant::now();
    let mut scheduler = scheduler(options(1 << 20));
    let assignment = scheduler.assign(now, &[offer(0, 1, 1000)], 0).remove(0);
    let size = range(&assignment).max_bytes as usize;
    scheduler.received(now, assignment.chunk, block(1, size)).unwrap();
    let fault = scheduler
        .received(now, assignment.chunk, block(2, size))
        .unwrap_err();
    assert_eq!(
        fault,
        Unwanted::TooMuch {
            limit: range(&assignment).max_bytes
        }
    );
}

#[test]
fn after_a_refused_block_it_and_all_later_ones_are_asked_for_again() {
    let honest = Script {
        first: 1,
        head: 300,
        pace: 300,
        missing: 0,
        breaks_after: u32::MAX,
    };
    let mut simulation = Simulation::new(vec![honest, honest], options(64 << 20), 500);
    let mut seen = Vec::new();
    while seen.last() != Some(&300) {
        seen.extend(simulation.step());
    }
    simulation.scheduler.rewind(120, "peer-0", id(119));
    simulation.scripts[0].head = 0; // The network has dropped it.
    let mut again = Vec::new();
    while again.last() != Some(&300) {
        again.extend(simulation.step());
    }
    assert_eq!(again, (120..=300).collect::<Vec<_>>());
}

fn script() -> impl Strategy<Value = Script> {
    let range = (1u32..400, 1u32..700);
    (
        range,
        1u32..60,
        prop_oneof![Just(0), 1u32..600],
        prop_oneof![Just(u32::MAX), 1u32..90],
    )
        .prop_map(|((first, head), pace, missing, breaks_after)| Script {
            first,
            head,
            pace,
            missing,
            breaks_after,
        })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// One good peer is enough, whatever the others do.
    #[test]
    fn every_block_once_in_order_within_the_window(
        others in proptest::collection::vec(script(), 0..6),
        window_kib in 64u64..4096,
        size in 100usize..6000,
    ) {
        let honest = Script { first: 1, head: 600, pace: 20, missing: 0, breaks_after: u32::MAX };
        let mut scripts = others;
        scripts.push(honest);
        let window = window_kib << 10;
        let mut simulation = Simulation::new(scripts, options(window), size);
        let last = simulation.scripts.iter().map(|script| script.head).max().unwrap();
        let mut next = 1;
        for _ in 0..200_000 {
            for number in simulation.step() {
                prop_assert_eq!(number, next);
                next += 1;
            }
            // One request and the one that races it may pass the bound by their own limits, and every running
            // one by its last block.
            let slack = window / 4 + (16 * size) as u64;
            prop_assert!(simulation.scheduler.window_bytes() <= window + slack);
            if next > last.min(600) {
                return Ok(());
            }
        }
        prop_assert!(false, "stuck at block {}", next);
    }
}
