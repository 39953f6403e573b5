//! Changing a subtrie by a sorted batch: down breadth first, up level by level.
//!
//! *Down.* The batch is a range of changes at the root. At each interior node that a range reaches, the next bit
//! splits it into one for each child. Each node is noted as *dirty*, in order of depth. A range that is down to one
//! change and reaches that register's leaf, or an empty subtrie, is done: the leaf is written. Where anything else
//! is reached, an interior node is put in between and the way goes on below it.
//!
//! What a batch touches is not in the processor's cache, and reading it is most of the work. So at each depth all
//! references are read first, and decisions come after; likewise with leaves. A decision that waits for its own read
//! is guessed by the processor, and when the guess is wrong no other read was begun meanwhile.
//!
//! *Up.* From the deepest level on, the dirty nodes of a level are hashed, many at once, each into its parent. A
//! node that may be left with less than two registers is looked at before, and if so gives its place to its only
//! leaf, or to nothing; then its parent may have too few. So one rule undoes what was put in between in vain, and
//! prunes and lifts after removals.

use super::arena::{Kind, LeafSlot, Ref};
use super::lanes::{Lanes, WIDTH};
use super::leaf::{Leaf, LeafChange, UpdateStats};
use super::scheme::{self, NodeHash, PATH_BITS};
use super::subtrie::{Hung, Subtrie, TOP_BITS};

/// What an update works with, kept from one to the next so that it allocates nothing.
#[derive(Debug)]
pub(super) struct Scratch {
    dirty: Vec<Dirty>,
    /// Where in `dirty` each level begins.
    levels: Vec<usize>,
    /// The changes below each dirty node of the level in hand, and of the next one.
    ranges: Vec<Range>,
    next: Vec<Range>,
    /// The children of each dirty node of the level in hand.
    children: Vec<[Ref; 2]>,
    /// Leaves of the level in hand that a single change reached, and whether they are of its register.
    hits: Vec<Hit>,
    same: Vec<bool>,
    stats: UpdateStats,
}

/// Changes that are made at once, at most. Each can make every node on its way dirty, 251 below a top of five bits;
/// so many can still be numbered with 31 bits.
const PIECE: usize = 1 << 22;

/// A node whose hash is to be computed.
#[derive(Clone, Copy, Debug)]
struct Dirty {
    /// Its index, and the bit [`CHECK`].
    node: u32,
    /// Where its parent is in the list, doubled, plus 1 if it is the right child.
    up: u32,
}

/// Marks a node that may have too few registers below it.
const CHECK: u32 = 1 << 31;

#[derive(Clone, Copy, Debug)]
struct Range {
    start: u32,
    end: u32,
}

/// A leaf that a single change reached.
#[derive(Clone, Copy, Debug)]
struct Hit {
    place: Place,
    leaf: u32,
    change: u32,
}

/// A place that a node hangs at, or none does.
#[derive(Clone, Copy, Debug)]
struct Place {
    parent: u32,
    /// As in [`Dirty`].
    up: u32,
}

impl Place {
    fn side(self) -> usize {
        self.up as usize % 2
    }
}

impl Scratch {
    pub(super) const fn new() -> Self {
        Self {
            dirty: Vec::new(),
            levels: Vec::new(),
            ranges: Vec::new(),
            next: Vec::new(),
            children: Vec::new(),
            hits: Vec::new(),
            same: Vec::new(),
            stats: UpdateStats::NONE,
        }
    }

    fn push(&mut self, node: u32, up: u32, range: Range) {
        self.dirty.push(Dirty { node, up });
        self.next.push(range);
    }

    fn check(&mut self, up: u32) {
        self.dirty[up as usize / 2].node |= CHECK;
    }

    /// A dirty node, and where it hangs.
    fn hung(&self, at: usize) -> Hung {
        let Dirty { node, up } = self.dirty[at];
        Hung {
            node: node & !CHECK,
            parent: self.dirty[up as usize / 2].node & !CHECK,
            side: up as usize % 2,
        }
    }

