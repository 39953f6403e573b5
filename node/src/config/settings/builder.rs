//! From texts to the typed settings: every option is read here, in one place.

use std::collections::HashSet;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use cairn_chain::ChainSpec;
use cairn_sync::checkpoint::{self, Checkpoints, ConfiguredCheckpoint};
use cairn_sync::download::OnMismatch;

use super::{
    BlockLogSettings, BlockLogSplit, ChainChoice, CommitSettings, P2pSettings, Settings, StatsSettings,
    StopAt,
};
use crate::chain_choice;
use crate::config::endpoint::{ListenEndpoint, SeedNode};
use crate::config::gather::Gathered;
use crate::config::located::{Located, Origin};
use crate::config::p2p_parameters::P2pParameters;
use crate::config::problem::{ConfigProblem, ConfigProblems, ConfigWarning};
use crate::config::table;
use crate::config::value::{parse_bool, parse_number};
use crate::logging;

/// Reads typed values out of the gathered texts; faults are added to the gathered ones.
pub(super) struct Builder {
    gathered: Gathered,
}

impl Builder {
    pub(super) fn new(gathered: Gathered) -> Self {
        Self { gathered }
    }

    pub(super) fn build(
        mut self,
        data_dir: PathBuf,
        config_file: Option<PathBuf>,
    ) -> Result<Settings, ConfigProblems> {
        let chain_choice = self.chain_choice();
        let chain = self.chain(chain_choice.as_ref());
        let stop = self.stop();
        let checkpoints = self.checkpoints();
        let on_mismatch = self.on_mismatch();
        let block_log = self.block_log();
        let p2p = self.p2p();
        let log_level = self.log_level();
        let force_replay = self.switch("force-replay");
        let threads = self
            .number("blockchain-thread-pool-size")
            .unwrap_or_else(processors);
        let (Some(chain), true) = (chain, self.gathered.problems.is_empty()) else {
            return Err(ConfigProblems(self.gathered.problems));
        };
        Ok(Settings {
            data_dir: self.path("data-dir").unwrap_or(data_dir),
            config_file,
            chain,
            chain_choice,
            checkpoints,
            on_mismatch,
            block_log,
            p2p,
            threads: usize::try_from(threads).unwrap_or(usize::MAX),
            window_bytes: self.mebibytes("sync-window-size"),
            commit: self.commit(),
            state_trie: self.switch("state-trie"),
            replay_blockchain: force_replay || self.switch("replay-blockchain"),
            force_replay,
            validate_during_replay: self.switch("validate-during-replay"),
            undo_below_checkpoint: self.switch("undo-below-checkpoint"),
            preverify: !self.switch("no-preverify"),
            exit_before_sync: self.switch("exit-before-sync"),
            stop,
            stats: StatsSettings {
                interval: self.seconds("stats-interval"),
                file: self.path("stats-file"),
            },
            log_level,
            json: self.switch("json"),
            warnings: std::mem::take(&mut self.gathered.warnings),
        })
    }

    /// The text of a scalar, its default included.
    fn text(&self, name: &'static str) -> Option<&str> {
        let given = self.gathered.one(name).map(|given| given.value.as_str());
        given.or_else(|| table::find(name)?.default)
    }

    fn path(&self, name: &'static str) -> Option<PathBuf> {
        self.text(name).map(PathBuf::from)
    }

    fn switch(&self, name: &'static str) -> bool {
        self.text(name).and_then(parse_bool).unwrap_or(false)
    }

    /// A number; its range was checked when it was gathered, and the default lies within.
    fn number(&self, name: &'static str) -> Option<u64> {
        let number = self.text(name).and_then(|text| parse_number(text, 0, i64::MAX))?;
        u64::try_from(number).ok()
    }

    fn mebibytes(&self, name: &'static str) -> u64 {
        self.number(name).unwrap_or_default() << 20
    }

    fn seconds(&self, name: &'static str) -> Duration {
        Duration::from_secs(self.number(name).unwrap_or_default())
    }

    fn block_number(&self, name: &'static str) -> Option<u32> {
        self.number(name).and_then(|number| u32::try_from(number).ok())
    }

    fn chain_choice(&mut self) -> Option<ChainChoice> {
        let chain = self.gathered.one("chain").cloned();
        let spec = self.gathered.one("alternate-chain-spec").cloned();
        if let (Some(chain), Some(spec)) = (&chain, &spec) {
            self.gathered.problems.push(ConfigProblem::Exclusive {
                first: "chain",
                first_origin: chain.origin.clone(),
                second: "alternate-chain-spec",
                second_origin: spec.origin.clone(),
            });
        }
        chain.or(spec).map(ChainChoice)
    }

    fn chain(&mut self, choice: Option<&ChainChoice>) -> Option<Arc<ChainSpec>> {
        let text = choice
            .map(|choice| choice.0.value.as_str())
            .or_else(|| self.text("chain"))?;
        match chain_choice::load(text) {
            Ok(chain) => Some(chain),
            Err(source) => {
                let origin = choice.map_or(Origin::CommandLine, |choice| choice.0.origin.clone());
                self.gathered
                    .problems
                    .push(ConfigProblem::Chain { origin, source });
                None
            }
        }
    }

    fn stop(&mut self) -> Option<StopAt> {
        let exit = self
            .gathered
            .one("exit-at-block")
            .map(|given| given.origin.clone());
        let stop = self
            .gathered
            .one("stop-at-block")
            .map(|given| given.origin.clone());
        if let (Some(exit), Some(stop)) = (exit, stop) {
            self.gathered
                .problems
                .push(ConfigProblem::ExitAndStop { exit, stop });
        }
        let exit = self.block_number("exit-at-block").map(StopAt::Exit);
        exit.or_else(|| self.block_number("stop-at-block").map(StopAt::Stop))
    }

