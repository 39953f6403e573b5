//! The task that carries the scheduler's decisions out.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use futures::StreamExt;
use tokio::task::{AbortHandle, JoinSet};

use super::network::{BlockNetwork, Misbehavior, PeerOffer, RequestError};
use super::scheduler::{Assignment, ChunkId, Unwanted};
use super::shared::Shared;
use crate::stats::Meter;

/// How often the peers and the stalled requests are looked at when nothing else happens.
const TICK: Duration = Duration::from_millis(200);
/// hived's interval of the line about silence.
const SILENCE: Duration = Duration::from_secs(30);

/// How a request ended.
#[derive(Debug)]
enum Outcome {
    Complete,
    Superseded,
    Failed(RequestError),
    Unwanted(Unwanted),
}

#[derive(Debug)]
pub(super) struct Driver {
    network: Arc<dyn BlockNetwork>,
    shared: Arc<Shared>,
    meter: Arc<Meter>,
    tasks: JoinSet<(ChunkId, Arc<str>, Outcome)>,
    handles: HashMap<ChunkId, AbortHandle>,
    last_complaint: Instant,
}

impl Driver {
    pub(super) fn new(network: Arc<dyn BlockNetwork>, shared: Arc<Shared>, meter: Arc<Meter>) -> Self {
        Self {
            network,
            shared,
            meter,
            tasks: JoinSet::new(),
            handles: HashMap::new(),
            last_complaint: Instant::now(),
        }
    }

    /// Runs until nothing is wanted any more.
    pub(super) async fn run(mut self) {
        let mut tick = tokio::time::interval(TICK);
        while !self.shared.ended.load(Relaxed) {
            self.step();
            tokio::select! {
                _ = tick.tick() => {}
                () = self.shared.changed.notified() => {}
                Some(ended) = self.tasks.join_next(), if !self.tasks.is_empty() => {
                    if let Ok((chunk, peer, outcome)) = ended {
                        self.finish(chunk, &peer, outcome);
                    }
                }
            }
        }
        self.tasks.shutdown().await;
    }

    fn step(&mut self) {
        let (now, offers) = (Instant::now(), self.network.peers());
        self.meter.peers.store(offers.len() as u32, Relaxed);
        let best = offers.iter().map(|offer| offer.head).max().unwrap_or(0);
        self.meter.target.fetch_max(best, Relaxed);
        let (stalled, assignments) = {
            let mut scheduler = self.shared.lock();
            (scheduler.give_up_stalled(now), scheduler.assign(now, &offers))
        };
        for (chunk, peer, number) in stalled {
            if let Some(handle) = self.handles.remove(&chunk) {
                handle.abort();
            }
            tracing::debug!(target: "sync", "{peer} did not send block {number} in time, asking elsewhere");
            self.network.misbehaved(&peer, &Misbehavior::Stalled { number });
        }
        for assignment in assignments {
            self.start(assignment);
        }
        self.complain(now, &offers);
    }

    fn start(&mut self, assignment: Assignment) {
        let Assignment { chunk, peer, range } = assignment;
        let mut stream = self.network.request(&peer, range);
        let shared = Arc::clone(&self.shared);
        let handle = self.tasks.spawn(async move {
            let outcome = loop {
                let stored = match stream.next().await {
                    None => break Outcome::Complete,
                    Some(Err(error)) => break Outcome::Failed(error),
                    Some(Ok(stored)) => stored,
                };
                let taken = {
                    let mut scheduler = shared.lock();
                    let taken = scheduler.received(Instant::now(), chunk, stored);
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
        });
        self.handles.insert(chunk, handle);
    }

    fn finish(&mut self, chunk: ChunkId, peer: &str, outcome: Outcome) {
        self.handles.remove(&chunk);
        let now = Instant::now();
        match outcome {
            Outcome::Complete => self.shared.lock().finished(now, chunk),
            Outcome::Superseded => {}
            Outcome::Failed(error) => {
                self.shared.lock().failed(now, chunk);
                tracing::debug!(target: "sync", "request to {peer} failed: {error}");
                if let RequestError::Protocol(what) = error {
                    self.network.misbehaved(peer, &Misbehavior::Protocol(what));
                }
            }
            Outcome::Unwanted(unwanted) => {
                self.network
                    .misbehaved(peer, &Misbehavior::Unasked(unwanted.to_string()));
            }
        }
    }

    /// hived's line when nothing comes in, and the reason if it is known; at most every 30 seconds.
    fn complain(&mut self, now: Instant, offers: &[PeerOffer]) {
        let (last_arrival, next) = {
            let scheduler = self.shared.lock();
            (scheduler.last_arrival(), scheduler.next_needed())
        };
        let since = last_arrival.map_or(self.last_complaint, |arrival| arrival.max(self.last_complaint));
        if now.saturating_duration_since(since) < SILENCE {
            return;
        }
        self.last_complaint = now;
        tracing::info!(
            target: "p2p",
            "No P2P data (block/transaction) received in last {} seconds... peer_count={}",
            SILENCE.as_secs(),
            offers.len()
        );
        if !offers.is_empty()
            && offers.iter().any(|offer| offer.head >= next)
            && !offers.iter().any(|o| o.serves(next))
        {
            tracing::warn!(
                target: "sync",
                "no peer serves block {next}: the connected peers keep only later blocks (the lowest is {})",
                offers.iter().map(|offer| offer.first).min().unwrap_or(0)
            );
        }
    }
}
