//! Proof before application: below the last checkpoint no block leaves the window before its id is known to lie on the
//! chain that ends in the next checkpoint.
//!
//! The way between two trusted ids (a `segment`) is proven downwards. Where its blocks fit the window they prove
//! themselves: each one's header names the id of the one below. Where they do not, the headers come first (a `walk`)
//! and leave a `skeleton` of ids; a block is then compared when it arrives. Either way a peer that sends a block or a
//! header which contradicts what is proven has lied, and is caught by that message. A peer that contradicts the checkpoint
//! itself begins a `dispute`: the others are asked before anybody is blamed, and if they all contradict it, the
//! `verdict` is the operator's to read.

mod dispute;
mod headers;
mod prove;
mod requests;
mod segment;
mod skeleton;
mod verdict;
mod walk;

#[cfg(test)]
pub(crate) mod chain_for_tests;

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use cairn_chain::BlockId;

pub use self::headers::{HeaderRun, MAX_HEADERS};
pub(super) use self::requests::Wish;
use self::segment::{Knowledge, Segment, Trusted};
pub use self::skeleton::{Skeleton, SkeletonError};
pub use self::verdict::Verdict;
use self::walk::Walk;
use super::network::{Misbehavior, PeerOffer};
use crate::checkpoint::Checkpoints;
use crate::stats::HeaderReading;

/// Segments that are prepared ahead at most; a `checkpoint-file` may have thousands of lines.
const MAX_SEGMENTS: usize = 1024;
/// A segment is buffered when it is expected to take at most this share of the window, and has no more blocks than one
/// request for headers: while it is, the writer waits and a kill loses it, so that several must fit. Headers of larger
/// ones cost a hundredth of their blocks, and the writer works meanwhile.
const BUFFERED_SHARE: f64 = 0.125;
/// A segment whose blocks turn out larger is buffered on up to this share.
const OUTGROWN_SHARE: f64 = 0.25;
/// With `checkpoint-mismatch = wait`, the time between two rounds of asking.
const ASK_AGAIN: Duration = Duration::from_secs(30);
/// Between two attempts to write a skeleton that could not be written.
const RETRY: Duration = Duration::from_secs(5);

/// Where the proof begins and what it goes by.
#[derive(Clone, Debug)]
pub struct ProofOptions {
    /// Trusted ids.
    pub checkpoints: Checkpoints,
    /// Number and id of the state's head.
    pub head: (u32, BlockId),
    /// Folder for the skeletons.
    pub folder: PathBuf,
    /// How long others may take to be found and asked before the peers' word against a checkpoint is final.
    pub patience: Duration,
    /// Go on asking after a verdict, instead of ending.
    pub wait_on_mismatch: bool,
}

/// A peer, and what it did.
pub(super) type Fault = (Arc<str>, Misbehavior);

/// What is known of the ids ahead; see the module.
#[derive(Debug)]
pub(super) struct Proof {
    options: ProofOptions,
    segments: VecDeque<Segment>,
    /// How many segments, from the first on, are proven.
    proven: usize,
    /// After the last segment that was taken up.
    next_below: Trusted,
    faults: Vec<Fault>,
    retry_at: Option<Instant>,
    /// A verdict was told, and the peers are asked again: not as soon as the first time.
    told_mismatch: bool,
}

impl Proof {
    pub(super) fn new(options: ProofOptions) -> Self {
        let (number, id) = options.head;
        Skeleton::sweep(&options.folder, |top| {
            top > number && options.checkpoints.at(top).is_some()
        });
        Self {
            next_below: Trusted { number, id: Some(id) },
            options,
            segments: VecDeque::new(),
            proven: 0,
            faults: Vec::new(),
            retry_at: None,
            told_mismatch: false,
        }
    }

    /// The id of the block before the first one is not known: whatever the chain of the checkpoint has there is right.
    pub(super) fn forget_below(&mut self) {
        self.next_below.id = None;
    }

    /// Blocks up to this number may leave the window.
    pub(super) fn release_through(&self) -> u32 {
        match self.first_unproven() {
            Some(segment) => segment.below.number,
            None => self.end(),
        }
    }

    fn first_unproven(&self) -> Option<&Segment> {
        self.segments.get(self.proven)
    }

    fn count_proven(&mut self) {
        let unproven = self.segments.iter().position(|segment| !segment.is_proven());
        self.proven = unproven.unwrap_or(self.segments.len());
    }

    /// The place of the segment that holds a block.
    fn position(&self, number: u32) -> Option<usize> {
        let index = self
            .segments
            .partition_point(|segment| segment.top.number < number);
        self.segments
            .get(index)
            .is_some_and(|segment| segment.holds(number))
            .then_some(index)
    }

