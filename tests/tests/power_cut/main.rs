//! A power cut at any moment of a replay or a sync: the next start finds every block that was durable, needs no help,
//! and ends where an undisturbed node ends. `cairn_tests::power_cut` says what a power cut does.
//!
//! Nine runs of the binary are recorded: two replays of a foreign log, with and without a pass over its headers before;
//! four syncs with compressed and plain, single and split block logs, one of them killed and started again twice; a sync
//! so long that its headers come first; and a restore point put in the place of the state, with and without a cut of the
//! log. So are the recoveries of some folders that a cut left. Each case cuts one of the recordings at a moment of its own and starts the binary on what is
//! left.
//!
//! The runs have threads and a network, so that a recording is not the same twice, and a seed alone does not bring a case
//! back. A failing case therefore keeps its folder as the cut left it, and as it was when the case failed.
//! `CAIRN_POWER_CUTS=N` runs N times as many cases, `CAIRN_POWER_CUT_SEED=N` others.
//!
//! What this cannot find: see `cairn_tests::power_cut`.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod case;
mod recording;
mod world;

use std::fs;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread;

use cairn_tests::power_cut::{Durable, Rng, Tree};

use crate::case::{Case, Failure};
use crate::recording::{Goal, Recording};
use crate::world::{Form, World};

/// Cases from each recorded replay.
const REPLAY_CASES: usize = 60;
/// Cases from each recorded sync.
const SYNC_CASES: usize = 90;
/// Cases from the recorded sync of a long chain of empty blocks.
const HEADERS_CASES: usize = 60;
/// Cases from a restore point that takes the place of the state, with and without a cut of the log.
const RESTORE_CASES: usize = 40;
/// Recorded recoveries, and cases from each.
const RECOVERIES: usize = 16;
const RECOVERY_CASES: usize = 9;
/// Of 100 cases of a sync, so many go on to the head from the seed.
const CONTINUED: usize = 40;
/// Folders of failed cases that are kept.
const KEPT: usize = 5;

/// Cases for each kind of file that a node might forget to sync; some of them must fail.
const FORGETFUL_CASES: usize = 40;

#[test]
fn whatever_a_power_cut_leaves_is_a_node_that_goes_on() {
    let world = World::new(400, "mixed");
    // So many that their headers come first and are noted in a file.
    let long = World::new(3500, "empty");
    let times = number_from("CAIRN_POWER_CUTS", 1);
    let mut rng = Rng::new(number_from("CAIRN_POWER_CUT_SEED", 1) as u64);
    let replays = [("replay", true), ("replay-in-one-pass", false)].map(|(name, preverify)| {
        let goal = Goal::Replay {
            preverify,
            interval: 20,
        };
        Recording::make(&world, name, goal, None, Durable::default(), &[])
    });
    let syncs = recorded_syncs(&world, &mut rng);
    let headers_first = Goal::Sync {
        form: Form {
            split: false,
            compressed: true,
        },
        checkpoints: vec![3400],
        interval: 400,
    };
    let none = Durable::default();
    let headers_first = Recording::make(&long, "headers-first", headers_first, None, none, &[]);
    assert!(
        headers_first.touches("p2p/skeleton-3400"),
        "the headers did not come first"
    );
    let recoveries: Vec<Recording> = (0..RECOVERIES * times)
        .map(|at| recorded_recovery(at, &syncs[at % syncs.len()], &mut rng))
        .collect();

    let restores = [false, true].map(|cut_log| recorded_restore(&syncs[0], cut_log));

    let mut some = |recording, count: usize, continued: usize, forgetful| -> Vec<Case<'_>> {
        let one = |_| Case {
            recording,
            seed: rng.number(),
            continued: rng.percent(continued),
            forgetful,
        };
        (0..count).map(one).collect()
    };
    let mut cases = Vec::new();
    for replay in &replays {
        cases.extend(some(replay, REPLAY_CASES * times, 100, None));
    }
    for sync in &syncs {
        cases.extend(some(sync, SYNC_CASES * times, CONTINUED, None));
    }
    for recovery in &recoveries {
        cases.extend(some(recovery, RECOVERY_CASES, CONTINUED, None));
    }
    cases.extend(some(&headers_first, HEADERS_CASES * times, 100, None));
    for restore in &restores {
        cases.extend(some(restore, RESTORE_CASES * times, CONTINUED, None));
    }
    let count = cases.len();
    let failures = run_all(&cases, KEPT);
    assert!(
        failures.is_empty(),
        "{} of {count} cases failed:\n{}",
        failures.len(),
        failures.join("\n\n")
    );
    assert!(count >= 500, "{count} cases");
    // The same with a node that forgets to sync: if that did not show, nothing would.
    for below in ["blockchain/", "state/"] {
        let cases = some(&syncs[0], FORGETFUL_CASES, 0, Some(below));
        let failed = run_all(&cases, 0).len();
        println!("{failed} of {FORGETFUL_CASES} cases without any sync below {below} fail");
        assert!(failed > 0, "a node that never syncs {below} passes");
    }
}

