//! Which peer is asked for which range, and what is waiting for the writer.
//!
//! No network and no clock of its own: every method takes the time, so that tests can run years in a second.
//!
//! ```text
//!   applied | fed to the pipeline | here ... gap ... here | asked for (chunks) | not asked for yet
//!                                 ^ next
//! ```
//!
//! The window (blocks that are here plus what the running requests may still bring, by the byte limit that each
//! request carries) is bounded in bytes. Only the chunk that holds the next block may pass the bound, by its own
//! limit: without that block nothing can leave the window, and a full window would never empty. Below the last
//! checkpoint blocks leave the window when they are proven; a stretch that turns out not to fit is proven by its
//! headers first ([`proof`](super::proof)).
//!
//! A peer that brings nothing for too long is not waited for: its blocks are asked for elsewhere while its own answer
//! stays welcome. Whoever holds up the block that all wait for is raced by a second peer, and so are the last requests
//! of a sync.
//!
//! Above the last checkpoint nothing is proven, and peers may be on different forks: blocks leave the window as far as each
//! continues the one before. A peer whose block does not has *strayed*: what it has sent goes, it is asked for no more
//! ranges, and its branch is fetched from it alone ([`follow`](super::follow)).

mod assign;
mod forks;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use cairn_chain::BlockId;
use thiserror::Error;

use super::arrival::Arrival;
use super::chunks::Chunks;
use super::network::{BlockRange, HeaderRange, Misbehavior, PeerOffer};
use super::peers::PeerBook;
use super::proof::{HeaderRun, Proof, ProofOptions, Verdict};
use super::window::{ReadyBlocks, Window};
use crate::stats::HeaderReading;

/// Size that is assumed for a block before any was seen.
const FIRST_BLOCK_SIZE: f64 = 2048.0;
/// A request that brings nothing for this long is ended.
const HOPELESS: Duration = Duration::from_secs(120);

/// Limits of the scheduler.
#[derive(Clone, Copy, Debug)]
pub struct SchedulerOptions {
    /// Bytes of the window.
    pub window_bytes: u64,
    /// The last block that is wanted; `None`: all that there are.
    pub last_block: Option<u32>,
    /// How long a request may bring nothing at first. Doubles when a request is given up, up to
    /// [`max_stall`](Self::max_stall), and shrinks while blocks come in: on a slow line everybody is slow.
    pub stall: Duration,
    /// The longest time that it grows to.
    pub max_stall: Duration,
}

impl Default for SchedulerOptions {
    /// 64 MiB; 4 seconds to 64 seconds.
    fn default() -> Self {
        Self {
            window_bytes: 64 << 20,
            last_block: None,
            stall: Duration::from_secs(4),
            max_stall: Duration::from_secs(64),
        }
    }
}

/// Names a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ChunkId(u64);

/// A request to make.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assignment {
    /// Its name.
    pub chunk: ChunkId,
    /// Whom to ask.
    pub peer: Arc<str>,
    /// What to ask for.
    pub work: Work,
}

/// What a request is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// Blocks.
    Blocks(BlockRange),
    /// Their headers.
    Headers(HeaderRange),
}

/// A request that is not waited for any more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GivenUp {
    /// Its name.
    pub chunk: ChunkId,
    /// Whom it went to.
    pub peer: Arc<str>,
    /// The block that did not come; `None`: all of its blocks have come from elsewhere.
    pub missing: Option<u32>,
    /// Whether the request is to be ended; otherwise what it still brings is welcome.
    pub end: bool,
}

/// A block that is not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Unwanted {
    /// The request was ended; a late answer is no fault.
    #[error("the request was ended before")]
    Superseded,
    /// The peer sent another block than the next of the request.
    #[error("block {found} came where block {expected} was due")]
    OutOfOrder {
        /// The block that was due.
        expected: u32,
        /// The block that came.
        found: u32,
    },
    /// The block is not the one that the checkpoint's chain has.
    #[error("block {number}: the chain of the next checkpoint has {expected}, this one is {found}")]
    Contradicts {
        /// Number of the block.
        number: u32,
        /// The proven id.
        expected: BlockId,
        /// The id computed from its bytes.
        found: BlockId,
    },
    /// More bytes came than were asked for.
    #[error("more than {limit} bytes came")]
    TooMuch {
        /// The request's limit.
        limit: u64,
    },
}