    /// Blocks up to this number may be asked for.
    pub(super) fn request_through(&self) -> u32 {
        let closed = |segment: &&Segment| {
            segment.dispute.is_some()
                || matches!(segment.knowledge, Knowledge::Walking(_) | Knowledge::Broken(_))
        };
        match self.segments.iter().find(closed) {
            Some(segment) => segment.below.number,
            None => self.end(),
        }
    }

    /// The last block to ask for when nothing behind `wanted` is to be applied: as long as blocks prove themselves,
    /// those up to the checkpoint above it are needed too.
    pub(super) fn needed_for(&self, wanted: u32) -> u32 {
        let unproven = self.position(wanted).filter(|index| *index >= self.proven);
        match unproven.and_then(|index| self.segments.get(index)) {
            Some(segment) if matches!(segment.knowledge, Knowledge::Buffered(_)) => segment.top.number,
            _ => wanted,
        }
    }

    /// Where the segments end; nothing is proven above the last checkpoint, and nothing needs to be.
    fn end(&self) -> u32 {
        match self.options.checkpoints.next_after(self.next_below.number) {
            Some(_) => self.next_below.number,
            None => u32::MAX,
        }
    }

    /// Takes up segments as far as a window of `window_bytes` reaches from `next` on with blocks of `block_size` bytes.
    /// `last`: the last block that is wanted.
    pub(super) fn extend(&mut self, next: u32, last: u32, block_size: f64, window_bytes: u64) {
        let size = |blocks: u32| f64::from(blocks) * block_size;
        let first = self.first_unproven();
        if first.is_some_and(|first| size(first.blocks()) > window_bytes as f64 * OUTGROWN_SHARE) {
            self.give_up_buffering();
        }
        while self.segments.len() < MAX_SEGMENTS {
            let below = self.next_below;
            let Some(top) = self.options.checkpoints.next_after(below.number) else {
                return;
            };
            let closed = self.segments.back().is_some_and(|last| {
                last.dispute.is_some()
                    || matches!(last.knowledge, Knowledge::Walking(_) | Knowledge::Broken(_))
            });
            let ahead = size(below.number.saturating_sub(next));
            // The headers of one segment more are fetched while the blocks of a long one come in.
            let enough = self.segments.len() > 1 && ahead > window_bytes as f64;
            if closed || enough || below.number >= last {
                return;
            }
            let bytes = size(top.number - below.number);
            let mut segment = Segment {
                below,
                top,
                knowledge: Knowledge::Buffered(vec![top.id]),
                dispute: None,
            };
            let long = bytes > window_bytes as f64 * BUFFERED_SHARE || segment.blocks() > MAX_HEADERS;
            if long && !self.walk(&mut segment) {
                return;
            }
            self.next_below = top.into();
            self.segments.push_back(segment);
        }
    }

    /// The window is full and the first segment that is not proven does not fit it: its headers have to come first.
    /// Whether that changes anything.
    pub(super) fn give_up_buffering(&mut self) -> bool {
        let index = self.proven;
        let Some(mut segment) = self.segments.remove(index) else {
            return false;
        };
        // A dispute is about the checkpoint alone; the segment stays as it is until that is settled.
        let buffered = matches!(segment.knowledge, Knowledge::Buffered(_)) && segment.dispute.is_none();
        let changed = buffered && self.walk(&mut segment);
        self.segments.insert(index, segment);
        changed
    }

    /// Begins to fetch the headers of a segment; `false` when its file cannot be opened.
    fn walk(&mut self, segment: &mut Segment) -> bool {
        let (below, top) = (segment.below.number, segment.top);
        match Skeleton::open(&self.options.folder, top) {
            Ok(skeleton) => {
                let (lowest, blocks) = (skeleton.lowest(), segment.blocks());
                tracing::info!(
                    target: "sync",
                    "Fetching the headers of blocks {}..{} back from checkpoint [{},{}] ({} of {blocks} are here)",
                    below + 1,
                    top.number,
                    top.number,
                    top.id,
                    (top.number - lowest.max(below + 1) + 1).min(blocks) - 1
                );
                segment.knowledge = Knowledge::Walking(Box::new(Walk::new(skeleton, below)));
                true
            }
            Err(error) => {
                self.complain(&error);
                false
            }
        }
    }

    fn complain(&mut self, error: &SkeletonError) {
        let now = Instant::now();
        if self.retry_at.is_none_or(|at| now >= at) {
            tracing::warn!(target: "sync", "{error}; trying again every {} s", RETRY.as_secs());
            self.retry_at = Some(now + RETRY);
        }
    }

