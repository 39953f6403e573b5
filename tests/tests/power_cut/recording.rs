//! Recorded runs.

use std::fs;
use std::path::{Path, PathBuf};

use cairn_tests::Running;
use cairn_tests::power_cut::journal::{self, Operation};
use cairn_tests::power_cut::{BlockEnds, Disk, Durable, Rng, Tree, cut, moment, timeline};

use crate::world::{Form, World, text};

/// What a run is for.
#[derive(Clone, Debug)]
pub(crate) enum Goal {
    /// The state from a foreign log.
    Replay {
        /// Read its headers first.
        preverify: bool,
        interval: u32,
    },
    /// State and log from the seed.
    Sync {
        form: Form,
        checkpoints: Vec<u32>,
        interval: u32,
    },
    /// The newest restore point in the place of the state of such a sync.
    Restore {
        /// And cut the block log behind it.
        cut_log: bool,
        form: Form,
        checkpoints: Vec<u32>,
        interval: u32,
    },
}

/// A run from its first change to its last.
#[derive(Debug)]
pub(crate) struct Recording<'w> {
    world: &'w World,
    name: String,
    goal: Goal,
    config: PathBuf,
    start: Disk<'static>,
    /// Never freed: operations borrow from it in every case.
    journal: &'static [u8],
    operations: Vec<Operation<'static>>,
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
        let (config, ends) = match &goal {
            Goal::Replay { interval, .. } => (
                world.config(&[100, 250, world.blocks], *interval),
                BlockEnds::default(),
            ),
            Goal::Sync {
                form,
                checkpoints,
                interval,
            }
            | Goal::Restore {
                form,
                checkpoints,
                interval,
                ..
            } => (
                form.config() + &world.config(checkpoints, *interval),
                world.expected_log(*form).ends.clone(),
            ),
        };
        let config_path = world.path(&format!("{name}.ini"));
        fs::write(&config_path, config).unwrap();
        let start = Disk::read(&folder);
        let journal = world.path(&format!("{name}.journal"));
        let words = goal.words(world, &folder, &config_path);
        let run = |kill_after| {
            Running::start_with(&words, world.shim.environment(&folder, &journal, kill_after)).wait()
        };
        for kill_after in kills {
            let killed = run(Some(*kill_after));
            assert_eq!(
                killed.status.code(),
                None,
                "{name}: the end came before the kill\n{killed}"
            );
        }
        let record = run(None).expect_code(0).json();
        let head = match goal {
            Goal::Restore { .. } => before.state,
            _ => world.blocks,
        };
        assert_eq!(record["head"]["number"], head);
        let bytes: &'static [u8] = fs::read(&journal).unwrap().leak();
        let operations = journal::parse(bytes);
        let mut disk: Disk<'_> = start.clone();
        operations.iter().for_each(|operation| disk.apply(operation));
        // Whatever way of writing the shim does not see would show here.
        let difference = disk.tree().difference(&Tree::read(&folder));
        assert_eq!(
            difference, None,
            "{name}: the journal leads elsewhere than the run"
        );
        let ends = match goal {
            Goal::Restore { cut_log: true, .. } => BlockEnds::default(), // Blocks are to go.
            _ => ends,
        };
        let durable = timeline(&start, before, &operations, &ends);
        assert_eq!(
            durable.last().unwrap().state,
            head,
            "{name}: the last commit is not found in the journal"
        );
        if let Goal::Sync { .. } = goal {
            assert_eq!(
                durable.last().unwrap().log,
                world.blocks,
                "{name}: the last block is not found in the journal"
            );
        }
        Self {
            world,
            name: name.to_owned(),
            goal,
            config: config_path,
            start,
            journal: bytes,
            operations,
            durable,
        }
    }

    pub(crate) fn world(&self) -> &'w World {
        self.world
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn goal(&self) -> Goal {
        self.goal.clone()
    }

    pub(crate) fn config_path(&self) -> &Path {
        &self.config
    }

    pub(crate) fn config(&self) -> String {
        fs::read_to_string(&self.config).unwrap()
    }

    pub(crate) fn journal(&self) -> &[u8] {
        self.journal
    }

    /// Number of recorded operations.
    pub(crate) fn length(&self) -> usize {
        self.operations.len()
    }

    /// Whether the run ever had a file of this name.
    pub(crate) fn touches(&self, name: &str) -> bool {
        let made =
            |operation: &Operation<'_>| matches!(operation, Operation::Create { path, .. } if *path == name);
        self.operations.iter().any(made)
    }

    /// The folder after a power cut at some moment, and what must be found in it. Nothing below `forgetful`, if given,
    /// was ever synced: as if the node had forgotten to.
    pub(crate) fn cut(&self, rng: &mut Rng, forgetful: Option<&str>) -> (Tree, Durable) {
        let end = moment(&self.operations, rng);
        let mut disk: Disk<'_> = self.start.clone();
        for operation in &self.operations[..end] {
            let path = match operation {
                Operation::Sync { inode } => disk.file(*inode).0,
                _ => None,
            };
            if !path
                .zip(forgetful)
                .is_some_and(|(path, below)| path.starts_with(below))
            {
                disk.apply(operation);
            }
        }
        (cut(&disk, rng), self.durable[end])
    }
}

impl Goal {
    /// The command line that reaches it.
    pub(crate) fn words(&self, world: &World, folder: &Path, config: &Path) -> Vec<String> {
        let (folder, config, last) = (text(folder), text(config), world.blocks.to_string());
        let foreign = world.foreign_log();
        let words = match self {
            Self::Replay { preverify, .. } => {
                let mut words = vec![
                    "replay",
                    "--block-log",
                    text(&foreign),
                    "-d",
                    folder,
                    "--config",
                    config,
                    "--json",
                ];
                if !preverify {
                    words.push("--no-preverify");
                }
                words
            }
            Self::Restore { cut_log, .. } => {
                let mut words = vec!["state", "restore", "-d", folder, "--json"];
                if *cut_log {
                    words.push("--cut-log");
                }
                words
            }
            Self::Sync { .. } => {
                vec![
                    "run",
                    "-d",
                    folder,
                    "--config",
                    config,
                    "--exit-at-block",
                    &last,
                    "--json",
                ]
            }
        };
        words.into_iter().map(str::to_owned).collect()
    }
}
