//! Checkpoints as the head goes by.

use std::collections::VecDeque;

use cairn_chain::BlockId;

use super::error::Contradiction;
use crate::checkpoint::{Checkpoint, Checkpoints};

/// Reached checkpoints that are kept for the final record. With a `checkpoint-file` of thousands of
/// lines all are counted and logged, and the last ones are kept.
const KEPT_REACHED: usize = 10_000;

/// The checkpoints of a run, the next one, and those that were reached.
#[derive(Debug)]
pub(super) struct Milestones {
    all: Checkpoints,
    next: Option<Checkpoint>,
    reached: VecDeque<Checkpoint>,
}

impl Milestones {
    pub(super) fn new(all: Checkpoints, head: u32) -> Self {
        Self {
            next: all.next_after(head),
            all,
            reached: VecDeque::new(),
        }
    }

    pub(super) fn all(&self) -> &Checkpoints {
        &self.all
    }

    /// Ascending; the newest ones if there are very many.
    pub(super) fn reached(&self) -> impl Iterator<Item = Checkpoint> + '_ {
        self.reached.iter().copied()
    }

    /// The state went back to this head.
    pub(super) fn went_back(&mut self, head: u32) {
        self.reached.retain(|checkpoint| checkpoint.number <= head);
        self.next = self.all.next_after(head);
    }

    pub(super) fn compare(&self, number: u32, found: BlockId) -> Result<(), Contradiction> {
        match self.next {
            Some(checkpoint) if checkpoint.number == number && checkpoint.id != found => Err(Contradiction {
                number,
                expected: checkpoint.id,
                found,
                origin: self.all.origin(number).unwrap_or("configuration").to_owned(),
            }),
            _ => Ok(()),
        }
    }

    /// Takes note of the head, with hived's lines when it is a checkpoint. Gives whether it is one, and the last.
    pub(super) fn note(&mut self, number: u32) -> Option<IsLast> {
        let checkpoint = self.next.filter(|checkpoint| checkpoint.number == number)?;
        tracing::info!(target: "test_checkpoint", "Checkpoint [{number},{}] reached.", checkpoint.id);
        if self.reached.len() == KEPT_REACHED {
            self.reached.pop_front();
        }
        self.reached.push_back(checkpoint);
        self.next = self.all.next_after(number);
        if self.next.is_none() {
            tracing::info!(
                target: "test_checkpoint",
                "Final checkpoint reached, resuming normal block validation."
            );
        }
        Some(IsLast(self.next.is_none()))
    }
}

/// Whether a reached checkpoint is the last one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct IsLast(pub(super) bool);
