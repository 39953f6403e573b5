//! `cairn replay`.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use cairn_block_log::{BlockLog, BlockLogWriter};
use cairn_sync::pipeline::{LogForm, ValidationPlan};
use cairn_sync::preverify::OnProgress;
use cairn_sync::replay::{ReplayError, ReplayOptions, announce_modes, replay};
use cairn_sync::stats::WorkSource;
use cairn_sync::writer::{ChainWriter, Ended};
use tempfile::TempDir;

use crate::cli::ReplayArgs;
use crate::config::{BlockLogSplit, Settings, StopAt};
use crate::data_dir::DataDir;
use crate::exit::{CommandError, ExitCode};
use crate::output;
use crate::progress::Progress;
use crate::run::{
    DiskRoom, FinalRecord, Lag, OwnLog, ProgressBar, RunFacts, Session, Stage, explain, is_disk_full,
    open_foreign_log, present_layout, refuse_pruned,
};

/// Replays a block log into the state of the data folder. With `--block-log` and no data folder the state is
/// made in a temporary folder and thrown away.
///
/// # Errors
/// [`CommandError`].
pub fn execute(args: &ReplayArgs, log_level: Option<&str>) -> Result<ExitCode, CommandError> {
    let scratch = match &args.block_log {
        Some(_) if args.options.values.first("data-dir").is_none() => Some(scratch_folder()?),
        _ => None,
    };
    let settings = super::settings(
        &args.options.values,
        args.config.as_deref(),
        log_level,
        scratch.as_ref(),
    )?;
    if scratch.is_some() {
        tracing::info!(target: "replay", "no data folder given: the state is thrown away at the end");
    }
    if args.block_log.is_none() {
        expect_own_log(&settings)?;
    }
    let session = Session::start(settings, 0).map_err(explain)?;
    let path = args.block_log.as_deref();
    let Some((chain, replayed, log)) = replay_through_full_disks(&session, path, scratch.is_some())? else {
        return Ok(ExitCode::Done);
    };
    if let Err(error) = &replayed.result {
        session.shutdown.failed(match error.contradicts_checkpoint() {
            true => ExitCode::Contradiction,
            false => ExitCode::Failed,
        });
    }
    session.shutdown.enter(Stage::Digest);
    let summed_up = finish(&session, &chain, replayed.facts, &log);
    session.shutdown.enter(Stage::Closing);
    let closed = chain.finish().map(drop);
    // The fault that ended the replay is the one to report; a disk that failed then has failed here again.
    replayed
        .result
        .map_err(|error| match error.contradicts_checkpoint() {
            true => CommandError::contradiction(error),
            false => CommandError::Failed(error.into()),
        })?;
    closed.map_err(|error| CommandError::Failed(error.into()))?;
    summed_up?;
    Ok(ExitCode::Done)
}

/// Replays to the end. When a write is refused by a full disk, block log and state are closed, and opened again once
/// there is room: that finds the last commit, as at any start. `None`: the end was asked for before anything could be
/// opened.
fn replay_through_full_disks(
    session: &Session,
    path: Option<&Path>,
    scratch: bool,
) -> Result<Option<(ChainWriter, Replayed, BlockLog)>, CommandError> {
    let plan = replay_plan(&session.settings);
    let (started, before) = (Instant::now(), session.meter.clock.read());
    let mut remove_state = session.settings.force_replay;
    for attempt in 0.. {
        session.shutdown.enter(Stage::Opening);
        let (log, chain) = match open(session, path, &mut remove_state) {
            Ok(opened) => opened,
            Err(CommandError::Failed(error)) if is_disk_full(&error) => {
                let needs = DiskRoom::of(&session.data_dir).needs_of_opening();
                if session.wait_for_room(needs, &error, WorkSource::BlockLog, attempt) {
                    continue;
                }
                return Ok(None);
            }
            Err(CommandError::Failed(error)) => return Err(CommandError::Failed(explain(error))),
            Err(error) => return Err(error),
        };
        session.shutdown.enter(Stage::Working);
        let reporter = session.start_reporter(WorkSource::BlockLog)?;
        let bar = ProgressBar::start("replaying", &session.meter);
        let (chain, mut replayed) = replay_log(session, chain, &log, plan, scratch)?;
        drop((reporter, bar));
        if attempt > 0 {
            replayed.facts.elapsed = started.elapsed();
            replayed.facts.writer = session.meter.clock.read().since(&before);
        }
        replayed.result = match replayed.result {
            Err(error) if error.is_disk_full() => {
                let error = anyhow::Error::new(error);
                if session.wait_for_room(chain.needs(), &error, WorkSource::BlockLog, attempt) {
                    continue;
                }
                (replayed.facts.ended, replayed.facts.error) = ("stopped", None);
                Ok(Ended::Stopped)
            }
            result => result,
        };
        return Ok(Some((chain, replayed, log)));
    }
    Ok(None)
}

