//! The task that carries the scheduler's decisions out.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use cairn_block_log::{BlockDecoder, Dictionaries};
use futures::StreamExt;
use tokio::task::{AbortHandle, JoinSet};

use super::arrival::{Arrival, ArrivalError};
use super::complaints::{Complaints, Look, SILENCE};
use super::follow::Follow;
use super::mode::{Change, Mode, Sight};
use super::network::{BlockNetwork, BlockRange, HeaderRange, Misbehavior, PeerOffer, RequestError};
use super::proof::HeaderRun;
use super::scheduler::{Assignment, ChunkId, Unwanted, Work};
use super::shared::Shared;
use crate::checkpoint::Checkpoints;
use crate::stats::Meter;

/// How often the peers and the stalled requests are looked at when nothing else happens.
const TICK: Duration = Duration::from_millis(50);
/// The least time between two looks that only changes among the peers have caused: a thousand announcements in a row
/// do not make a thousand looks.
const CHANGE_PAUSE: Duration = Duration::from_millis(5);
/// The least time between two new beginnings of the large ranges behind another head.
const RESTART: Duration = Duration::from_secs(1);

/// The head of the chain as far as the peers' words go: one that boasts moves the middle of three no further than the next.
fn likely_head(offers: &[PeerOffer]) -> u32 {
    let mut heads: Vec<u32> = offers.iter().map(|offer| offer.head).collect();
    heads.sort_unstable();
    heads.get(heads.len() / 2).copied().unwrap_or(0)
}

/// How a request ended.
#[derive(Debug)]
enum Outcome {
    Complete,
    Superseded,
    Failed(RequestError),
    Unwanted(Unwanted),
    /// A block that is none.
    NoBlock(Misbehavior),
    /// A block that this node has no dictionary for.
    Unreadable(u32, String),
    /// The answer to a request for headers.
    Headers(HeaderRun),
    /// Headers were asked for and something else came.
    NoHeaders(String),
    HeadersFailed(RequestError),
}

#[derive(Debug)]
pub(super) struct Driver {
    network: Arc<dyn BlockNetwork>,
    shared: Arc<Shared>,
    meter: Arc<Meter>,
    dictionaries: Arc<Dictionaries>,
    checkpoints: Checkpoints,
    tasks: JoinSet<(ChunkId, Arc<str>, Outcome)>,
    handles: HashMap<ChunkId, AbortHandle>,
    last_step: Instant,
    complaints: Complaints,
    last_unreadable: Option<Instant>,
    mode: Mode,
    follow: Follow,
    /// The large ranges are not where they are wanted, or blocks of them were lost on the way to the fork database, and they
    /// have not begun again since.
    lost: bool,
    last_restart: Option<Instant>,
}

/// Ends the sync when the driver does, however it does: without it nobody would ever bring a block again.
struct EndWithDriver(Arc<Shared>);

impl Drop for EndWithDriver {
    fn drop(&mut self) {
        self.0.end();
    }
}

impl Driver {
    pub(super) fn new(
        network: Arc<dyn BlockNetwork>,
        shared: Arc<Shared>,
        meter: Arc<Meter>,
        dictionaries: Arc<Dictionaries>,
        checkpoints: Checkpoints,
        follow: Follow,
    ) -> Self {
        Self {
            mode: Mode::new(),
            follow,
            lost: false,
            last_restart: None,
            network,
            shared,
            meter,
            dictionaries,
            checkpoints,
            tasks: JoinSet::new(),
            handles: HashMap::new(),
            last_step: Instant::now(),
            complaints: Complaints::new(Instant::now()),
            last_unreadable: None,
        }
    }

    /// Runs until nothing is wanted any more.
    pub(super) async fn run(mut self) {
        let _end = EndWithDriver(Arc::clone(&self.shared));
        let mut tick = tokio::time::interval(TICK);
        let mut changes = self.network.changes().fuse();
        while !self.shared.ended.load(Relaxed) {
            self.step();
            tokio::select! {
                _ = tick.tick() => {}
                () = self.shared.changed.notified() => {}
                Some(()) = changes.next(), if self.last_step.elapsed() >= CHANGE_PAUSE => {}
                Some(ended) = self.tasks.join_next(), if !self.tasks.is_empty() => {
                    match ended {
                        Ok((chunk, peer, outcome)) => self.finish(chunk, &peer, outcome),
                        // The scheduler asks somebody else when the request is overdue.
                        Err(error) if error.is_panic() => {
                            tracing::error!(target: "sync", "a request has failed by a defect of this program: {error}");
                        }
                        Err(_) => {} // Given up.
                    }
                }
                (peer, outcome) = self.follow.next_ended() => {
                    if let Some(what) = self.follow.ended(Instant::now(), &peer, outcome) {
                        self.shared.lock().expel(&peer);
                        self.blame(&peer, &what);
                    }
                }
            }
        }
        self.tasks.shutdown().await;
        self.follow.shutdown().await;
    }

