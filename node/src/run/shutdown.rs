//! The end that somebody asked for: SIGINT and SIGTERM.
//!
//! A run ends in order: the block in hand, a commit, goodbye to the peers, the record. Each of these is a [`Stage`], so
//! that whoever waits is told for what. A service manager kills what does not end in time, so no stage may take long: at
//! [`LIMIT`] the process ends as it is. That is safe at any moment, because kill -9 is.

use std::process;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::Context;
use tokio::signal::unix::{SignalKind, signal};

use crate::exit::ExitCode;

/// Longest time from the signal to the end of the process. Supervisors wait 10 s before they kill.
const LIMIT: Duration = Duration::from_millis(9_000);
/// Time between two lines that say what is waited for.
const REMINDER: Duration = Duration::from_secs(2);
/// Time for the digest in the record of a run that was asked to end.
const DIGEST: Duration = Duration::from_secs(3);
/// Exit code at a second signal: what a shell shows for SIGINT.
const IMPATIENT: i32 = 130;

/// What the process is doing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stage {
    /// Opening block log and state.
    #[default]
    Opening,
    /// Applying blocks.
    Working,
    /// Waiting for room on a disk.
    WaitingForRoom,
    /// Saying goodbye to the peers.
    Network,
    /// Reading all registers for the record.
    Digest,
    /// Closing block log and state.
    Closing,
}

impl Stage {
    /// What is waited for when the end is asked for in this stage.
    fn words(self) -> &'static str {
        match self {
            Self::Opening => "block log and state to be opened",
            Self::Working => "the writer to finish its block and to commit",
            Self::WaitingForRoom => "the pause for want of room to end",
            Self::Network => "the network to say goodbye to the peers",
            Self::Digest => "the digest of the state, for the record",
            Self::Closing => "block log and state to be closed",
        }
    }
}

/// The stop flag, and the stage for those who wait.
#[derive(Clone, Debug, Default)]
pub struct Shutdown {
    /// Set at the first signal.
    pub stop: Arc<AtomicBool>,
    stage: Arc<Mutex<Stage>>,
    /// The exit code if the end takes too long: that of a fault which is known already.
    code: Arc<AtomicI32>,
}

impl Shutdown {
    /// Begins to listen for signals.
    ///
    /// # Errors
    /// When the system refuses the handlers.
    pub fn listen(runtime: &tokio::runtime::Handle) -> anyhow::Result<Self> {
        let shutdown = Self::default();
        let _context = runtime.enter();
        let mut interrupt = signal(SignalKind::interrupt()).context("cannot handle SIGINT")?;
        let mut terminate = signal(SignalKind::terminate()).context("cannot handle SIGTERM")?;
        let watched = shutdown.clone();
        runtime.spawn(async move {
            let mut asked: Option<Instant> = None;
            loop {
                let name = tokio::select! {
                    _ = interrupt.recv() => Some("SIGINT"),
                    _ = terminate.recv() => Some("SIGTERM"),
                    () = tokio::time::sleep(REMINDER), if asked.is_some() => None,
                };
                let stage = watched.stage();
                match (name, asked) {
                    (Some(name), None) => {
                        asked = Some(Instant::now());
                        watched.stop.store(true, Relaxed);
                        tracing::info!(target: "run", "shutdown: {name}; waiting for {}", stage.words());
                    }
                    (Some(name), Some(_)) => {
                        tracing::warn!(
                            target: "run",
                            "shutdown: second {name}, ending at once without waiting for {}; the last commit is whole",
                            stage.words()
                        );
                        process::exit(IMPATIENT);
                    }
                    (None, Some(since)) if since.elapsed() + REMINDER > LIMIT => {
                        tokio::time::sleep(LIMIT.saturating_sub(since.elapsed())).await;
                        tracing::warn!(
                            target: "run",
                            "shutdown: ending without {}, which takes too long; the last commit is whole",
                            watched.stage().words()
                        );
                        process::exit(watched.code.load(Relaxed));
                    }
                    (None, _) => tracing::info!(target: "run", "shutdown: waiting for {}", stage.words()),
                }
            }
        });
        Ok(shutdown)
    }

    /// Says what the process does from now on.
    pub fn enter(&self, stage: Stage) {
        *self.stage.lock().unwrap_or_else(PoisonError::into_inner) = stage;
        if self.is_asked() {
            tracing::info!(target: "run", "shutdown: waiting for {}", stage.words());
        }
    }

    /// The run has failed; what remains is its end. The process says so even if that takes too long.
    pub fn failed(&self, code: ExitCode) {
        self.code.store(code as i32, Relaxed);
    }

    /// Whether somebody asked for the end.
    pub fn is_asked(&self) -> bool {
        self.stop.load(Relaxed)
    }

    /// Until when the digest may be made; no limit when nobody waits for the end.
    pub fn digest_end(&self) -> Option<Instant> {
        self.is_asked().then(|| Instant::now() + DIGEST)
    }

    fn stage(&self) -> Stage {
        *self.stage.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
