//! The bar that a terminal shows while blocks come in. Without a terminal there are the lines of the log.

use std::io::{self, IsTerminal};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use cairn_sync::stats::{HeaderReading, Meter, MeterReading, Standing, Way};
use crossbeam_channel::{RecvTimeoutError, Sender, bounded};
use indicatif::HumanDuration;

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
            let (mut bar, mut way): (Option<(u32, Progress)>, _) = (None, Way::default());
            while let Err(RecvTimeoutError::Timeout) = stopped.recv_timeout(REFRESH) {
                let reading = meter.read();
                let standing = way.note(Instant::now(), &reading);
                if reading.target <= reading.head {
                    bar = None; // Nothing is known to be ahead: no percentage rather than a wrong one.
                    continue;
                }
                match &mut bar {
                    Some((target, progress)) if *target == reading.target => {
                        progress.set_with_outlook(u64::from(reading.head), outlook(&reading, &standing));
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

/// The share in bytes where those are known, and the time that the rest takes: blocks alone foretell neither.
fn outlook(reading: &MeterReading, standing: &Standing) -> String {
    if reading.headers.checkpoint > 0 && reading.blocks == 0 {
        let HeaderReading { wanted, done, .. } = reading.headers;
        return format!(
            "headers {:.1}%",
            100.0 * f64::from(done) / f64::from(wanted.max(1))
        );
    }
    let share = standing
        .share
        .map_or_else(String::new, |share| format!("{:.1}% ", 100.0 * share));
    let eta = standing
        .remaining
        .map_or_else(|| "unknown".to_owned(), |time| HumanDuration(time).to_string());
    format!("{share}eta {eta}")
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
