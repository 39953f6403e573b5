//! The parts of these tests: blocks with their keys, nodes without a network, a judge that only ever goes forward.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::time::Duration;

use cairn_block_log::{BlockLog, BlockLogWriter, CutPolicy, Dictionaries, Layout, WriterOptions};
use cairn_chain::{BlockId, ChainSpec, DecodedBlock, Time};
use cairn_node::devnet::{self, ChainShape, RawBlock};
use cairn_rules::signatures::{self, RecoveredKeys};
use cairn_rules::{Head, IdentityState, Validation};
use cairn_state::{CommitPolicy, Registers, Store, StoreOptions};
use cairn_sync::checkpoint::Checkpoints;
use cairn_sync::pipeline::{LogEntry, Origin, PreparedBlock};
use cairn_sync::room::{Needs, Room, Shortage};
use cairn_sync::stats::Meter;
use cairn_sync::writer::{ChainWriter, ChainWriterOptions, Clock, Taken};
use cairn_sync::{ChainView, id_if_there};
use tempfile::TempDir;

/// Blocks that all nodes have: all witnesses are at work behind them.
pub(crate) const TRUNK: u32 = 64;
/// Blocks behind a tree, two rounds: with them its winner is irreversible.
pub(crate) const SEAL: u32 = 42;

/// A small generator of numbers, so that a failing seed can be run again.
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    pub(crate) fn below(&mut self, end: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end
    }

    pub(crate) fn shuffle<T>(&mut self, list: &mut [T]) {
        for at in (1..list.len()).rev() {
            list.swap(at, self.below(at + 1));
        }
    }
}

/// Memory, where there is some: thousands of commits are synced.
pub(crate) fn folder() -> TempDir {
    match Path::new("/dev/shm").is_dir() {
        true => TempDir::new_in("/dev/shm").unwrap(),
        false => TempDir::new().unwrap(),
    }
}

#[derive(Debug)]
pub(crate) struct EndlessRoom;

impl Room for EndlessRoom {
    fn shortage(&self, _: Needs) -> Option<Shortage> {
        None
    }
}

#[derive(Debug, Clone, Default)]
pub(crate) struct VirtualClock(pub(crate) Arc<AtomicU32>);

impl Clock for VirtualClock {
    fn now(&self) -> Time {
        Time(self.0.load(Relaxed))
    }
}

/// Blocks with their keys, recovered once for all nodes.
pub(crate) struct Library {
    pub(crate) spec: Arc<ChainSpec>,
    pub(crate) blocks: HashMap<BlockId, (RawBlock, RecoveredKeys)>,
}

impl Library {
    pub(crate) fn new(shape: &ChainShape) -> Self {
        Self {
            spec: Arc::new(devnet::chain_spec(shape.seed)),
            blocks: HashMap::new(),
        }
    }

    pub(crate) fn add(&mut self, raw: RawBlock) -> BlockId {
        let id = raw.id;
        let keys = signatures::recover(&self.decode(&raw), &self.spec).unwrap();
        self.blocks.insert(id, (raw, keys));
        id
    }

    pub(crate) fn decode(&self, raw: &RawBlock) -> DecodedBlock {
        let block = DecodedBlock::decode(raw.bytes.clone(), self.spec.symbols).unwrap();
        block.check_merkle_root(&self.spec).unwrap();
        block
    }

    pub(crate) fn prepared(&self, id: &BlockId) -> PreparedBlock {
        let (raw, keys) = &self.blocks[id];
        PreparedBlock {
            block: self.decode(raw),
            log_entry: LogEntry::Plain,
            keys: Some(keys.clone()),
            stored_len: raw.bytes.len(),
        }
    }

    pub(crate) fn time(&self, id: &BlockId) -> u32 {
        self.blocks[id].0.time.0
    }
}

pub(crate) struct Node {
    pub(crate) chain: ChainWriter,
    pub(crate) clock: VirtualClock,
    pub(crate) meter: Arc<Meter>,
    view: Arc<ChainView>,
    folder: TempDir,
}

impl Node {
    pub(crate) fn new(spec: &Arc<ChainSpec>) -> Self {
        let folder = folder();
        let (chain, meter, view) = open(folder.path(), spec);
        let mut node = Self {
            chain,
            clock: VirtualClock::default(),
            meter,
            view,
            folder,
        };
        node.clock.0.store(u32::MAX, Relaxed);
        node.chain.follow_forks(Box::new(node.clock.clone()));
        node
    }

