//! Whom to ask for what.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::{Assignment, ChunkId, Scheduler, Work};
use crate::download::chunks::Chunk;
use crate::download::network::{BlockRange, PeerOffer};
use crate::download::peers::PeerRecord;
use crate::download::proof::Wish;

/// Requests under way with one peer: one that sends, and one that waits so that the line is never idle.
const CHUNKS_PER_PEER: usize = 2;
/// Blocks in a request to a peer whose speed is not known yet.
const FIRST_COUNT: u32 = 128;
/// Most blocks in one request; the server's limit is above it.
const MAX_COUNT: u32 = 2048;
/// Time that a request should take at the peer's measured speed.
const CHUNK_TIME: f64 = 1.0;
/// A request may bring this many times the expected bytes before the peer has to end it.
const SLACK: f64 = 4.0;
/// Smallest byte limit of a request.
const MIN_REQUEST_BYTES: u64 = 64 << 10;
/// A request may take this share of the window.
const WINDOW_SHARE: u64 = 8;
/// The least time before a second peer is asked for the block that all wait for, or for the last ones.
const RACE_AFTER: Duration = Duration::from_secs(1);
/// The second peer is asked when it is this many times faster than the first has been, or its speed is unknown.
const RACE_RATIO: f64 = 2.0;
/// Peers that are asked for one block at the same time.
const MOST_RACERS: usize = 4;

impl Scheduler {
    /// New requests, as far as window and peers allow. Fast peers are asked first. `applied`: the writer's head.
    pub fn assign(&mut self, now: Instant, offers: &[PeerOffer], applied: u32) -> Vec<Assignment> {
        let connected = |peer: &str| offers.iter().any(|offer| &*offer.peer == peer);
        self.peers.retain(connected);
        self.expelled.retain(|peer| connected(peer));
        let mut offers = self.trusted(offers);
        offers.retain(|offer| !self.elsewhere.contains(&offer.peer));
        let offers = offers.as_slice();
        self.released = 0;
        self.proof.applied(applied);
        let (next, wanted) = (self.window.next(), self.options.last_block.unwrap_or(u32::MAX));
        self.proof
            .extend(next, wanted, self.block_size, self.options.window_bytes);
        self.prove(now);
        let mut assignments = self.assign_headers(now, offers);
        if self.paused {
            return assignments;
        }
        let best = offers.iter().map(|offer| offer.head).max().unwrap_or(0);
        let last = self.proof.needed_for(wanted).min(best);
        let limit = last.min(self.proof.request_through());
        while let Some((first, end)) = self.chunks.gap(&self.window, limit) {
            let Some(offer) = self.choose(now, offers, first, |_| false) else {
                break;
            };
            let Some(assignment) = self.open(now, &offer, first, end) else {
                self.make_room();
                break;
            };
            assignments.push(assignment);
        }
        assignments.extend(self.race(now, offers, limit, limit == last));
        assignments
    }

    /// The window has no room for more. If nothing can leave it because what is here is not proven, the headers of
    /// that stretch have to come first.
    fn make_room(&mut self) {
        let held = self.window.bytes() > self.options.window_bytes / 4 * 3 || self.chunks.reserved() == 0;
        if held && self.window.next() > self.proof.release_through() {
            self.proof.give_up_buffering();
        }
    }

