//! `cairn run`.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Context;
use cairn_block_log::BlockLog;
use cairn_p2p::{Endpoint, Identity, Network, NetworkConfig, NetworkHandle, SeedList};
use cairn_sync::check_past;
use cairn_sync::replay::ReplayError;
use cairn_sync::stats::WorkSource;
use cairn_sync::writer::{ChainWriter, Ended};

use super::fetch;
use super::replay::{replay_log, replay_plan};
use crate::cli::RunArgs;
use crate::config::{Settings, StopAt, example};
use crate::exit::{CommandError, ExitCode};
use crate::output;
use crate::peering::{ServedLog, SharedLog};
use crate::run::{
    DiskRoom, FinalRecord, Lag, OwnLog, ProgressBar, RunFacts, Session, Stage, cut_noted_damage, explain,
    forget_set_aside, give_back_when_quiet, is_disk_full, refuse_pruned, tell_set_aside,
};

/// How often a node without work looks whether it is to end.
const IDLE: Duration = Duration::from_millis(100);

/// Runs a node until it is asked to end, or the block of `exit-at-block` is applied.
///
/// # Errors
/// [`CommandError`].
pub fn execute(args: &RunArgs, log_level: Option<&str>) -> Result<ExitCode, CommandError> {
    if args.dump_config {
        output::text(&example::text())?;
        return Ok(ExitCode::Done);
    }
    let settings = super::settings(&args.options.values, args.config.as_deref(), log_level, None)?;
    let peers = u64::from(settings.p2p.parameters.maximum_number_of_connections);
    let session = Session::start(settings, peers).map_err(explain)?;
    give_back_when_quiet(session.runtime.handle(), Arc::clone(&session.meter));
    let mut node = Node {
        served: SharedLog::default(),
        remove_state: session.settings.force_replay,
        session,
        reader: None,
        network: None,
        started: Instant::now(),
    };
    match node.run_through_full_disks()? {
        Some((chain, result)) => node.finish(chain, result),
        None => Ok(ExitCode::Done),
    }
}

struct Node {
    session: Session,
    /// The state is to be made anew, and has not been removed yet.
    remove_state: bool,
    reader: Option<BlockLog>,
    /// The same for the network.
    served: SharedLog,
    network: Option<NetworkHandle>,
    started: Instant,
}

/// How a run ended, short of a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    Done,
    Stopped,
}

/// The writer at the end, and how it came to it.
type Ending = (ChainWriter, Result<Outcome, CommandError>);

impl Node {
    /// Runs to the end. When a write is refused by a full disk, block log and state are closed, and opened again once
    /// there is room: that finds the last commit, as at any start. The network goes on meanwhile and serves what is
    /// durable. `None`: the end was asked for before anything could be opened.
    fn run_through_full_disks(&mut self) -> Result<Option<Ending>, CommandError> {
        for attempt in 0.. {
            self.session.shutdown.enter(Stage::Opening);
            let chain = match self.open() {
                Ok(chain) => chain,
                Err(error) if is_disk_full(&error) => {
                    let needs = DiskRoom::of(&self.session.data_dir).needs_of_opening();
                    if self
                        .session
                        .wait_for_room(needs, &error, WorkSource::Network, attempt)
                    {
                        continue;
                    }
                    return Ok(None);
                }
                Err(error) => return Err(explain(error).into()),
            };
            self.session.shutdown.enter(Stage::Working);
            match self.run(chain)? {
                (chain, Err(CommandError::Failed(error))) if is_disk_full(&error) => {
                    if !self
                        .session
                        .wait_for_room(chain.needs(), &error, WorkSource::Network, attempt)
                    {
                        return Ok(Some((chain, Ok(Outcome::Stopped))));
                    }
                }
                ended => return Ok(Some(ended)),
            }
        }
        Ok(None)
    }

