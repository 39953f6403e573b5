//! A power cut at any moment of a run: the next start finds everything that was durable, needs no help, and ends where an
//! undisturbed node ends. `cairn_tests::power_cut` says what a power cut does.
//!
//! Recorded are runs of the binary:
//! - two replays of a foreign log, with and without a pass over its headers before;
//! - syncs with compressed and plain, single and split block logs, one of them killed and started again twice;
//! - a sync that removes the oldest parts of its log;
//! - a sync that ends in order and is begun again every 60 blocks: each time it writes a trie file, and makes and removes
//!   restore points;
//! - a sync of a chain of 21 witnesses above its last checkpoint, where the newest blocks can be taken back;
//! - a sync so long that its headers come first;
//! - a restore point put in the place of the state, with and without a cut of the log;
//! - the recoveries of some folders that a cut left;
//! - a node that bans one peer after the other (`bans`), and a node that makes its header file (`headers`).
//!
//! Each case cuts one of the recordings at a moment of its own and starts the binary on what is left.
//!
//! The runs have threads and a network, so that a recording is not the same twice, and a seed alone does not bring a case
//! back. A failing case therefore keeps its folder as the cut left it, and as it was when the case failed.
//! `CAIRN_POWER_CUTS=N` runs N times as many cases, `CAIRN_POWER_CUT_SEED=N` others.
//!
//! What this cannot find: see `cairn_tests::power_cut`.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod bans;
mod case;
mod cases;
mod goal;
mod headers;
mod judge;
mod recording;
mod tape;
mod world;

use cairn_tests::power_cut::{Durable, Rng, Tree};

use crate::bans::{BanCase, Bans};
use crate::case::Case;
use crate::cases::{expect_all, run_all};
use crate::goal::{Goal, SyncPlan};
use crate::headers::{HeaderCase, HeaderRuns};
use crate::recording::Recording;
use crate::world::{Form, World};

/// Cases from each recorded replay.
const REPLAY_CASES: usize = 35;
/// Cases from each recorded sync.
const SYNC_CASES: usize = 45;
/// Cases from the recorded sync of a long chain of empty blocks.
const HEADERS_FIRST_CASES: usize = 30;
/// Cases from a restore point that takes the place of the state, with and without a cut of the log.
const RESTORE_CASES: usize = 30;
/// Recorded recoveries, and cases from each.
const RECOVERIES: usize = 12;
const RECOVERY_CASES: usize = 6;
/// Cases of the ban list and of the header file.
const BAN_CASES: usize = 40;
const HEADER_FILE_CASES: usize = 40;
/// Of 100 cases of a sync, so many go on to the head from the seed.
const CONTINUED: usize = 33;
/// Cases for each kind of file that a node might forget to sync; some of them must fail.
const FORGETFUL_CASES: usize = 15;

const SINGLE: Form = Form {
    split: false,
    compressed: true,
    keep: None,
};
const SPLIT: Form = Form {
    split: true,
    ..SINGLE
};
const PLAIN_SPLIT: Form = Form {
    compressed: false,
    ..SPLIT
};
const PLAIN_SINGLE: Form = Form {
    compressed: false,
    ..SINGLE
};

/// Makes cases out of one seed.
struct Draw(Rng);

impl Draw {
    fn new() -> Self {
        Self(Rng::new(number_from("CAIRN_POWER_CUT_SEED", 1) as u64))
    }

    fn cases<'a>(
        &mut self,
        recording: &'a Recording<'a>,
        count: usize,
        continued: usize,
        forgetful: Option<&'static str>,
    ) -> Vec<Case<'a>> {
        let one = |_| Case {
            recording,
            seed: self.0.number(),
            continued: self.0.percent(continued),
            forgetful,
        };
        (0..count).map(one).collect()
    }
}

