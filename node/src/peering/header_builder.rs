//! Keeps the header file of a serving node up with its block log, in the background.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use cairn_block_log::{HeaderFile, HeaderFileError, SEGMENT_BLOCKS};
use cairn_chain::ChainId;
use cairn_sync::ChainView;

use super::served_log::SharedLog;

/// How often the log is looked at when there is nothing to do, and how long the end of a rest may be late.
const IDLE: Duration = Duration::from_millis(200);
/// The thread rests this many times as long as it has worked: at most a quarter of a processor and of the disk is
/// taken from the writer, whose log is read here.
const REST: u32 = 3;
/// Time after an error of the disk; doubles with each one that follows, up to [`LONGEST_RETRY`]. Each is a line in the
/// log.
const RETRY: Duration = Duration::from_secs(2);
const LONGEST_RETRY: Duration = Duration::from_secs(120);
/// Shorter logs are served without such a file.
const WORTHWHILE: u32 = SEGMENT_BLOCKS;

/// Where the file is found once it is open.
pub(super) type SharedHeaders = Arc<OnceLock<HeaderFile>>;

/// The thread; it ends soon after this is dropped, and nobody waits for it: a segment that is half written then is
/// cut at the next start.
#[derive(Debug)]
pub(super) struct HeaderBuilder {
    stop: Arc<AtomicBool>,
}

impl Drop for HeaderBuilder {
    fn drop(&mut self) {
        self.stop.store(true, Relaxed);
    }
}

impl HeaderBuilder {
    /// Starts to open and extend the file at `path`, which becomes `headers`.
    pub(super) fn start(
        path: PathBuf,
        chain: ChainId,
        log: SharedLog,
        view: Arc<ChainView>,
        headers: SharedHeaders,
    ) -> std::io::Result<Self> {
        let stop = Arc::new(AtomicBool::new(false));
        let work = Work {
            path,
            chain,
            log,
            view,
            headers,
            stop: Arc::clone(&stop),
        };
        std::thread::Builder::new()
            .name("header file".to_owned())
            .spawn(move || work.run())?;
        Ok(Self { stop })
    }
}

struct Work {
    path: PathBuf,
    chain: ChainId,
    log: SharedLog,
    view: Arc<ChainView>,
    headers: SharedHeaders,
    stop: Arc<AtomicBool>,
}

impl Work {
    fn run(&self) {
        let mut retry = RETRY;
        while !self.stop.load(Relaxed) {
            let began = Instant::now();
            let rest = match self.step() {
                Ok(true) => {
                    retry = RETRY;
                    began.elapsed() * REST
                }
                Ok(false) => IDLE,
                Err(error) => {
                    tracing::warn!(
                        target: "p2p",
                        "{error}; headers are served from whole blocks, which is slow, and this is tried again in {} s",
                        retry.as_secs()
                    );
                    let rest = retry;
                    retry = (retry * 2).min(LONGEST_RETRY);
                    rest
                }
            };
            self.sleep(rest);
        }
    }

    /// Opens the file or adds a segment. False if there is nothing to do.
    fn step(&self) -> Result<bool, HeaderFileError> {
        // What a crash could still take from the log is not copied.
        let Some(durable) = self.view.heads().durable.map(|head| head.number) else {
            return Ok(false);
        };
        let Some(log) = self.log.get() else {
            return Ok(false);
        };
        let Some(headers) = self.headers.get() else {
            if log
                .first_number()
                .is_none_or(|first| durable.saturating_sub(first) < WORTHWHILE)
            {
                return Ok(false);
            }
            let opened = HeaderFile::open(&self.path, &self.chain, &log, durable)?;
            tracing::debug!(
                target: "p2p",
                "{} holds the headers below block {}",
                self.path.display(),
                opened.next_number()
            );
            // Only this thread sets it.
            let _ = self.headers.set(opened);
            return Ok(true);
        };
        headers.extend(&log, durable, &self.stop)
    }

    /// Sleeps in small pieces, so that the end is not missed.
    fn sleep(&self, rest: Duration) {
        let until = Instant::now() + rest;
        while !self.stop.load(Relaxed) {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            std::thread::sleep(left.min(IDLE));
        }
    }
}