    /// Opens block log and state.
    fn open(&mut self) -> anyhow::Result<ChainWriter> {
        let session = &self.session;
        let (folder, settings, dictionaries) = (
            session.data_dir.blockchain(),
            &session.settings,
            &session.dictionaries,
        );
        let (own, lag) = match settings.exit_before_sync {
            true => (OwnLog::open(&folder, settings, dictionaries)?, Lag::Refused),
            false => (
                OwnLog::open_to_sync(&folder, settings, dictionaries, &session.data_dir)?,
                Lag::Fetched,
            ),
        };
        let own = match (own, settings.exit_before_sync) {
            (Some(mut own), false) => {
                cut_noted_damage(&mut own, settings, &session.data_dir.log_damage())?;
                Some(own)
            }
            (own, _) => own,
        };
        let (writer, reader) = own.map_or((None, None), |own| (Some(own.writer), Some(own.reader)));
        if std::mem::take(&mut self.remove_state) {
            if let Some(reader) = &reader {
                refuse_pruned(reader)?;
            }
            session.data_dir.remove_state()?;
        }
        let chain = session.open_writer(writer, session.keep_parts_in_replay(), lag)?;
        self.served.replace(reader.clone());
        self.reader = reader;
        Ok(chain)
    }

    /// # Errors
    /// When there is no writer any more; other faults come with it.
    fn run(
        &mut self,
        chain: ChainWriter,
    ) -> Result<(ChainWriter, Result<Outcome, CommandError>), CommandError> {
        if self.session.is_stopped() {
            return Ok((chain, Ok(Outcome::Stopped)));
        }
        let (mut chain, replayed) = self.replay_own_log(chain)?;
        let outcome = match replayed {
            Ok(outcome) => outcome,
            Err(error) => return Ok((chain, Err(error))),
        };
        // What was applied is not taken back any more.
        if let Err(error) = chain.keep_parts(self.session.keep_parts()) {
            return Ok((chain, Err(CommandError::Failed(error.into()))));
        }
        if let Some(outcome) = outcome {
            return Ok((chain, Ok(outcome)));
        }
        if self.session.settings.exit_before_sync {
            return Ok((chain, Ok(Outcome::Done)));
        }
        // After a pause for a full disk it is there already.
        let network = match self.network.take().map_or_else(|| self.start_network(), Ok) {
            Ok(network) => network,
            Err(error) => return Ok((chain, Err(error.into()))),
        };
        let (chain, result) = self.fetch(chain, &network);
        self.network = Some(network);
        let result = match (result, self.session.settings.stop) {
            (Ok(Outcome::Done), Some(StopAt::Stop(number))) => Ok(self.wait_in_api_mode(number)),
            (result, _) => result,
        };
        Ok((chain, result))
    }

    /// Applies what the log has and the state has not. `Some`: the run ends here.
    fn replay_own_log(
        &self,
        chain: ChainWriter,
    ) -> Result<(ChainWriter, Result<Option<Outcome>, CommandError>), CommandError> {
        // A log that has a gap is looked at when that is closed.
        if chain.log_gap().is_none()
            && let Err(error) = self.check_past(&chain)
        {
            return Ok((chain, Err(error)));
        }
        let Some(reader) = &self.reader else {
            return Ok((chain, Ok(None)));
        };
        let mut chain = chain;
        loop {
            if reader.head_number().unwrap_or(0) <= chain.head().number {
                return Ok((chain, Ok(None)));
            }
            let plan = replay_plan(&self.session.settings);
            let reporter = match self.session.start_reporter(WorkSource::BlockLog) {
                Ok(reporter) => reporter,
                Err(error) => return Ok((chain, Err(error.into()))),
            };
            let bar = ProgressBar::start("replaying", &self.session.meter);
            let (writer, replayed) = replay_log(&self.session, chain, reader, plan, false)?;
            chain = writer;
            drop((reporter, bar));
            let error = match replayed.result {
                Ok(ended) => return Ok((chain, Ok(self.outcome(ended)))),
                Err(error) => error,
            };
            match self.cut_damage(&mut chain, &error) {
                Ok(true) => {}
                Ok(false) if error.contradicts_checkpoint() => {
                    return Ok((chain, Err(CommandError::contradiction(error))));
                }
                Ok(false) => return Ok((chain, Err(CommandError::Failed(error.into())))),
                Err(error) => return Ok((chain, Err(error))),
            }
        }
    }