#[test]
fn whatever_a_power_cut_leaves_is_a_node_that_goes_on() {
    let world = World::new(400, "mixed", 1);
    let reversible_world = World::new(400, "mixed", 21);
    // So many that their headers come first and are noted in a file.
    let long = World::new(3500, "empty", 1);
    let (times, mut draw) = (number_from("CAIRN_POWER_CUTS", 1), Draw::new());
    let replays = [("replay", true), ("replay-in-one-pass", false)].map(|(name, preverify)| {
        let goal = Goal::Replay {
            preverify,
            interval: 20,
        };
        Recording::make(&world, name, goal, None, Durable::default(), &[])
    });
    let syncs = recorded_syncs(&world, &mut draw.0);
    let pruned = recorded_pruning(&world);
    let stopped = recorded_stops(&world);
    let reversible = sync(&reversible_world, "reversible", SyncPlan::new(SINGLE, &[100], 20));
    assert!(
        reversible.durable_end() < reversible_world.blocks,
        "nothing could be taken back"
    );
    let headers_first = sync(&long, "headers-first", SyncPlan::new(SINGLE, &[3400], 400));
    assert!(
        headers_first.tape().makes("p2p/skeleton-3400"),
        "the headers did not come first"
    );
    let from = [&syncs[0], &syncs[1], &syncs[2], &syncs[3], &stopped, &reversible];
    let recoveries: Vec<Recording<'_>> = (0..RECOVERIES * times)
        .map(|at| recorded_recovery(at, from[at % from.len()], &mut draw.0))
        .collect();
    let restores = [false, true].map(|cut_log| recorded_restore(&syncs[0], cut_log));

    let mut cases = Vec::new();
    for replay in &replays {
        cases.extend(draw.cases(replay, REPLAY_CASES * times, 100, None));
    }
    for sync in syncs.iter().chain([&pruned, &stopped, &reversible]) {
        cases.extend(draw.cases(sync, SYNC_CASES * times, CONTINUED, None));
    }
    for recovery in &recoveries {
        cases.extend(draw.cases(recovery, RECOVERY_CASES, CONTINUED, None));
    }
    cases.extend(draw.cases(&headers_first, HEADERS_FIRST_CASES * times, 100, None));
    for restore in &restores {
        cases.extend(draw.cases(restore, RESTORE_CASES * times, CONTINUED, None));
    }
    assert!(cases.len() >= 500, "{} cases", cases.len());
    expect_all(&cases);
    // The same with a node that forgets to sync: if that did not show, nothing would.
    for (recording, continued, below) in [
        (&syncs[0], 0, "blockchain/"),
        (&syncs[0], 0, "state/"),
        (&pruned, 0, "blockchain/"),
        (&reversible, 0, "blockchain/"),
        (&reversible, 0, "state/"),
        (&stopped, 100, "state/restore-points/"),
    ] {
        let cases = draw.cases(recording, FORGETFUL_CASES, continued, Some(below));
        let failed = run_all(&cases, false).len();
        let name = recording.name();
        println!("{name}: {failed} of {FORGETFUL_CASES} cases without any sync below {below} fail");
        assert!(failed > 0, "{name}: a node that never syncs {below} passes");
    }
}

#[test]
fn a_ban_that_was_written_is_not_forgotten() {
    let bans = Bans::record(4);
    let mut draw = Draw::new();
    let mut cases = |count, forgetful| -> Vec<BanCase<'_>> {
        let one = |_| BanCase {
            bans: &bans,
            seed: draw.0.number(),
            forgetful,
        };
        (0..count).map(one).collect()
    };
    expect_all(&cases(BAN_CASES * number_from("CAIRN_POWER_CUTS", 1), None));
    let failed = run_all(&cases(FORGETFUL_CASES, Some("p2p/")), false).len();
    println!("{failed} of {FORGETFUL_CASES} cases without any sync of the list fail");
    assert!(failed > 0, "a node that never syncs its ban list passes");
}

#[test]
fn a_torn_header_file_is_made_whole_and_serves_no_wrong_header() {
    let world = World::new(3500, "empty", 1);
    let runs = HeaderRuns::record(&world, &SyncPlan::new(SINGLE, &[3500], 400));
    let mut draw = Draw::new();
    let case = |_| HeaderCase {
        runs: &runs,
        seed: draw.0.number(),
    };
    let count = HEADER_FILE_CASES * number_from("CAIRN_POWER_CUTS", 1);
    expect_all(&(0..count).map(case).collect::<Vec<_>>());
}

