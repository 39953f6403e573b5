//! Fetching one peer's branch: from where it leaves what is known here up to its head.
//!
//! The first block asked for is the one that is most likely missing. If it does not link to a known block, the headers
//! below it tell where the branches part: a few first, then more, down to the last irreversible block at most.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use cairn_block_log::{BlockDecoder, Dictionaries, StoredBlock};
use cairn_chain::BlockId;
use futures::StreamExt;
use tokio::sync::mpsc;
use tokio::time::timeout;

use super::ours::Known;
use crate::download::arrival::{Arrival, ArrivalError};
use crate::download::network::{BlockNetwork, BlockRange, HeaderRange, Misbehavior, RequestError};
use crate::download::proof::{HeaderRun, MAX_HEADERS};
use crate::pipeline::{MAX_BATCH_BLOCKS, MAX_BATCH_BYTES};
use crate::stats::Meter;

/// Blocks in one request, and their bytes: little is lost when the peer goes over to another fork meanwhile.
const COUNT: u32 = 128;
const BYTES: u64 = 4 << 20;
/// Up to so many blocks are handed on one by one as they come: they are awaited.
const FEW: u32 = 32;
/// Headers that are asked for first; each further request is for eight times as many.
const FIRST_HEADERS: u32 = 32;
/// Requests for headers in one search: an honest peer needs a handful for ten thousand blocks.
const SEARCHES: u32 = 64;
/// All of them together may take so many times what a peer may take for one answer.
const SEARCH_PATIENCE: u32 = 4;
/// How often a peer may go over to another fork while its branch is fetched.
const CHANGES: u32 = 4;

/// Consecutive blocks of one peer, for the pipeline.
#[derive(Debug)]
pub(in crate::download) struct Followed {
    pub(in crate::download) blocks: Vec<StoredBlock>,
    pub(in crate::download) peer: Arc<str>,
}

/// What a pursuit needs of the sync around it.
#[derive(Clone, Debug)]
pub(in crate::download) struct Means {
    pub(in crate::download) network: Arc<dyn BlockNetwork>,
    pub(in crate::download) dictionaries: Arc<Dictionaries>,
    pub(in crate::download) meter: Arc<Meter>,
    pub(in crate::download) queue: mpsc::Sender<Followed>,
    pub(in crate::download) known: Known,
}

/// A branch to fetch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::download) struct Pursuit {
    /// Whom to ask.
    pub(in crate::download) peer: Arc<str>,
    /// The first block to ask for.
    pub(in crate::download) first: u32,
    /// The last one.
    pub(in crate::download) last: u32,
    /// How long the peer may bring nothing.
    pub(in crate::download) patience: Duration,
}

/// How a pursuit ended.
#[derive(Debug)]
pub(in crate::download) enum Outcome {
    /// What was asked for is here; the last block.
    Fetched(Option<BlockId>),
    /// The peer's chain does not go through this node's last irreversible block.
    DeadFork {
        /// Number of that block.
        irreversible: u32,
    },
    /// The peer did not bring it.
    Failed(RequestError),
    /// It broke the protocol.
    Misbehaved(Misbehavior),
    /// This node has no dictionary for a block.
    Unreadable(u32, String),
    /// Nobody wants it any more.
    Closed,
}

/// Where one request ended.
enum Piece {
    /// The blocks are handed on; the id of the last one.
    Whole(BlockId),
    /// A block names a parent that is not known here.
    Unlinked { previous: BlockId },
}

impl Pursuit {
    /// Fetches the branch and hands it on. Never waits for the peer longer than its patience without a sign.
    pub(in crate::download) async fn run(self, means: Means) -> Outcome {
        match self.fetch_branch(&means).await {
            Ok(outcome) | Err(outcome) => outcome,
        }
    }

    async fn fetch_branch(&self, means: &Means) -> Result<Outcome, Outcome> {
        let (mut first, mut last_fed, mut changes) = (self.first, None, 0);
        let mut decoder = BlockDecoder::new(Arc::clone(&means.dictionaries));
        while first <= self.last {
            let count = (self.last - first + 1).min(COUNT);
            match self.fetch_piece(means, &mut decoder, first, count).await? {
                Piece::Whole(id) => {
                    first = id.number() + 1;
                    last_fed = Some(id);
                }
                Piece::Unlinked { previous } if changes < CHANGES => {
                    changes += 1;
                    let whole = self.patience * SEARCH_PATIENCE;
                    first = match timeout(whole, self.find_fork_point(means, previous)).await {
                        Ok(found) => found?,
                        Err(_) => return Err(Outcome::Failed(RequestError::TimedOut(whole))),
                    };
                }
                Piece::Unlinked { .. } => {
                    let what = format!("its chain has changed {CHANGES} times meanwhile");
                    return Err(Outcome::Failed(RequestError::Declined(what)));
                }
            }
        }
        Ok(Outcome::Fetched(last_fed))
    }

