//! The thread that prints the statistics on time.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crossbeam_channel::{RecvTimeoutError, Sender, bounded};
use serde::Serialize;

use super::file::StatsFile;
use super::interval::{Interval, Outlook, WorkSource};
use super::meter::Meter;
use super::way::Way;
use crate::checkpoint::Checkpoints;

/// What and how often to report.
#[derive(Clone, Debug)]
pub struct ReporterOptions {
    /// Time between two reports. Zero: none.
    pub interval: Duration,
    /// One JSON object a line is appended here each interval.
    pub file: Option<PathBuf>,
    /// Where the blocks come from.
    pub source: WorkSource,
}

/// A running reporter. Dropping it ends the thread; nothing is printed for the unfinished interval.
#[derive(Debug)]
pub struct Reporter {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Serialize)]
struct Record<'a> {
    /// Wall-clock time at the end of the interval, seconds since 1970.
    at: f64,
    #[serde(flatten)]
    interval: &'a Interval,
}

impl Reporter {
    /// Starts the thread.
    ///
    /// # Errors
    /// When the statistics file cannot be opened for appending, or no thread can be started.
    pub fn start(meter: Arc<Meter>, checkpoints: Checkpoints, options: &ReporterOptions) -> io::Result<Self> {
        if options.interval.is_zero() {
            return Ok(Self {
                stop: None,
                thread: None,
            });
        }
        let file = match &options.file {
            Some(path) => Some(StatsFile::open(path.clone())?),
            None => None,
        };
        let (interval, source) = (options.interval, options.source);
        let (stop, stopped) = bounded::<()>(0);
        let thread = thread::Builder::new().name("statistics".into()).spawn(move || {
            let mut report = Report {
                meter,
                checkpoints,
                source,
                file,
                way: Way::default(),
                last_block: Instant::now(),
            };
            let mut earlier = (Instant::now(), report.meter.read());
            let mut due = earlier.0 + interval;
            while let Err(RecvTimeoutError::Timeout) = stopped.recv_deadline(due) {
                let later = (Instant::now(), report.meter.read());
                report.print(&earlier, &later);
                earlier = later;
                // The grid stays where it is unless this thread itself was held up for whole intervals.
                due = (due + interval).max(Instant::now());
            }
        })?;
        Ok(Self {
            stop: Some(stop),
            thread: Some(thread),
        })
    }
}

impl Drop for Reporter {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // A panic of the statistics thread has been printed and must not take the node down.
            let _ = thread.join();
        }
    }
}

struct Report {
    meter: Arc<Meter>,
    checkpoints: Checkpoints,
    source: WorkSource,
    file: Option<StatsFile>,
    way: Way,
    /// The end of the last interval in which a block was applied.
    last_block: Instant,
}

impl Report {
    fn print(&mut self, earlier: &(Instant, super::MeterReading), later: &(Instant, super::MeterReading)) {
        let seconds = (later.0 - earlier.0).as_secs_f64();
        let next = self
            .checkpoints
            .next_after(later.1.head)
            .map(|checkpoint| checkpoint.number);
        if later.1.blocks > earlier.1.blocks {
            self.last_block = later.0;
        }
        let outlook = Outlook {
            standing: self.way.note(later.0, &later.1),
            last_block_age: later.0.saturating_duration_since(self.last_block),
        };
        let interval = Interval::between(&earlier.1, &later.1, seconds, self.source, next, &outlook);
        tracing::info!(target: "writer", "{}", interval.writer.sentence());
        tracing::info!(target: "writer", "{}", interval.progress_line());
        if let Some(line) = interval.headers_line() {
            tracing::info!(target: "writer", "{line}");
        }
        let at = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .map_or(0.0, |time| time.as_secs_f64());
        if let Some(file) = &mut self.file
            && let Ok(mut line) = serde_json::to_vec(&Record {
                at,
                interval: &interval,
            })
        {
            line.push(b'\n');
            file.append(&line);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::Phase;

    #[test]
    fn reports_while_the_writer_never_waits() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("stats.jsonl");
        let meter = Arc::new(Meter::default());
        meter.clock.enter(Phase::ProcessingBlocks);
        let options = ReporterOptions {
            interval: Duration::from_millis(50),
            file: Some(path.clone()),
            source: WorkSource::BlockLog,
        };
        let reporter = Reporter::start(meter, Checkpoints::default(), &options).unwrap();
        thread::sleep(Duration::from_millis(1_000));
        drop(reporter);
        let text = std::fs::read_to_string(path).unwrap();
        let records: Vec<serde_json::Value> = text
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        assert!(
            records.len() >= 10,
            "{} records in a second of 50 ms intervals",
            records.len()
        );
        for record in &records {
            let share =
                record["writer"]["processing_blocks"].as_f64().unwrap() / record["seconds"].as_f64().unwrap();
            assert!(share > 0.9, "a writer that never waits shows as busy: {record}");
        }
    }
}
