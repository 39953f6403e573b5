//! Recorded runs.

use std::fs;
use std::path::{Path, PathBuf};

use cairn_tests::Running;
use cairn_tests::power_cut::{BlockEnds, Disk, Durable, Rng, Tree, cut, timeline};

use crate::goal::{Goal, SyncPlan};
use crate::tape::Tape;
use crate::world::World;

/// A run from its first change to its last.
#[derive(Debug)]
pub(crate) struct Recording<'w> {
    world: &'w World,
    name: String,
    goal: Goal,
    config: PathBuf,
    tape: Tape,
    durable: Vec<Durable>,
}

impl<'w> Recording<'w> {
    /// Records a run from a folder that is there, of which `before` is known to be durable, or from nothing. Each
    /// number in `kills` is a run before the last one that kills itself after so many changes.
    pub(crate) fn make(
        world: &'w World,
        name: &str,
        goal: Goal,
        start: Option<&Tree>,
        before: Durable,
        kills: &[usize],
    ) -> Self {
        let folder = world.path(&format!("recorded-{name}"));
        start.cloned().unwrap_or_default().write(&folder);
        let config = world.path(&format!("{name}.ini"));
        fs::write(&config, goal.config(world)).unwrap();
        let start = Disk::read(&folder);
        let journal = world.path(&format!("{name}.journal"));
        let run = |last, kill_after| {
            let words = goal.words(world, &folder, &config, last);
            Running::start_with(words, world.shim.environment(&folder, &journal, kill_after)).wait()
        };
        for kill_after in kills {
            let killed = run(world.blocks, Some(*kill_after));
            assert_eq!(
                killed.status.code(),
                None,
                "{name}: the end came before the kill\n{killed}"
            );
        }
        if let Goal::Sync(SyncPlan { stops, .. }) = &goal {
            for stop in stops {
                let stopped = run(*stop, None).expect_code(0).json();
                assert_eq!(stopped["head"]["number"], *stop, "{name}");
            }
        }
        let record = run(world.blocks, None).expect_code(0).json();
        let head = record["head"]["number"].as_u64().unwrap() as u32;
        match &goal {
            Goal::Restore { .. } => assert_eq!(head, before.state, "{name}"),
            _ => assert_eq!(head + world.reversible(&record), world.blocks, "{name}"),
        }
        let tape = Tape::read(start, &journal, &folder);
        let ends = match &goal {
            // The blocks of a log that is cut are to go.
            Goal::Replay { .. } | Goal::Restore { cut_log: true, .. } => BlockEnds::default(),
            Goal::Sync(plan) | Goal::Restore { of: plan, .. } => world.expected_log(plan.form).ends.clone(),
        };
        let durable = timeline(&tape.start, before, &tape.operations, &ends);
        assert_eq!(
            durable.last().unwrap().state,
            head,
            "{name}: the last commit is not found in the journal"
        );
        if let Goal::Sync(_) = goal {
            assert_eq!(
                durable.last().unwrap().log,
                head,
                "{name}: the last block is not found in the journal"
            );
        }
        Self {
            world,
            name: name.to_owned(),
            goal,
            config,
            tape,
            durable,
        }
    }

    pub(crate) fn world(&self) -> &'w World {
        self.world
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn goal(&self) -> &Goal {
        &self.goal
    }

    pub(crate) fn config_path(&self) -> &Path {
        &self.config
    }

    pub(crate) fn config(&self) -> String {
        fs::read_to_string(&self.config).unwrap()
    }

    pub(crate) fn tape(&self) -> &Tape {
        &self.tape
    }

    /// The last block that is durable in the end.
    pub(crate) fn durable_end(&self) -> u32 {
        self.durable.last().unwrap().log
    }

    /// The folder after a power cut at some moment, and what must be found in it. Nothing below `forgetful`, if given,
    /// was ever synced.
    pub(crate) fn cut(&self, rng: &mut Rng, forgetful: Option<&str>) -> (Tree, Durable) {
        let end = self.tape.moment(rng);
        let disk = self.tape.disk_after(end, forgetful);
        (cut(&disk, rng), self.durable[end])
    }
}