    fn step(&mut self) {
        let (now, offers) = (Instant::now(), self.network.peers());
        self.last_step = now;
        self.meter.peers.store(offers.len() as u32, Relaxed);
        self.meter.target.store(likely_head(&offers), Relaxed);
        let applied = self.meter.head.number();
        self.take_unused(now);
        let followed = self.look_at_forks(now, &offers);
        let (given_up, assignments, faults, verdict) = {
            let mut scheduler = self.shared.lock();
            let given_up = scheduler.give_up(now);
            let assignments = scheduler.assign(now, &offers, applied);
            let verdict = scheduler.verdict(now, &offers);
            self.meter.headers.set(scheduler.headers_standing());
            (given_up, assignments, scheduler.take_faults(), verdict)
        };
        // Headers or a settled dispute may have opened the way for blocks that are here.
        self.shared.notify_ready();
        for given_up in given_up {
            if given_up.end
                && let Some(handle) = self.handles.remove(&given_up.chunk)
            {
                handle.abort();
            }
            let peer = &given_up.peer;
            if let Some(number) = given_up.missing {
                self.complaints.stalled(now, peer, number);
                self.network.misbehaved(peer, &Misbehavior::Stalled { number });
            }
        }
        for (peer, what) in faults {
            self.blame(&peer, &what);
        }
        for Assignment { chunk, peer, work } in assignments {
            let handle = match work {
                Work::Blocks(range) => self.fetch_blocks(chunk, peer, range),
                Work::Headers(range) => self.fetch_headers(chunk, peer, range),
            };
            self.handles.insert(chunk, handle);
        }
        if let Some(verdict) = verdict {
            self.shared.end_with(verdict);
        }
        if let Some(offers) = followed {
            self.follow.step(now, &offers, self.mode.is_bulk());
        }
        let (lowest, next, late) = {
            let mut scheduler = self.shared.lock();
            (
                scheduler.next_needed(),
                scheduler.waits_for(),
                scheduler.take_late(),
            )
        };
        for (peer, number) in late {
            self.complaints.stalled(now, &peer, number);
        }
        self.complaints.look(&Look {
            now,
            received: self.meter.received_bytes.load(Relaxed),
            lowest,
            next,
            offers: &offers,
            checkpoints: &self.checkpoints,
        });
    }

    /// Blocks that the writer could not use are not known here after all, and are fetched again some other way.
    fn take_unused(&mut self, now: Instant) {
        for unused in self.shared.take_unused() {
            let followed = self.follow.not_used(now, &unused);
            self.lost |= !unused.refused && !followed && self.mode.is_bulk();
            if unused.early && self.mode.is_bulk() {
                // What it has sent behind that block leads nowhere either: the others are not to be measured by it.
                self.follow.follower().strayed(&unused.peer);
            }
        }
        let restarted = self
            .last_restart
            .is_some_and(|at| now.saturating_duration_since(at) < RESTART);
        if self.lost && !restarted {
            (self.lost, self.last_restart) = (false, Some(now));
            let head = self.follow.known().ours().head();
            self.shared.lock().restart_above_checkpoints(head);
            self.follow.follower().begin_bulk();
        }
    }

    /// Finds out which peers are on branches of their own, and whether large ranges are wanted. Gives the peers that
    /// may be followed, if the last checkpoint is behind this node.
    fn look_at_forks(&mut self, now: Instant, offers: &[PeerOffer]) -> Option<Vec<PeerOffer>> {
        let head = self.follow.known().ours().head();
        let mut scheduler = self.shared.lock();
        for peer in scheduler.take_strayed() {
            tracing::debug!(target: "sync", "{peer} is on another fork: its branch is fetched by itself");
            self.follow.follower().strayed(&peer);
        }
        let offers = scheduler.trusted(offers);
        scheduler.set_elsewhere(self.follow.elsewhere(&offers));
        let (common, leading) = (self.follow.common(&offers), self.follow.leading(now, &offers));
        let sight = Sight {
            now,
            head,
            last_checkpoint: self.checkpoints.last_number(),
            next: scheduler.next_needed(),
            is_empty: scheduler.is_empty(),
            pipeline_empty: self.meter.queue_blocks.load(Relaxed) == 0,
            is_alone: offers.iter().all(|offer| offer.head == 0),
            best: scheduler.best_head(now, &common),
            lead: scheduler.best_head(now, &leading),
        };
        // A branch that was followed has become the chain, and has left the large ranges behind: whoever is on it can be asked
        // for them, and nobody waits for what was asked for on the other one.
        self.lost |= self.mode.is_bulk() && head.number() >= sight.next;
        if let Some(change) = self.mode.look(&sight) {
            if change == Change::Bulk {
                scheduler.restart(head);
                self.follow.follower().begin_bulk();
            }
            scheduler.pause(change == Change::Follow);
            tracing::debug!(target: "sync", "at block {}: {change:?}", head.number());
        }
        self.mode.note_live(&sight, self.meter.head.time());
        (head.number() >= sight.last_checkpoint).then_some(offers)
    }

