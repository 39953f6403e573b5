//! Held blocks and their branches.

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};
use std::sync::Arc;

use cairn_chain::{AccountName, BlockId};

use super::refused::Refused;
use super::unlinked::Unlinked;

/// Linked blocks beside the main branch that are held: as many as the main branch may have.
pub const MAX_SIDE_BLOCKS: usize = 10_000;
/// Bytes that they may have.
pub const MAX_SIDE_BYTES: usize = 256 << 20;

/// How the reason of a block begins that continues a refused one.
const CONTINUES: &str = "it continues a refused block";

/// What the database asks of a block.
pub trait ForkBlock {
    /// Its id.
    fn id(&self) -> BlockId;
    /// The id of its parent.
    fn previous(&self) -> BlockId;
    /// Who made it.
    fn witness(&self) -> AccountName;
    /// The memory that it takes, in bytes.
    fn bytes(&self) -> usize;
}

/// What became of a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Push {
    /// It is held, on a branch that begins at the root. Blocks that waited for it are linked too.
    Linked,
    /// Its parent is not here; it waits.
    Unlinked,
    /// It is here already.
    Known,
    /// It is not above the root and not the root itself: on a fork that nothing can make the main branch any more, or the
    /// ancestor of an irreversible block.
    TooOld,
    /// It or an ancestor of it was refused before, for this reason.
    Refused(Arc<str>),
}

/// The way from the main branch to another block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Route {
    /// The last block that both have: a number of the main branch, or the root's.
    pub fork_point: u32,
    /// The ids behind it, ascending.
    pub branch: Vec<BlockId>,
}

#[derive(Debug)]
pub(super) struct Held<B> {
    pub(super) block: B,
    /// Counts the blocks in the order in which they were linked.
    arrival: u64,
    /// It was part of the main branch once, so that it is valid, and it counts for what is irreversible.
    pub(super) votes: bool,
}

/// A place in the order of preference: the higher block, of equally high ones the one that came first.
type Rank = (u32, Reverse<u64>, BlockId);

/// See [the module](super). The *main branch* is the one whose blocks the state has; the caller moves its head.
#[derive(Debug)]
pub struct ForkDatabase<B> {
    pub(super) root: BlockId,
    pub(super) held: HashMap<BlockId, Held<B>>,
    ranks: BTreeSet<Rank>,
    /// Blocks behind the root, ascending.
    pub(super) main: VecDeque<BlockId>,
    unlinked: Unlinked<B>,
    refused: Refused,
    arrivals: u64,
    main_bytes: usize,
    side_bytes: usize,
    /// The highest applied block of each witness.
    pub(super) newest: HashMap<AccountName, BlockId>,
}

impl<B: ForkBlock> ForkDatabase<B> {
    /// An empty one above an irreversible block.
    pub fn new(root: BlockId) -> Self {
        Self {
            root,
            held: HashMap::new(),
            ranks: BTreeSet::new(),
            main: VecDeque::new(),
            unlinked: Unlinked::default(),
            refused: Refused::default(),
            arrivals: 0,
            main_bytes: 0,
            side_bytes: 0,
            newest: HashMap::new(),
        }
    }

    /// The last irreversible block.
    pub fn root(&self) -> BlockId {
        self.root
    }

    /// The last block of the main branch.
    pub fn head(&self) -> BlockId {
        self.main.back().copied().unwrap_or(self.root)
    }

    /// The blocks of the main branch, ascending.
    pub fn main_branch(&self) -> impl Iterator<Item = &B> {
        self.main.iter().filter_map(|id| self.get(id))
    }

    /// How many blocks the main branch has above the root.
    pub fn main_len(&self) -> usize {
        self.main.len()
    }

    /// The memory that the main branch's blocks take, in bytes.
    pub fn main_bytes(&self) -> usize {
        self.main_bytes
    }

    /// Linked blocks beside the main branch.
    pub fn side_len(&self) -> usize {
        self.held.len() - self.main.len()
    }

    /// Blocks whose parent is missing.
    pub fn unlinked_len(&self) -> usize {
        self.unlinked.len()
    }

    /// The memory that all blocks take, in bytes.
    pub fn bytes(&self) -> usize {
        self.main_bytes + self.side_bytes + self.unlinked.bytes()
    }