    fn assign_headers(&mut self, now: Instant, offers: &[PeerOffer]) -> Vec<Assignment> {
        let Self {
            proof,
            peers,
            next_chunk,
            ..
        } = self;
        // Peers that are equal in all else take turns.
        let turn = *next_chunk as usize;
        let choose = |wish: &Wish<'_>| {
            let rank = |index: usize, offer: &PeerOffer| {
                let failures = (wish.failures)(&offer.peer);
                let place = (index + turn) % offers.len().max(1);
                (std::cmp::Reverse(failures), place)
            };
            offers
                .iter()
                .enumerate()
                .filter(|(_, offer)| offer.serves(wish.last) && !(wish.except)(&offer.peer))
                .filter(|(_, offer)| peers.get(&offer.peer).is_none_or(|record| !record.rests(now)))
                .max_by_key(|(index, offer)| rank(*index, offer))
                .map(|(_, offer)| (Arc::clone(&offer.peer), offer.first))
        };
        let patience = RACE_AFTER.max(self.stall / 4);
        let next_id = || {
            *next_chunk += 1;
            ChunkId(*next_chunk - 1)
        };
        let requests = proof.ask(now, offers, patience, next_id, choose);
        let assignment = |(chunk, peer, range)| Assignment {
            chunk,
            peer,
            work: Work::Headers(range),
        };
        requests.into_iter().map(assignment).collect()
    }

    /// The fastest peer that serves `number`, has room and does not rest; one of unknown speed goes first,
    /// so that it becomes known.
    fn choose(
        &self,
        now: Instant,
        offers: &[PeerOffer],
        number: u32,
        except: impl Fn(&PeerOffer) -> bool,
    ) -> Option<PeerOffer> {
        let speed = |offer: &PeerOffer| {
            let busy = self.peers.get(&offer.peer).map_or(0, |record| record.in_flight);
            self.peers.speed(&offer.peer) / (busy + 1) as f64
        };
        let free = |record: &PeerRecord| record.in_flight < CHUNKS_PER_PEER && !record.rests(now);
        offers
            .iter()
            .filter(|offer| offer.serves(number) && !except(offer))
            .filter(|offer| self.peers.get(&offer.peer).is_none_or(free))
            .max_by(|a, b| speed(a).total_cmp(&speed(b)))
            .cloned()
    }

    /// Another request for the block that all wait for, or, when nothing is left to ask for (`at_end`), for blocks that
    /// are still on their way. Each has its time before the next one is made.
    fn race(&mut self, now: Instant, offers: &[PeerOffer], limit: u32, at_end: bool) -> Option<Assignment> {
        let patience = RACE_AFTER.max(self.stall / 4);
        let next = self.window.next();
        let nothing_left = at_end && self.chunks.gap(&self.window, limit).is_none();
        let number = if nothing_left {
            let open = self
                .chunks
                .iter()
                .filter(|(_, chunk)| !chunk.overdue && chunk.remaining() > 0);
            open.map(|(_, chunk)| chunk.next).min()?
        } else {
            self.window.runs().end_of(next).unwrap_or(next)
        };
        let holders: Vec<_> = self
            .chunks
            .iter()
            .filter(|(_, chunk)| (chunk.next..chunk.end).contains(&number))
            .map(|(_, chunk)| chunk)
            .collect();
        let last_asked = holders.iter().map(|chunk| chunk.started).max()?;
        if holders.len() >= MOST_RACERS || now.saturating_duration_since(last_asked) <= patience {
            return None;
        }
        let speed = holders.iter().map(|chunk| chunk.speed(now)).fold(0.0, f64::max);
        let end = holders.iter().map(|chunk| chunk.end).max()?;
        let offer = self.choose(now, offers, number, |offer| {
            holders.iter().any(|chunk| chunk.peer == offer.peer)
                || self.peers.speed(&offer.peer) < speed * RACE_RATIO
        })?;
        let count = end.min(offer.head.saturating_add(1)) - number;
        self.late
            .extend(holders.iter().map(|chunk| (Arc::clone(&chunk.peer), number)));
        Some(self.open_range(now, &offer, number, count))
    }

    fn open(&mut self, now: Instant, offer: &PeerOffer, first: u32, end: u32) -> Option<Assignment> {
        let speed = self.peers.get(&offer.peer).and_then(PeerRecord::speed);
        let wanted = speed.map_or(f64::from(FIRST_COUNT), |speed| {
            speed * CHUNK_TIME / self.block_size.max(1.0)
        });
        let fits = (self.share() as f64 / SLACK / self.block_size.max(1.0)).clamp(1.0, f64::from(MAX_COUNT));
        let served = offer.head - first + 1;
        let count = (wanted.clamp(1.0, fits) as u32)
            .min(end - first)
            .min(served)
            .max(1);
        let lowest = first == self.window.next();
        if !lowest && self.window_bytes() + self.max_bytes(count) > self.options.window_bytes {
            return None;
        }
        Some(self.open_range(now, offer, first, count))
    }

    /// Bytes that one request may bring at most.
    fn share(&self) -> u64 {
        (self.options.window_bytes / WINDOW_SHARE).max(1)
    }

    fn max_bytes(&self, count: u32) -> u64 {
        let expected = f64::from(count) * self.block_size * SLACK;
        (expected as u64).clamp(MIN_REQUEST_BYTES.min(self.share()), self.share())
    }

    fn open_range(&mut self, now: Instant, offer: &PeerOffer, first: u32, count: u32) -> Assignment {
        let (chunk, peer) = (ChunkId(self.next_chunk), Arc::clone(&offer.peer));
        self.next_chunk += 1;
        self.peers.get_mut(&peer).in_flight += 1;
        let max_bytes = self.max_bytes(count);
        self.chunks.insert(
            chunk,
            Chunk {
                peer: Arc::clone(&peer),
                next: first,
                end: first + count,
                max_bytes,
                received: 0,
                started: now,
                progress: now,
                overdue: false,
            },
        );
        let range = BlockRange {
            first,
            count,
            max_bytes,
        };
        Assignment {
            chunk,
            peer,
            work: Work::Blocks(range),
        }
    }
}
