//! Fetching blocks from peers: what the block log lacks, and then what the state lacks.

use std::fs;
use std::sync::Arc;
use std::time::Duration;

use anyhow::anyhow;
use cairn_p2p::NetworkHandle;
use cairn_sync::download::proof::Verdict;
use cairn_sync::download::{self, BlockNetwork, SchedulerOptions, SyncError, SyncOptions};
use cairn_sync::pipeline::ValidationPlan;
use cairn_sync::replay::announce_modes;
use cairn_sync::stats::WorkSource;
use cairn_sync::writer::{ChainWriter, Ended, LogGap};

use crate::config::StopAt;
use crate::exit::CommandError;
use crate::peering::PeerNetwork;
use crate::run::{ProgressBar, Session};

/// How long other peers may take to be found when one contradicts a checkpoint: seeds are dialed at once, and one that
/// has not answered a connection by then is not likely to.
const MISMATCH_PATIENCE: Duration = Duration::from_secs(5);

/// The writer afterwards, and how it came to that.
type Fetched = (ChainWriter, Result<Ended, CommandError>);

/// Fetches blocks from the state's head on and applies them.
pub(super) fn sync(session: &Session, chain: ChainWriter, network: &NetworkHandle) -> Fetched {
    let settings = &session.settings;
    let plan = ValidationPlan {
        reduced_through: settings.checkpoints.last_number(),
    };
    announce_modes(
        &settings.checkpoints,
        plan.reduced_through,
        chain.head().number + 1,
    );
    let reporter = match session.start_reporter(WorkSource::Network) {
        Ok(reporter) => reporter,
        Err(error) => return (chain, Err(error.into())),
    };
    let context = session.prepare_context(session.log_form(), plan);
    let runtime = session.runtime.handle();
    let peers: Arc<dyn BlockNetwork> = Arc::new(PeerNetwork::new(network.clone(), runtime.clone()));
    let bar = ProgressBar::start("syncing", &session.meter);
    let options = options(session);
    let (chain, result) = download::sync(chain, &peers, &context, options, &session.meter, runtime);
    drop((reporter, bar));
    (chain, result.map_err(command_error))
}

/// Fetches the blocks that the state has and the block log has not, and puts them into the log. They are not applied
/// again: each is proven by the id of the state's head.
pub(super) fn fill_log(
    session: &Session,
    chain: ChainWriter,
    gap: &LogGap,
    network: &NetworkHandle,
) -> Fetched {
    let folder = session.data_dir.blockchain();
    let (first, last) = (gap.first, gap.last.number());
    let end = match gap.below {
        Some(below) if below.number() > 0 => format!("the block log ends at block {}", below.number()),
        _ => "there is no block log".to_owned(),
    };
    tracing::warn!(
        target: "reconcile",
        "{}: {end}, the state is at block {last}: blocks {first} to {last} are fetched from peers and put into the log, \
         without being applied again",
        folder.display()
    );
    let reporter = match session.start_reporter(WorkSource::Network) {
        Ok(reporter) => reporter,
        Err(error) => return (chain, Err(error.into())),
    };
    let context = session.prepare_context(session.log_form(), ValidationPlan::REDUCED);
    let runtime = session.runtime.handle();
    let peers: Arc<dyn BlockNetwork> = Arc::new(PeerNetwork::new(network.clone(), runtime.clone()));
    let bar = ProgressBar::start("fetching the block log", &session.meter);
    let mut options = options(session);
    // A folder of their own: those of the run's checkpoints are not wanted yet, and are not to be swept.
    options.folder = session.data_dir.log_gap();
    let skeletons = options.folder.clone();
    let (chain, result) = download::fill_log(chain, gap, &peers, &context, options, &session.meter, runtime);
    drop((reporter, bar));
    match &result {
        Ok(Ended::ReachedLastBlock) => {
            // It can be made again; one that stays costs disk and nothing else.
            let _ = fs::remove_dir_all(skeletons);
            tracing::info!(
                target: "reconcile",
                "{}: blocks {first} to {last} are in the block log again",
                folder.display()
            );
        }
        Err(SyncError::Checkpoint(Verdict::TwoChains {
            below,
            trusted,
            found,
            ..
        })) => {
            let error = anyhow!(
                "{}: the block log ends with block {below} {trusted}, and the chain of the state's head, block {last} {}, \
                 has {found} in its place. Nothing was changed. Put back the block log that belongs to the state; or move \
                 this one elsewhere and start again: the blocks are fetched from peers",
                folder.display(),
                gap.last
            );
            return (chain, Err(CommandError::Failed(error)));
        }
        _ => {}
    }
    (chain, result.map_err(command_error))
}

fn options(session: &Session) -> SyncOptions {
    let settings = &session.settings;
    SyncOptions {
        threads: settings.threads,
        scheduler: SchedulerOptions {
            window_bytes: settings.window_bytes,
            last_block: settings.stop.map(StopAt::number),
            ..SchedulerOptions::default()
        },
        folder: session.data_dir.p2p(),
        patience: MISMATCH_PATIENCE,
        on_mismatch: settings.on_mismatch,
        stop: Arc::clone(&session.stop),
    }
}

fn command_error(error: SyncError) -> CommandError {
    match error.contradicts_checkpoint() {
        true => CommandError::contradiction(error),
        false => CommandError::Failed(error.into()),
    }
}