/// Opens block log and state.
fn open(
    session: &Session,
    path: Option<&Path>,
    remove_state: &mut bool,
) -> Result<(BlockLog, ChainWriter), CommandError> {
    let (log, own) = open_log(session, path)?;
    if std::mem::take(remove_state) {
        refuse_pruned(&log)?;
        session.data_dir.remove_state()?;
    }
    let chain = session.open_writer(own, session.keep_parts_in_replay(), Lag::Refused)?;
    Ok((log, chain))
}

/// What a replay came to.
#[derive(Debug)]
pub struct Replayed {
    /// How it ended.
    pub result: Result<Ended, ReplayError>,
    /// The same for the record.
    pub facts: RunFacts,
}

/// Replays `log` from the writer's head on; says before which rules are in force. `scratch`: the state is thrown away
/// afterwards.
///
/// # Errors
/// When the state could not be put back after a contradiction. What fails otherwise is in [`Replayed`].
pub fn replay_log(
    session: &Session,
    chain: ChainWriter,
    log: &BlockLog,
    plan: ValidationPlan,
    scratch: bool,
) -> Result<(ChainWriter, Replayed), CommandError> {
    let first = chain.head().number + 1;
    announce_modes(&session.settings.checkpoints, plan.reduced_through, first);
    if session.settings.validate_during_replay {
        tracing::info!(target: "replay", "Doing full validation during replay at user request");
    }
    let options = ReplayOptions {
        threads: session.settings.threads,
        last_block: session.settings.stop.map(StopAt::number),
        stop: Arc::clone(&session.stop),
        start_point: Some(session.data_dir.start_point()),
        scratch,
    };
    let mut bar: Option<Progress> = None;
    let mut progress = |done, total| {
        bar.get_or_insert_with(|| Progress::start("verifying headers", "blocks", total))
            .set(done);
        if done == total {
            bar = None;
        }
    };
    let preverify: Option<OnProgress<'_>> = match session.settings.preverify {
        true => Some(&mut progress),
        false => None,
    };
    let context = session.prepare_context(LogForm::None, plan);
    let (started, before) = (Instant::now(), session.meter.clock.read());
    let (chain, result) = replay(chain, log, &context, &options, &session.meter, preverify);
    let (elapsed, writer) = (started.elapsed(), session.meter.clock.read().since(&before));
    let (chain, result) = match (chain, result) {
        (Some(chain), result) => (chain, result),
        (None, Err(error)) => return Err(CommandError::contradiction(error)),
        (None, Ok(_)) => return Err(CommandError::Failed(anyhow::anyhow!("the writer is gone"))),
    };
    let (ended, error) = match &result {
        Ok(Ended::Stopped) => ("stopped", None),
        Ok(_) => ("done", None),
        Err(error) => ("failed", Some(error.to_string())),
    };
    if ended == "done" {
        tracing::info!(target: "replay", "Done reindexing, elapsed time: {:.6} sec", elapsed.as_secs_f64());
    }
    let facts = RunFacts {
        ended,
        error,
        elapsed,
        writer,
    };
    Ok((chain, Replayed { result, facts }))
}

/// hived skips the checks of blocks in a replay; with checkpoints, what lies above the last one has nobody's word
/// and is validated.
pub fn replay_plan(settings: &Settings) -> ValidationPlan {
    match (settings.validate_during_replay, settings.checkpoints.is_empty()) {
        (true, _) => ValidationPlan::FULL,
        (false, true) => ValidationPlan::REDUCED,
        (false, false) => ValidationPlan {
            reduced_through: settings.checkpoints.last_number(),
        },
    }
}

