//! How far a run has come, and how long the rest will take.
//!
//! Blocks differ by orders of magnitude: Hive's first three million are nearly empty. Where the source's size is known
//! (a file), the way is measured in its bytes, otherwise in blocks; the speed is that of the last minute. What is not known is
//! not guessed: no share before the target is known, no time before there is a speed.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use super::meter::MeterReading;

/// The speed is measured over this time, or since the start.
const OVER: Duration = Duration::from_secs(60);
/// Samples are not taken more often.
const SAMPLE: Duration = Duration::from_secs(1);
/// A time that is longer than this is not worth printing: a speed that small is a standstill.
const LONGEST: f64 = 366.0 * 86_400.0;

/// Where a run stands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Standing {
    /// The share of the way that lies behind, from 0 to 1. It never falls while the target stays.
    pub share: Option<f64>,
    /// The time that the rest takes at the speed of the last minute.
    pub remaining: Option<Duration>,
}

/// Watches a run.
#[derive(Debug, Default)]
pub struct Way {
    samples: VecDeque<(Instant, f64)>,
    end: f64,
    share: f64,
}

impl Way {
    /// Takes a reading into account.
    pub fn note(&mut self, now: Instant, reading: &MeterReading) -> Standing {
        let (at, end) = if reading.target_bytes > 0 {
            let done = reading.base_bytes + reading.stored_bytes;
            (done as f64, reading.target_bytes as f64)
        } else {
            (f64::from(reading.head), f64::from(reading.target))
        };
        if end != self.end {
            // Another target, or another unit: what was measured before says nothing about it.
            if (end < self.end) || (self.end == 0.0) {
                self.samples.clear();
            }
            (self.end, self.share) = (end, 0.0);
        }
        if self
            .samples
            .back()
            .is_none_or(|(time, _)| now.saturating_duration_since(*time) >= SAMPLE)
        {
            self.samples.push_back((now, at));
        }
        while self.samples.len() > 2
            && self
                .samples
                .get(1)
                .is_some_and(|(time, _)| now.saturating_duration_since(*time) >= OVER)
        {
            self.samples.pop_front();
        }
        let speed = self.samples.front().and_then(|(time, from)| {
            let elapsed = now.saturating_duration_since(*time).as_secs_f64();
            (elapsed > 0.0 && at > *from).then(|| (at - from) / elapsed)
        });
        if end <= 0.0 {
            return Standing {
                share: None,
                remaining: None,
            };
        }
        self.share = self.share.max((at / end).clamp(0.0, 1.0));
        let seconds = speed.map(|speed| (end - at).max(0.0) / speed);
        Standing {
            share: Some(self.share),
            remaining: seconds
                .filter(|seconds| *seconds <= LONGEST)
                .map(Duration::from_secs_f64),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reading(head: u32, target: u32) -> MeterReading {
        MeterReading {
            head,
            target,
            ..MeterReading::default()
        }
    }

    /// Case S42: nothing is known at the start, and nothing is claimed.
    #[test]
    fn says_nothing_before_there_is_something_to_say() {
        let (start, mut way) = (Instant::now(), Way::default());
        let nothing = Standing {
            share: None,
            remaining: None,
        };
        assert_eq!(way.note(start, &reading(0, 0)), nothing);
        let first = way.note(start + Duration::from_secs(1), &reading(500, 1000));
        assert_eq!((first.share, first.remaining), (Some(0.5), None));
        let second = way.note(start + Duration::from_secs(2), &reading(600, 1000));
        assert_eq!(second.remaining, Some(Duration::from_secs(4)));
        let still = way.note(start + Duration::from_secs(600), &reading(600, 1000));
        assert!(
            still
                .remaining
                .is_none_or(|time| time > Duration::from_secs(1000)),
            "{still:?}"
        );
    }

    #[test]
    fn the_share_does_not_fall_while_the_target_stays() {
        let (start, mut way) = (Instant::now(), Way::default());
        way.note(start, &reading(600, 1000));
        let rewound = way.note(start + Duration::from_secs(1), &reading(500, 1000));
        assert_eq!(rewound.share, Some(0.6));
        let further = way.note(start + Duration::from_secs(2), &reading(500, 2000));
        assert_eq!(further.share, Some(0.25));
    }

    /// Case S43: a chain whose second half is fifty times heavier, at a cost a block and a cost a byte.
    #[test]
    fn bytes_foresee_a_heavy_second_half() {
        const BLOCKS: u64 = 1_000_000;
        let (light, heavy) = (150, 7_500);
        let total = BLOCKS / 2 * (light + heavy);
        let cost = |bytes: u64| 5e-6 + bytes as f64 * 15e-9;
        let seconds = BLOCKS as f64 / 2.0 * (cost(light) + cost(heavy));
        let (start, mut way) = (Instant::now(), Way::default());
        let (mut elapsed, mut stored, mut worst) = (0.0, 0, 1.0f64);
        for number in 0..BLOCKS {
            let bytes = if number < BLOCKS / 2 { light } else { heavy };
            elapsed += cost(bytes);
            stored += bytes;
            if number % 5_000 == 0 {
                let reading = MeterReading {
                    stored_bytes: stored,
                    target_bytes: total,
                    ..reading(number as u32, BLOCKS as u32)
                };
                let standing = way.note(start + Duration::from_secs_f64(elapsed), &reading);
                let left = seconds - elapsed;
                if elapsed > 0.2 * seconds && left > 1.0 {
                    let said = standing.remaining.unwrap().as_secs_f64();
                    worst = worst.max((said / left).max(left / said));
                }
            }
        }
        assert!(worst < 2.0, "the time left was wrong by a factor of {worst:.2}");
    }
}
