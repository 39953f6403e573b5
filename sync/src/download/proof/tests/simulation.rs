//! A sync in virtual time: scripted peers, the scheduler, and what leaves its window.

use std::collections::BTreeMap;

use tempfile::TempDir;

use super::super::chain_for_tests::HeaderChain;
use super::super::*;
use crate::checkpoint::{Checkpoint, ConfiguredCheckpoint};
use crate::download::network::HeaderRange;
use crate::download::scheduler::{Assignment, Scheduler, SchedulerOptions, Unwanted, Work};

const STEP: Duration = Duration::from_millis(100);

/// A peer: the chain that it follows and what it does to what it sends.
#[derive(Clone, Debug)]
pub(super) struct Peer {
    pub(super) chain: HeaderChain,
    pub(super) first: u32,
    pub(super) head: u32,
    /// Blocks that it sends in a step.
    pub(super) pace: u32,
    /// It sends another chain's headers when it is asked for headers.
    pub(super) headers: Option<HeaderChain>,
    /// It never answers a request for headers.
    pub(super) mute_headers: bool,
    /// It answers with at most so many headers.
    pub(super) most_headers: u32,
}

impl Peer {
    pub(super) fn honest(chain: &HeaderChain, head: u32) -> Self {
        Self {
            chain: chain.clone(),
            first: 1,
            head,
            pace: 40,
            headers: None,
            mute_headers: false,
            most_headers: u32::MAX,
        }
    }
}

struct Running {
    assignment: Assignment,
    sent: u32,
}

pub(super) struct Simulation {
    pub(super) scheduler: Scheduler,
    pub(super) peers: Vec<Peer>,
    running: Vec<Running>,
    pub(super) started: Instant,
    pub(super) now: Instant,
    size: usize,
    pub(super) blamed: BTreeMap<usize, String>,
    /// The network keeps the connection of a peer that was blamed.
    pub(super) keeps_blamed: bool,
    pub(super) verdict: Option<Verdict>,
    pub(super) released: Vec<BlockId>,
    pub(super) folder: TempDir,
}

pub(super) fn checkpoints(list: &[Checkpoint]) -> Checkpoints {
    let values: Vec<_> = list
        .iter()
        .map(|Checkpoint { number, id }| {
            ConfiguredCheckpoint::new(format!("[{number},{id}]"), "config.ini:1")
        })
        .collect();
    Checkpoints::parse(&values).checkpoints
}

pub(super) fn name(peer: usize) -> Arc<str> {
    Arc::from(format!("peer-{peer}"))
}

impl Simulation {
    pub(super) fn new(peers: Vec<Peer>, list: &[Checkpoint], window_bytes: u64, size: usize) -> Self {
        Self::begin(peers, list, window_bytes, size, false)
    }

    pub(super) fn begin(
        peers: Vec<Peer>,
        list: &[Checkpoint],
        window_bytes: u64,
        size: usize,
        wait: bool,
    ) -> Self {
        let folder = TempDir::new().unwrap();
        let options = SchedulerOptions {
            window_bytes,
            ..SchedulerOptions::default()
        };
        let proof = ProofOptions {
            checkpoints: checkpoints(list),
            head: (0, BlockId::ZERO),
            folder: folder.path().to_owned(),
            patience: Duration::from_secs(2),
            wait_on_mismatch: wait,
        };
        Self {
            scheduler: Scheduler::new(options, proof),
            peers,
            running: Vec::new(),
            started: Instant::now(),
            now: Instant::now(),
            size,
            blamed: BTreeMap::new(),
            keeps_blamed: false,
            verdict: None,
            released: Vec::new(),
            folder,
        }
    }

    pub(super) fn blame(&mut self, peer: &str, what: String) {
        let index = peer.strip_prefix("peer-").unwrap().parse().unwrap();
        self.blamed.insert(index, what);
    }