/// Syncs that differ in all that decides what is written when.
fn recorded_syncs<'w>(world: &'w World, rng: &mut Rng) -> [Recording<'w>; 4] {
    let sync = |name, (split, compressed), checkpoints: &[u32], interval, kills: &[usize]| {
        let goal = Goal::Sync {
            form: Form { split, compressed },
            checkpoints: checkpoints.to_vec(),
            interval,
        };
        Recording::make(world, name, goal, None, Durable::default(), kills)
    };
    let whole = sync("compressed-single", (false, true), &[100, 250, 400], 20, &[]);
    let third = whole.length() / 3;
    let kills = [rng.between(20, third), rng.between(20, third)];
    [
        sync("plain-split-validated", (true, false), &[150], 20, &[]),
        sync("plain-single-rare-commits", (false, false), &[400], 250, &[]),
        sync(
            "compressed-split-killed",
            (true, true),
            &[100, 250, 400],
            20,
            &kills,
        ),
        whole,
    ]
}

/// A start on what a cut of another recording left, to the last block.
fn recorded_recovery<'w>(at: usize, from: &Recording<'w>, rng: &mut Rng) -> Recording<'w> {
    let (tree, durable) = from.cut(rng, None);
    let name = format!("{}-recovery-{at}", from.name());
    Recording::make(from.world(), &name, from.goal(), Some(&tree), durable, &[])
}

/// `cairn state restore` on the folder that a recorded sync ended with.
fn recorded_restore<'w>(from: &Recording<'w>, cut_log: bool) -> Recording<'w> {
    let Goal::Sync {
        form,
        checkpoints,
        interval,
    } = from.goal()
    else {
        panic!("a sync is restored");
    };
    let world = from.world();
    // The newest restore point is of the last checkpoint, and stays whatever happens; so does the log up to there.
    let last = *checkpoints.last().unwrap();
    let durable = Durable {
        state: last,
        log: if cut_log { last } else { world.blocks },
    };
    let tree = Tree::read(&world.path(&format!("recorded-{}", from.name())));
    let goal = Goal::Restore {
        cut_log,
        form,
        checkpoints,
        interval,
    };
    let name = if cut_log { "restore-with-log" } else { "restore" };
    Recording::make(world, name, goal, Some(&tree), durable, &[])
}

/// Runs all cases, as many at a time as there are processors; gives what failed, and keeps so many folders of it.
fn run_all(cases: &[Case<'_>], keep_most: usize) -> Vec<String> {
    let next = AtomicUsize::new(0);
    let failures = Mutex::new(Vec::new());
    let threads = thread::available_parallelism().map_or(2, usize::from);
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some(case) = cases.get(next.fetch_add(1, Relaxed)) {
                    let Err(failure) = case.run() else { continue };
                    let mut failures = failures.lock().unwrap();
                    let kept = (failures.len() < keep_most).then(|| keep(case, &failure));
                    let place = kept.map_or_else(String::new, |kept| format!("\nkept in {}", kept.display()));
                    failures.push(format!("{case}: {}{place}", failure.reason));
                }
            });
        }
    });
    failures.into_inner().unwrap()
}

/// Keeps what is needed to look into a failed case: the folder as the cut left it, as it is now, and the log so far.
fn keep(case: &Case<'_>, failure: &Failure) -> PathBuf {
    let name = format!(
        "cairn-power-cut-{}-{}-{}",
        std::process::id(),
        case.recording.name(),
        case.seed
    );
    let kept = std::env::temp_dir().join(name);
    fs::create_dir_all(&kept).unwrap();
    failure.before.write(&kept.join("before"));
    failure.after.write(&kept.join("after"));
    fs::write(kept.join("reason"), &failure.reason).unwrap();
    fs::write(kept.join("config.ini"), case.recording.config()).unwrap();
    fs::write(kept.join("journal"), case.recording.journal()).unwrap();
    kept
}

fn number_from(variable: &str, default: usize) -> usize {
    std::env::var(variable).map_or(default, |text| text.parse().expect("a number"))
}
