//! The parts that a run shares between its threads.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Context;
use cairn_block_log::{BlockLogWriter, Dictionaries};
use cairn_state::CommitPolicy;
use cairn_sync::ChainView;
use cairn_sync::pipeline::{LogForm, PrepareContext, ValidationPlan};
use cairn_sync::room::{Needs, Room, Shortage};
use cairn_sync::stats::{Meter, Reporter, ReporterOptions, WorkSource};
use cairn_sync::writer::{ChainWriter, ChainWriterOptions, Pause};

use super::disk_room::DiskRoom;
use super::folder_lock::FolderLock;
use super::open_files::{self, Demand};
use super::reconcile::{Lag, reconcile, replace_missing};
use super::record::DigestWish;
use super::runtime::Runtime;
use super::shutdown::{Shutdown, Stage};
use crate::config::{BlockLogSplit, Settings};
use crate::data_dir::{DataDir, chain_tag};

/// How often a pause looks at the disks and at the stop flag.
const IDLE: Duration = Duration::from_millis(100);
/// Time before a disk is tried again that refused a write although it seems to have room (a quota, no more inodes);
/// doubles with every attempt, up to [`LONGEST_RETRY`].
const RETRY: Duration = Duration::from_secs(5);
const LONGEST_RETRY: Duration = Duration::from_secs(60);

/// A run before its first block: settings, counters, the stop flag and the runtime for what is asynchronous.
#[derive(Debug)]
pub struct Session {
    /// The configuration.
    pub settings: Settings,
    /// The folder.
    pub data_dir: DataDir,
    /// Counters.
    pub meter: Arc<Meter>,
    /// Published heads.
    pub view: Arc<ChainView>,
    /// Set at SIGINT or SIGTERM.
    pub stop: Arc<AtomicBool>,
    /// Dictionaries for compressed blocks.
    pub dictionaries: Arc<Dictionaries>,
    /// For signals and the network.
    pub runtime: Runtime,
    /// What the end of the run waits for.
    pub shutdown: Shutdown,
    /// Given back last.
    _lock: FolderLock,
}

impl Session {
    /// Takes the data folder and sets the parts up; nothing is opened yet but the dictionaries' folder. `peers` is the
    /// most connections that the run may have.
    ///
    /// # Errors
    /// When another process uses the folder, it cannot be written, too few open files are allowed, the system refuses
    /// threads or signal handlers, or the dictionaries cannot be read.
    pub fn start(settings: Settings, peers: u64) -> anyhow::Result<Self> {
        let lock = FolderLock::take(&settings.data_dir)?;
        let data_dir = DataDir::new(&settings.data_dir);
        let state_files = open_files::prepare(Demand::of(&data_dir.blockchain(), peers))?;
        let runtime = Runtime::start()?;
        let shutdown = Shutdown::listen(runtime.handle())?;
        let dictionaries = match &settings.block_log.dictionaries {
            Some(folder) => Dictionaries::load(folder)?,
            None => Dictionaries::none(),
        };
        Ok(Self {
            data_dir: data_dir
                .with_open_files(state_files)
                .with_trie(settings.state_trie),
            meter: Arc::default(),
            view: Arc::default(),
            stop: Arc::clone(&shutdown.stop),
            dictionaries: Arc::new(dictionaries),
            runtime,
            shutdown,
            settings,
            _lock: lock,
        })
    }

    /// Whether somebody asked for the end.
    pub fn is_stopped(&self) -> bool {
        self.shutdown.is_asked()
    }

    /// Whether the record at the end needs the state's digest, and how long that may take.
    pub fn digest_wish(&self) -> DigestWish {
        match (self.settings.json, self.shutdown.digest_end()) {
            (false, _) => DigestWish::Skip,
            (true, None) => DigestWish::Whole,
            (true, Some(end)) => DigestWish::Until(end),
        }
    }

    /// Waits until the disks have room, after a write was refused with `error` in the given attempt. `false`: the end
    /// was asked for before.
    pub fn wait_for_room(
        &self,
        needs: Needs,
        error: &anyhow::Error,
        source: WorkSource,
        attempt: u32,
    ) -> bool {
        self.shutdown.enter(Stage::WaitingForRoom);
        tracing::warn!(target: "run", "{error:#}");
        let room = DiskRoom::of(&self.data_dir);
        let now = Instant::now();
        let earliest = match room.shortage(needs) {
            Some(_) => now,
            None => now + (RETRY * 2u32.saturating_pow(attempt.min(5))).min(LONGEST_RETRY),
        };
        let shortage = room.tightest(needs).unwrap_or_else(|| Shortage {
            path: self.data_dir.root().to_owned(),
            free: 0,
            needed: needs.state,
        });
        // Without statistics the pause is as good; the reason was told when they were started first.
        let reporter = self.start_reporter(source).ok();
        let pause = Pause::begin(&self.meter, &shortage);
        let found = loop {
            if self.is_stopped() {
                break false;
            }
            thread::sleep(IDLE);
            match room.shortage(needs.with_margin()) {
                None if Instant::now() >= earliest => break true,
                None => {}
                Some(shortage) => pause.remind(&shortage),
            }
        };
        pause.end(found);
        self.meter.clock.leave();
        drop(reporter);
        found
    }