    fn fetch_blocks(&mut self, chunk: ChunkId, peer: Arc<str>, range: BlockRange) -> AbortHandle {
        let mut stream = self.network.request(&peer, range);
        let (shared, meter) = (Arc::clone(&self.shared), Arc::clone(&self.meter));
        let mut decoder = BlockDecoder::new(Arc::clone(&self.dictionaries));
        self.tasks.spawn(async move {
            let outcome = loop {
                let stored = match stream.next().await {
                    None => break Outcome::Complete,
                    Some(Err(error)) => break Outcome::Failed(error),
                    Some(Ok(stored)) => stored,
                };
                meter.received_bytes.fetch_add(stored.bytes.len() as u64, Relaxed);
                let number = stored.number;
                let arrival = match Arrival::read(&mut decoder, stored) {
                    Ok(arrival) => arrival,
                    Err(ArrivalError::Unreadable(error)) => {
                        break Outcome::Unreadable(number, error.to_string());
                    }
                    Err(ArrivalError::NoBlock(reason)) => {
                        break Outcome::NoBlock(Misbehavior::BadBlock { number, reason });
                    }
                };
                let taken = {
                    let mut scheduler = shared.lock();
                    let taken = scheduler.received(Instant::now(), chunk, arrival);
                    (taken, scheduler.next_is_ready())
                };
                match taken {
                    (Ok(()), true) => shared.notify_ready(),
                    (Ok(()), false) => {}
                    (Err(Unwanted::Superseded), _) => break Outcome::Superseded,
                    (Err(unwanted), _) => break Outcome::Unwanted(unwanted),
                }
            };
            (chunk, peer, outcome)
        })
    }

    fn fetch_headers(&mut self, chunk: ChunkId, peer: Arc<str>, range: HeaderRange) -> AbortHandle {
        let answer = self.network.request_headers(&peer, range);
        let meter = Arc::clone(&self.meter);
        self.tasks.spawn(async move {
            let outcome = match answer.await {
                Err(error) => Outcome::HeadersFailed(error),
                Ok(bytes) => {
                    meter.received_bytes.fetch_add(bytes.len() as u64, Relaxed);
                    match HeaderRun::read(&bytes, range.first, range.count) {
                        Ok(run) => Outcome::Headers(run),
                        Err(what) => Outcome::NoHeaders(what),
                    }
                }
            };
            (chunk, peer, outcome)
        })
    }

    fn finish(&mut self, chunk: ChunkId, peer: &Arc<str>, outcome: Outcome) {
        self.handles.remove(&chunk);
        let now = Instant::now();
        match outcome {
            Outcome::Complete => self.shared.lock().finished(now, chunk),
            Outcome::Superseded => {}
            Outcome::Failed(error) => {
                self.shared.lock().failed(now, chunk);
                self.request_failed(peer, error);
            }
            Outcome::Unwanted(Unwanted::Contradicts {
                number,
                expected,
                found,
            }) => {
                let reason = format!("the chain of the next checkpoint has {expected}, this one is {found}");
                self.blame(peer, &Misbehavior::BadBlock { number, reason });
            }
            Outcome::Unwanted(unwanted) => self.blame(peer, &Misbehavior::Unasked(unwanted.to_string())),
            Outcome::NoBlock(what) => {
                self.shared.lock().expel(peer);
                self.blame(peer, &what);
            }
            Outcome::Unreadable(number, what) => {
                self.shared.lock().failed(now, chunk);
                self.warn_unreadable(now, peer, number, &what);
            }
            Outcome::Headers(run) => self.shared.lock().received_headers(now, chunk, run),
            Outcome::NoHeaders(what) => {
                self.shared.lock().headers_failed(now, chunk, peer);
                self.blame(peer, &Misbehavior::Protocol(what));
            }
            Outcome::HeadersFailed(error) => {
                self.shared.lock().headers_failed(now, chunk, peer);
                self.request_failed(peer, error);
            }
        }
    }

    /// The fault is this node's, or nobody's: no peer is blamed, and another one may have stored the block otherwise.
    fn warn_unreadable(&mut self, now: Instant, peer: &str, number: u32, what: &str) {
        if self
            .last_unreadable
            .is_some_and(|last| now.saturating_duration_since(last) < SILENCE)
        {
            return;
        }
        self.last_unreadable = Some(now);
        tracing::warn!(
            target: "sync",
            "block {number} as {peer} stores it cannot be read here: {what}. Name a folder with the chain's dictionaries \
             (zstd-dictionaries); asking other peers meanwhile"
        );
    }

    fn request_failed(&self, peer: &str, error: RequestError) {
        tracing::debug!(target: "sync", "request to {peer} failed: {error}");
        if let RequestError::Protocol(what) = error {
            self.blame(peer, &Misbehavior::Protocol(what));
        }
    }

    fn blame(&self, peer: &str, what: &Misbehavior) {
        tracing::warn!(target: "sync", "{peer}: {what}");
        self.network.misbehaved(peer, what);
    }
}
