//! The writer's phases and the clock that measures them.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde::Serialize;

/// What the writer is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// The queue has nothing for it.
    WaitingForWork,
    /// It waits for the disk: to sync a commit, or to have room again. No other thread ever holds a lock for
    /// longer than a few assignments.
    WaitingForLocks,
    /// Transactions outside of blocks.
    ProcessingTransactions,
    /// Blocks: link, effects on the state, log, commits.
    ProcessingBlocks,
}

const PHASES: usize = 4;

/// Time by phase, in seconds. `unknown` is what belongs to no phase.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct PhaseTimes {
    /// [`Phase::WaitingForWork`].
    pub waiting_for_work: f64,
    /// [`Phase::WaitingForLocks`].
    pub waiting_for_locks: f64,
    /// [`Phase::ProcessingTransactions`].
    pub processing_transactions: f64,
    /// [`Phase::ProcessingBlocks`].
    pub processing_blocks: f64,
    /// In no phase: starting, stopping, between two phases.
    pub unknown: f64,
}

impl PhaseTimes {
    /// All of the time.
    pub fn total(&self) -> f64 {
        self.waiting_for_work
            + self.waiting_for_locks
            + self.processing_transactions
            + self.processing_blocks
            + self.unknown
    }

    /// What has been added since an earlier reading of the same clock.
    pub fn since(&self, earlier: &PhaseTimes) -> PhaseTimes {
        PhaseTimes {
            waiting_for_work: self.waiting_for_work - earlier.waiting_for_work,
            waiting_for_locks: self.waiting_for_locks - earlier.waiting_for_locks,
            processing_transactions: self.processing_transactions - earlier.processing_transactions,
            processing_blocks: self.processing_blocks - earlier.processing_blocks,
            unknown: (self.unknown - earlier.unknown).max(0.0),
        }
    }

    /// hived's sentence: each phase's share of the time, with two decimals.
    pub fn sentence(&self) -> String {
        let total = self.total();
        let share = |part: f64| if total > 0.0 { part / total * 100.0 } else { 0.0 };
        format!(
            "waiting for work: {:.2}%, waiting for locks: {:.2}%, processing transactions: {:.2}%, \
             processing blocks: {:.2}%, unknown: {:.2}%",
            share(self.waiting_for_work),
            share(self.waiting_for_locks),
            share(self.processing_transactions),
            share(self.processing_blocks),
            share(self.unknown)
        )
    }
}

/// Measures how long the writer stays in each phase. The writer changes phase at most a few times per
/// batch of blocks, so that the lock (never held longer than a few additions) costs nothing.
#[derive(Debug)]
pub struct PhaseClock {
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    started: Instant,
    current: Option<(Phase, Instant)>,
    spent: [Duration; PHASES],
}

impl Default for PhaseClock {
    fn default() -> Self {
        let state = State {
            started: Instant::now(),
            current: None,
            spent: [Duration::ZERO; PHASES],
        };
        Self {
            state: Mutex::new(state),
        }
    }
}

impl PhaseClock {
    /// Ends the present phase and begins `phase`.
    pub fn enter(&self, phase: Phase) {
        self.switch(Some(phase));
    }

    /// Counts the last `part` of the present phase for another one, for whoever knows only afterwards how long it
    /// took.
    pub fn reassign(&self, phase: Phase, part: Duration) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        if let Some((_, since)) = &mut state.current {
            let part = part.min(now.saturating_duration_since(*since));
            *since += part;
            state.spent[phase as usize] += part;
        }
    }

    /// Ends the present phase; the time until the next [`enter`](Self::enter) is unknown.
    pub fn leave(&self) {
        self.switch(None);
    }

    /// Time by phase since the clock was made, the running phase included up to now.
    pub fn read(&self) -> PhaseTimes {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.times(Instant::now())
    }

    fn switch(&self, phase: Option<Phase>) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        if let Some((ended, since)) = state.current {
            state.spent[ended as usize] += now.saturating_duration_since(since);
        }
        state.current = phase.map(|phase| (phase, now));
    }
}

impl State {
    fn times(&self, now: Instant) -> PhaseTimes {
        let mut spent = self.spent;
        if let Some((running, since)) = self.current {
            spent[running as usize] += now.saturating_duration_since(since);
        }
        let known: Duration = spent.iter().sum();
        let unknown = now.saturating_duration_since(self.started).saturating_sub(known);
        PhaseTimes {
            waiting_for_work: spent[Phase::WaitingForWork as usize].as_secs_f64(),
            waiting_for_locks: spent[Phase::WaitingForLocks as usize].as_secs_f64(),
            processing_transactions: spent[Phase::ProcessingTransactions as usize].as_secs_f64(),
            processing_blocks: spent[Phase::ProcessingBlocks as usize].as_secs_f64(),
            unknown: unknown.as_secs_f64(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread::sleep;

    #[test]
    fn the_sentence_is_hiveds() {
        let times = PhaseTimes {
            waiting_for_work: 60.82,
            waiting_for_locks: 0.09,
            processing_transactions: 0.0,
            processing_blocks: 38.68,
            unknown: 0.41,
        };
        assert_eq!(
            times.sentence(),
            "waiting for work: 60.82%, waiting for locks: 0.09%, processing transactions: 0.00%, \
             processing blocks: 38.68%, unknown: 0.41%"
        );
    }

    #[test]
    fn a_phase_that_never_ends_is_counted_while_it_runs() {
        let clock = PhaseClock::default();
        clock.enter(Phase::ProcessingBlocks);
        sleep(Duration::from_millis(20));
        let first = clock.read();
        assert!(first.processing_blocks >= 0.02, "{first:?}");
        sleep(Duration::from_millis(20));
        let step = clock.read().since(&first);
        assert!(step.processing_blocks >= 0.02, "{step:?}");
        assert!(step.waiting_for_work == 0.0 && step.unknown < 0.001, "{step:?}");
    }

    #[test]
    fn a_reassigned_part_changes_the_phase_and_not_the_sum() {
        let clock = PhaseClock::default();
        clock.enter(Phase::ProcessingBlocks);
        sleep(Duration::from_millis(20));
        clock.reassign(Phase::WaitingForLocks, Duration::from_millis(5));
        // More than the phase has lasted cannot be taken from it.
        clock.enter(Phase::WaitingForWork);
        clock.reassign(Phase::WaitingForLocks, Duration::from_secs(9));
        let times = clock.read();
        assert!(times.processing_blocks >= 0.015, "{times:?}");
        assert!((0.005..1.0).contains(&times.waiting_for_locks), "{times:?}");
        assert!(times.unknown < 0.001, "{times:?}");
    }

    #[test]
    fn every_moment_belongs_to_exactly_one_phase() {
        let clock = PhaseClock::default();
        sleep(Duration::from_millis(5));
        for phase in [
            Phase::WaitingForWork,
            Phase::WaitingForLocks,
            Phase::ProcessingTransactions,
        ] {
            clock.enter(phase);
            sleep(Duration::from_millis(5));
        }
        clock.leave();
        sleep(Duration::from_millis(5));
        let times = clock.read();
        assert!(times.unknown >= 0.01, "{times:?}");
        for part in [
            times.waiting_for_work,
            times.waiting_for_locks,
            times.processing_transactions,
        ] {
            assert!(part >= 0.005, "{times:?}");
        }
        assert_eq!(times.processing_blocks, 0.0);
    }
}