    pub(super) fn bytes(&self) -> usize {
        self.dirty.capacity() * size_of::<Dirty>()
            + self.levels.capacity() * size_of::<usize>()
            + (self.ranges.capacity() + self.next.capacity()) * size_of::<Range>()
            + self.children.capacity() * size_of::<[Ref; 2]>()
            + self.hits.capacity() * size_of::<Hit>()
            + self.same.capacity()
    }
}

impl Subtrie {
    /// Makes these changes, which are in ascending order of their paths, each path once. With `EXCHANGE` they are
    /// replaced by what was there before.
    pub(super) fn update<const EXCHANGE: bool>(
        &mut self,
        changes: &mut [LeafChange],
        lanes: Lanes,
    ) -> UpdateStats {
        if !changes.is_empty() && self.interiors.live() == 0 {
            self.interiors.add([Ref::EMPTY; 2], [0; 64], 0);
        }
        let mut work = std::mem::replace(&mut self.scratch, Scratch::new());
        work.stats = UpdateStats::NONE;
        for piece in changes.chunks_mut(PIECE) {
            self.descend::<EXCHANGE>(piece, &mut work);
            self.ascend(&mut work, lanes);
        }
        let stats = work.stats;
        self.scratch = work;
        stats
    }

    fn descend<const EXCHANGE: bool>(&mut self, changes: &mut [LeafChange], work: &mut Scratch) {
        work.dirty.clear();
        work.levels.clear();
        work.next.clear();
        work.hits.clear();
        work.dirty.push(Dirty {
            node: Self::ANCHOR,
            up: 0,
        });
        let all = Range {
            start: 0,
            end: changes.len() as u32,
        };
        let root = self.interiors.child(Self::ANCHOR, 0);
        let parent = Self::ANCHOR;
        let mut depth = TOP_BITS;
        self.visit::<EXCHANGE>(Place { parent, up: 0 }, root, depth, changes, all, work);
        self.reach::<EXCHANGE>(depth, changes, work);
        let mut level = 1;
        while level < work.dirty.len() {
            let below = work.dirty.len();
            work.levels.push(level);
            std::mem::swap(&mut work.ranges, &mut work.next);
            work.next.clear();
            work.children.clear();
            let nodes = work.dirty[level..].iter().map(|dirty| dirty.node & !CHECK);
            work.children
                .extend(nodes.map(|node| self.interiors.children(node)));
            for at in level..below {
                let parent = work.dirty[at].node & !CHECK;
                let Range { start, end } = work.ranges[at - level];
                let [left, right] = work.children[at - level];
                let middle = split(changes, Range { start, end }, depth);
                let up = at as u32 * 2;
                if start < middle {
                    let (place, range) = (Place { parent, up }, Range { start, end: middle });
                    self.visit::<EXCHANGE>(place, left, depth + 1, changes, range, work);
                }
                if middle < end {
                    let (place, range) = (Place { parent, up: up + 1 }, Range { start: middle, end });
                    self.visit::<EXCHANGE>(place, right, depth + 1, changes, range, work);
                }
            }
            depth += 1;
            self.reach::<EXCHANGE>(depth, changes, work);
            level = below;
        }
        work.levels.push(level);
    }

    /// Brings the changes of a range, which is not empty, to the place that all of them lead to, where there is
    /// `child`. Leaves that a single change reaches are left for [`Self::reach`].
    #[inline]
    fn visit<const EXCHANGE: bool>(
        &mut self,
        place: Place,
        child: Ref,
        depth: usize,
        changes: &mut [LeafChange],
        range: Range,
        work: &mut Scratch,
    ) {
        let single = range.end - range.start == 1;
        match child.kind() {
            Kind::Interior(node) => {
                let node = self.own(node, place);
                work.push(node, place.up, range);
            }
            Kind::Leaf(leaf) if single => work.hits.push(Hit {
                place,
                leaf,
                change: range.start,
            }),
            Kind::Leaf(leaf) => self.put_above(place, leaf, depth, range, work),
            Kind::Empty => {
                work.stats.touch(depth);
                let first = &mut changes[range.start as usize];
                if !single {
                    self.put_between(place, [Ref::EMPTY; 2], [0; 64], range, work);
                } else if let Some(new) = first.leaf {
                    self.add_leaf(place, first, new);
                    work.stats.resize(0, new.bytes.get());
                    if EXCHANGE {
                        first.leaf = None;
                    }
                }
            }
        }
    }