/// The window and the requests; see the module.
#[derive(Debug)]
pub struct Scheduler {
    options: SchedulerOptions,
    window: Window,
    chunks: Chunks,
    proof: Proof,
    peers: PeerBook,
    faults: Vec<(Arc<str>, Misbehavior)>,
    /// See [`take_late`](Self::take_late).
    late: Vec<(Arc<str>, u32)>,
    /// Peers that have lied, until they are gone.
    expelled: BTreeSet<Arc<str>>,
    /// Peers that are on other forks: they are asked for nothing here.
    elsewhere: BTreeSet<Arc<str>>,
    /// Peers whose blocks did not continue the others', since the last look.
    strayed: BTreeSet<Arc<str>>,
    /// The last checkpoint: what is above it is proven by nothing.
    last_checkpoint: u32,
    /// No blocks are asked for.
    paused: bool,
    next_chunk: u64,
    stall: Duration,
    block_size: f64,
    /// Bytes that have left the window since the last look at the requests.
    released: u64,
}

impl Scheduler {
    /// A scheduler whose first block is the one after `proof.head`.
    pub fn new(options: SchedulerOptions, proof: ProofOptions) -> Self {
        Self {
            options,
            window: Window::new(proof.head.1),
            chunks: Chunks::default(),
            elsewhere: BTreeSet::new(),
            strayed: BTreeSet::new(),
            last_checkpoint: proof.checkpoints.last_number(),
            paused: false,
            proof: Proof::new(proof),
            peers: PeerBook::default(),
            faults: Vec::new(),
            late: Vec::new(),
            expelled: BTreeSet::new(),
            next_chunk: 0,
            stall: options.stall,
            block_size: FIRST_BLOCK_SIZE,
            released: 0,
        }
    }

    /// The id of the first block's predecessor is not known, and none is wrong. Only below the first checkpoint.
    #[must_use]
    pub fn with_unknown_start(mut self) -> Self {
        self.proof.forget_below();
        self
    }

    /// The next block that the pipeline needs.
    pub fn next_needed(&self) -> u32 {
        self.window.next()
    }

    /// Whether that block is here and proven, if it has to be.
    pub fn next_is_ready(&self) -> bool {
        let next = self.window.next();
        let here = self.window.get(next).is_some() && next <= self.proof.release_through();
        here && (next <= self.last_checkpoint || self.window.strayed().is_none())
    }

    /// Blocks that wait for the pipeline, and their bytes.
    pub fn ready(&self) -> (usize, u64) {
        (self.window.len(), self.window.bytes())
    }

    /// Bytes that are here or may still come.
    pub fn window_bytes(&self) -> u64 {
        self.window.bytes() + self.chunks.reserved()
    }

    /// The block that has to come from somewhere before anything can go on: the lowest unproven header or checkpoint, or
    /// else the next block.
    pub fn waits_for(&self) -> u32 {
        match self.proof.waits_for() {
            Some(number) if self.window.next() > self.proof.release_through() => number,
            _ => self.window.next(),
        }
    }

    /// Where the fetching of headers stands.
    pub fn headers_standing(&self) -> HeaderReading {
        self.proof.headers_standing()
    }

    /// What the operator has to decide, if nothing can go on without that.
    pub fn verdict(&mut self, now: Instant, offers: &[PeerOffer]) -> Option<Verdict> {
        // A peer that has lied has no voice, and its silence is not waited for.
        let offers = self.trusted(offers);
        self.proof.verdict(now, self.window.next(), &offers)
    }