fn finish(
    session: &Session,
    chain: &ChainWriter,
    facts: RunFacts,
    log: &BlockLog,
) -> Result<(), CommandError> {
    let (failed, ended_itself) = (facts.error.is_some(), facts.ended == "done");
    let wish = session.digest_wish();
    let record = FinalRecord::gather(chain, &session.settings.chain.name, &session.meter, facts, wish)?;
    tracing::info!(target: "replay", "{}", record.summary());
    if !failed {
        warn_of_unreached(session, chain, log);
        let head = chain.head().number;
        if let Some(wanted) = session
            .settings
            .stop
            .map(StopAt::number)
            .filter(|wanted| *wanted > head && ended_itself)
        {
            tracing::warn!(
                target: "replay",
                "requested block {wanted} was not reached (--exit-at-block): {} ends at block {head}",
                log.path().display()
            );
        }
        if let Some(StopAt::Exit(number)) = session
            .settings
            .stop
            .filter(|stop| stop.number() == chain.head().number)
        {
            tracing::info!(
                target: "replay",
                "Exiting application on user request, because requested block {number} reached (--exit-at-block)."
            );
        }
    }
    if session.settings.json {
        output::json_line(&record)
    } else {
        output::text(&format!("{}\n", record.summary()))
    }
}

/// Blocks between the last reached checkpoint and the head were applied for the word of a checkpoint that did
/// not come.
fn warn_of_unreached(session: &Session, chain: &ChainWriter, log: &BlockLog) {
    let head = chain.head().number;
    if let Some(ahead) = session.settings.checkpoints.next_after(head) {
        tracing::warn!(
            target: "test_checkpoint",
            "Checkpoint [{},{}] was not reached: the replay of {} ended at block {head}. Blocks above the last reached \
             checkpoint are not vouched for yet",
            ahead.number,
            ahead.id,
            log.path().display()
        );
    }
}

fn scratch_folder() -> Result<TempDir, CommandError> {
    TempDir::with_prefix("cairn-replay-").map_err(|error| {
        CommandError::Failed(
            anyhow::Error::new(error).context("cannot make a temporary folder for the state"),
        )
    })
}

/// The log to replay. The node's own is opened for writing too, so that a torn tail is cut and the state can
/// never be ahead of it unnoticed; any other log is only read.
fn open_log(
    session: &Session,
    path: Option<&Path>,
) -> Result<(BlockLog, Option<BlockLogWriter>), CommandError> {
    let own_folder = session.data_dir.blockchain();
    let opened = open_any_log(session, path, &own_folder)?;
    if opened.0.head_number().is_none() {
        return Err(CommandError::Failed(anyhow::anyhow!(
            "there is no whole block of chain {} in {}, so there is nothing to replay: name a block_log file, or the \
             folder with the parts, with --block-log PATH, and its chain with --chain; or bootstrap from peers with \
             `cairn run`",
            session.settings.chain.name,
            path.unwrap_or(&own_folder).display()
        )));
    }
    Ok(opened)
}

/// Refuses before anything is made: a folder that holds no log is rather a folder that was named wrongly.
fn expect_own_log(settings: &Settings) -> Result<(), CommandError> {
    let folder = DataDir::new(&settings.data_dir).blockchain();
    let keeps_none = settings.block_log.split == BlockLogSplit::HeadOnly;
    if keeps_none || present_layout(&folder, settings.chain.blocks_per_log_part).is_some() {
        return Ok(());
    }
    Err(CommandError::Failed(anyhow::anyhow!(
        "there is no block log in {}: name one with --block-log PATH, or bootstrap from peers with `cairn run`",
        folder.display()
    )))
}

fn open_any_log(
    session: &Session,
    path: Option<&Path>,
    own_folder: &Path,
) -> Result<(BlockLog, Option<BlockLogWriter>), CommandError> {
    match path {
        Some(path) if !is_within(path, own_folder) => {
            let whole_prefix = session.settings.block_log.auto_fixing;
            let log = open_foreign_log(path, &session.settings.chain, &session.dictionaries, whole_prefix);
            Ok((log.map_err(anyhow::Error::new)?, None))
        }
        _ => match OwnLog::open(own_folder, &session.settings, &session.dictionaries)? {
            Some(own) => Ok((own.reader, Some(own.writer))),
            None => Err(CommandError::Usage(anyhow::anyhow!(
                "block-log-split = 0 keeps no block log, so there is none to replay: name one with --block-log PATH"
            ))),
        },
    }
}

fn is_within(path: &Path, folder: &Path) -> bool {
    let canonical = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    canonical(path).starts_with(canonical(folder))
}