fn sync<'w>(world: &'w World, name: &str, plan: SyncPlan) -> Recording<'w> {
    Recording::make(world, name, Goal::Sync(plan), None, Durable::default(), &[])
}

/// Syncs that differ in all that decides what is written when.
fn recorded_syncs<'w>(world: &'w World, rng: &mut Rng) -> [Recording<'w>; 4] {
    let often = [100, 250, 400];
    let whole = sync(world, "compressed-single", SyncPlan::new(SINGLE, &often, 20));
    let third = whole.tape().length() / 3;
    let kills = [rng.between(20, third), rng.between(20, third)];
    let killed = Goal::Sync(SyncPlan::new(SPLIT, &often, 20));
    [
        sync(
            world,
            "plain-split-validated",
            SyncPlan::new(PLAIN_SPLIT, &[150], 20),
        ),
        sync(
            world,
            "plain-single-rare-commits",
            SyncPlan::new(PLAIN_SINGLE, &[400], 250),
        ),
        Recording::make(
            world,
            "compressed-split-killed",
            killed,
            None,
            Durable::default(),
            &kills,
        ),
        whole,
    ]
}

/// A sync that keeps one full part of its log.
fn recorded_pruning(world: &World) -> Recording<'_> {
    let form = Form {
        keep: Some(1),
        ..SPLIT
    };
    // Between two commits go more blocks than are kept: a part that goes too early is missed.
    let pruned = sync(world, "pruned", SyncPlan::new(form, &[400], 130));
    for name in ["block_log_part.0001", "block_log_part.0004.artifacts"] {
        let name = format!("blockchain/{name}");
        assert!(pruned.tape().removes(&name), "{name} was not removed");
    }
    pruned
}

/// A sync in several runs, each with a checkpoint or two.
fn recorded_stops(world: &World) -> Recording<'_> {
    let plan = SyncPlan {
        stops: vec![60, 120, 180, 240, 300],
        ..SyncPlan::new(SINGLE, &[50, 110, 170, 175, 230, 290, 350, 400], 20)
    };
    let stopped = sync(world, "stopped-often", plan);
    let tape = stopped.tape();
    let files = tape.renames(|name| name == "state/trie");
    assert!(files >= 6, "{files} trie files");
    let kept = |name: &str| name.starts_with("state/restore-points/") && !name.contains('.');
    let gone = |name: &str| name.ends_with(".removing");
    assert!(
        tape.renames(kept) >= 5 && tape.renames(gone) >= 3,
        "restore points are made and removed"
    );
    stopped
}

/// A start on what a cut of another recording left, to the last block.
fn recorded_recovery<'w>(at: usize, from: &Recording<'w>, rng: &mut Rng) -> Recording<'w> {
    let (tree, durable) = from.cut(rng, None);
    let name = format!("{}-recovery-{at}", from.name());
    let mut goal = from.goal().clone();
    if let Goal::Sync(plan) = &mut goal {
        plan.stops.clear();
    }
    Recording::make(from.world(), &name, goal, Some(&tree), durable, &[])
}

/// `cairn state restore` on the folder that a recorded sync ended with.
fn recorded_restore<'w>(from: &Recording<'w>, cut_log: bool) -> Recording<'w> {
    let Goal::Sync(plan) = from.goal() else {
        panic!("a sync is restored");
    };
    let world = from.world();
    // The newest restore point is of the last checkpoint, and stays whatever happens; so does the log up to there.
    let last = *plan.checkpoints.last().unwrap();
    let durable = Durable {
        state: last,
        log: if cut_log { last } else { world.blocks },
    };
    let tree = Tree::read(&world.path(&format!("recorded-{}", from.name())));
    let goal = Goal::Restore {
        cut_log,
        of: plan.clone(),
    };
    let name = if cut_log { "restore-with-log" } else { "restore" };
    Recording::make(world, name, goal, Some(&tree), durable, &[])
}

fn number_from(variable: &str, default: usize) -> usize {
    std::env::var(variable).map_or(default, |text| text.parse().expect("a number"))
}
