//! The requests for blocks that are under way.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::scheduler::ChunkId;
use super::window::Window;

#[derive(Debug)]
pub(super) struct Chunk {
    pub(super) peer: Arc<str>,
    /// The next block that is due.
    pub(super) next: u32,
    /// The block after the last one that was asked for.
    pub(super) end: u32,
    pub(super) max_bytes: u64,
    pub(super) received: u64,
    pub(super) started: Instant,
    /// When the last block came.
    pub(super) progress: Instant,
    /// It has brought nothing for too long: somebody else is asked for its blocks, and what it still brings is welcome.
    pub(super) overdue: bool,
}

impl Chunk {
    pub(super) fn remaining(&self) -> u32 {
        self.end - self.next
    }

    /// Bytes a second since it was made.
    pub(super) fn speed(&self, now: Instant) -> f64 {
        let elapsed = now.saturating_duration_since(self.started).as_secs_f64();
        self.received as f64 / elapsed.max(1e-3)
    }
}

#[derive(Debug, Default)]
pub(super) struct Chunks(BTreeMap<ChunkId, Chunk>);

impl Chunks {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn insert(&mut self, id: ChunkId, chunk: Chunk) {
        self.0.insert(id, chunk);
    }

    pub(super) fn get_mut(&mut self, id: ChunkId) -> Option<&mut Chunk> {
        self.0.get_mut(&id)
    }

    pub(super) fn remove(&mut self, id: ChunkId) -> Option<Chunk> {
        self.0.remove(&id)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (ChunkId, &Chunk)> {
        self.0.iter().map(|(id, chunk)| (*id, chunk))
    }

    /// Bytes that the requests may still bring into the window. An overdue one has none reserved: what it brings is
    /// taken where there is room.
    pub(super) fn reserved(&self) -> u64 {
        self.0
            .values()
            .filter(|chunk| !chunk.overdue)
            .map(|chunk| chunk.max_bytes.saturating_sub(chunk.received))
            .sum()
    }

    /// The requests of a peer.
    pub(super) fn of(&self, peer: &str) -> Vec<ChunkId> {
        let theirs = self.0.iter().filter(|(_, chunk)| &*chunk.peer == peer);
        theirs.map(|(id, _)| *id).collect()
    }

    /// The lowest range from `window.next()` up to `limit` that is neither here nor asked for: first block and the
    /// one after the last.
    pub(super) fn gap(&self, window: &Window, limit: u32) -> Option<(u32, u32)> {
        let taken = || {
            self.0
                .values()
                .filter(|chunk| !chunk.overdue && chunk.remaining() > 0)
        };
        let mut first = window.next();
        loop {
            let here = window.runs().end_of(first);
            let asked = || {
                taken()
                    .find(|chunk| (chunk.next..chunk.end).contains(&first))
                    .map(|c| c.end)
            };
            match here.or_else(asked) {
                Some(end) => first = end,
                None => break,
            }
        }
        if first > limit {
            return None;
        }
        let asked = taken().map(|chunk| chunk.next).filter(|next| *next > first).min();
        let here = window.runs().start_after(first);
        let end = [asked, here].into_iter().flatten().min().unwrap_or(u32::MAX);
        Some((first, end.min(limit.saturating_add(1))))
    }

    /// Requests that bring nothing new any more: all of their blocks are here by now.
    pub(super) fn pointless(&self, window: &Window) -> Vec<ChunkId> {
        let covered = |chunk: &Chunk| {
            let first = chunk.next.max(window.next());
            first >= chunk.end || window.runs().end_of(first).is_some_and(|end| end >= chunk.end)
        };
        // One that has just brought its last block ends by itself.
        let open = self.0.iter().filter(|(_, chunk)| chunk.remaining() > 0);
        open.filter(|(_, chunk)| covered(chunk))
            .map(|(id, _)| *id)
            .collect()
    }

    /// Requests that have brought nothing since `since`, and are not known as overdue.
    pub(super) fn stalled(&self, now: Instant, stall: Duration) -> Vec<ChunkId> {
        self.0
            .iter()
            .filter(|(_, chunk)| !chunk.overdue && now.saturating_duration_since(chunk.progress) > stall)
            .map(|(id, _)| *id)
            .collect()
    }
}
