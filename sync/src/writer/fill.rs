//! Putting blocks into the block log that the state has already.
//!
//! A log can lack the last blocks that the state has: it was lost, a backup of it is older, its damaged end was cut off,
//! or the state was made from somebody else's log. The blocks are fetched again, and every one of them is proven by the
//! id of the state's head, so that none has to be applied: each only has to be whole, and to continue the log.

use std::sync::atomic::Ordering::Relaxed;

use cairn_chain::{BlockId, Time};
use cairn_rules::Head;

use super::chain::ChainWriter;
use super::error::{BlockFault, WriterError};
use super::reached::Milestones;
use crate::checkpoint::{Checkpoints, ConfiguredCheckpoint};
use crate::pipeline::PreparedBlock;

/// Where the id of the state's head is from, for messages about it.
const ORIGIN: &str = "the head of this node's state";

/// The blocks that the state has and the log lacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogGap {
    /// Number of the first one.
    pub first: u32,
    /// Id of the block before it. `None`: the log begins at `first`, and nothing here knows the blocks before.
    pub below: Option<BlockId>,
    /// The last one: the state's head.
    pub last: BlockId,
}

impl LogGap {
    /// The id that all of them lead to, as the only checkpoint.
    pub(crate) fn checkpoints(&self) -> Checkpoints {
        let point = format!("[{},{}]", self.last.number(), self.last);
        Checkpoints::parse(&[ConfiguredCheckpoint::new(point, ORIGIN)]).checkpoints
    }

    /// The block before the first one. Where its id is unknown, only the number is right.
    pub(crate) fn before(&self) -> BlockId {
        self.below.unwrap_or_else(|| {
            let mut id = BlockId::ZERO;
            id.0[..4].copy_from_slice(&(self.first - 1).to_be_bytes());
            id
        })
    }
}

/// A writer that appends to the log and applies nothing.
#[derive(Debug)]
pub(super) struct Filling {
    /// The last block in the log.
    pub(super) head: Head,
    /// Whether its id is known.
    linked: bool,
    /// The run's own checkpoints.
    milestones: Milestones,
}

impl ChainWriter {
    /// What the block log lacks below the state's head; `None`: nothing, or no log is kept.
    pub fn log_gap(&self) -> Option<LogGap> {
        self.log.gap(self.state.head())
    }

    /// From now on blocks are appended to the log without being applied, and the head is the log's.
    pub(crate) fn begin_filling(&mut self, gap: &LogGap) {
        let before = gap.before();
        let head = Head {
            number: before.number(),
            id: before,
            time: Time(0), // Not known, and not asked for before the first block has come.
        };
        let milestones = Milestones::new(gap.checkpoints(), head.number);
        self.filling = Some(Filling {
            head,
            linked: gap.below.is_some(),
            milestones: std::mem::replace(&mut self.milestones, milestones),
        });
        self.durable = head;
        self.meter.head.set(head.number, head.time.0);
        self.view.begin_at(head);
    }

    /// The head is the state's again.
    pub(crate) fn end_filling(&mut self) {
        let Some(filling) = self.filling.take() else {
            return;
        };
        self.milestones = filling.milestones;
        let head = self.state.head();
        // If the log still lacks blocks, the run ends, and no more than the log has is served until then.
        if self.durable.id == head.id {
            self.view.begin_at(head);
        }
        self.durable = head;
        self.meter.head.set(head.number, head.time.0);
        self.meter.durable.store(head.number, Relaxed);
        self.set_live(false);
    }

    /// Appends the next block to the log.
    pub(super) fn put_into_log(&mut self, prepared: &PreparedBlock) -> Result<(), WriterError> {
        let Some(Filling { head, linked, .. }) = self.filling else {
            return Ok(());
        };
        let header = &prepared.block.block().header;
        let (number, id, time) = (prepared.block.number(), prepared.block.id(), header.timestamp);
        if linked && header.previous != head.id {
            let fault = BlockFault::Link {
                expected: head.id,
                found: header.previous,
            };
            return Err(self.block_error(number, fault));
        }
        self.milestones
            .compare(number, id)
            .map_err(WriterError::Checkpoint)?;
        self.append(prepared)?;
        if let Some(filling) = &mut self.filling {
            (filling.head, filling.linked) = (Head { number, id, time }, true);
        }
        let meter = &self.meter;
        meter.head.set(number, time.0);
        meter.note_logged();
        meter.stored_bytes.fetch_add(prepared.stored_len as u64, Relaxed);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gap_is_proven_by_the_states_head_alone() {
        let mut id = [7; 20];
        id[..4].copy_from_slice(&900u32.to_be_bytes());
        let gap = LogGap {
            first: 401,
            below: None,
            last: BlockId(id),
        };
        let checkpoints = gap.checkpoints();
        assert_eq!(checkpoints.last_number(), 900);
        assert_eq!(checkpoints.at(900).map(|point| point.id), Some(BlockId(id)));
        assert_eq!(checkpoints.origin(900), Some(ORIGIN));
        assert_eq!(gap.before().number(), 400);
        let below = Some(BlockId(id));
        assert_eq!(LogGap { below, ..gap }.before(), BlockId(id));
    }
}
