//! The downloader as it is, between peers in memory and a writer that knows ids alone.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use cairn_block_log::{Dictionaries, StoredBlock};
use cairn_chain::{BlockId, ChainSpec};
use futures::future::{BoxFuture, FutureExt};
use futures::stream::{self, BoxStream, StreamExt};

use super::super::{Follow, Known, Means, OurChain};
use crate::checkpoint::Checkpoints;
use crate::download::blame::Blame;
use crate::download::driver::Driver;
use crate::download::feeder::{feed_branches, feed_in_order};
use crate::download::network::*;
use crate::download::proof::ProofOptions;
use crate::download::proof::chain_for_tests::HeaderChain;
use crate::download::scheduler::{Scheduler, SchedulerOptions};
use crate::download::shared::Shared;
use crate::pipeline::{LogForm, Next, Pipeline, PipelineOptions, PrepareContext, Prepared, ValidationPlan};
use crate::stats::Meter;
use crate::writer::{AsideBlock, BlockFault, Rejected, Rejection, SetAside};

/// Longest wait of a test.
const PATIENCE: Duration = Duration::from_secs(60);
/// An empty block: its header, and no transactions.
const SIZE: usize = 113;

/// A peer in memory.
#[derive(Clone, Debug)]
pub(super) struct Peer {
    pub(super) chain: HeaderChain,
    pub(super) head: u32,
    /// What it says its head is, where that is not true.
    pub(super) claims: Option<BlockId>,
    /// It never answers.
    pub(super) mute: bool,
}

impl Peer {
    pub(super) fn new(chain: &HeaderChain, head: u32) -> Self {
        Self {
            chain: chain.clone(),
            head,
            claims: None,
            mute: false,
        }
    }
}

#[derive(Debug, Default)]
pub(super) struct Peers {
    pub(super) peers: Mutex<BTreeMap<String, Peer>>,
    pub(super) accused: Mutex<Vec<String>>,
    /// Blocks and headers that were sent.
    pub(super) sent: AtomicU64,
    pub(super) requests: AtomicU64,
}

impl Peers {
    fn get(&self, peer: &str) -> Result<Peer, RequestError> {
        self.requests.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let peers = self.peers.lock().unwrap();
        peers
            .get(peer)
            .cloned()
            .ok_or(RequestError::Lost("it is gone".into()))
    }

    fn count(&self, count: usize) {
        self.sent
            .fetch_add(count as u64, std::sync::atomic::Ordering::Relaxed);
    }
}

impl BlockNetwork for Peers {
    fn peers(&self) -> Vec<PeerOffer> {
        let offer = |(name, peer): (&String, &Peer)| {
            let head_id = peer.claims.unwrap_or_else(|| peer.chain.id(peer.head));
            PeerOffer {
                peer: Arc::from(name.as_str()),
                first: 1,
                head: head_id.number(),
                head_id,
            }
        };
        self.peers.lock().unwrap().iter().map(offer).collect()
    }

    fn request(
        &self,
        peer: &str,
        range: BlockRange,
    ) -> BoxStream<'static, Result<StoredBlock, RequestError>> {
        let peer = match self.get(peer) {
            Ok(peer) if peer.mute => return stream::pending().boxed(),
            Ok(peer) => peer,
            Err(error) => return stream::iter([Err(error)]).boxed(),
        };
        let end = peer.head.min(range.first + range.count - 1);
        let mut answer: Vec<_> = (range.first..=end)
            .map(|number| Ok(peer.chain.arrival(number, SIZE).stored))
            .collect();
        self.count(answer.len());
        if end < range.first + range.count - 1 {
            answer.push(Err(RequestError::Declined("no such block".into())));
        }
        stream::iter(answer).boxed()
    }

    fn request_headers(
        &self,
        peer: &str,
        range: HeaderRange,
    ) -> BoxFuture<'static, Result<Vec<u8>, RequestError>> {
        let answer = match self.get(peer) {
            Ok(peer) if peer.mute => return std::future::pending().boxed(),
            Ok(peer) if range.first > peer.head => Err(RequestError::Declined("no such block".into())),
            Ok(peer) => {
                let count = range.count.min(peer.head - range.first + 1);
                self.count(count as usize);
                Ok(peer.chain.bytes(range.first, count))
            }
            Err(error) => Err(error),
        };
        std::future::ready(answer).boxed()
    }

    fn misbehaved(&self, peer: &str, what: &Misbehavior) {
        if !matches!(what, Misbehavior::Stalled { .. }) {
            self.accused.lock().unwrap().push(format!("{peer}: {what}"));
            self.peers.lock().unwrap().remove(peer);
        }
    }
}