    /// As kill -9 and a new start: what was not committed is gone.
    pub(crate) fn reopen(self, spec: &Arc<ChainSpec>) -> Self {
        let Self {
            chain, clock, folder, ..
        } = self;
        drop(chain);
        let (mut chain, meter, view) = open(folder.path(), spec);
        chain.follow_forks(Box::new(clock.clone()));
        Self {
            chain,
            clock,
            meter,
            view,
            folder,
        }
    }

    pub(crate) fn take(&mut self, library: &Library, id: &BlockId) -> Taken {
        self.chain.take(library.prepared(id), &Origin::BlockLog).unwrap()
    }

    pub(crate) fn durable_digest(&self) -> [u8; 32] {
        self.chain.state().registers().store().digest().unwrap().digest
    }

    /// The log has the irreversible blocks of a branch and no other.
    pub(crate) fn check_log(&self, branch: &[BlockId], irreversible: u32) {
        let file = self.folder.path().join("block_log");
        let log = BlockLog::open(&file, 400, Arc::new(Dictionaries::none())).unwrap();
        assert_eq!(log.head_number(), Some(irreversible));
        for id in branch.iter().filter(|id| id.number() <= irreversible) {
            assert_eq!(id_if_there(&log, id.number()), Some(*id));
        }
    }

    /// What is published is the rest of the branch.
    pub(crate) fn check_view(&mut self, branch: &[BlockId]) {
        self.chain.publish_head();
        let heads = self.view.heads();
        assert_eq!(heads.head.map(|head| head.id), branch.last().copied());
        assert_eq!(heads.irreversible, heads.durable);
        let irreversible = heads.irreversible.unwrap().number;
        let rest: Vec<BlockId> = branch
            .iter()
            .filter(|id| id.number() > irreversible)
            .copied()
            .collect();
        let published: Vec<BlockId> = heads.reversible.iter().map(|block| block.block.id()).collect();
        assert_eq!(published, rest);
    }
}

pub(crate) fn open(folder: &Path, spec: &Arc<ChainSpec>) -> (ChainWriter, Arc<Meter>, Arc<ChainView>) {
    let store = Store::open(folder.join("state"), &StoreOptions::new(spec.chain_id().0)).unwrap();
    let state = IdentityState::open(Registers::new(store).unwrap(), Arc::clone(spec)).unwrap();
    let options = WriterOptions {
        layout: Layout::Single,
        chain: spec,
        dictionaries: Arc::new(Dictionaries::none()),
        cut: CutPolicy::Torn,
    };
    let (log, _) = BlockLogWriter::open(folder, &options).unwrap();
    let (meter, view): (Arc<Meter>, Arc<ChainView>) = Default::default();
    let options = ChainWriterOptions {
        log: Some(log),
        keep_parts: None,
        undo_sessions: false,
        room: Box::new(EndlessRoom),
        checkpoints: Checkpoints::default(),
        policy: CommitPolicy {
            blocks: u32::MAX,
            bytes: usize::MAX,
            interval: Duration::MAX,
        },
        meter: Arc::clone(&meter),
        view: Arc::clone(&view),
        restore_points: None,
    };
    (ChainWriter::new(state, options).unwrap(), meter, view)
}

/// A state that only ever goes forward: the judge.
pub(crate) struct Forward {
    pub(crate) state: IdentityState,
    _folder: TempDir,
}

impl Forward {
    pub(crate) fn new(spec: &Arc<ChainSpec>) -> Self {
        let folder = folder();
        let store = Store::open(folder.path(), &StoreOptions::new(spec.chain_id().0)).unwrap();
        Self {
            state: IdentityState::open(Registers::new(store).unwrap(), Arc::clone(spec)).unwrap(),
            _folder: folder,
        }
    }

    pub(crate) fn apply(&mut self, library: &Library, id: &BlockId) {
        let prepared = library.prepared(id);
        let keys = prepared.keys.as_ref().unwrap();
        self.state
            .apply_block(&prepared.block, Validation::Full(keys))
            .unwrap();
    }

    pub(crate) fn digest(&mut self) -> (Head, [u8; 32]) {
        self.state.commit().unwrap();
        (
            self.state.head(),
            self.state.registers().store().digest().unwrap().digest,
        )
    }
}

pub(crate) fn shape(seed: u64) -> ChainShape {
    ChainShape {
        witnesses: 21,
        missed_slots: 10,
        transactions: (0, 3),
        ..ChainShape::small(seed)
    }
}
