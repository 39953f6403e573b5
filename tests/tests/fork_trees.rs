//! Trees of forks, delivered in any order: every node ends on the longest branch, with the state of a node that only ever
//! saw that branch, and with nothing else in its block log.

#![allow(
    clippy::unwrap_used,
    missing_docs,
    reason = "a test that cannot go on shall stop"
)]

use std::collections::{BTreeSet, HashMap};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::time::Duration;

use cairn_block_log::{BlockLog, BlockLogWriter, CutPolicy, Dictionaries, Layout, WriterOptions};
use cairn_chain::{AccountName, BlockId, ChainSpec, DecodedBlock, Time};
use cairn_node::devnet::{self, ChainShape, RawBlock, Rule, Step, Tree};
use cairn_rules::signatures::{self, RecoveredKeys};
use cairn_rules::{Head, IdentityState, Validation};
use cairn_state::{CommitPolicy, Registers, Store, StoreOptions};
use cairn_sync::checkpoint::Checkpoints;
use cairn_sync::pipeline::{LogEntry, Origin, PreparedBlock};
use cairn_sync::room::{Needs, Room, Shortage};
use cairn_sync::stats::Meter;
use cairn_sync::writer::{
    ChainWriter, ChainWriterOptions, Clock, MAX_REVERSIBLE_BLOCKS, SetAside, Taken, WriterError,
};
use cairn_sync::{ChainView, id_if_there};
use tempfile::TempDir;

/// Blocks that all nodes have: all witnesses are at work behind them.
const TRUNK: u32 = 64;
/// Blocks behind a tree, two rounds: with them its winner is irreversible.
const SEAL: u32 = 42;
/// No branch is longer, so that none that loses can become irreversible: that takes 16 witnesses.
const MOST_LEVELS: u32 = 12;

/// A small generator of numbers, so that a failing seed can be run again.
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end
    }

    fn shuffle<T>(&mut self, list: &mut [T]) {
        for at in (1..list.len()).rev() {
            list.swap(at, self.below(at + 1));
        }
    }
}

/// Memory, where there is some: thousands of commits are synced.
fn folder() -> TempDir {
    match Path::new("/dev/shm").is_dir() {
        true => TempDir::new_in("/dev/shm").unwrap(),
        false => TempDir::new().unwrap(),
    }
}

#[derive(Debug)]
struct EndlessRoom;

impl Room for EndlessRoom {
    fn shortage(&self, _: Needs) -> Option<Shortage> {
        None
    }
}

#[derive(Debug, Clone, Default)]
struct VirtualClock(Arc<AtomicU32>);

impl Clock for VirtualClock {
    fn now(&self) -> Time {
        Time(self.0.load(Relaxed))
    }
}

/// Blocks with their keys, recovered once for all nodes.
struct Library {
    spec: Arc<ChainSpec>,
    blocks: HashMap<BlockId, (RawBlock, RecoveredKeys)>,
}

impl Library {
    fn new(shape: &ChainShape) -> Self {
        Self {
            spec: Arc::new(devnet::chain_spec(shape.seed)),
            blocks: HashMap::new(),
        }
    }

    fn add(&mut self, raw: RawBlock) -> BlockId {
        let id = raw.id;
        let keys = signatures::recover(&self.decode(&raw), &self.spec).unwrap();
        self.blocks.insert(id, (raw, keys));
        id
    }

    fn decode(&self, raw: &RawBlock) -> DecodedBlock {
        let block = DecodedBlock::decode(raw.bytes.clone(), self.spec.symbols).unwrap();
        block.check_merkle_root(&self.spec).unwrap();
        block
    }

    fn prepared(&self, id: &BlockId) -> PreparedBlock {
        let (raw, keys) = &self.blocks[id];
        PreparedBlock {
            block: self.decode(raw),
            log_entry: LogEntry::Plain,
            keys: Some(keys.clone()),
            stored_len: raw.bytes.len(),
        }
    }

    fn time(&self, id: &BlockId) -> u32 {
        self.blocks[id].0.time.0
    }
}

struct Node {
    chain: ChainWriter,
    clock: VirtualClock,
    meter: Arc<Meter>,
    view: Arc<ChainView>,
    folder: TempDir,
}