    /// Full parts of the block log that are kept; `None`: all.
    pub fn keep_parts(&self) -> Option<u32> {
        match self.settings.block_log.split {
            BlockLogSplit::Parts(keep) if keep < BlockLogSplit::ALL_PARTS => Some(keep),
            _ => None,
        }
    }

    /// The same while a log is replayed: without the pass over its headers a contradicted checkpoint takes the state
    /// back, and what may have to be applied again must stay.
    pub fn keep_parts_in_replay(&self) -> Option<u32> {
        self.keep_parts().filter(|_| self.settings.preverify)
    }

    /// The writer over this folder's state and, if there is one, its block log; the two are reconciled. Of the log,
    /// `keep_parts` full parts are kept. With [`Lag::Fetched`] the log may lack blocks that the state has: see
    /// [`ChainWriter::log_gap`].
    ///
    /// # Errors
    /// When the state cannot be opened, or the log is behind it and [`Lag::Refused`].
    pub fn open_writer(
        &self,
        log: Option<BlockLogWriter>,
        keep_parts: Option<u32>,
        lag: Lag,
    ) -> anyhow::Result<ChainWriter> {
        let choice = self
            .settings
            .chain_choice
            .as_ref()
            .map(|choice| choice.0.value.as_str());
        let (data_dir, chain) = (&self.data_dir, &self.settings.chain);
        let reader = log.as_ref().map(BlockLogWriter::reader);
        replace_missing(data_dir, &chain_tag(chain), reader.as_ref(), lag)?;
        let mut state = data_dir.open_state(chain, choice)?;
        if let Some(log) = &reader {
            state = reconcile(state, log, &data_dir.restore_points(), lag)?;
        }
        let options = ChainWriterOptions {
            log,
            undo_sessions: self.settings.undo_below_checkpoint,
            keep_parts,
            room: Box::new(DiskRoom::of(&self.data_dir)),
            checkpoints: self.settings.checkpoints.clone(),
            policy: self.commit_policy(),
            meter: Arc::clone(&self.meter),
            view: Arc::clone(&self.view),
            restore_points: Some(self.data_dir.restore_points()),
        };
        match lag {
            Lag::Fetched => Ok(ChainWriter::with_gap(state, options)),
            Lag::Refused => Ok(ChainWriter::new(state, options)?),
        }
    }

    /// What the prevalidation threads need.
    pub fn prepare_context(&self, log_form: LogForm, plan: ValidationPlan) -> PrepareContext {
        PrepareContext {
            spec: Arc::clone(&self.settings.chain),
            dictionaries: Arc::clone(&self.dictionaries),
            log_form,
            plan,
        }
    }

    /// How blocks are written to this node's own log.
    pub fn log_form(&self) -> LogForm {
        match self.settings.block_log.compress {
            true => LogForm::Zstd {
                level: self.settings.block_log.compression_level,
            },
            false => LogForm::Plain,
        }
    }

    /// Starts the statistics.
    ///
    /// # Errors
    /// When the statistics file cannot be opened.
    pub fn start_reporter(&self, source: WorkSource) -> anyhow::Result<Reporter> {
        let stats = &self.settings.stats;
        let options = ReporterOptions {
            interval: stats.interval,
            file: stats.file.clone(),
            source,
        };
        let file = stats
            .file
            .as_deref()
            .map(|path| path.display().to_string())
            .unwrap_or_default();
        Reporter::start(
            Arc::clone(&self.meter),
            self.settings.checkpoints.clone(),
            &options,
        )
        .with_context(|| format!("cannot open statistics file {file}"))
    }

    fn commit_policy(&self) -> CommitPolicy {
        let commit = &self.settings.commit;
        CommitPolicy {
            blocks: commit.blocks.map_or(u32::MAX, std::num::NonZeroU32::get),
            bytes: usize::try_from(commit.bytes).unwrap_or(usize::MAX),
            interval: if commit.interval.is_zero() {
                Duration::MAX
            } else {
                commit.interval
            },
        }
    }
}
