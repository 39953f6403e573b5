//! A limit on repeated log lines, which counts what it holds back.

use std::time::{Duration, Instant};

/// Lets a few lines through in a window of time. What was held back is told at the end of the window, so that it is told
/// even when no further line comes.
#[derive(Debug)]
pub(crate) struct LogLimit {
    window: Duration,
    burst: u32,
    began: Option<Instant>,
    lines: u32,
    suppressed: u64,
}

impl LogLimit {
    /// Lets `burst` lines through per `window`.
    pub(crate) fn new(window: Duration, burst: u32) -> Self {
        Self {
            window,
            burst,
            began: None,
            lines: 0,
            suppressed: 0,
        }
    }

    /// Whether the line is to be written; one that is not is counted.
    pub(crate) fn admit(&mut self, now: Instant) -> bool {
        if self.began.is_none_or(|began| self.is_over(began, now)) && self.suppressed == 0 {
            self.began = Some(now);
            self.lines = 0;
        }
        if self.lines >= self.burst {
            self.suppressed += 1;
            return false;
        }
        self.lines += 1;
        true
    }

    /// How many lines were held back in a window that is over, once.
    pub(crate) fn suppressed(&mut self, now: Instant) -> Option<u64> {
        self.began.filter(|began| self.is_over(*began, now))?;
        self.held_back()
    }

    /// How many lines were held back, without waiting for the window's end: nobody comes any more to tell it then.
    pub(crate) fn held_back(&mut self) -> Option<u64> {
        if self.suppressed == 0 {
            return None;
        }
        self.began = None;
        Some(std::mem::take(&mut self.suppressed))
    }

    fn is_over(&self, began: Instant, now: Instant) -> bool {
        now.saturating_duration_since(began) >= self.window
    }
}

/// A count with a comma at each thousand.
pub(crate) fn grouped(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_few_lines_and_a_count() {
        let (now, window) = (Instant::now(), Duration::from_secs(60));
        let mut limit = LogLimit::new(window, 10);
        assert_eq!((0..10_000).filter(|_| limit.admit(now)).count(), 10);
        assert_eq!(limit.suppressed(now), None, "the window is not over");
        assert_eq!(limit.suppressed(now + window), Some(9_990));
        assert_eq!(limit.suppressed(now + window), None, "told once");
        assert!(limit.admit(now + window));
        assert_eq!(limit.suppressed(now + 3 * window), None, "nothing was held back");
        let later = now + 4 * window;
        assert_eq!((0..15).filter(|_| limit.admit(later)).count(), 10);
        assert_eq!(
            limit.held_back(),
            Some(5),
            "the window is not over, and nobody waits for it"
        );
        assert_eq!(limit.held_back(), None);
    }

    #[test]
    fn counts_are_grouped() {
        for (count, text) in [(0, "0"), (999, "999"), (9_990, "9,990"), (1_234_567, "1,234,567")] {
            assert_eq!(grouped(count), text);
        }
    }
}
