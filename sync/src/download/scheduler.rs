//! Which peer is asked for which range, and what is waiting for the writer.
//!
//! No I/O and no clock of its own: every method takes the time, so that tests can run years in a second.
//!
//! ```text
//!   applied | fed to the pipeline | ready ... gap ... ready | asked for (chunks) | not asked for yet
//!                                 ^ next
//! ```
//!
//! The window (ready blocks plus what the running requests may still bring, by the byte limit that each
//! request carries) is bounded in bytes. Only the chunk that holds the lowest missing block may pass
//! the bound, by its own limit: without that block nothing can leave the window, and a full window would
//! never empty.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use cairn_block_log::StoredBlock;
use thiserror::Error;

use super::network::{BlockRange, PeerOffer};
use super::peers::PeerBook;

/// Requests under way with one peer: one that sends, and one that waits so that the line is never idle.
const CHUNKS_PER_PEER: usize = 2;
/// Blocks in a request to a peer whose speed is not known yet.
const FIRST_COUNT: u32 = 128;
/// Most blocks in one request; the server's limit is above it.
const MAX_COUNT: u32 = 2048;
/// Time that a request should take at the peer's measured speed.
const CHUNK_TIME: f64 = 1.0;
/// Size that is assumed for a block before any was seen.
const FIRST_BLOCK_SIZE: f64 = 2048.0;
/// A request may bring this many times the expected bytes before the peer has to end it.
const SLACK: f64 = 4.0;
/// Smallest byte limit of a request.
const MIN_REQUEST_BYTES: u64 = 64 << 10;
/// A request may take this share of the window.
const WINDOW_SHARE: u64 = 8;

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
    pub range: BlockRange,
}

/// A block that is not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Unwanted {
    /// The request was given up; a late answer is no fault.
    #[error("the request was given up before")]
    Superseded,
    /// The peer sent another block than the next of the request.
    #[error("block {found} came where block {expected} was due")]
    OutOfOrder {
        /// The block that was due.
        expected: u32,
        /// The block that came.
        found: u32,
    },
    /// More bytes came than were asked for.
    #[error("more than {limit} bytes came")]
    TooMuch {
        /// The request's limit.
        limit: u64,
    },
}

#[derive(Debug)]
struct Chunk {
    peer: Arc<str>,
    next: u32,
    end: u32,
    max_bytes: u64,
    received: u64,
    started: Instant,
    progress: Instant,
}

#[derive(Debug)]
struct Ready {
    stored: StoredBlock,
    peer: Arc<str>,
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

/// The window and the requests; see the module.
#[derive(Debug)]
pub struct Scheduler {
    options: SchedulerOptions,
    next: u32,
    epoch: u64,
    ready: BTreeMap<u32, Ready>,
    ready_bytes: u64,
    chunks: BTreeMap<ChunkId, Chunk>,
    next_chunk: u64,
    peers: PeerBook,
    stall: Duration,
    block_size: f64,
    last_arrival: Option<Instant>,
}

impl Scheduler {
    /// A scheduler whose first block is `next`.
    pub fn new(next: u32, options: SchedulerOptions) -> Self {
        Self {
            options,
            next,
            epoch: 0,
            ready: BTreeMap::new(),
            ready_bytes: 0,
            chunks: BTreeMap::new(),
            next_chunk: 0,
            peers: PeerBook::default(),
            stall: options.stall,
            block_size: FIRST_BLOCK_SIZE,
            last_arrival: None,
        }
    }

    /// The next block that the pipeline needs.
    pub fn next_needed(&self) -> u32 {
        self.next
    }

    /// Whether that block is here.
    pub fn next_is_ready(&self) -> bool {
        self.ready.contains_key(&self.next)
    }

    /// Blocks that wait for the pipeline, and their bytes.
    pub fn ready(&self) -> (usize, u64) {
        (self.ready.len(), self.ready_bytes)
    }

    /// Bytes that are here or may still come.
    pub fn window_bytes(&self) -> u64 {
        self.ready_bytes + self.reserved()
    }

    /// When the last wanted block came in.
    pub fn last_arrival(&self) -> Option<Instant> {
        self.last_arrival
    }

    /// The lowest block that is wanted, is not here and has not been asked for; `None` when it is above `limit`.
    pub fn lowest_unassigned(&self, limit: u32) -> Option<u32> {
        self.gap(limit).map(|(first, _)| first)
    }