    /// Makes the changes that reached a leaf each.
    fn reach<const EXCHANGE: bool>(&mut self, depth: usize, changes: &mut [LeafChange], work: &mut Scratch) {
        if work.hits.is_empty() {
            return;
        }
        work.stats.touch(depth);
        work.same.clear();
        let pairs = work.hits.iter().map(|hit| (hit.leaf, hit.change as usize));
        work.same
            .extend(pairs.map(|(leaf, change)| self.leaves.get(leaf).path == changes[change].path));
        for at in 0..work.hits.len() {
            let Hit { place, leaf, change } = work.hits[at];
            let range = Range {
                start: change,
                end: change + 1,
            };
            let change = &mut changes[change as usize];
            if work.same[at] {
                let bytes = self.leaves.get(leaf).bytes;
                let hash = EXCHANGE.then(|| self.interiors.hash(place.parent, place.side()));
                match change.leaf {
                    Some(new) => self.change_leaf(place, leaf, new),
                    None => self.remove_leaf(place, leaf, work),
                }
                let new_bytes = change.leaf.map_or(0, |leaf| leaf.bytes.get());
                work.stats.resize(bytes.get(), new_bytes);
                if let Some(hash) = hash.map(NodeHash::from_bytes) {
                    change.leaf = Some(Leaf { hash, bytes });
                }
            } else if change.leaf.is_some() {
                self.put_above(place, leaf, depth, range, work);
            }
        }
        work.hits.clear();
    }

    /// The node itself, or a copy in its place if a hold shares it.
    #[inline]
    fn own(&mut self, node: u32, place: Place) -> u32 {
        match self.holds.newest() {
            Some(newest) if self.interiors.born(node) <= newest => {
                let (children, hashes) = (self.interiors.children(node), *self.interiors.hashes(node));
                let copy = self.interiors.add(children, hashes, self.holds.epoch());
                self.holds.retire_interior(node, &mut self.interiors);
                self.interiors
                    .set_child(place.parent, place.side(), Ref::interior(copy));
                copy
            }
            _ => node,
        }
    }

    /// Puts an interior node in the place of a leaf, and the leaf below it. The changes reach what is deeper.
    fn put_above(&mut self, place: Place, leaf: u32, depth: usize, range: Range, work: &mut Scratch) {
        let side = usize::from(scheme::bit(&self.leaves.get(leaf).path, depth));
        let (mut children, mut hashes) = ([Ref::EMPTY; 2], [0; 64]);
        children[side] = Ref::leaf(leaf);
        let hash = self.interiors.hash(place.parent, place.side());
        hashes[side * 32..side * 32 + 32].copy_from_slice(&hash);
        self.put_between(place, children, hashes, range, work);
    }

    /// Puts an interior node where changes go on below. It may turn out to be needless.
    fn put_between(
        &mut self,
        place: Place,
        children: [Ref; 2],
        hashes: [u8; 64],
        range: Range,
        work: &mut Scratch,
    ) {
        let node = self.interiors.add(children, hashes, self.holds.epoch());
        self.interiors
            .set_child(place.parent, place.side(), Ref::interior(node));
        work.push(node | CHECK, place.up, range);
    }

    fn add_leaf(&mut self, place: Place, change: &LeafChange, new: Leaf) {
        let index = self.leaves.add(LeafSlot {
            path: change.path,
            bytes: new.bytes,
            born: self.holds.epoch(),
        });
        self.interiors
            .set_child(place.parent, place.side(), Ref::leaf(index));
        self.interiors
            .set_hash(place.parent, place.side(), new.hash.as_bytes());
    }

