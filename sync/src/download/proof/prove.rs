//! What becomes known when blocks and headers have come in, and who has lied.

use std::sync::Arc;
use std::time::Instant;

use cairn_chain::BlockId;

use super::dispute::Dispute;
use super::segment::Knowledge;
use super::walk::Finding;
use super::{Fault, Proof};
use crate::download::network::Misbehavior;
use crate::download::window::{Held, Window};

impl Proof {
    /// Proves what can be proven with what is here now.
    pub(in crate::download) fn advance(&mut self, window: &mut Window, now: Instant) {
        for index in 0..self.segments.len() {
            match self.segments[index].knowledge {
                Knowledge::Buffered(_) => self.prove_buffered(index, window, now),
                Knowledge::Walking(_) => self.prove_headers(index, window, now),
                Knowledge::Skeleton(_) | Knowledge::Broken(_) => {}
            }
        }
        self.count_proven();
    }

    /// The same, when one block has come.
    pub(in crate::download) fn advance_at(&mut self, number: u32, window: &mut Window, now: Instant) {
        if let Some(index) = self.position(number)
            && matches!(self.segments[index].knowledge, Knowledge::Buffered(_))
        {
            self.prove_buffered(index, window, now);
            if self.segments[index].is_proven() {
                self.count_proven();
            }
        }
    }

    /// What peers have been found to have done, since the last call.
    pub(in crate::download) fn take_faults(&mut self) -> Vec<Fault> {
        std::mem::take(&mut self.faults)
    }

    fn prove_buffered(&mut self, index: usize, window: &mut Window, now: Instant) {
        loop {
            let segment = &mut self.segments[index];
            let (below, top, blocks) = (segment.below, segment.top, segment.blocks() as usize);
            let Knowledge::Buffered(ids) = &mut segment.knowledge else {
                return;
            };
            if ids.len() > blocks {
                return;
            }
            let (number, expected) = (top.number + 1 - ids.len() as u32, *ids.last().unwrap_or(&top.id));
            let Some(held) = window.get(number) else { return };
            let (id, previous, peer) = (held.arrival.id, held.arrival.previous, Arc::clone(&held.peer));
            if id == expected {
                if number == below.number + 1 && below.contradicts(previous) {
                    segment.knowledge = Knowledge::Broken(previous);
                    return;
                }
                ids.push(previous);
                if number == top.number {
                    self.settle_dispute(index);
                }
                continue;
            }
            window.remove(number);
            if number == top.number {
                self.contradicted(index, peer, id, now);
            } else {
                self.lied(window, &peer, number, expected, id);
            }
            return;
        }
    }

    fn prove_headers(&mut self, index: usize, window: &mut Window, now: Instant) {
        if self.retry_at.is_some_and(|at| now < at) {
            return;
        }
        loop {
            let segment = &mut self.segments[index];
            let Knowledge::Walking(walk) = &mut segment.knowledge else {
                return;
            };
            // A file from before may reach further down than this run needs.
            let below = segment.below;
            let finding = match walk.known_below() {
                Ok(Some(id)) => Ok(Some(Finding::Complete(id))),
                Ok(None) => walk.descend(),
                Err(error) => Err(error),
            };
            if let Err(error) = &finding
                && !error.is_write()
            {
                // What cannot be read any more is fetched again.
                tracing::warn!(target: "sync", "{error}");
                if let Err(error) = walk.restart() {
                    self.complain(&error);
                }
                return;
            }
            match finding {
                Ok(None) => return,
                Ok(Some(Finding::ForCheckpoint)) => self.settle_dispute(index),
                Ok(Some(Finding::AgainstCheckpoint { peer, found })) => {
                    self.contradicted(index, peer, found, now);
                }
                Ok(Some(Finding::Lie {
                    peer,
                    number,
                    expected,
                    found,
                })) => self.lied(window, &peer, number, expected, found),
                Ok(Some(Finding::Complete(found))) if below.contradicts(found) => {
                    segment.knowledge = Knowledge::Broken(found);
                    return;
                }
                Ok(Some(Finding::Complete(_))) => {
                    self.settle_dispute(index);
                    self.walked(index, window);
                    return;
                }
                Err(error) => return self.complain(&error),
            }
        }
    }

