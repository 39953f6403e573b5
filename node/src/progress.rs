//! Progress of a long command: a bar on a terminal, a line now and then otherwise.
//!
//! At most one bar is drawn at a time; [`above`] takes it out of the way while a log line is written.

use std::io::{self, IsTerminal};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{HumanDuration, ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Time between two lines when there is no terminal.
const LINE_INTERVAL: Duration = Duration::from_secs(10);

static DRAWN: Mutex<Option<ProgressBar>> = Mutex::new(None);

/// Runs `write` while no bar is on the screen.
pub fn above<T>(write: impl FnOnce() -> T) -> T {
    let drawn = DRAWN.lock().unwrap_or_else(PoisonError::into_inner).clone();
    match drawn {
        Some(bar) => bar.suspend(write),
        None => write(),
    }
}

/// Progress through a known number of units.
pub struct Progress {
    /// What is being done, like "verifying".
    action: &'static str,
    unit: &'static str,
    total: u64,
    /// Units that were done before the start.
    resumed_at: u64,
    started: Instant,
    last_line: Instant,
    bar: Option<ProgressBar>,
}

impl Progress {
    /// Starts at zero of `total`.
    pub fn start(action: &'static str, unit: &'static str, total: u64) -> Self {
        Self::resume(action, unit, 0, total)
    }

    /// Starts at `done` of `total`; speed and remaining time count from there.
    pub fn resume(action: &'static str, unit: &'static str, done: u64, total: u64) -> Self {
        let now = Instant::now();
        let bar = io::stderr().is_terminal().then(|| {
            let bar = ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::stderr_with_hz(5));
            let template = format!("{action} {{wide_bar}} {{pos}}/{{len}} {unit} {{per_sec}} {{msg}}");
            if let Ok(style) = ProgressStyle::with_template(&template) {
                bar.set_style(style);
            }
            bar.set_position(done);
            bar.reset_eta();
            *DRAWN.lock().unwrap_or_else(PoisonError::into_inner) = Some(bar.clone());
            bar
        });
        Self {
            action,
            unit,
            total,
            resumed_at: done,
            started: now,
            last_line: now,
            bar,
        }
    }

    /// So many units are done, and this is the outlook: from somebody who knows more than the units tell.
    pub fn set_with_outlook(&mut self, done: u64, outlook: String) {
        if let Some(bar) = &self.bar {
            bar.set_position(done);
            bar.set_message(outlook);
        }
    }

    /// So many units are done.
    pub fn set(&mut self, done: u64) {
        if let Some(bar) = &self.bar {
            bar.set_position(done);
            bar.set_message(format!("eta {:#}", HumanDuration(bar.eta())));
        } else if self.last_line.elapsed() >= LINE_INTERVAL {
            self.last_line = Instant::now();
            let share = 100.0 * done as f64 / self.total.max(1) as f64;
            let rate =
                done.saturating_sub(self.resumed_at) as f64 / self.started.elapsed().as_secs_f64().max(1e-9);
            tracing::info!(
                "{}: {done} of {} {} = {share:.2}%, {rate:.0} {}/s, eta {}",
                self.action,
                self.total,
                self.unit,
                self.unit,
                eta(self.total.saturating_sub(done), rate)
            );
        }
    }
}

/// Time for so many units, as hours, minutes and seconds; `unknown` rather than a number that means nothing.
fn eta(left: u64, rate: f64) -> String {
    let seconds = left as f64 / rate;
    if !seconds.is_finite() || seconds > 1e7 {
        return "unknown".to_owned();
    }
    let seconds = seconds.round() as u64;
    format!(
        "{:02}:{:02}:{:02}",
        seconds / 3600,
        seconds / 60 % 60,
        seconds % 60
    )
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            *DRAWN.lock().unwrap_or_else(PoisonError::into_inner) = None;
            bar.finish_and_clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::eta;

    #[test]
    fn remaining_time_is_said_only_when_it_means_something() {
        assert_eq!(eta(7200 + 180 + 5, 1.0), "02:03:05");
        assert_eq!(eta(0, 5.0), "00:00:00");
        assert_eq!(eta(10, 0.0), "unknown");
        assert_eq!(eta(0, 0.0), "unknown");
        assert_eq!(eta(u64::MAX, 1.0), "unknown");
    }
}