    #[inline]
    fn change_leaf(&mut self, place: Place, index: u32, new: Leaf) {
        self.interiors
            .set_hash(place.parent, place.side(), new.hash.as_bytes());
        let slot = *self.leaves.get(index);
        if slot.bytes == new.bytes {
            return;
        }
        if self.holds.newest().is_some_and(|newest| slot.born <= newest) {
            let copy = self.leaves.add(LeafSlot {
                bytes: new.bytes,
                born: self.holds.epoch(),
                ..slot
            });
            self.holds.retire_leaf(index, &mut self.leaves);
            self.interiors
                .set_child(place.parent, place.side(), Ref::leaf(copy));
        } else {
            self.leaves.set_bytes(index, new.bytes);
        }
    }

    fn remove_leaf(&mut self, place: Place, index: u32, work: &mut Scratch) {
        self.holds.retire_leaf(index, &mut self.leaves);
        self.interiors.set_child(place.parent, place.side(), Ref::EMPTY);
        self.interiors
            .set_hash(place.parent, place.side(), NodeHash::EMPTY.as_bytes());
        work.check(place.up);
    }

    fn ascend(&mut self, work: &mut Scratch, lanes: Lanes) {
        for level in (1..work.levels.len()).rev() {
            let mut batch = [Hung::default(); WIDTH];
            let mut filled = 0;
            for at in work.levels[level - 1]..work.levels[level] {
                if work.dirty[at].node & CHECK != 0 && self.collapse(at, work) {
                    continue;
                }
                batch[filled] = work.hung(at);
                filled += 1;
                if filled == lanes.width() {
                    self.hash(&batch[..filled], lanes);
                    filled = 0;
                }
            }
            self.hash(&batch[..filled], lanes);
        }
    }

    /// If there is one leaf or nothing below a dirty node, puts that in the node's place.
    fn collapse(&mut self, at: usize, work: &mut Scratch) -> bool {
        let Hung {
            node,
            parent,
            side: place,
        } = work.hung(at);
        let [left, right] = self.interiors.children(node);
        let side = match (left.kind(), right.kind()) {
            // The left child, when both are empty, is as good as the right one.
            (Kind::Empty | Kind::Leaf(_), Kind::Empty) => 0,
            (Kind::Empty, Kind::Leaf(_)) => 1,
            _ => return false,
        };
        let rest = self.child(node, side);
        self.interiors.set_child(parent, place, rest.node);
        self.interiors.set_hash(parent, place, rest.hash.as_bytes());
        // Dirty nodes are the present trie's own: what was held was copied on the way down.
        self.interiors.remove(node);
        work.check(work.dirty[at].up);
        true
    }
}

/// The first change of a range that goes right.
#[inline]
fn split(changes: &[LeafChange], range: Range, bit: usize) -> u32 {
    /// Above it halving takes fewer looks than going through.
    const FEW: u32 = 4;
    let Range { start, end } = range;
    if end - start == 1 {
        return start + u32::from(!scheme::bit(&changes[start as usize].path, bit));
    }
    let changes = &changes[start as usize..end as usize];
    let left = |change: &LeafChange| !scheme::bit(&change.path, bit);
    if end - start > FEW {
        start + changes.partition_point(left) as u32
    } else {
        start + changes.iter().filter(|change| left(change)).count() as u32
    }
}

impl Default for UpdateStats {
    fn default() -> Self {
        Self::NONE
    }
}

impl UpdateStats {
    /// Of no change.
    pub(super) const NONE: Self = Self {
        registers: 0,
        bytes: 0,
        lowest_height: PATH_BITS,
    };

    fn touch(&mut self, depth: usize) {
        self.lowest_height = self.lowest_height.min(PATH_BITS - depth as u16);
    }

    /// One register's size changed; size 0 is an unallocated register.
    pub(super) fn resize(&mut self, from: u32, to: u32) {
        self.registers += i64::from(to > 0) - i64::from(from > 0);
        self.bytes += i64::from(to) - i64::from(from);
    }
}