    /// Compares the checkpoints below the head with the blocks in the log.
    fn check_past(&self, chain: &ChainWriter) -> Result<(), CommandError> {
        let stored = |number| cairn_sync::id_if_there(self.reader.as_ref()?, number);
        check_past(&self.session.settings.checkpoints, chain.head().number, stored)
            .map_err(CommandError::contradiction)
    }

    /// Cuts a damaged block and those behind it off the log, so that they are fetched again; `false`: the fault is
    /// another one, or it is not to be mended.
    fn cut_damage(&self, chain: &mut ChainWriter, error: &ReplayError) -> Result<bool, CommandError> {
        let settings = &self.session.settings;
        let first = self.reader.as_ref().and_then(BlockLog::first_number);
        let Some(number) = error.damaged_block() else {
            return Ok(false);
        };
        // When the very first block is not whole, it is rather the chain that was named wrongly.
        let whole_before = number > first.unwrap_or(1) && number > chain.head().number;
        if !settings.block_log.auto_fixing || settings.exit_before_sync || !whole_before {
            return Ok(false);
        }
        let cut = chain
            .set_log_aside_after(number - 1)
            .map_err(|error| CommandError::Failed(error.into()))?;
        let Some(kept) = cut else {
            return Ok(false);
        };
        tracing::warn!(
            target: "reconcile",
            "the block log is damaged and was cut behind block {}: {error}",
            number - 1
        );
        tell_set_aside(&kept);
        Ok(true)
    }

    /// What the end of the replay of the own log means for the run.
    fn outcome(&self, ended: Ended) -> Option<Outcome> {
        match ended {
            Ended::Stopped => Some(Outcome::Stopped),
            Ended::ReachedLastBlock => {
                let log_head = self.reader.as_ref().and_then(BlockLog::head_number);
                let wanted = self.session.settings.stop.map(StopAt::number);
                // Without a wanted last block the log's own head was the last one of the replay.
                wanted
                    .is_some_and(|wanted| log_head.is_some_and(|head| head >= wanted))
                    .then_some(Outcome::Done)
            }
            Ended::SourceEnded => None,
        }
    }

    fn start_network(&self) -> anyhow::Result<NetworkHandle> {
        let settings = &self.session.settings;
        let data_dir = &self.session.data_dir;
        let node_key = data_dir.prepare_node_key()?;
        let mut provider = ServedLog::new(self.served.clone(), Arc::clone(&self.session.view))
            .with_self_check(Arc::clone(&settings.chain), data_dir.log_damage());
        if settings.p2p.endpoint.is_some() {
            provider = provider.with_header_file(data_dir.headers(), settings.chain.chain_id());
        }
        let mut config = network_config(settings, node_key);
        config.ban_file = Some(data_dir.ban_list());
        let network = self
            .session
            .runtime
            .block_on(Network::start(config, Arc::new(provider)))
            .context("the network cannot be started")?;
        if settings.p2p.endpoint.is_none() && settings.p2p.seed_nodes.is_empty() {
            tracing::warn!(target: "p2p", "neither p2p-endpoint nor p2p-seed-node is set: no peer will be found");
        }
        Ok(network)
    }

    /// Fetches what the block log lacks, and then what the state lacks.
    fn fetch(
        &self,
        mut chain: ChainWriter,
        network: &NetworkHandle,
    ) -> (ChainWriter, Result<Outcome, CommandError>) {
        if let Some(gap) = chain.log_gap() {
            let (filled, result) = fetch::fill_log(&self.session, chain, &gap, network);
            chain = filled;
            match result.and_then(|ended| self.check_past(&chain).map(|()| ended)) {
                Ok(Ended::Stopped) => return (chain, Ok(Outcome::Stopped)),
                Ok(Ended::ReachedLastBlock | Ended::SourceEnded) => {}
                Err(error) => return (chain, Err(error)),
            }
        }
        let (chain, result) = fetch::sync(&self.session, chain, network);
        let outcome = result.map(|ended| match ended {
            Ended::Stopped => Outcome::Stopped,
            Ended::ReachedLastBlock | Ended::SourceEnded => Outcome::Done,
        });
        (chain, outcome)
    }

