//! What the recorded runs are for.

use std::path::Path;

use crate::world::{Form, World, text};

/// State and log from the seed.
#[derive(Clone, Debug)]
pub(crate) struct SyncPlan {
    pub(crate) form: Form,
    pub(crate) checkpoints: Vec<u32>,
    /// Blocks between two commits.
    pub(crate) interval: u32,
    /// The run ends in order at each of these blocks, and is begun again.
    pub(crate) stops: Vec<u32>,
}

#[derive(Clone, Debug)]
pub(crate) enum Goal {
    /// The state from a foreign log.
    Replay {
        /// Read its headers first.
        preverify: bool,
        interval: u32,
    },
    Sync(SyncPlan),
    /// The newest restore point in the place of the state of such a sync.
    Restore {
        /// And cut the block log behind it.
        cut_log: bool,
        of: SyncPlan,
    },
}

impl SyncPlan {
    pub(crate) fn new(form: Form, checkpoints: &[u32], interval: u32) -> Self {
        Self {
            form,
            checkpoints: checkpoints.to_vec(),
            interval,
            stops: Vec::new(),
        }
    }
}

impl Goal {
    /// The configuration of every run for it.
    pub(crate) fn config(&self, world: &World) -> String {
        match self {
            Self::Replay { interval, .. } => world.config(&[100, 250, world.blocks], *interval),
            Self::Sync(plan) | Self::Restore { of: plan, .. } => {
                plan.form.config() + &world.config(&plan.checkpoints, plan.interval)
            }
        }
    }

    /// The command line that reaches it, or a block on the way.
    pub(crate) fn words(&self, world: &World, folder: &Path, config: &Path, last: u32) -> Vec<String> {
        let (folder, config, last) = (text(folder), text(config), last.to_string());
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
            Self::Sync(_) => vec![
                "run",
                "-d",
                folder,
                "--config",
                config,
                "--exit-at-block",
                &last,
                "--json",
            ],
        };
        words.into_iter().map(str::to_owned).collect()
    }
}