    /// All headers are here: what has been buffered before is compared with them.
    fn walked(&mut self, index: usize, window: &mut Window) {
        let segment = &mut self.segments[index];
        let (below, top) = (segment.below, segment.top);
        tracing::info!(
            target: "sync",
            "The headers of blocks {}..{} lead to checkpoint [{},{}]",
            below.number + 1,
            top.number,
            top.number,
            top.id
        );
        let placeholder = Knowledge::Buffered(Vec::new());
        if let Knowledge::Walking(walk) = std::mem::replace(&mut segment.knowledge, placeholder) {
            segment.knowledge = Knowledge::Skeleton(Box::new(walk.into_skeleton()));
        }
        let mut wrong = Vec::new();
        if let Knowledge::Skeleton(skeleton) = &mut segment.knowledge {
            // An id that cannot be read is none that a block has: the block goes, its sender is not blamed.
            wrong = window.drop_within(
                below.number + 1..=top.number,
                |arrival| matches!(skeleton.id(arrival.number()), Ok(Some(id)) if id == arrival.id),
            );
        }
        for Held { arrival, peer } in wrong {
            if let Some(expected) = self.known_id(arrival.number()) {
                self.lied(window, &peer, arrival.number(), expected, arrival.id);
            }
        }
    }

    /// A peer has sent what contradicts a proven id.
    pub(super) fn lied(
        &mut self,
        window: &mut Window,
        peer: &Arc<str>,
        number: u32,
        expected: BlockId,
        found: BlockId,
    ) {
        let reason = format!("the chain of the next checkpoint has {expected}, this one is {found}");
        self.faults
            .push((Arc::clone(peer), Misbehavior::BadBlock { number, reason }));
        self.expel(window, peer);
    }

    /// Throws away what a peer has sent and is not proven.
    pub(in crate::download) fn expel(&mut self, window: &mut Window, peer: &str) {
        for segment in &mut self.segments {
            if let Knowledge::Walking(walk) = &mut segment.knowledge {
                walk.drop_of(peer);
            }
        }
        let known: Vec<(u32, u32)> = self
            .segments
            .iter()
            .filter_map(|segment| match &segment.knowledge {
                Knowledge::Buffered(ids) => {
                    let lowest = (segment.top.number + 1).saturating_sub(ids.len() as u32);
                    Some((lowest, segment.top.number))
                }
                Knowledge::Skeleton(_) => Some((segment.below.number, segment.top.number)),
                Knowledge::Walking(_) | Knowledge::Broken(_) => None,
            })
            .collect();
        window.drop_of(peer, |arrival| {
            let number = arrival.number();
            // The lowest id that buffered blocks have made known is that of a block which was not compared yet.
            known
                .iter()
                .any(|(lowest, top)| (*lowest + 1..=*top).contains(&number))
        });
    }

    fn contradicted(&mut self, index: usize, peer: Arc<str>, found: BlockId, now: Instant) {
        let segment = &mut self.segments[index];
        let (top, below) = (segment.top, segment.below.number);
        let dispute = segment.dispute.get_or_insert_with(|| {
            tracing::warn!(
                target: "test_checkpoint",
                "{peer} has {found} as block {}, checkpoint [{},{}] says otherwise: asking the other peers before any \
                 block above {below} is applied",
                top.number,
                top.number,
                top.id
            );
            Dispute::new(top, now)
        });
        dispute.vote(peer, found);
    }

    /// A peer agrees with the checkpoint: those who did not are on another chain.
    pub(super) fn settle_dispute(&mut self, index: usize) {
        let segment = &mut self.segments[index];
        let (number, expected) = (segment.top.number, segment.top.id);
        let Some(dispute) = segment.dispute.take() else {
            return;
        };
        for (peer, found) in dispute.voters() {
            let reason = format!(
                "checkpoint [{number},{expected}], which other peers confirm, is not on its chain: {found}"
            );
            self.faults
                .push((Arc::clone(peer), Misbehavior::BadBlock { number, reason }));
        }
    }
}
