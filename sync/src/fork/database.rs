//! Held blocks and their branches.

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap, VecDeque};
use std::sync::Arc;

use cairn_chain::{AccountName, BlockId};

use super::refused::Refused;
use super::unlinked::Unlinked;
use super::votes::Votes;

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
    pub(super) arrival: u64,
    /// It was part of the main branch once, so that it is valid, and it counts for what is irreversible: its place in the
    /// order of such blocks.
    pub(super) vote: Option<u64>,
}

/// A place in the order of preference: the higher block, of equally high ones the one that came first.
type Rank = (u32, Reverse<u64>, BlockId);

/// See [the module](super). The *main branch* is the one whose blocks the state has; the caller moves its head.
#[derive(Debug)]
pub struct ForkDatabase<B> {
    pub(super) root: BlockId,
    pub(super) held: HashMap<BlockId, Held<B>>,
    ranks: BTreeSet<Rank>,
    /// Each held block behind its parent: what continues a block is found without a look at all others.
    children: BTreeSet<(BlockId, BlockId)>,
    /// Blocks behind the root, ascending.
    pub(super) main: VecDeque<BlockId>,
    unlinked: Unlinked<B>,
    refused: Refused,
    arrivals: u64,
    main_bytes: usize,
    pub(super) side_bytes: usize,
    pub(super) votes: Votes,
}

impl<B: ForkBlock> ForkDatabase<B> {
    /// An empty one above an irreversible block.
    pub fn new(root: BlockId) -> Self {
        Self {
            root,
            held: HashMap::new(),
            ranks: BTreeSet::new(),
            children: BTreeSet::new(),
            main: VecDeque::new(),
            unlinked: Unlinked::default(),
            refused: Refused::default(),
            arrivals: 0,
            main_bytes: 0,
            side_bytes: 0,
            votes: Votes::default(),
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
            self.children.insert((block.previous(), id));
            self.side_bytes += block.bytes();
            let arrival = self.arrivals;
            self.arrivals += 1;
            self.ranks.insert((id.number(), Reverse(arrival), id));
            let held = Held {
                block,
                arrival,
                vote: None,
            };
            self.held.insert(id, held);
        }
        self.bound_side_branches();
    }

    /// The held blocks whose parent is this one.
    pub(super) fn children(&self, of: BlockId) -> impl Iterator<Item = BlockId> {
        let all = (of, BlockId([0; 20]))..=(of, BlockId([0xff; 20]));
        self.children.range(all).map(|(_, child)| *child)
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
        if votes && held.vote.is_none() {
            held.vote = Some(self.votes.cast(held.block.witness(), *id));
        }
        let bytes = held.block.bytes();
        self.side_bytes -= bytes;
        self.main_bytes += bytes;
        self.main.push_back(*id);
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
        let inherited = inherited(id, reason);
        let mut gone = self.remove_branch(*id).into_iter();
        let culprit = gone.next()?;
        self.refused.insert(*id, reason.into());
        for block in gone {
            self.refused.insert(block.id(), Arc::clone(&inherited));
        }
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
        while self.root.number() < number
            && let Some(id) = self.main.pop_front()
        {
            let dead: Vec<BlockId> = self
                .children(self.root)
                .filter(|sibling| *sibling != id)
                .collect();
            for sibling in dead {
                self.remove_branch(sibling);
            }
            self.root = id;
            if let Some(held) = self.take_out(&id) {
                self.main_bytes -= held.block.bytes();
                irreversible.push(held.block);
            }
        }
        if !irreversible.is_empty() {
            self.unlinked.drop_through(self.root.number());
        }
        irreversible
    }

    /// Takes a block out that is not on the main branch, with all that continue it. Parents come before their children.
    fn remove_branch(&mut self, id: BlockId) -> Vec<B> {
        let (mut waiting, mut gone) = (VecDeque::from([id]), Vec::new());
        while let Some(id) = waiting.pop_front() {
            waiting.extend(self.children(id));
            gone.extend(self.remove(&id));
        }
        gone
    }

    /// Takes a block out that is not on the main branch.
    pub(super) fn remove(&mut self, id: &BlockId) -> Option<B> {
        let held = self.take_out(id)?;
        self.side_bytes -= held.block.bytes();
        Some(held.block)
    }

    fn take_out(&mut self, id: &BlockId) -> Option<Held<B>> {
        let held = self.held.remove(id)?;
        self.ranks.remove(&(id.number(), Reverse(held.arrival), *id));
        self.children.remove(&(held.block.previous(), *id));
        if let Some(cast) = held.vote {
            self.votes.withdraw(&held.block.witness(), *id, cast);
        }
        Some(held)
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