    /// Peers that have not sent a block which others are asked for too by now, with its number, since the last call.
    pub fn take_late(&mut self) -> Vec<(Arc<str>, u32)> {
        std::mem::take(&mut self.late)
    }

    /// What peers were found to have done, since the last call.
    pub fn take_faults(&mut self) -> Vec<(Arc<str>, Misbehavior)> {
        std::mem::take(&mut self.faults)
    }

    /// Takes a block of a request.
    ///
    /// # Errors
    /// [`Unwanted`]; every kind but `Superseded` is the peer's fault and ends the request.
    pub fn received(&mut self, now: Instant, id: ChunkId, arrival: Arrival) -> Result<(), Unwanted> {
        let chunk = self.chunks.get_mut(id).ok_or(Unwanted::Superseded)?;
        let (number, bytes) = (arrival.number(), arrival.stored_len());
        if number != chunk.next || chunk.next >= chunk.end {
            let expected = chunk.next;
            self.failed(now, id);
            return Err(Unwanted::OutOfOrder {
                expected,
                found: number,
            });
        }
        if chunk.received >= chunk.max_bytes {
            let limit = chunk.max_bytes;
            self.failed(now, id);
            return Err(Unwanted::TooMuch { limit });
        }
        chunk.next += 1;
        chunk.received += bytes;
        chunk.progress = now;
        let (peer, was_overdue) = (Arc::clone(&chunk.peer), chunk.overdue);
        self.block_size += (bytes as f64 - self.block_size) * 0.01;
        // An eighth of the way back to the short timeout for every block that comes in.
        self.stall = self.stall.saturating_sub((self.stall - self.options.stall) / 8);
        if !self.window.wants(number) {
            return Ok(());
        }
        if let Some(expected) = self.proof.known_id(number)
            && expected != arrival.id
        {
            let found = arrival.id;
            self.expel(&peer);
            return Err(Unwanted::Contradicts {
                number,
                expected,
                found,
            });
        }
        let full = self.window_bytes() + bytes > self.options.window_bytes;
        if was_overdue && full && number != self.window.next() {
            return Ok(()); // Nothing was reserved for it.
        }
        self.window.put(arrival, peer);
        self.proof.advance_at(number, &mut self.window, now);
        self.settle();
        self.drop_strayed();
        Ok(())
    }

    /// Takes the headers that a request has brought.
    pub fn received_headers(&mut self, now: Instant, id: ChunkId, run: HeaderRun) {
        self.proof.headers(id, run);
        self.stall = self.stall.saturating_sub((self.stall - self.options.stall) / 8);
        self.prove(now);
    }

    /// A request has ended in good order, complete or not; what it did not bring is free again.
    pub fn finished(&mut self, now: Instant, id: ChunkId) {
        let Some(chunk) = self.chunks.remove(id) else {
            return;
        };
        let record = self.peers.get_mut(&chunk.peer);
        record.in_flight -= 1;
        if chunk.received > 0 {
            record.delivered(chunk.received, now.saturating_duration_since(chunk.started));
        } else {
            record.disappointed(now); // An empty answer is not "in sync": somebody else may have the blocks.
        }
    }

    /// A request has failed; what it did not bring is free again and its peer rests for a while.
    pub fn failed(&mut self, now: Instant, id: ChunkId) {
        let Some(chunk) = self.chunks.remove(id) else {
            return;
        };
        let record = self.peers.get_mut(&chunk.peer);
        record.in_flight -= 1;
        record.disappointed(now);
    }

    /// A request for headers has failed: its peer rests for a while.
    pub fn headers_failed(&mut self, now: Instant, id: ChunkId, peer: &Arc<str>) {
        self.proof.headers_failed(id, now);
        self.peers.get_mut(peer).disappointed(now);
    }

    /// The offers of peers that have not lied.
    pub(super) fn trusted(&self, offers: &[PeerOffer]) -> Vec<PeerOffer> {
        let honest = |offer: &&PeerOffer| !self.expelled.contains(&offer.peer);
        offers.iter().filter(honest).cloned().collect()
    }

