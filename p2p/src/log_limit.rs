//! A limit on repeated log lines, which counts what it holds back.

use std::{
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

/// Lets `burst` lines through per `window`.
#[derive(Debug)]
pub(crate) struct LogLimit {
    window: Duration,
    burst: u32,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    began: Instant,
    lines: u32,
    suppressed: u64,
}

impl LogLimit {
    pub(crate) fn new(window: Duration, burst: u32) -> Self {
        Self {
            window,
            burst,
            state: Mutex::new(State {
                began: Instant::now(),
                lines: 0,
                suppressed: 0,
            }),
        }
    }

    /// What to append to the line (often nothing, else how many were held back before), or `None` to write no
    /// line.
    pub(crate) fn admit(&self) -> Option<String> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.began.elapsed() >= self.window {
            state.began = Instant::now();
            state.lines = 0;
        }
        if state.lines >= self.burst {
            state.suppressed += 1;
            return None;
        }
        state.lines += 1;
        match std::mem::take(&mut state.suppressed) {
            0 => Some(String::new()),
            count => Some(format!(" (suppressed {count} such lines)")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_what_it_holds_back() {
        let limit = LogLimit::new(Duration::from_millis(50), 2);
        let lines: Vec<_> = (0..10_000).filter_map(|_| limit.admit()).collect();
        assert_eq!(lines.len(), 2);
        std::thread::sleep(Duration::from_millis(60));
        assert_eq!(limit.admit().as_deref(), Some(" (suppressed 9998 such lines)"));
        assert_eq!(limit.admit().as_deref(), Some(""));
    }
}
