//! One power cut, and what comes after it.

use std::fmt;
use std::path::Path;

use cairn_tests::power_cut::{Durable, Entry, Rng, Tree};
use cairn_tests::{Finished, cairn};
use serde_json::Value;
use tempfile::TempDir;

use crate::recording::{Goal, Recording};
use crate::world::{ExpectedLog, World, digest, text};

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

/// A case that did not end as it must.
pub(crate) struct Failure {
    pub(crate) reason: String,
    pub(crate) before: Tree,
    pub(crate) after: Tree,
}

impl fmt::Display for Case<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, seed {}", self.recording.name(), self.seed)
    }
}

/// Fails a case with a reason unless something holds.
macro_rules! hold {
    ($condition:expr, $($reason:tt)+) => {
        if !$condition {
            return Err(format!($($reason)+));
        }
    };
}

impl Case<'_> {
    pub(crate) fn run(&self) -> Result<(), Failure> {
        let world = self.recording.world();
        let (before, durable) = self.recording.cut(&mut Rng::new(self.seed), self.forgetful);
        let place = TempDir::new_in(world.cases.path()).unwrap();
        let folder = place.path().join("node");
        before.write(&folder);
        let result = match self.recording.goal() {
            Goal::Replay { .. } => self.replay(world, &folder, durable),
            Goal::Sync { form, .. } | Goal::Restore { form, .. } => {
                self.sync(world, &folder, durable, &world.expected_log(form))
            }
        };
        result.map_err(|reason| Failure {
            reason,
            before,
            after: Tree::read(&folder),
        })
    }

    /// The foreign log is replayed from the last durable block to its end; a second replay has nothing to do.
    fn replay(&self, world: &World, folder: &Path, durable: Durable) -> Result<(), String> {
        let goal = self.recording.goal();
        let words = goal.words(world, folder, self.recording.config_path());
        let first = done(&cairn(&words))?;
        hold!(
            number(&first, "head") == world.blocks,
            "the replay ended early\n{first}"
        );
        applied_again(&first, durable)?;
        hold!(
            digest(&first) == world.digest(world.blocks),
            "the state is not the chain's\n{first}"
        );
        let second = cairn(&words);
        nothing_mended(&second)?;
        let second = done(&second)?;
        hold!(
            second["blocks"] == 0 && second["head"] == first["head"],
            "a second replay did something\n{second}"
        );
        hold!(
            second["state"] == first["state"],
            "a second replay changed the state\n{second}"
        );
        Ok(())
    }

    fn sync(&self, world: &World, folder: &Path, durable: Durable, log: &ExpectedLog) -> Result<(), String> {
        let config = self.recording.config_path();
        let offline = || {
            cairn([
                "run",
                "-d",
                text(folder),
                "--config",
                text(config),
                "--exit-before-sync",
                "--json",
            ])
        };
        let first = done(&offline())?;
        let head = number(&first, "head");
        let least = durable.state.max(durable.log);
        hold!(head >= least, "block {least} was durable, found {head}\n{first}");
        applied_again(&first, durable)?;
        hold!(
            head == 0 || digest(&first) == world.digest(head),
            "the state after block {head} is not the chain's\n{first}"
        );
        is_prefix(&Tree::read(&folder.join("blockchain")), &log.tree)?;

        let second = offline();
        nothing_mended(&second)?;
        let second = done(&second)?;
        hold!(
            second["blocks"] == 0 && second["head"] == first["head"],
            "a second start did something\n{second}"
        );
        hold!(
            second["state"] == first["state"],
            "a second start changed the state\n{second}"
        );
        if !self.continued {
            return Ok(());
        }
        let info = done(&cairn(["state", "info", "-d", text(folder), "--json"]))?;
        hold!(
            info["head"]["number"] == head,
            "the state does not tell what it is\n{info}"
        );

        let last = done(&world.sync(folder, config).wait())?;
        hold!(
            number(&last, "head") == world.blocks,
            "the sync ended early\n{last}"
        );
        hold!(
            last["blocks"] == world.blocks - head,
            "{} blocks were missing, {} were applied\n{last}",
            world.blocks - head,
            last["blocks"]
        );
        hold!(
            digest(&last) == world.digest(world.blocks),
            "the state is not the chain's\n{last}"
        );
        let found = Tree::read(&folder.join("blockchain"));
        if let Some(difference) = found.difference(&log.tree) {
            return Err(format!(
                "the block log is not an undisturbed node's: {difference}"
            ));
        }
        let path = folder.join("blockchain");
        let verified = cairn(["log", "verify", text(&path), "--chain", text(&world.chain())]);
        hold!(verified.code() == 0, "the block log does not verify\n{verified}");
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

fn number(record: &Value, of: &str) -> u32 {
    record[of]["number"].as_u64().unwrap() as u32
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