    /// Requests that have brought nothing for too long, or that nobody needs any more.
    pub fn give_up(&mut self, now: Instant) -> Vec<GivenUp> {
        let mut given_up = Vec::new();
        for chunk in self.chunks.pointless(&self.window) {
            let peer = self.chunks.get_mut(chunk).map(|chunk| Arc::clone(&chunk.peer));
            self.finished(now, chunk);
            given_up.extend(peer.map(|peer| GivenUp {
                chunk,
                peer,
                missing: None,
                end: true,
            }));
        }
        let stalled = self.chunks.stalled(now, self.stall);
        for id in &stalled {
            let Some(chunk) = self.chunks.get_mut(*id) else {
                continue;
            };
            chunk.overdue = true;
            let (peer, missing) = (Arc::clone(&chunk.peer), Some(chunk.next));
            self.peers.get_mut(&peer).disappointed(now);
            given_up.push(GivenUp {
                chunk: *id,
                peer,
                missing,
                end: false,
            });
        }
        for (chunk, peer, number) in self.proof.give_up_stalled(now, self.stall) {
            self.peers.get_mut(&peer).disappointed(now);
            given_up.push(GivenUp {
                chunk,
                peer,
                missing: Some(number),
                end: true,
            });
        }
        if given_up.iter().any(|given_up| given_up.missing.is_some()) {
            self.stall = (self.stall * 2).min(self.options.max_stall);
        }
        let hopeless: Vec<_> = self
            .chunks
            .iter()
            .filter(|(_, chunk)| now.saturating_duration_since(chunk.progress) > HOPELESS)
            .map(|(id, chunk)| (id, Arc::clone(&chunk.peer), chunk.next))
            .collect();
        for (chunk, peer, number) in hopeless {
            self.failed(now, chunk);
            given_up.push(GivenUp {
                chunk,
                peer,
                missing: Some(number),
                end: true,
            });
        }
        given_up
    }

    /// Blocks that are next in order, proven where they have to be, and come from one peer; at most `max`.
    pub fn take_ready(&mut self, max: usize) -> Option<ReadyBlocks> {
        let before = self.window.bytes();
        let through = self.proof.release_through();
        let ready = self.window.take(max, through, self.last_checkpoint)?;
        self.released += before - self.window.bytes();
        self.drop_strayed();
        Some(ready)
    }

    /// Whether so much has left the window since the last look at the requests that another one may fit.
    pub fn has_room_for_more(&self) -> bool {
        self.released >= self.options.window_bytes / 64 || self.chunks.is_empty()
    }

    /// Starts again at `number`: that block, and all that had been taken after it, are wanted once more. What the
    /// disappointing peer has sent besides is thrown away with it. Above the last checkpoint that is behind this node's
    /// `head`, whatever chain it is on by now.
    pub fn rewind(&mut self, number: u32, peer: &str, head: BlockId) {
        self.expel(&Arc::from(peer));
        if number > self.last_checkpoint {
            self.restart(head);
            self.window.next_epoch();
        } else {
            self.window.rewind(number);
            self.window.drop_of(peer, |_| false);
        }
    }

    /// A peer has lied: what it has sent and is not proven goes, and it is asked for nothing more.
    pub fn expel(&mut self, peer: &Arc<str>) {
        self.expelled.insert(Arc::clone(peer));
        self.proof.expel(&mut self.window, peer);
        self.end_requests(peer);
    }

    fn end_requests(&mut self, peer: &str) {
        for id in self.chunks.of(peer) {
            if let Some(chunk) = self.chunks.remove(id) {
                self.peers.get_mut(&chunk.peer).in_flight -= 1;
            }
        }
    }

    fn prove(&mut self, now: Instant) {
        self.proof.advance(&mut self.window, now);
        self.settle();
    }

    /// Deals with the peers that were found to have lied.
    fn settle(&mut self) {
        for (peer, what) in self.proof.take_faults() {
            self.expel(&peer);
            self.faults.push((peer, what));
        }
    }
}