/// A writer that follows the longest chain of ids.
#[derive(Debug)]
pub(super) struct Tree {
    /// Linked blocks and their parents.
    parents: HashMap<BlockId, BlockId>,
    unlinked: HashMap<BlockId, Vec<BlockId>>,
    /// From the last irreversible block on.
    main: Vec<BlockId>,
    depth: usize,
    /// It loses every block with such a number once.
    loses: Option<u32>,
    lost: HashSet<u32>,
    /// Blocks that break a rule.
    pub(super) bad: HashSet<BlockId>,
    pub(super) switches: u32,
}

#[derive(Debug)]
pub(super) struct Ours(pub(super) Mutex<Tree>);

impl OurChain for Ours {
    fn head(&self) -> BlockId {
        *self.0.lock().unwrap().main.last().unwrap()
    }

    fn irreversible(&self) -> BlockId {
        self.0.lock().unwrap().main[0]
    }

    fn has(&self, id: &BlockId) -> bool {
        self.0.lock().unwrap().main.contains(id)
    }
}

enum Taken {
    Fine,
    Aside(SetAside),
    Bad { next_of_head: bool },
}

impl Tree {
    fn take(&mut self, id: BlockId, previous: BlockId) -> Taken {
        let root = self.main[0];
        if self.loses.is_some_and(|every| id.number().is_multiple_of(every)) && self.lost.insert(id.number())
        {
            return Taken::Fine;
        }
        if id == root || self.parents.contains_key(&id) {
            return Taken::Fine;
        }
        let dead = previous.number() == root.number() && previous != root;
        if id.number() <= root.number() || dead {
            let irreversible = root.number();
            return Taken::Aside(SetAside::DeadFork { irreversible });
        }
        if self.bad.contains(&id) || self.bad.contains(&previous) {
            self.bad.insert(id);
            let next_of_head = previous == *self.main.last().unwrap();
            return Taken::Bad { next_of_head };
        }
        if previous != root && !self.parents.contains_key(&previous) {
            self.unlinked.entry(previous).or_default().push(id);
            return Taken::Aside(SetAside::Unlinked { previous });
        }
        let mut ready = vec![(id, previous)];
        while let Some((id, previous)) = ready.pop() {
            self.parents.insert(id, previous);
            let children = self.unlinked.remove(&id).unwrap_or_default();
            ready.extend(children.into_iter().map(|child| (child, id)));
            if id.number() > self.main.last().unwrap().number() {
                self.go_to(id);
            }
        }
        Taken::Fine
    }

    fn go_to(&mut self, head: BlockId) {
        let (mut branch, mut at) = (Vec::new(), head);
        while !self.main.contains(&at) {
            branch.push(at);
            at = self.parents[&at];
        }
        let keep = self.main.iter().position(|id| *id == at).unwrap() + 1;
        self.switches += u32::from(keep < self.main.len());
        self.main.truncate(keep);
        self.main.extend(branch.into_iter().rev());
        let old = self.main.len().saturating_sub(self.depth + 1);
        self.main.drain(..old);
        let root = self.main[0].number();
        self.parents.retain(|id, _| id.number() > root);
    }
}

/// A node in the middle of all that.
#[derive(Debug)]
pub(super) struct World {
    pub(super) peers: Arc<Peers>,
    pub(super) ours: Arc<Ours>,
    shared: Arc<Shared>,
    threads: Vec<thread::JoinHandle<()>>,
    runtime: tokio::runtime::Runtime,
}

/// How a node begins.
#[derive(Clone, Copy, Debug)]
pub(super) struct Start {
    /// Its head.
    pub(super) head: BlockId,
    /// Reversible blocks that its writer keeps.
    pub(super) depth: usize,
    /// See [`Tree`].
    pub(super) loses: Option<u32>,
}

