//! The state is kept where a checkpoint was reached.

use std::time::{Duration, Instant};

use cairn_state::{RestorePoint, RestorePoints, Store};

/// Restore points that are kept: the last one, and the one before, should the last checkpoint turn out to have been
/// copied wrongly.
const KEPT: usize = 2;

/// A restore point is made when this many times what the last one cost has passed since: at most one part in so many
/// of a run goes into them, however many checkpoints there are. Higher, an automatic restore goes further back;
/// lower, thousands of checkpoints slow a run down.
const COST_FACTOR: u32 = 20;

/// What a failed attempt counts as, so that a full disk brings a warning a minute and not one at each checkpoint.
const COST_OF_FAILURE: Duration = Duration::from_secs(3);

/// Makes the restore points of one run.
#[derive(Debug)]
pub(crate) struct Keeper {
    points: RestorePoints,
    last: Option<Attempt>,
    /// A checkpoint at which one is made whatever it costs.
    wanted: Option<u32>,
}

#[derive(Debug)]
struct Attempt {
    ended: Instant,
    cost: Duration,
}

impl Keeper {
    pub(crate) fn new(points: RestorePoints) -> Self {
        Self {
            points,
            last: None,
            wanted: None,
        }
    }

    pub(crate) fn points(&self) -> &RestorePoints {
        &self.points
    }

    /// Whether there is one of this block.
    pub(crate) fn has(&self, number: u32) -> bool {
        let list = self.points.list().unwrap_or_default();
        list.iter().any(|point| point.number() == number)
    }

    /// One is made at this checkpoint, because blocks above it are applied before they are proven.
    pub(crate) fn want(&mut self, checkpoint: u32) {
        self.wanted = Some(checkpoint);
    }

    /// Whether to make one at a checkpoint. At the last one of the list always: no other will come.
    pub(crate) fn is_due(&self, checkpoint: u32, last_checkpoint: bool, now: Instant) -> bool {
        last_checkpoint
            || self.wanted == Some(checkpoint)
            || self.last.as_ref().is_none_or(|last| {
                now.saturating_duration_since(last.ended) >= last.cost.saturating_mul(COST_FACTOR)
            })
    }

    /// Makes one of what the store has committed, and removes those that are not among the newest any more. That it
    /// cannot be made is a warning: the state itself is as good as before. `started` is when the work for it began.
    pub(crate) fn keep(&mut self, store: &Store, started: Instant) {
        let made = self
            .points
            .keep(store)
            .and_then(|point| self.points.keep_newest(&point, KEPT).map(|()| point));
        let mut cost = started.elapsed();
        match made {
            Ok(RestorePoint { head, dir }) => {
                tracing::debug!(
                    target: "restore_point",
                    "state of block {} kept in {} in {cost:.2?}",
                    head.map_or(0, |head| head.number),
                    dir.display()
                );
            }
            Err(error) => {
                cost = cost.max(COST_OF_FAILURE);
                tracing::warn!(
                    target: "restore_point",
                    "the state of block {} cannot be kept as a restore point in {}: {error}. The run goes on; a \
                     restore would go back to an earlier checkpoint",
                    store.head().map_or(0, |head| head.number),
                    self.points.dir().display()
                );
            }
        }
        self.last = Some(Attempt {
            ended: Instant::now(),
            cost,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_one_waits_for_what_the_last_one_cost_but_the_last_checkpoint_does_not() {
        let mut keeper = Keeper::new(RestorePoints::in_dir("unused"));
        let now = Instant::now();
        assert!(keeper.is_due(50, false, now), "the first checkpoint");
        keeper.last = Some(Attempt {
            ended: now,
            cost: Duration::from_millis(50),
        });
        assert!(!keeper.is_due(100, false, now + Duration::from_millis(999)));
        assert!(keeper.is_due(100, false, now + Duration::from_secs(1)));
        assert!(keeper.is_due(100, true, now));
        keeper.want(100);
        assert!(keeper.is_due(100, false, now));
        assert!(!keeper.is_due(150, false, now), "another one");
    }
}