    fn checkpoints(&mut self) -> Checkpoints {
        let configured = self.gathered.all("checkpoint").iter();
        let mut values: Vec<_> = configured
            .map(|given| ConfiguredCheckpoint::new(given.value.clone(), given.origin.to_string()))
            .collect();
        if let Some(file) = self.gathered.one("checkpoint-file") {
            match checkpoint::file::read(Path::new(&file.value)) {
                Ok(more) => values.extend(more),
                Err(source) => {
                    let origin = file.origin.clone();
                    self.gathered
                        .problems
                        .push(ConfigProblem::CheckpointFile { origin, source });
                }
            }
        }
        let parsed = Checkpoints::parse(&values);
        self.gathered
            .problems
            .extend(parsed.faults.into_iter().map(ConfigProblem::from));
        self.gathered
            .warnings
            .extend(parsed.notices.into_iter().map(ConfigWarning::from));
        parsed.checkpoints
    }

    fn on_mismatch(&mut self) -> OnMismatch {
        match self.text("checkpoint-mismatch") {
            None | Some("exit") => OnMismatch::Exit,
            Some("wait") => OnMismatch::Wait,
            Some(_) => {
                if let Some(given) = self.gathered.one("checkpoint-mismatch") {
                    self.gathered.problems.push(ConfigProblem::BadValue {
                        origin: given.origin.clone(),
                        name: "checkpoint-mismatch",
                        found: given.value.clone(),
                        expected: "exit or wait".to_owned(),
                    });
                }
                OnMismatch::Exit
            }
        }
    }

    fn log_level(&mut self) -> Option<String> {
        let Located { value, origin } = self.gathered.one("log-level")?.clone();
        match logging::parse(&value) {
            Ok(_) => Some(value),
            Err(source) => {
                self.gathered
                    .problems
                    .push(ConfigProblem::LogLevel { origin, source });
                None
            }
        }
    }

    fn block_log(&mut self) -> BlockLogSettings {
        let split = self
            .text("block-log-split")
            .and_then(|text| parse_number(text, i64::MIN, i64::MAX));
        let split = match split {
            Some(-1) => BlockLogSplit::Single,
            Some(0) => BlockLogSplit::HeadOnly,
            Some(keep @ 1..=9999) => BlockLogSplit::Parts(keep as u32),
            other => {
                if let (Some(value), Some(given)) = (other, self.gathered.one("block-log-split")) {
                    let origin = given.origin.clone();
                    self.gathered
                        .problems
                        .push(ConfigProblem::BlockLogSplit { origin, value });
                }
                BlockLogSplit::Parts(9999)
            }
        };
        BlockLogSettings {
            split,
            compress: self.switch("enable-block-log-compression"),
            compression_level: self.number("block-log-compression-level").unwrap_or_default() as i32,
            auto_fixing: self.switch("enable-block-log-auto-fixing"),
            dictionaries: self.path("zstd-dictionaries"),
        }
    }

    fn commit(&self) -> CommitSettings {
        CommitSettings {
            blocks: self
                .block_number("flush-state-interval")
                .and_then(NonZeroU32::new),
            bytes: self.mebibytes("flush-state-size"),
            interval: self.seconds("flush-state-seconds"),
        }
    }

    fn p2p(&mut self) -> P2pSettings {
        let endpoint =
            self.gathered.one("p2p-endpoint").cloned().and_then(|given| {
                match ListenEndpoint::parse(&given.value) {
                    Ok(endpoint) => Some(endpoint.0),
                    Err(source) => {
                        let (found, origin) = (given.value, given.origin);
                        self.gathered.problems.push(ConfigProblem::Endpoint {
                            origin,
                            found,
                            source,
                        });
                        None
                    }
                }
            });
        let (seed_nodes, seed_nodes_configured) = self.seed_nodes();
        let given = self.gathered.one("p2p-parameters").cloned();
        let mut parameters = given.map_or_else(P2pParameters::default, |given| {
            P2pParameters::read(&given, &mut self.gathered.problems, &mut self.gathered.warnings)
        });
        if let Some(max) = self.block_number("p2p-max-connections") {
            parameters.maximum_number_of_connections = max;
            parameters.desired_number_of_connections = parameters.desired_number_of_connections.min(max);
        }
        P2pSettings {
            endpoint,
            seed_nodes,
            seed_nodes_configured,
            parameters,
        }
    }

    /// Usable seeds, each once, and how many different ones were configured.
    fn seed_nodes(&mut self) -> (Vec<SeedNode>, usize) {
        let mut seeds = Vec::new();
        let mut seen = HashSet::new();
        let mut unusable = 0;
        for given in self.gathered.all("p2p-seed-node").to_vec() {
            for text in given.value.split_whitespace() {
                let (origin, found) = (given.origin.clone(), text.to_owned());
                match SeedNode::parse(text) {
                    Ok(seed) if seen.insert(seed.clone()) => seeds.push(seed),
                    Ok(_) => self
                        .gathered
                        .warnings
                        .push(ConfigWarning::SeedNodeRepeated { origin, found }),
                    Err(what) => {
                        unusable += 1;
                        self.gathered
                            .warnings
                            .push(ConfigWarning::SeedNode { origin, found, what });
                    }
                }
            }
        }
        let configured = seeds.len() + unusable;
        (seeds, configured)
    }
}

fn processors() -> u64 {
    std::thread::available_parallelism().map_or(1, |count| count.get() as u64)
}