    /// hived's API mode: the blocks are there, nothing new is fetched.
    fn wait_in_api_mode(&self, number: u32) -> Outcome {
        tracing::info!(target: "run", "Stopped syncing on user request. Last applied block number: {number}.");
        tracing::info!(target: "run", "entering API mode");
        while !self.session.is_stopped() {
            std::thread::sleep(IDLE);
        }
        Outcome::Stopped
    }

    fn finish(
        self,
        chain: ChainWriter,
        result: Result<Outcome, CommandError>,
    ) -> Result<ExitCode, CommandError> {
        let settings = &self.session.settings;
        if let Err(error) = &result {
            self.session.shutdown.failed(error.exit_code());
        }
        if let Some(network) = self.network {
            self.session.shutdown.enter(Stage::Network);
            self.session.runtime.block_on(network.shutdown());
        }
        let head = chain.head().number;
        if let (Ok(Outcome::Done), Some(StopAt::Exit(number))) = (&result, settings.stop)
            && head >= number
        {
            let reached = match head == number {
                true => format!("requested block {number} reached"),
                false => format!("the head, block {head}, was already beyond requested block {number}"),
            };
            tracing::info!(
                target: "run",
                "Exiting application on user request, because {reached} (--exit-at-block)."
            );
        }
        let kept = chain.kept_head().number;
        if kept < head {
            tracing::info!(
                target: "run",
                "blocks {} to {head} can still be taken back: they are not kept, and fetched again at the next start",
                kept + 1
            );
        }
        if head < settings.checkpoints.last_number() {
            tracing::warn!(
                target: "test_checkpoint",
                "main writer loop interrupted before last checkpoint was crossed and normal validation restored"
            );
        }
        let facts = RunFacts {
            ended: match &result {
                Ok(Outcome::Done) => "done",
                Ok(Outcome::Stopped) => "stopped",
                Err(_) => "failed",
            },
            error: result.as_ref().err().map(ToString::to_string),
            elapsed: self.started.elapsed(),
            writer: self.session.meter.clock.read(),
        };
        let shutdown = &self.session.shutdown;
        shutdown.enter(Stage::Digest);
        let wish = self.session.digest_wish();
        let record = FinalRecord::gather(&chain, &settings.chain.name, &self.session.meter, facts, wish);
        shutdown.enter(Stage::Closing);
        let closed = chain.finish().map(drop);
        if closed.is_ok() {
            // The state may be ahead of a log that was not filled to the end.
            let logged = self.reader.as_ref().and_then(BlockLog::head_number);
            let durable = self.session.meter.read().durable.min(logged.unwrap_or(0));
            if let Err(error) = forget_set_aside(&self.session.data_dir.blockchain(), durable) {
                tracing::warn!(target: "reconcile", "{error}");
            }
        }
        if let Ok(record) = &record {
            tracing::info!(target: "run", "{}", record.summary());
            if settings.json {
                output::json_line(record)?;
            }
        }
        // The fault that ended the run is the one to report; a disk that failed then has failed here again.
        result?;
        closed.map_err(|error| CommandError::Failed(error.into()))?;
        record?;
        Ok(ExitCode::Done)
    }
}

fn network_config(settings: &Settings, node_key: std::path::PathBuf) -> NetworkConfig {
    let parameters = &settings.p2p.parameters;
    let seeds = SeedList::parse(settings.p2p.seed_nodes.iter().map(ToString::to_string));
    if settings.p2p.seed_nodes_configured > 0 {
        let (usable, configured) = (seeds.seeds.len(), settings.p2p.seed_nodes_configured);
        tracing::info!(target: "p2p", "{usable} of {configured} seed nodes usable");
    }
    let mut config = NetworkConfig::new(settings.chain.chain_id());
    config.identity = Identity::File(node_key);
    config.listen = settings
        .p2p
        .endpoint
        .iter()
        .map(|address| Endpoint::ip(address.ip(), address.port()))
        .collect();
    config.seeds = seeds.seeds;
    config.connections.desired = parameters.desired_number_of_connections as usize;
    config.connections.maximum = parameters.maximum_number_of_connections as usize;
    config
}