    /// One request: hands the blocks on that link.
    async fn fetch_piece(
        &self,
        means: &Means,
        decoder: &mut BlockDecoder,
        first: u32,
        count: u32,
    ) -> Result<Piece, Outcome> {
        let range = BlockRange {
            first,
            count,
            max_bytes: BYTES,
        };
        let mut answer = means.network.request(&self.peer, range);
        let (mut batch, mut last) = (Batch::default(), None);
        let few = self.last - self.first < FEW;
        let end = loop {
            let stored = match timeout(self.patience, answer.next()).await {
                Err(_) => break Some(RequestError::TimedOut(self.patience)),
                Ok(None) => break None,
                Ok(Some(Err(RequestError::Protocol(what)))) => {
                    return Err(Outcome::Misbehaved(Misbehavior::Protocol(what)));
                }
                Ok(Some(Err(error))) => break Some(error),
                Ok(Some(Ok(stored))) => stored,
            };
            let number = stored.number;
            let len = stored.bytes.len() as u64;
            means.meter.received_bytes.fetch_add(len, Relaxed);
            let due = last.map_or(first, |last: BlockId| last.number() + 1);
            if number != due || number >= first + count {
                let what = format!("block {number} came where block {due} was due");
                return Err(Outcome::Misbehaved(Misbehavior::Unasked(what)));
            }
            let arrival = Arrival::read(decoder, stored).map_err(|error| match error {
                ArrivalError::Unreadable(error) => Outcome::Unreadable(number, error.to_string()),
                ArrivalError::NoBlock(reason) => {
                    Outcome::Misbehaved(Misbehavior::BadBlock { number, reason })
                }
            })?;
            let links = match last {
                Some(last) => arrival.previous == last,
                None => means.known.has(&arrival.previous),
            };
            if !links {
                let previous = arrival.previous;
                batch.hand_on(&self.peer, means).await?;
                return Ok(Piece::Unlinked { previous });
            }
            last = Some(arrival.id);
            if !means.known.has(&arrival.id) {
                batch.push(arrival);
                if few || batch.is_full() {
                    batch.hand_on(&self.peer, means).await?;
                }
            } else {
                // The numbers of a batch leave none out.
                batch.hand_on(&self.peer, means).await?;
            }
        };
        batch.hand_on(&self.peer, means).await?;
        match (last, end) {
            // A peer that goes over to a shorter answer, or has pruned the rest, brings what it can.
            (Some(last), None | Some(RequestError::Declined(_))) => Ok(Piece::Whole(last)),
            (_, Some(error)) => Err(Outcome::Failed(error)),
            (None, None) => Err(Outcome::Failed(RequestError::Declined("no block came".into()))),
        }
    }

    /// The first block of the peer's branch that is not known here. `wanted`: a block of it that is not.
    async fn find_fork_point(&self, means: &Means, wanted: BlockId) -> Result<u32, Outcome> {
        let (mut wanted, mut most) = (wanted, FIRST_HEADERS);
        for _ in 0..SEARCHES {
            let irreversible = means.known.ours().irreversible().number();
            if wanted.number() <= irreversible {
                return Err(Outcome::DeadFork { irreversible });
            }
            let first = (irreversible + 1).max(wanted.number().saturating_sub(most - 1));
            let count = wanted.number() - first + 1;
            let run = self.headers(means, HeaderRange { first, count }).await?;
            if run.last() < wanted.number() {
                // It has less room in an answer than was asked for.
                most = (run.last() - run.first() + 1).min(count - 1);
                continue;
            }
            if run.last_id() != Some(wanted) {
                let what = format!("it has another block {} by now", wanted.number());
                return Err(Outcome::Failed(RequestError::Declined(what)));
            }
            if let Some(parent) = run.below_last().find(|id| means.known.has(id)) {
                return Ok(parent.number() + 1);
            }
            wanted = run.previous;
            most = (most * 8).min(MAX_HEADERS);
        }
        let what = format!(
            "its headers come in pieces that are too small: {SEARCHES} did not lead to a known block"
        );
        Err(Outcome::Failed(RequestError::Declined(what)))
    }

    async fn headers(&self, means: &Means, range: HeaderRange) -> Result<HeaderRun, Outcome> {
        let answer = means.network.request_headers(&self.peer, range);
        let bytes = match timeout(self.patience, answer).await {
            Err(_) => return Err(Outcome::Failed(RequestError::TimedOut(self.patience))),
            Ok(Err(RequestError::Protocol(what))) => {
                return Err(Outcome::Misbehaved(Misbehavior::Protocol(what)));
            }
            Ok(Err(error)) => return Err(Outcome::Failed(error)),
            Ok(Ok(bytes)) => bytes,
        };
        let len = bytes.len() as u64;
        means.meter.received_bytes.fetch_add(len, Relaxed);
        HeaderRun::read(&bytes, range.first, range.count)
            .map_err(|what| Outcome::Misbehaved(Misbehavior::Protocol(what)))
    }
}

/// Blocks that go to the pipeline together.
#[derive(Default)]
struct Batch {
    blocks: Vec<StoredBlock>,
    ids: Vec<BlockId>,
    bytes: usize,
}

impl Batch {
    fn push(&mut self, arrival: Arrival) {
        self.bytes += arrival.stored.bytes.len();
        self.ids.push(arrival.id);
        self.blocks.push(arrival.stored);
    }

    fn is_full(&self) -> bool {
        self.blocks.len() >= MAX_BATCH_BLOCKS || self.bytes >= MAX_BATCH_BYTES
    }

    async fn hand_on(&mut self, peer: &Arc<str>, means: &Means) -> Result<(), Outcome> {
        let Batch { blocks, ids, .. } = std::mem::take(self);
        if blocks.is_empty() {
            return Ok(());
        }
        let followed = Followed {
            blocks,
            peer: Arc::clone(peer),
        };
        means.queue.send(followed).await.map_err(|_| Outcome::Closed)?;
        // Not before: who continues these blocks comes behind them.
        let now = Instant::now();
        ids.into_iter().for_each(|id| means.known.was_fed(id, peer, now));
        Ok(())
    }
}
