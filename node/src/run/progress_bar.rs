//! The bar that a terminal shows while blocks come in. Without a terminal there are the lines of the log.

use std::io::{self, IsTerminal};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use cairn_sync::stats::Meter;
use crossbeam_channel::{RecvTimeoutError, Sender, bounded};

use crate::progress::Progress;

/// Time between two drawings.
const REFRESH: Duration = Duration::from_millis(200);

/// A bar that follows the meter until it is dropped.
#[derive(Debug)]
pub struct ProgressBar {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl ProgressBar {
    /// Draws from the present head to the meter's target, which may grow.
    pub fn start(action: &'static str, meter: &Arc<Meter>) -> Self {
        if !io::stderr().is_terminal() {
            return Self {
                stop: None,
                thread: None,
            };
        }
        let (stop, stopped) = bounded::<()>(0);
        let meter = Arc::clone(meter);
        let thread = thread::spawn(move || {
            let mut bar: Option<(u32, Progress)> = None;
            while let Err(RecvTimeoutError::Timeout) = stopped.recv_timeout(REFRESH) {
                let reading = meter.read();
                if reading.target <= reading.head {
                    bar = None; // Nothing is known to be ahead: no percentage rather than a wrong one.
                    continue;
                }
                match &mut bar {
                    Some((target, progress)) if *target == reading.target => {
                        progress.set(u64::from(reading.head));
                    }
                    _ => {
                        drop(bar.take());
                        let progress = Progress::resume(
                            action,
                            "blocks",
                            u64::from(reading.head),
                            u64::from(reading.target),
                        );
                        bar = Some((reading.target, progress));
                    }
                }
            }
        });
        Self {
            stop: Some(stop),
            thread: Some(thread),
        }
    }
}

impl Drop for ProgressBar {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // A panic while drawing has been printed; the run goes on without a bar.
            let _ = thread.join();
        }
    }
}