    /// A linked block.
    pub fn get(&self, id: &BlockId) -> Option<&B> {
        self.held.get(id).map(|held| &held.block)
    }

    /// Whether a block is on the main branch, or is the root.
    pub fn is_on_main(&self, id: &BlockId) -> bool {
        *id == self.root || self.main_at(id.number()) == Some(id)
    }

    fn main_at(&self, number: u32) -> Option<&BlockId> {
        let above = number.checked_sub(self.root.number())?.checked_sub(1)?;
        self.main.get(above as usize)
    }

    fn is_linked(&self, id: &BlockId) -> bool {
        *id == self.root || self.held.contains_key(id)
    }

    /// Takes a block in. The main branch does not change.
    pub fn push(&mut self, block: B) -> Push {
        let (id, parent) = (block.id(), block.previous());
        if self.is_linked(&id) || self.unlinked.contains(&id) {
            return Push::Known;
        }
        let beside_root = parent.number() == self.root.number() && parent != self.root;
        if id.number() <= self.root.number() || beside_root {
            return Push::TooOld;
        }
        if let Some(reason) = self.refused.reason(&id) {
            return Push::Refused(Arc::clone(reason));
        }
        if let Some(reason) = self.refused.reason(&parent) {
            let reason = inherited(&parent, reason);
            self.refuse_waiting(id, &reason);
            return Push::Refused(reason);
        }
        if !self.is_linked(&parent) {
            self.unlinked.insert(block);
            return Push::Unlinked;
        }
        self.link(block);
        Push::Linked
    }

    /// Holds a block whose parent is here, and those that waited for it.
    fn link(&mut self, block: B) {
        let mut ready = vec![block];
        while let Some(block) = ready.pop() {
            let id = block.id();
            ready.extend(self.unlinked.take_children(&id));
            self.side_bytes += block.bytes();
            let arrival = self.arrivals;
            self.arrivals += 1;
            self.ranks.insert((id.number(), Reverse(arrival), id));
            let held = Held {
                block,
                arrival,
                votes: false,
            };
            self.held.insert(id, held);
        }
        if self.side_len() > MAX_SIDE_BLOCKS || self.side_bytes > MAX_SIDE_BYTES {
            self.make_room();
        }
    }

    /// The block to go to: the highest, if it is higher than the head.
    pub fn longer(&self) -> Option<BlockId> {
        let (number, _, id) = self.ranks.last()?;
        (*number > self.head().number()).then_some(*id)
    }

    /// The way to a linked block; `None` when it is not one.
    pub fn route(&self, id: &BlockId) -> Option<Route> {
        let (mut branch, mut at) = (Vec::new(), *id);
        while !self.is_on_main(&at) {
            branch.push(at);
            at = self.get(&at)?.previous();
        }
        branch.reverse();
        let fork_point = at.number();
        Some(Route { fork_point, branch })
    }

    /// The main branch goes one block further: the caller has applied this child of its head. `votes`: its witness has a
    /// say in what is irreversible.
    pub fn applied(&mut self, id: &BlockId, votes: bool) {
        let head = self.head();
        let Some(held) = self.held.get_mut(id) else { return };
        debug_assert_eq!(held.block.previous(), head);
        held.votes |= votes;
        let (witness, bytes) = (held.block.witness(), held.block.bytes());
        self.side_bytes -= bytes;
        self.main_bytes += bytes;
        self.main.push_back(*id);
        if votes {
            self.note_vote(witness, *id);
        }
    }

    /// The head of the main branch was taken back; the block is still held.
    pub fn taken_back(&mut self) {
        if let Some(id) = self.main.pop_back()
            && let Some(held) = self.held.get(&id)
        {
            let bytes = held.block.bytes();
            self.main_bytes -= bytes;
            self.side_bytes += bytes;
        }
    }

    /// A block beside the main branch cannot be applied: it goes, and what is built on it. Gives the block.
    pub fn refuse(&mut self, id: &BlockId, reason: &str) -> Option<B> {
        if self.is_on_main(id) {
            return None;
        }
        let culprit = self.remove(id)?;
        let inherited = inherited(id, reason);
        self.refused.insert(*id, reason.into());
        let mut gone = HashSet::from([*id]);
        // Parents come before their children.
        let higher: Vec<BlockId> = self
            .ranks
            .range((id.number() + 1, Reverse(u64::MAX), BlockId::ZERO)..)
            .map(|(_, _, id)| *id)
            .collect();
        for id in higher {
            if self
                .get(&id)
                .is_some_and(|block| gone.contains(&block.previous()))
            {
                self.remove(&id);
                self.refused.insert(id, Arc::clone(&inherited));
                gone.insert(id);
            }
        }
        self.recount();
        Some(culprit)
    }

