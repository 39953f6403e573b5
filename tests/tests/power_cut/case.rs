//! One power cut, and what comes after it.

use std::fmt;
use std::path::Path;

use cairn_tests::power_cut::{Durable, Entry, Rng, Tree};
use cairn_tests::{Finished, cairn};
use serde_json::Value;
use tempfile::TempDir;

use crate::cases::{Attempt, Failure, hold};
use crate::goal::{Goal, SyncPlan};
use crate::recording::Recording;
use crate::world::{ExpectedLog, World, text};

/// Log lines of a start that found something to mend.
const MENDED: [&str; 6] = [
    "reconcile",
    "torn",
    "index made",
    "cutting",
    "making the artifacts",
    "Resume of replaying",
];

pub(crate) struct Case<'a> {
    pub(crate) recording: &'a Recording<'a>,
    pub(crate) seed: u64,
    /// Whether it goes on to the last block from the seed.
    pub(crate) continued: bool,
    /// Files below this folder are treated as if the node never synced them; then cases must fail.
    pub(crate) forgetful: Option<&'static str>,
}

impl fmt::Display for Case<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, seed {}", self.recording.name(), self.seed)
    }
}

impl Attempt for Case<'_> {
    fn run(&self) -> Result<(), Failure> {
        let world = self.recording.world();
        let (before, durable) = self.recording.cut(&mut Rng::new(self.seed), self.forgetful);
        let place = TempDir::new_in(world.cases.path()).unwrap();
        let folder = place.path().join("node");
        before.write(&folder);
        let result = match self.recording.goal() {
            Goal::Replay { .. } => self.replay(world, &folder, durable),
            Goal::Sync(plan) | Goal::Restore { of: plan, .. } => self.sync(world, &folder, durable, plan),
        };
        result.map_err(|reason| Failure {
            reason,
            before,
            after: Tree::read(&folder),
            journal: self.recording.tape().bytes,
            config: self.recording.config(),
        })
    }
}

impl Case<'_> {
    /// The foreign log is replayed from the last durable block to its end; a second replay has nothing to do.
    fn replay(&self, world: &World, folder: &Path, durable: Durable) -> Result<(), String> {
        let (goal, config) = (self.recording.goal(), self.recording.config_path());
        let words = goal.words(world, folder, config, world.blocks);
        let first = done(&cairn(&words))?;
        hold!(
            number(&first, "head") == world.blocks,
            "the replay ended early\n{first}"
        );
        applied_again(&first, durable)?;
        state_of_head(&first, world)?;
        let second = cairn(&words);
        nothing_mended(&second)?;
        let second = done(&second)?;
        nothing_done(&first, &second)
    }

    fn sync(&self, world: &World, folder: &Path, durable: Durable, plan: &SyncPlan) -> Result<(), String> {
        let log = &*world.expected_log(plan.form);
        let first = done(&self.start(folder))?;
        let head = number(&first, "head");
        let least = durable.state.max(durable.log);
        hold!(head >= least, "block {least} was durable, found {head}\n{first}");
        applied_again(&first, durable)?;
        state_of_head(&first, world)?;
        is_prefix(&Tree::read(&folder.join("blockchain")), &log.whole)?;

        let second = self.start(folder);
        nothing_mended(&second)?;
        nothing_done(&first, &done(&second)?)?;
        if !self.continued {
            return Ok(());
        }
        let info = done(&cairn(["state", "info", "-d", text(folder), "--json"]))?;
        hold!(
            info["head"]["number"] == head,
            "the state does not tell what it is\n{info}"
        );
        if !plan.stops.is_empty() {
            self.go_back(world, folder, &first)?;
        }
        self.go_on(world, folder, head, log)
    }

    /// A start without a network.
    fn start(&self, folder: &Path) -> Finished {
        let config = text(self.recording.config_path());
        let folder = text(folder);
        cairn([
            "run",
            "-d",
            folder,
            "--config",
            config,
            "--exit-before-sync",
            "--json",
        ])
    }

    /// The newest restore point, if one is there, is whole; from it the next start comes back to where the state was.
    fn go_back(&self, world: &World, folder: &Path, first: &Value) -> Result<(), String> {
        let points = Tree::read(folder).0;
        let is_point = |path: &String| path.starts_with("state/restore-points/");
        if !points.keys().any(is_point) {
            return Ok(());
        }
        let restored = done(&cairn(["state", "restore", "-d", text(folder), "--json"]))?;
        hold!(
            restored["head"]["number"].as_u64() <= Some(u64::from(number(first, "head"))),
            "a restore point above the state\n{restored}"
        );
        let again = done(&self.start(folder))?;
        hold!(
            again["head"] == first["head"],
            "a restored state does not come back\n{again}"
        );
        state_of_head(&again, world)
    }

    fn go_on(&self, world: &World, folder: &Path, head: u32, log: &ExpectedLog) -> Result<(), String> {
        let last = done(&world.sync(folder, self.recording.config_path()).wait())?;
        let kept = number(&last, "head");
        hold!(
            kept + world.reversible(&last) == world.blocks,
            "the sync ended early\n{last}"
        );
        hold!(
            last["blocks"] == world.blocks - head,
            "{} blocks were missing, {} were applied\n{last}",
            world.blocks - head,
            last["blocks"]
        );
        state_of_head(&last, world)?;
        let path = folder.join("blockchain");
        let found = Tree::read(&path);
        if kept == world.blocks {
            if let Some(difference) = found.difference(&log.tree) {
                return Err(format!(
                    "the block log is not an undisturbed node's: {difference}"
                ));
            }
        } else {
            is_prefix(&found, &log.whole)?;
        }
        let verified = cairn([
            "log",
            "verify",
            text(&path),
            "--json",
            "--chain",
            text(&world.chain()),
        ]);
        let verified = done(&verified)?;
        hold!(
            verified["head"]["number"] == kept,
            "the log does not end with the state's block {kept}\n{verified}"
        );
        Ok(())
    }
}