impl Node {
    fn new(spec: &Arc<ChainSpec>) -> Self {
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
    fn reopen(self, spec: &Arc<ChainSpec>) -> Self {
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

    fn take(&mut self, library: &Library, id: &BlockId) -> Taken {
        self.chain.take(library.prepared(id), &Origin::BlockLog).unwrap()
    }

    fn durable_digest(&self) -> [u8; 32] {
        self.chain.state().registers().store().digest().unwrap().digest
    }

    /// The log has the irreversible blocks of a branch and no other.
    fn check_log(&self, branch: &[BlockId], irreversible: u32) {
        let file = self.folder.path().join("block_log");
        let log = BlockLog::open(&file, 400, Arc::new(Dictionaries::none())).unwrap();
        assert_eq!(log.head_number(), Some(irreversible));
        for id in branch.iter().filter(|id| id.number() <= irreversible) {
            assert_eq!(id_if_there(&log, id.number()), Some(*id));
        }
    }

    /// What is published is the rest of the branch.
    fn check_view(&mut self, branch: &[BlockId]) {
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

fn open(folder: &Path, spec: &Arc<ChainSpec>) -> (ChainWriter, Arc<Meter>, Arc<ChainView>) {
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
struct Forward {
    state: IdentityState,
    _folder: TempDir,
}

impl Forward {
    fn new(spec: &Arc<ChainSpec>) -> Self {
        let folder = folder();
        let store = Store::open(folder.path(), &StoreOptions::new(spec.chain_id().0)).unwrap();
        Self {
            state: IdentityState::open(Registers::new(store).unwrap(), Arc::clone(spec)).unwrap(),
            _folder: folder,
        }
    }

    fn apply(&mut self, library: &Library, id: &BlockId) {
        let prepared = library.prepared(id);
        let keys = prepared.keys.as_ref().unwrap();
        self.state
            .apply_block(&prepared.block, Validation::Full(keys))
            .unwrap();
    }

    fn digest(&mut self) -> (Head, [u8; 32]) {
        self.state.commit().unwrap();
        (
            self.state.head(),
            self.state.registers().store().digest().unwrap().digest,
        )
    }
}

/// Grows a random tree on `base`, and one block more on its highest one. Gives all of its blocks and the winner.
fn random_tree(
    tree: &mut Tree,
    library: &mut Library,
    base: BlockId,
    dice: &mut Dice,
) -> (Vec<BlockId>, BlockId) {
    let mut blocks: Vec<BlockId> = Vec::new();
    let bottom = base.number();
    for _ in 0..5 + dice.below(30) {
        // Mostly on one of the last ones: branches, not bushes.
        let parent = match blocks.len() {
            0 => base,
            count if dice.below(10) < 7 => blocks[count - 1 - dice.below(count.min(3))],
            count => blocks[dice.below(count)],
        };
        let parent = if dice.below(12) == 0 { base } else { parent };
        if parent.number() - bottom >= MOST_LEVELS {
            continue;
        }
        let shared = dice.below(3) as u32;
        blocks.push(library.add(tree.sibling(parent, shared, &Step::default()).unwrap()));
    }
    let highest = *blocks.iter().max_by_key(|id| id.number()).unwrap();
    let winner = library.add(tree.extend(highest, &Step::default()).unwrap());
    blocks.push(winner);
    (blocks, winner)
}

/// The ids from behind `base` up to `head`.
fn branch(library: &Library, base: BlockId, head: BlockId) -> Vec<BlockId> {
    let parent = |id: &BlockId| Some(library.blocks[id].0.previous).filter(|parent| *parent != base);
    let mut branch: Vec<BlockId> = std::iter::successors(Some(head), parent).collect();
    branch.reverse();
    branch
}

/// Blocks in the order of their delivery, some of them twice; what comes from the future comes again.
fn deliver(node: &mut Node, library: &Library, blocks: &[BlockId], dice: &mut Dice) {
    let mut waiting: Vec<BlockId> = blocks.to_vec();
    waiting.extend((0..blocks.len() / 4).map(|_| blocks[dice.below(blocks.len())]));
    dice.shuffle(&mut waiting);
    let times: Vec<u32> = blocks.iter().map(|id| library.time(id)).collect();
    node.clock.0.store(*times.iter().min().unwrap(), Relaxed);
    while !waiting.is_empty() {
        let mut early = Vec::new();
        for id in waiting {
            match node.take(library, &id) {
                Taken::SetAside(SetAside::FromTheFuture { .. }) => early.push(id),
                Taken::Refused(refused) => panic!("{refused:?}"),
                Taken::SetAside(SetAside::DeadFork { .. }) => panic!("{id} is on a dead fork"),
                Taken::Applied | Taken::Held | Taken::Known | Taken::SetAside(SetAside::Unlinked { .. }) => {}
            }
        }
        node.clock.0.fetch_add(20, Relaxed);
        waiting = early;
    }
}

fn shape(seed: u64) -> ChainShape {
    ChainShape {
        witnesses: 21,
        missed_slots: 10,
        transactions: (0, 3),
        ..ChainShape::small(seed)
    }
}

/// Grows `trees` random trees one behind the other, and follows them with several nodes.
fn follow_trees(seed: u64, trees: u32) -> u64 {
    let mut dice = Dice(seed);
    let shape = shape(seed);
    let mut library = Library::new(&shape);
    let mut tree = Tree::new(shape);
    let spec = Arc::clone(&library.spec);
    let mut nodes: Vec<Node> = (0..3).map(|_| Node::new(&spec)).collect();
    let mut judge = Forward::new(&spec);
    let trunk: Vec<BlockId> = tree
        .grow(BlockId::ZERO, TRUNK)
        .into_iter()
        .map(|raw| library.add(raw))
        .collect();
    for id in &trunk {
        judge.apply(&library, id);
        nodes
            .iter_mut()
            .for_each(|node| assert!(matches!(node.take(&library, id), Taken::Applied)));
    }
    let mut base = *trunk.last().unwrap();
    for round in 0..trees {
        let (mut blocks, winner) = random_tree(&mut tree, &mut library, base, &mut dice);
        for node in &mut nodes {
            deliver(node, &library, &blocks, &mut dice);
            assert_eq!(node.chain.head().id, winner, "seed {seed}, tree {round}");
        }
        // With more blocks on top the winner is irreversible, and its state durable.
        let mut at = winner;
        for _ in 0..SEAL {
            at = library.add(tree.extend(at, &Step::default()).unwrap());
            blocks.push(at);
        }
        for node in &mut nodes {
            node.clock.0.store(u32::MAX, Relaxed);
            let mut seal = branch(&library, winner, at);
            dice.shuffle(&mut seal);
            seal.iter().for_each(|id| drop(node.take(&library, id)));
            assert_eq!(node.chain.head().id, at, "seed {seed}, tree {round}");
            node.chain.commit().unwrap();
        }
        let durable = nodes[0].chain.kept_head();
        assert!(durable.number >= winner.number(), "{durable:?}");
        let whole = branch(&library, base, at);
        let kept = whole.iter().take_while(|id| id.number() <= durable.number);
        for id in kept {
            judge.apply(&library, id);
        }
        let expected = judge.digest();
        for node in &mut nodes {
            assert_eq!(
                (node.chain.kept_head(), node.durable_digest()),
                expected,
                "seed {seed}, tree {round}"
            );
            node.check_log(&whole, durable.number);
            node.check_view(&whole);
        }
        for id in whole.iter().filter(|id| id.number() > durable.number) {
            judge.apply(&library, id);
        }
        // The judge went ahead of the nodes only in memory.
        assert_eq!(judge.state.head().id, at);
        base = at;
        if round % 10 == 9 {
            let node = nodes.swap_remove(dice.below(nodes.len()));
            let mut node = node.reopen(&spec);
            assert_eq!(
                node.chain.head(),
                expected.0,
                "what was reversible is gone, and nothing else"
            );
            for id in whole.iter().filter(|id| id.number() > expected.0.number) {
                drop(node.take(&library, id));
            }
            assert_eq!(node.chain.head().id, at);
            nodes.push(node);
        }
        let recent: BTreeSet<BlockId> = blocks.iter().copied().collect();
        library.blocks.retain(|id, _| recent.contains(id));
    }
    nodes
        .iter()
        .map(|node| node.meter.fork_switches.load(Relaxed))
        .sum()
}

#[test]
fn every_node_ends_on_the_longest_branch_of_any_tree() {
    let switches: u64 = (1..=20).map(|seed| follow_trees(seed, 50)).sum();
    println!("1000 trees, 3 nodes each: {switches} switches to another fork");
    assert!(
        switches > 1_000,
        "{switches}: the trees do not test what they are to test"
    );
}

/// A branch on `parent` made by these witnesses alone: the others miss their turns.
fn faction(
    tree: &mut Tree,
    library: &mut Library,
    parent: BlockId,
    blocks: u32,
    of: &[AccountName],
) -> Vec<BlockId> {
    let (mut at, mut branch) = (parent, Vec::new());
    for _ in 0..blocks {
        let tip = tree.tip(at).unwrap().clone();
        let by = |missed: u32| tip.clone().grow(&Step { missed: Some(missed) }).witness;
        let missed = (0..60).find(|missed| of.contains(&by(*missed)));
        at = library.add(tree.extend(at, &Step { missed }).unwrap());
        branch.push(at);
    }
    branch
}

#[test]
fn a_fork_200_blocks_deep_is_switched_to_and_back() {
    let shape = shape(7);
    let mut library = Library::new(&shape);
    let mut tree = Tree::new(shape);
    let spec = Arc::clone(&library.spec);
    let mut node = Node::new(&spec);
    let mut judge = Forward::new(&spec);
    let trunk: Vec<BlockId> = tree
        .grow(BlockId::ZERO, 2 * TRUNK)
        .into_iter()
        .map(|raw| library.add(raw))
        .collect();
    for id in &trunk {
        judge.apply(&library, id);
        node.take(&library, id);
    }
    let base = *trunk.last().unwrap();
    let producers: BTreeSet<AccountName> = trunk[TRUNK as usize..]
        .iter()
        .map(|id| library.blocks[id].0.witness)
        .collect();
    let witnesses: Vec<AccountName> = producers.into_iter().collect();
    assert_eq!(witnesses.len(), 21);
    // Two halves of the witnesses that do not hear of each other: neither has three quarters.
    let left = faction(&mut tree, &mut library, base, 200, &witnesses[..10]);
    let right = faction(&mut tree, &mut library, base, 201, &witnesses[10..]);
    left.iter()
        .for_each(|id| assert!(matches!(node.take(&library, id), Taken::Applied)));
    let kept = node.chain.kept_head();
    assert!(kept.number <= base.number(), "{kept:?}");
    for id in &right[..200] {
        assert!(matches!(node.take(&library, id), Taken::Held));
    }
    assert_eq!(node.chain.head().id, left[199]);
    assert!(matches!(node.take(&library, &right[200]), Taken::Applied));
    assert_eq!(node.chain.head().id, right[200]);
    // The halves find each other again, on the left branch.
    let joined: Vec<BlockId> = tree
        .grow(left[199], 60)
        .into_iter()
        .map(|raw| library.add(raw))
        .collect();
    let taken = node.take(&library, &joined[0]);
    assert!(matches!(taken, Taken::Held), "equally high: {taken:?}");
    for id in &joined[1..] {
        assert!(matches!(node.take(&library, id), Taken::Applied));
    }
    assert_eq!(node.meter.fork_switches.load(Relaxed), 2);
    node.chain.commit().unwrap();
    let kept = node.chain.kept_head();
    assert!(kept.number > left[199].number(), "{kept:?}");
    for id in left.iter().chain(&joined).filter(|id| id.number() <= kept.number) {
        judge.apply(&library, id);
    }
    assert_eq!((kept, node.durable_digest()), judge.digest());
    // The right branch is dead now: nobody is wrong who sends it, and it does not come back.
    for id in [right[0], right[100], right[200]] {
        let taken = node.take(&library, &id);
        assert!(
            matches!(taken, Taken::SetAside(SetAside::DeadFork { .. })),
            "{taken:?}"
        );
    }
}

#[test]
fn a_chain_without_majority_ends_with_a_clear_stop() {
    let shape = ChainShape {
        witnesses: 4,
        missed_slots: 0,
        transactions: (0, 0),
        ..ChainShape::small(5)
    };
    let mut library = Library::new(&shape);
    let mut tree = Tree::new(shape);
    let spec = Arc::clone(&library.spec);
    let mut node = Node::new(&spec);
    let trunk = tree.grow(BlockId::ZERO, TRUNK);
    let witnesses: BTreeSet<AccountName> = trunk.iter().map(|raw| raw.witness).collect();
    let two: Vec<AccountName> = witnesses.into_iter().take(2).collect();
    let mut at = BlockId::ZERO;
    for raw in trunk {
        at = library.add(raw);
        node.take(&library, &at);
    }
    let before = node.chain.kept_head();
    assert!(before.number >= TRUNK - 4, "{before:?}");
    let mut tip = tree.tip(at).unwrap().clone();
    let stopped = loop {
        // Three of four are needed, and two are at work.
        let by = |missed: u32| tip.clone().grow(&Step { missed: Some(missed) }).witness;
        let missed = (0..8).find(|missed| two.contains(&by(*missed)));
        let id = library.add(tip.grow(&Step { missed }));
        match node.chain.take(library.prepared(&id), &Origin::BlockLog) {
            Ok(taken) => assert!(matches!(taken, Taken::Applied), "{taken:?}"),
            Err(error) => break error,
        }
        library.blocks.clear();
    };
    let WriterError::TooManyReversible {
        blocks, irreversible, ..
    } = &stopped
    else {
        panic!("{stopped}");
    };
    assert_eq!(*blocks, MAX_REVERSIBLE_BLOCKS + 1);
    let kept = node.chain.kept_head();
    assert_eq!(*irreversible, kept.number);
    assert!(kept.number < before.number + 4, "{kept:?}");
    let text = stopped.to_string();
    assert!(
        text.contains("too few of the scheduled witnesses") && text.contains("--checkpoint"),
        "{text}"
    );
    // What is durable is whole all the same.
    node.chain.commit().unwrap();
    let node = node.reopen(&spec);
    assert_eq!(node.chain.head(), kept);
}

/// The rules are of all kinds: signature, turn, reference, authority.
const BROKEN: [Rule; 4] = [
    Rule::WitnessKey,
    Rule::WitnessTurn,
    Rule::ReferenceBlock,
    Rule::ActiveAuthority,
];

#[test]
fn a_longer_branch_with_a_block_that_breaks_a_rule_is_left_for_the_old_head() {
    let shape = shape(11);
    let mut library = Library::new(&shape);
    let mut tree = Tree::new(shape);
    let spec = Arc::clone(&library.spec);
    let mut node = Node::new(&spec);
    let mut judge = Forward::new(&spec);
    let mut dice = Dice(11);
    let mut base = BlockId::ZERO;
    let mut whole = Vec::new();
    for raw in tree.grow(BlockId::ZERO, TRUNK) {
        base = library.add(raw);
        whole.push(base);
        node.take(&library, &base);
    }
    for rule in BROKEN {
        for place in [0, 3, 6, 8] {
            // Seven blocks of the main branch against nine, of which one is broken.
            let main: Vec<BlockId> = tree
                .grow(base, 7)
                .into_iter()
                .map(|raw| library.add(raw))
                .collect();
            main.iter().for_each(|id| drop(node.take(&library, id)));
            let mut branch = Vec::new();
            let mut at = base;
            for position in 0..9 {
                let raw = match position == place {
                    true => tree.break_rule(at, rule),
                    false => tree.sibling(at, 0, &Step::default()),
                };
                at = library.add(raw.unwrap_or_else(|| panic!("{rule} at {place}")));
                branch.push(at);
            }
            let broken = branch[place];
            let mut order = branch.clone();
            dice.shuffle(&mut order);
            let mut refused = None;
            for id in &order {
                if let Taken::Refused(found) = node.take(&library, id) {
                    let first = refused.get_or_insert((found.id, found.fault.to_string()));
                    assert!(found.id == broken || found.fault.to_string().contains(&first.1));
                }
            }
            let (culprit, reason) = refused.unwrap_or_else(|| panic!("{rule} at {place} was not noticed"));
            assert_eq!(culprit, broken, "{rule} at {place}: {reason}");
            // Eight good blocks are more than seven; before that the old head is back.
            let (winner, loser) = match place {
                8 => (&branch[..8], &main[..]),
                _ => (&main[..], &branch[..place]),
            };
            assert_eq!(node.chain.head().id, *winner.last().unwrap(), "{rule} at {place}");
            for id in branch[place..].iter().rev() {
                let again = node.take(&library, id);
                assert!(
                    matches!(&again, Taken::Refused(_)),
                    "{rule} at {place}: {again:?}"
                );
            }
            for id in winner.iter().chain(loser) {
                let again = node.take(&library, id);
                assert!(matches!(again, Taken::Known), "{rule} at {place}: {again:?}");
            }
            whole.extend(winner);
            let seal = tree.grow(*winner.last().unwrap(), SEAL);
            for raw in seal {
                base = library.add(raw);
                whole.push(base);
                let taken = node.take(&library, &base);
                assert!(matches!(taken, Taken::Applied), "{rule} at {place}: {taken:?}");
            }
            node.chain.commit().unwrap();
            let kept = node.chain.kept_head();
            assert!(kept.number > winner.last().unwrap().number());
            let done = judge.state.head().number as usize;
            whole[done..kept.number as usize]
                .iter()
                .for_each(|id| judge.apply(&library, id));
            assert_eq!((kept, node.durable_digest()), judge.digest(), "{rule} at {place}");
            node.check_log(&whole, kept.number);
            node.check_view(&whole);
        }
    }
}