    /// New requests, as far as window and peers allow. Fast peers are asked first.
    pub fn assign(&mut self, now: Instant, offers: &[PeerOffer]) -> Vec<Assignment> {
        self.peers
            .retain(|peer| offers.iter().any(|offer| &*offer.peer == peer));
        let best = offers.iter().map(|offer| offer.head).max().unwrap_or(0);
        let limit = self.options.last_block.map_or(best, |last| last.min(best));
        let mut assignments = Vec::new();
        while let Some((first, end)) = self.gap(limit) {
            let Some(offer) = self.choose(now, offers, first) else {
                break;
            };
            let Some(assignment) = self.open(now, &offer, first, end) else {
                break;
            };
            assignments.push(assignment);
        }
        assignments
    }

    /// Takes a block of a request.
    ///
    /// # Errors
    /// [`Unwanted`]; every kind but `Superseded` is the peer's fault and ends the request.
    pub fn received(&mut self, now: Instant, id: ChunkId, stored: StoredBlock) -> Result<(), Unwanted> {
        let chunk = self.chunks.get_mut(&id).ok_or(Unwanted::Superseded)?;
        if stored.number != chunk.next || chunk.next >= chunk.end {
            let fault = Unwanted::OutOfOrder {
                expected: chunk.next,
                found: stored.number,
            };
            self.failed(now, id);
            return Err(fault);
        }
        if chunk.received >= chunk.max_bytes {
            let limit = chunk.max_bytes;
            self.failed(now, id);
            return Err(Unwanted::TooMuch { limit });
        }
        let bytes = stored.bytes.len() as u64;
        chunk.next += 1;
        chunk.received += bytes;
        chunk.progress = now;
        let (number, peer) = (stored.number, Arc::clone(&chunk.peer));
        self.block_size += (bytes as f64 - self.block_size) * 0.01;
        self.last_arrival = Some(now);
        // An eighth of the way back to the short timeout for every block that comes in.
        self.stall = self.stall.saturating_sub((self.stall - self.options.stall) / 8);
        if number >= self.next && !self.ready.contains_key(&number) {
            self.ready_bytes += bytes;
            self.ready.insert(number, Ready { stored, peer });
        }
        Ok(())
    }

