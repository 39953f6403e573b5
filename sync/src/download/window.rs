//! The blocks that are here and not yet in the pipeline.

use std::collections::BTreeMap;
use std::sync::Arc;

use cairn_block_log::StoredBlock;
use cairn_chain::BlockId;

use super::arrival::Arrival;
use super::runs::Runs;

/// A block in the window, and who sent it.
#[derive(Debug)]
pub(super) struct Held {
    pub(super) arrival: Arrival,
    pub(super) peer: Arc<str>,
}

/// Blocks of one peer that are next in order.
#[derive(Debug)]
pub struct ReadyBlocks {
    /// The blocks.
    pub blocks: Vec<StoredBlock>,
    /// Who sent them.
    pub peer: Arc<str>,
    /// How often the window was set back before.
    pub epoch: u64,
}

/// Blocks from `next` on, with holes.
#[derive(Debug)]
pub(super) struct Window {
    next: u32,
    /// The id of the block before, where it is known.
    link: Option<BlockId>,
    epoch: u64,
    held: BTreeMap<u32, Held>,
    runs: Runs,
    bytes: u64,
}

impl Window {
    /// Behind this block.
    pub(super) fn new(link: BlockId) -> Self {
        Self {
            next: link.number() + 1,
            link: Some(link),
            epoch: 0,
            held: BTreeMap::new(),
            runs: Runs::default(),
            bytes: 0,
        }
    }

    /// The block that the pipeline needs next.
    pub(super) fn next(&self) -> u32 {
        self.next
    }

    pub(super) fn len(&self) -> usize {
        self.held.len()
    }

    /// Bytes of the blocks as they were received.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Which numbers are here.
    pub(super) fn runs(&self) -> &Runs {
        &self.runs
    }

    pub(super) fn get(&self, number: u32) -> Option<&Held> {
        self.held.get(&number)
    }

    /// Whether a block is still wanted: not passed, not here.
    pub(super) fn wants(&self, number: u32) -> bool {
        number >= self.next && !self.held.contains_key(&number)
    }

    pub(super) fn put(&mut self, arrival: Arrival, peer: Arc<str>) {
        let number = arrival.number();
        self.remove(number);
        self.bytes += arrival.stored_len();
        self.runs.insert(number);
        self.held.insert(number, Held { arrival, peer });
    }

    pub(super) fn remove(&mut self, number: u32) -> Option<Held> {
        let held = self.held.remove(&number)?;
        self.bytes -= held.arrival.stored_len();
        self.runs.remove(number);
        Some(held)
    }

    /// Throws away what `peer` has sent, but for the blocks that `keep` names.
    pub(super) fn drop_of(&mut self, peer: &str, keep: impl Fn(&Arrival) -> bool) {
        let theirs: Vec<u32> = self
            .held
            .iter()
            .filter(|(_, held)| &*held.peer == peer && !keep(&held.arrival))
            .map(|(number, _)| *number)
            .collect();
        for number in theirs {
            self.remove(number);
        }
    }

    /// Throws away the blocks of `range` that `keep` does not name, and says who had sent them.
    pub(super) fn drop_within(
        &mut self,
        range: std::ops::RangeInclusive<u32>,
        mut keep: impl FnMut(&Arrival) -> bool,
    ) -> Vec<Held> {
        let wrong: Vec<u32> = self
            .held
            .range(range)
            .filter(|(_, held)| !keep(&held.arrival))
            .map(|(number, _)| *number)
            .collect();
        wrong
            .into_iter()
            .filter_map(|number| self.remove(number))
            .collect()
    }

    /// Who sent the next block, if it is here and names another block before it than the one that was taken.
    pub(super) fn strayed(&self) -> Option<Arc<str>> {
        let (link, held) = (self.link?, self.held.get(&self.next)?);
        (held.arrival.previous != link).then(|| Arc::clone(&held.peer))
    }

    /// Takes at most `max` blocks that are next in order, come from one peer and are not above `through`. Above
    /// `proven` they are taken as far as they continue each other.
    pub(super) fn take(&mut self, max: usize, through: u32, proven: u32) -> Option<ReadyBlocks> {
        if self.next > through {
            return None;
        }
        let peer = Arc::clone(&self.held.get(&self.next)?.peer);
        let mut blocks = Vec::new();
        while blocks.len() < max && self.next <= through {
            let theirs = self.held.get(&self.next).is_some_and(|held| held.peer == peer);
            if !theirs || (self.next > proven && self.strayed().is_some()) {
                break;
            }
            let Some(held) = self.remove(self.next) else { break };
            self.link = Some(held.arrival.id);
            blocks.push(held.arrival.stored);
            self.next += 1;
        }
        if blocks.is_empty() {
            return None;
        }
        Some(ReadyBlocks {
            blocks,
            peer,
            epoch: self.epoch,
        })
    }

    /// Starts again at `number`.
    pub(super) fn rewind(&mut self, number: u32) {
        if number < self.next {
            (self.next, self.link) = (number, None);
        }
        self.epoch += 1;
    }

    /// Starts again behind a block that may be anywhere; what is here goes.
    pub(super) fn restart(&mut self, link: BlockId) {
        (self.next, self.link) = (link.number() + 1, Some(link));
        (self.held, self.runs, self.bytes) = (BTreeMap::new(), Runs::default(), 0);
    }

    /// What is taken from now on is of the next epoch.
    pub(super) fn next_epoch(&mut self) {
        self.epoch += 1;
    }

    /// How often it was set back.
    pub(super) fn epoch(&self) -> u64 {
        self.epoch
    }
}