    pub(super) fn step(&mut self) {
        self.now += STEP;
        let given_up = self.scheduler.give_up(self.now);
        self.running.retain(|running| {
            !given_up
                .iter()
                .any(|gone| gone.end && gone.chunk == running.assignment.chunk)
        });
        // The network drops a peer that was blamed.
        let offers: Vec<_> = (0..self.peers.len())
            .filter(|index| self.keeps_blamed || !self.blamed.contains_key(index))
            .map(|index| PeerOffer {
                peer: name(index),
                first: self.peers[index].first,
                head: self.peers[index].head,
                head_id: BlockId::ZERO,
            })
            .collect();
        let applied = self.released.len() as u32;
        for assignment in self.scheduler.assign(self.now, &offers, applied) {
            self.running.push(Running { assignment, sent: 0 });
        }
        for (peer, what) in self.scheduler.take_faults() {
            self.blame(&peer, what.to_string());
        }
        self.verdict = self
            .verdict
            .take()
            .or_else(|| self.scheduler.verdict(self.now, &offers));
        for mut running in std::mem::take(&mut self.running) {
            if self.answer(&mut running) {
                self.running.push(running);
            }
        }
        while let Some(ready) = self.scheduler.take_ready(32) {
            for block in ready.blocks {
                assert_eq!(block.number, self.released.len() as u32 + 1);
                let (header, _) = cairn_chain::SignedHeader::unpack_prefix(&block.bytes).unwrap();
                self.released.push(header.id());
            }
        }
    }

    /// Whether the request goes on.
    fn answer(&mut self, running: &mut Running) -> bool {
        let Assignment { chunk, peer, work } = &running.assignment;
        let index: usize = peer.strip_prefix("peer-").unwrap().parse().unwrap();
        if self.blamed.contains_key(&index) {
            self.scheduler.failed(self.now, *chunk);
            return false;
        }
        let script = self.peers[index].clone();
        match *work {
            Work::Headers(HeaderRange { first, count }) => {
                if script.mute_headers {
                    return true;
                }
                let chain = script.headers.as_ref().unwrap_or(&script.chain);
                let bytes = chain.bytes(first, count.min(script.most_headers));
                match HeaderRun::read(&bytes, first, count) {
                    Ok(run) => self.scheduler.received_headers(self.now, *chunk, run),
                    Err(what) => {
                        self.scheduler.headers_failed(self.now, *chunk, peer);
                        self.blame(peer, what);
                    }
                }
                false
            }
            Work::Blocks(range) => {
                for _ in 0..script.pace {
                    let number = range.first + running.sent;
                    let full = u64::from(running.sent) * self.size as u64 >= range.max_bytes;
                    if running.sent == range.count || number > script.head || full {
                        self.scheduler.finished(self.now, *chunk);
                        return false;
                    }
                    let arrival = script.chain.arrival(number, self.size);
                    match self.scheduler.received(self.now, *chunk, arrival) {
                        Ok(()) => running.sent += 1,
                        Err(Unwanted::Superseded) => return false,
                        Err(unwanted) => {
                            self.blame(peer, unwanted.to_string());
                            return false;
                        }
                    }
                }
                true
            }
        }
    }

    /// Runs until `blocks` are released or a verdict is there.
    pub(super) fn run(&mut self, blocks: u32) {
        for _ in 0..5_000 {
            if self.released.len() as u32 >= blocks || self.verdict.is_some() {
                return;
            }
            self.step();
        }
        panic!(
            "stuck at block {}, blamed {:?}, waiting for {}",
            self.released.len(),
            self.blamed,
            self.scheduler.waits_for()
        );
    }

    pub(super) fn released_is(&self, chain: &HeaderChain, blocks: u32) {
        let expected: Vec<_> = (1..=blocks).map(|number| chain.id(number)).collect();
        assert!(
            self.released.len() as u32 >= blocks,
            "{} blocks",
            self.released.len()
        );
        assert_eq!(self.released[..blocks as usize], expected);
    }
}