    /// A request has ended in good order, complete or not; what it did not bring is free again.
    pub fn finished(&mut self, now: Instant, id: ChunkId) {
        let Some(chunk) = self.chunks.remove(&id) else {
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
        let Some(chunk) = self.chunks.remove(&id) else {
            return;
        };
        let record = self.peers.get_mut(&chunk.peer);
        record.in_flight -= 1;
        record.disappointed(now);
    }

    /// Gives up the requests that have brought nothing for too long. The names are to be dropped; each comes
    /// with its peer and the block that it did not send.
    pub fn give_up_stalled(&mut self, now: Instant) -> Vec<(ChunkId, Arc<str>, u32)> {
        let stalled: Vec<_> = self
            .chunks
            .iter()
            .filter(|(_, chunk)| now.saturating_duration_since(chunk.progress) > self.stall)
            .map(|(id, chunk)| (*id, Arc::clone(&chunk.peer), chunk.next))
            .collect();
        for (id, _, _) in &stalled {
            self.failed(now, *id);
        }
        if !stalled.is_empty() {
            self.stall = (self.stall * 2).min(self.options.max_stall);
        }
        stalled
    }

    /// Blocks that are next in order and come from one peer, at most `max`.
    pub fn take_ready(&mut self, max: usize) -> Option<ReadyBlocks> {
        let peer = Arc::clone(&self.ready.get(&self.next)?.peer);
        let mut blocks = Vec::new();
        while let Some(entry) = self.ready.first_entry() {
            if *entry.key() != self.next || entry.get().peer != peer || blocks.len() == max {
                break;
            }
            let stored = entry.remove().stored;
            self.ready_bytes -= stored.bytes.len() as u64;
            self.next += 1;
            blocks.push(stored);
        }
        Some(ReadyBlocks {
            blocks,
            peer,
            epoch: self.epoch,
        })
    }

    /// Starts again at `number`: that block, and all that had been taken after it, are wanted once more. What the
    /// disappointing peer has sent besides is thrown away with it.
    pub fn rewind(&mut self, number: u32, peer: &str) {
        self.next = self.next.min(number);
        self.epoch += 1;
        let theirs: Vec<u32> = self
            .ready
            .iter()
            .filter(|(_, ready)| &*ready.peer == peer)
            .map(|(number, _)| *number)
            .collect();
        for number in theirs {
            if let Some(ready) = self.ready.remove(&number) {
                self.ready_bytes -= ready.stored.bytes.len() as u64;
            }
        }
        let chunks: Vec<ChunkId> = self
            .chunks
            .iter()
            .filter(|(_, chunk)| &*chunk.peer == peer)
            .map(|(id, _)| *id)
            .collect();
        for id in chunks {
            if let Some(chunk) = self.chunks.remove(&id) {
                self.peers.get_mut(&chunk.peer).in_flight -= 1;
            }
        }
    }

    /// Bytes that the running requests may still bring.
    fn reserved(&self) -> u64 {
        self.chunks
            .values()
            .map(|chunk| chunk.max_bytes.saturating_sub(chunk.received))
            .sum()
    }

    /// The lowest range that is neither here nor asked for: first block and the one after the last.
    fn gap(&self, limit: u32) -> Option<(u32, u32)> {
        let mut taken: Vec<(u32, u32)> = self
            .chunks
            .values()
            .map(|chunk| (chunk.next, chunk.end))
            .filter(|(next, end)| next < end)
            .collect();
        taken.sort_unstable();
        let mut first = self.next;
        let mut chunks = taken.iter().peekable();
        loop {
            while let Some((start, end)) = chunks.peek() {
                if *start > first {
                    break;
                }
                first = first.max(*end);
                chunks.next();
            }
            // Runs of ready blocks are skipped block by block; the window bounds them.
            let run = self
                .ready
                .range(first..)
                .zip(first..)
                .take_while(|((number, _), due)| *number == due);
            match run.count() as u32 {
                0 => break,
                ready => first += ready,
            }
        }
        if first > limit {
            return None;
        }
        let next_chunk = chunks.peek().map_or(u32::MAX, |(start, _)| *start);
        let next_ready = self
            .ready
            .range(first..)
            .next()
            .map_or(u32::MAX, |(number, _)| *number);
        Some((first, next_chunk.min(next_ready).min(limit.saturating_add(1))))
    }

    /// The fastest peer that serves `number`, has room and does not rest; one of unknown speed goes first,
    /// so that it becomes known.
    fn choose(&self, now: Instant, offers: &[PeerOffer], number: u32) -> Option<PeerOffer> {
        let speed = |offer: &PeerOffer| {
            let record = self.peers.get(&offer.peer);
            let busy = record.map_or(0, |record| record.in_flight);
            let speed = record
                .and_then(super::peers::PeerRecord::speed)
                .unwrap_or(f64::MAX);
            speed / (busy + 1) as f64
        };
        offers
            .iter()
            .filter(|offer| offer.serves(number))
            .filter(|offer| {
                self.peers
                    .get(&offer.peer)
                    .is_none_or(|record| record.in_flight < CHUNKS_PER_PEER && !record.rests(now))
            })
            .max_by(|a, b| speed(a).total_cmp(&speed(b)))
            .cloned()
    }

    fn open(&mut self, now: Instant, offer: &PeerOffer, first: u32, end: u32) -> Option<Assignment> {
        let speed = self
            .peers
            .get(&offer.peer)
            .and_then(super::peers::PeerRecord::speed);
        let wanted = speed.map_or(f64::from(FIRST_COUNT), |speed| {
            speed * CHUNK_TIME / self.block_size.max(1.0)
        });
        let share = self.options.window_bytes / WINDOW_SHARE;
        let fits = (share as f64 / SLACK / self.block_size.max(1.0)).clamp(1.0, f64::from(MAX_COUNT));
        let served = offer.head - first + 1;
        let count = (wanted.clamp(1.0, fits) as u32)
            .min(end - first)
            .min(served)
            .max(1);
        let expected = f64::from(count) * self.block_size * SLACK;
        let max_bytes = (expected as u64).clamp(MIN_REQUEST_BYTES.min(share.max(1)), share.max(1));
        let lowest = first == self.next;
        if !lowest && self.window_bytes() + max_bytes > self.options.window_bytes {
            return None;
        }
        let chunk = ChunkId(self.next_chunk);
        self.next_chunk += 1;
        let peer = Arc::clone(&offer.peer);
        self.peers.get_mut(&peer).in_flight += 1;
        let (end, received) = (first + count, 0);
        self.chunks.insert(
            chunk,
            Chunk {
                peer: Arc::clone(&peer),
                next: first,
                end,
                max_bytes,
                received,
                started: now,
                progress: now,
            },
        );
        Some(Assignment {
            chunk,
            peer,
            range: BlockRange {
                first,
                count,
                max_bytes,
            },
        })
    }
}