/// The record of a run that ended well.
fn done(finished: &Finished) -> Result<Value, String> {
    hold!(
        finished.code() == 0,
        "it does not start or does not end\n{finished}"
    );
    Ok(finished.json())
}

fn nothing_mended(second: &Finished) -> Result<(), String> {
    let mended = |line: &&str| MENDED.iter().any(|text| line.contains(text));
    hold!(
        !second.stderr.lines().any(|line| mended(&line)),
        "the second start found something to mend\n{second}"
    );
    Ok(())
}

fn nothing_done(first: &Value, second: &Value) -> Result<(), String> {
    hold!(
        second["blocks"] == 0 && second["head"] == first["head"],
        "a second start did something\n{second}"
    );
    hold!(
        second["state"] == first["state"],
        "a second start changed the state\n{second}"
    );
    Ok(())
}

fn number(record: &Value, of: &str) -> u32 {
    record[of]["number"].as_u64().unwrap() as u32
}

/// Registers, digest and root are the chain's.
fn state_of_head(record: &Value, world: &World) -> Result<(), String> {
    let head = number(record, "head");
    hold!(
        head == 0 || record["state"] == *world.state(head),
        "the state after block {head} is not the chain's, {}\n{record}",
        world.state(head)
    );
    Ok(())
}

/// No block that the state durably held is applied a second time.
fn applied_again(record: &Value, durable: Durable) -> Result<(), String> {
    let most = number(record, "head").saturating_sub(durable.state);
    let applied = record["blocks"].as_u64().unwrap();
    hold!(
        applied <= u64::from(most),
        "the state held block {} durably; {applied} blocks were applied up to the head\n{record}",
        durable.state
    );
    Ok(())
}

/// The files of a log are those of an undisturbed node as far as they go, and artifacts are where a file is.
fn is_prefix(found: &Tree, whole: &Tree) -> Result<(), String> {
    for (name, entry) in &found.0 {
        let Entry::File(bytes) = entry else {
            return Err(format!("{name} is a folder"));
        };
        // What was cut off is kept until it is there again.
        if name.ends_with(".artifacts") || name.contains(".cut-") {
            continue;
        }
        let Some(Entry::File(expected)) = whole.0.get(name) else {
            return Err(format!(
                "the block log has a file {name} that an undisturbed node has not"
            ));
        };
        hold!(
            expected.starts_with(bytes),
            "{name} differs from an undisturbed node's"
        );
        hold!(
            found.0.contains_key(&format!("{name}.artifacts")),
            "{name} has no artifacts"
        );
    }
    Ok(())
}