    /// Remembers a block that continues a refused one, and lets go of those that waited for it.
    fn refuse_waiting(&mut self, id: BlockId, reason: &Arc<str>) {
        let mut refused = vec![id];
        while let Some(id) = refused.pop() {
            self.refused.insert(id, Arc::clone(reason));
            let waiting = self.unlinked.take_children(&id);
            refused.extend(waiting.iter().map(ForkBlock::id));
        }
    }

    /// Whether a block was refused, and why.
    pub fn refusal(&self, id: &BlockId) -> Option<&Arc<str>> {
        self.refused.reason(id)
    }

    /// The blocks of the main branch up to this number are irreversible: they leave, ascending, the last one is the root,
    /// and forks that do not go through it die.
    pub fn advance(&mut self, number: u32) -> Vec<B> {
        let mut irreversible = Vec::new();
        let had_sides = self.side_len() > 0;
        while self.root.number() < number
            && let Some(id) = self.main.pop_front()
        {
            self.root = id;
            if let Some(held) = self.held.remove(&id) {
                self.ranks.remove(&(id.number(), Reverse(held.arrival), id));
                self.main_bytes -= held.block.bytes();
                irreversible.push(held.block);
            }
        }
        if irreversible.is_empty() {
            return irreversible;
        }
        if had_sides {
            self.drop_dead_forks();
            self.recount();
        } else {
            self.newest.retain(|_, id| self.held.contains_key(id));
        }
        self.unlinked.drop_through(self.root.number());
        irreversible
    }

    fn drop_dead_forks(&mut self) {
        let mut alive = HashSet::from([self.root]);
        let ids: Vec<BlockId> = self.ranks.iter().map(|(_, _, id)| *id).collect();
        for id in ids {
            let parent = self.get(&id).map(ForkBlock::previous);
            if parent.is_some_and(|parent| alive.contains(&parent)) {
                alive.insert(id);
            } else {
                self.remove(&id);
            }
        }
    }

    /// Lets go of the tips beside the main branch that have been here longest, until an eighth of the room is free. A
    /// branch that is longer than the main one stays: it is about to be tried.
    fn make_room(&mut self) {
        let winner = self.longer().and_then(|id| self.route(&id));
        let winner: HashSet<BlockId> =
            winner.map_or_else(HashSet::new, |route| route.branch.into_iter().collect());
        let mut tips: Vec<(u64, BlockId)> = Vec::new();
        while self.side_len() > MAX_SIDE_BLOCKS / 8 * 7 || self.side_bytes > MAX_SIDE_BYTES / 8 * 7 {
            if tips.is_empty() {
                let parents: HashSet<BlockId> =
                    self.held.values().map(|held| held.block.previous()).collect();
                let is_tip =
                    |id: &BlockId| !parents.contains(id) && !self.is_on_main(id) && !winner.contains(id);
                let held = self.held.iter().filter(|(id, _)| is_tip(id));
                tips = held.map(|(id, held)| (held.arrival, *id)).collect();
                tips.sort_unstable_by(|left, right| right.cmp(left));
            }
            let Some((_, oldest)) = tips.pop() else { break };
            self.remove(&oldest);
        }
        self.recount();
    }

    /// Takes a block out that is not on the main branch.
    fn remove(&mut self, id: &BlockId) -> Option<B> {
        let held = self.held.remove(id)?;
        self.ranks.remove(&(id.number(), Reverse(held.arrival), *id));
        self.side_bytes -= held.block.bytes();
        Some(held.block)
    }

    #[cfg(test)]
    pub(super) fn refused_len(&self) -> usize {
        self.refused.len()
    }
}

/// Why a block is refused that continues a refused one. The first reason is enough, however long the branch.
fn inherited(parent: &BlockId, reason: &str) -> Arc<str> {
    if reason.starts_with(CONTINUES) {
        return reason.into();
    }
    format!("{CONTINUES} {}: {reason}", parent.number()).into()
}