    /// Forgets segments that are applied as a whole.
    pub(super) fn applied(&mut self, number: u32) {
        while let Some(segment) = self.segments.front() {
            if segment.top.number > number || self.proven == 0 {
                return;
            }
            self.proven -= 1;
            if let Some(Segment {
                knowledge: Knowledge::Skeleton(skeleton),
                ..
            }) = self.segments.pop_front()
            {
                skeleton.remove();
            }
        }
    }

    /// The id that a block must have, if that is known.
    pub(super) fn known_id(&mut self, number: u32) -> Option<BlockId> {
        let segment = self
            .position(number)
            .and_then(|index| self.segments.get_mut(index))?;
        match &mut segment.knowledge {
            // The checkpoint's own id is the operator's word alone until a block that has it is here.
            Knowledge::Buffered(ids) if ids.len() == 1 => None,
            Knowledge::Buffered(ids) => ids.get((segment.top.number - number) as usize).copied(),
            Knowledge::Walking(_) | Knowledge::Broken(_) => None,
            Knowledge::Skeleton(skeleton) => match skeleton.id(number) {
                Ok(id) => id,
                Err(error) => {
                    tracing::warn!(target: "sync", "{error}");
                    self.unlearn(number);
                    None
                }
            },
        }
    }

    /// A skeleton that cannot be read any more is fetched again.
    fn unlearn(&mut self, number: u32) {
        let Some(segment) = self
            .position(number)
            .and_then(|index| self.segments.get_mut(index))
        else {
            return;
        };
        let placeholder = Knowledge::Buffered(vec![segment.top.id]);
        if let Knowledge::Skeleton(mut skeleton) = std::mem::replace(&mut segment.knowledge, placeholder) {
            if let Err(error) = skeleton.reset() {
                tracing::warn!(target: "sync", "{error}");
            }
            let walk = Walk::new(*skeleton, segment.below.number);
            segment.knowledge = Knowledge::Walking(Box::new(walk));
        }
        self.count_proven();
    }

    /// What the operator has to decide, once everything below it has left the window.
    pub(super) fn verdict(&mut self, now: Instant, next: u32, offers: &[PeerOffer]) -> Option<Verdict> {
        let (patience, wait) = (self.options.patience, self.options.wait_on_mismatch);
        let checkpoints = &self.options.checkpoints;
        let origin = |number| checkpoints.origin(number).unwrap_or("configuration").to_owned();
        let segment = self.segments.get_mut(self.proven)?;
        let (below, checkpoint) = (segment.below, segment.top);
        if next <= below.number {
            return None;
        }
        if let Knowledge::Broken(found) = segment.knowledge
            && let Some(trusted) = below.id
        {
            let own_head = below.number == self.options.head.0;
            return Some(Verdict::TwoChains {
                checkpoint,
                origin: origin(checkpoint.number),
                below: below.number,
                trusted,
                trusted_origin: (!own_head).then(|| origin(below.number)),
                found,
            });
        }
        let dispute = segment.dispute.as_mut()?;
        let patience = match self.told_mismatch {
            true => patience.max(ASK_AGAIN),
            false => patience,
        };
        if !dispute.hear_only(offers) {
            segment.dispute = None;
            return None;
        }
        if !dispute.is_over(now, patience, offers) {
            return None;
        }
        let verdict = Verdict::PeersDisagree {
            checkpoint,
            origin: origin(checkpoint.number),
            found: dispute.found(),
            below: below.number,
        };
        if !wait {
            return Some(verdict);
        }
        tracing::error!(target: "test_checkpoint", "{verdict}. Asking again (checkpoint-mismatch = wait)");
        segment.dispute = None;
        self.told_mismatch = true;
        None
    }

    /// Where the way down from a checkpoint stands, if there is one.
    pub(super) fn headers_standing(&self) -> HeaderReading {
        let walking = self.segments.iter().find_map(|segment| match &segment.knowledge {
            Knowledge::Walking(walk) => Some((segment, walk)),
            _ => None,
        });
        walking.map_or_else(HeaderReading::default, |(segment, walk)| HeaderReading {
            checkpoint: segment.top.number,
            wanted: segment.blocks(),
            done: segment.top.number - walk.lowest().max(segment.below.number),
        })
    }

    /// The checkpoint that the lowest unproven blocks wait for, if they do.
    pub(super) fn waits_for(&self) -> Option<u32> {
        let segment = self.first_unproven()?;
        match &segment.knowledge {
            Knowledge::Walking(walk) => Some(walk.lowest()),
            _ => Some(segment.top.number),
        }
    }
}

#[cfg(test)]
mod tests;