impl World {
    pub(super) fn new(start: Start, peers: &[(&str, Peer)]) -> Self {
        let peers = peers
            .iter()
            .map(|(name, peer)| ((*name).to_owned(), peer.clone()));
        let peers = Arc::new(Peers {
            peers: Mutex::new(peers.collect()),
            ..Peers::default()
        });
        let ours = Arc::new(Ours(Mutex::new(Tree {
            parents: HashMap::new(),
            unlinked: HashMap::new(),
            main: vec![start.head],
            depth: start.depth,
            loses: start.loses,
            lost: HashSet::new(),
            bad: HashSet::new(),
            switches: 0,
        })));
        let network: Arc<dyn BlockNetwork> = Arc::clone(&peers) as _;
        let context = PrepareContext {
            spec: Arc::new(ChainSpec::hive()),
            dictionaries: Arc::new(Dictionaries::none()),
            log_form: LogForm::None,
            plan: ValidationPlan::REDUCED,
        };
        let meter = Arc::new(Meter::default());
        let (pipeline, feed, prepared) =
            Pipeline::start(&context, PipelineOptions { threads: 2 }, &meter).unwrap();
        let proof = ProofOptions {
            checkpoints: Checkpoints::default(),
            head: (start.head.number(), start.head),
            folder: "/nonexistent".into(),
            patience: Duration::ZERO,
            wait_on_mismatch: false,
        };
        let shared = Arc::new(Shared::new(Scheduler::new(SchedulerOptions::default(), proof)));
        let (branches, queue) = tokio::sync::mpsc::channel(8);
        let follow = Follow::new(Means {
            network: Arc::clone(&network),
            dictionaries: Arc::clone(&context.dictionaries),
            meter: Arc::clone(&meter),
            queue: branches,
            known: Known::new(Arc::clone(&ours) as _),
        });
        let driver = Driver::new(
            Arc::clone(&network),
            Arc::clone(&shared),
            Arc::clone(&meter),
            Arc::clone(&context.dictionaries),
            Checkpoints::default(),
            follow,
        );
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap();
        runtime.spawn(driver.run());
        let blame = Blame::new(Arc::clone(&shared), network, Arc::clone(&ours) as _, 0);
        let (feed_2, shared_2, shared_3, ours_2) = (
            feed.clone(),
            Arc::clone(&shared),
            Arc::clone(&shared),
            Arc::clone(&ours),
        );
        let threads = vec![
            thread::spawn(move || feed_in_order(&shared_2, &feed)),
            thread::spawn(move || feed_branches(&shared_3, queue, &feed_2)),
            thread::spawn(move || {
                write(&ours_2, prepared, blame, &meter);
                pipeline.join();
            }),
        ];
        Self {
            peers,
            ours,
            shared,
            threads,
            runtime,
        }
    }

    /// Changes a peer; one that is not there comes.
    pub(super) fn set(&self, name: &str, peer: Peer) {
        self.peers.peers.lock().unwrap().insert(name.to_owned(), peer);
    }

    pub(super) fn switches(&self) -> u32 {
        self.ours.0.lock().unwrap().switches
    }

    /// Waits until the head is this block.
    pub(super) fn until_head(&self, id: BlockId) {
        let started = Instant::now();
        while self.ours.head() != id {
            assert!(
                started.elapsed() < PATIENCE,
                "head is block {} {}, block {} {id} is wanted; accused: {:?}",
                self.ours.head().number(),
                self.ours.head(),
                id.number(),
                self.peers.accused.lock().unwrap()
            );
            thread::sleep(Duration::from_millis(2));
        }
    }

    /// Ends it; nobody must have been accused, but for these.
    pub(super) fn end(mut self, accused: &[&str]) {
        self.shared.end();
        for thread in self.threads.drain(..) {
            thread.join().unwrap();
        }
        self.runtime.shutdown_background();
        let list = self.peers.accused.lock().unwrap();
        let mut names: Vec<&str> = list.iter().filter_map(|line| line.split(':').next()).collect();
        names.dedup();
        assert_eq!(names, accused, "{list:?}");
    }
}

/// The writer's loop, as the real one speaks to its source.
fn write(ours: &Ours, mut input: Prepared, mut source: Blame, meter: &Meter) {
    let mut epoch = 0;
    loop {
        let batch = match input.next(Duration::from_millis(100)) {
            Next::Batch(batch) => batch,
            Next::Nothing => continue,
            Next::Ended => return,
        };
        if batch.epoch < epoch {
            continue;
        }
        for prepared in &batch.blocks {
            let (id, previous) = (prepared.block.id(), prepared.block.block().header.previous);
            let (number, origin) = (id.number(), &batch.origin);
            let taken = ours.0.lock().unwrap().take(id, previous);
            match taken {
                Taken::Fine => {}
                Taken::Aside(why) => {
                    source.set_aside(&AsideBlock {
                        number,
                        id,
                        origin,
                        why,
                    });
                }
                Taken::Bad { next_of_head } => {
                    let fault = BlockFault::Remembered("a rule".into());
                    let again = source.rejected(&Rejection {
                        number,
                        id: Some(id),
                        origin,
                        fault: &fault,
                        next_of_head,
                    });
                    epoch += u64::from(again);
                    break;
                }
            }
        }
        assert!(batch.failure.is_none(), "{:?}", batch.failure);
        let head = ours.head().number();
        meter.head.set(head, head * 3);
        source.applied(head);
    }
}
