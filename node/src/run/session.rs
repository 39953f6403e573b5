//! The parts that a run shares between its threads.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

use anyhow::Context;
use cairn_block_log::{BlockLogWriter, Dictionaries};
use cairn_state::CommitPolicy;
use cairn_sync::ChainView;
use cairn_sync::pipeline::{LogForm, PrepareContext, ValidationPlan};
use cairn_sync::stats::{Meter, Reporter, ReporterOptions, WorkSource};
use cairn_sync::writer::{ChainWriter, ChainWriterOptions};

use super::reconcile::reconcile;
use super::signals::stop_on_signals;
use crate::config::Settings;
use crate::data_dir::DataDir;

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
    pub runtime: tokio::runtime::Runtime,
}

impl Session {
    /// Sets the parts up; nothing is opened yet but the dictionaries' folder.
    ///
    /// # Errors
    /// When the system refuses threads or signal handlers, or the dictionaries cannot be read.
    pub fn start(settings: Settings) -> anyhow::Result<Self> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .thread_name("network")
            .enable_all()
            .build()
            .context("cannot start the runtime")?;
        let stop = Arc::new(AtomicBool::new(false));
        stop_on_signals(runtime.handle(), &stop)?;
        let dictionaries = match &settings.block_log.dictionaries {
            Some(folder) => Dictionaries::load(folder)?,
            None => Dictionaries::none(),
        };
        Ok(Self {
            data_dir: DataDir::new(&settings.data_dir),
            meter: Arc::default(),
            view: Arc::default(),
            stop,
            dictionaries: Arc::new(dictionaries),
            runtime,
            settings,
        })
    }

    /// Whether somebody asked for the end.
    pub fn is_stopped(&self) -> bool {
        self.stop.load(Relaxed)
    }

    /// The writer over this folder's state and, if there is one, its block log; the two are reconciled.
    ///
    /// # Errors
    /// When the state cannot be opened, or the log is behind it.
    pub fn open_writer(&self, log: Option<BlockLogWriter>) -> anyhow::Result<ChainWriter> {
        let choice = self
            .settings
            .chain_choice
            .as_ref()
            .map(|choice| choice.0.value.as_str());
        let mut state = self.data_dir.open_state(&self.settings.chain, choice)?;
        if let Some(log) = &log {
            state = reconcile(state, &log.reader(), &self.data_dir.restore_points())?;
        }
        let options = ChainWriterOptions {
            log,
            checkpoints: self.settings.checkpoints.clone(),
            policy: self.commit_policy(),
            meter: Arc::clone(&self.meter),
            view: Arc::clone(&self.view),
            restore_points: Some(self.data_dir.restore_points()),
        };
        Ok(ChainWriter::new(state, options)?)
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
