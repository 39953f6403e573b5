//! The trie as its users have it.

use std::ops::Deref;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use super::hold::HeldRoot;
use super::lanes::Lanes;
use super::leaf::{DuplicatePath, LeafChange, UpdateStats};
use super::sorted::Sorter;
use super::subtrie::{SUBTRIES, Subtrie, subtrie_of};
use super::top::{Subtries, Top, fold};
use super::version::Version;
use crate::counts::Counts;

/// Changes in a batch from which on several threads share it. Starting a thread costs about as much as 50 changes;
/// with too few changes a subtrie, hashing side by side has too little to put there.
const SHARED_FROM: usize = 2_000;

/// The register trie, in memory. Its root commits to all registers; see the [module](super).
///
/// ```
/// use cairn_state::trie::{LeafBatch, NodeHash, Trie};
/// use cairn_state::Path;
///
/// let mut trie = Trie::new();
/// let mut batch = LeafBatch::new();
/// batch.set(Path::of(b"account/alice"), 13, b"posting authority");
/// batch.set(Path::of(b"account/bob"), 11, b"another");
/// trie.update(batch.changes())?;
/// let before = trie.hold();
///
/// batch.clear();
/// batch.remove(Path::of(b"account/alice"));
/// let stats = trie.exchange(batch.changes())?;
/// assert_eq!((stats.registers, stats.bytes), (-1, -30));
/// assert_eq!(before.counts().registers, 2);
///
/// trie.exchange(batch.changes())?; // undone
/// assert_eq!(trie.root(), before.root());
/// assert_ne!(trie.root(), NodeHash::EMPTY);
/// # Ok::<(), cairn_state::trie::DuplicatePath>(())
/// ```
#[derive(Debug)]
pub struct Trie {
    present: Version,
    sorter: Sorter,
    lanes: Lanes,
    threads: usize,
}

impl Trie {
    /// A trie without registers.
    #[must_use]
    pub fn new() -> Self {
        Self {
            present: Version {
                subtries: Arc::new(Subtries::new()),
                top: Top::empty(),
            },
            sorter: Sorter::default(),
            lanes: Lanes::many(),
            threads: thread::available_parallelism().map_or(1, usize::from),
        }
    }

    /// Says how many threads share a large batch, 1 for none but the caller's. At first as many as there are cores.
    pub fn set_threads(&mut self, threads: usize) {
        self.threads = threads.clamp(1, SUBTRIES);
    }

    /// Says how nodes are hashed; at first many at once.
    pub fn set_lanes(&mut self, lanes: Lanes) {
        self.lanes = lanes;
    }

    /// Makes the changes of a batch, which may be in any order. Removing what is not there changes nothing.
    ///
    /// # Errors
    ///
    /// When two changes are of one register; then nothing was changed.
    pub fn update(&mut self, batch: &[LeafChange]) -> Result<UpdateStats, DuplicatePath> {
        let sorted = self.sorter.sort(batch)?;
        let stats = apply::<false>(&self.present.subtries, sorted, self.lanes, self.threads);
        self.settle(stats);
        Ok(stats)
    }

    /// Does the same, and leaves in the batch, in ascending order of paths, what was there before. Exchanging it
    /// once more is the undo of it.
    ///
    /// # Errors
    ///
    /// When two changes are of one register; then nothing was changed, the batch neither.
    pub fn exchange(&mut self, batch: &mut [LeafChange]) -> Result<UpdateStats, DuplicatePath> {
        let sorted = self.sorter.sort(batch)?;
        let stats = apply::<true>(&self.present.subtries, sorted, self.lanes, self.threads);
        batch.copy_from_slice(sorted);
        self.settle(stats);
        Ok(stats)
    }

    /// Puts in a subtrie that was made apart, where there was none. [`Self::settle`] follows.
    pub(super) fn adopt(&mut self, number: usize, subtrie: Subtrie) {
        *self.present.subtries.write(number) = subtrie;
    }

    /// Takes in what an update did.
    pub(super) fn settle(&mut self, stats: UpdateStats) {
        let Version { subtries, top } = &mut self.present;
        for (subtrie, end) in top.ends.iter_mut().enumerate() {
            *end = subtries.read(subtrie).root();
        }
        top.root = fold(&top.ends).hash;
        // The differences are those of leaves that were added and removed here, so that no sum can fail.
        let Counts { registers, bytes } = top.counts;
        top.counts = Counts {
            registers: registers.saturating_add_signed(stats.registers),
            bytes: bytes.saturating_add_signed(stats.bytes),
        };
    }

    /// Keeps the present root for reading while the trie goes on. Nodes that it has are copied when they are to be
    /// changed, instead of being changed in place, until it is dropped.
    #[must_use]
    pub fn hold(&self) -> HeldRoot {
        HeldRoot::take(&self.present)
    }

    /// What the trie takes, with what is kept for held roots.
    #[must_use]
    pub fn memory(&self) -> TrieMemory {
        let mut memory = TrieMemory {
            interiors: 0,
            leaves: 0,
            bytes: size_of::<Subtries>() + size_of::<Self>() + self.sorter.bytes(),
        };
        for subtrie in 0..SUBTRIES {
            let (interiors, leaves, bytes) = self.present.subtries.read(subtrie).memory();
            memory.interiors += u64::from(interiors);
            memory.leaves += u64::from(leaves);
            memory.bytes += bytes;
        }
        memory
    }
}

impl Deref for Trie {
    type Target = Version;

    fn deref(&self) -> &Version {
        &self.present
    }
}

impl Default for Trie {
    fn default() -> Self {
        Self::new()
    }
}

/// What a trie takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TrieMemory {
    /// Interior nodes in use, without the few above the subtries.
    pub interiors: u64,
    /// Leaves in use.
    pub leaves: u64,
    /// Bytes of memory that were asked for, used or not.
    pub bytes: usize,
}

/// Makes sorted changes.
fn apply<const EXCHANGE: bool>(
    subtries: &Subtries,
    mut sorted: &mut [LeafChange],
    lanes: Lanes,
    threads: usize,
) -> UpdateStats {
    let shared = sorted.len() >= SHARED_FROM && threads > 1;
    let parts: [&mut [LeafChange]; SUBTRIES] = std::array::from_fn(|subtrie| {
        let end = sorted.partition_point(|change| subtrie_of(&change.path) <= subtrie);
        sorted.split_off_mut(..end).unwrap_or_default()
    });
    // Whoever is done takes the next part.
    let parts = Mutex::new(parts.into_iter().enumerate());
    let work = || {
        let mut stats = UpdateStats::NONE;
        loop {
            let next = parts.lock().unwrap_or_else(PoisonError::into_inner).next();
            let Some((subtrie, part)) = next else {
                return stats;
            };
            if !part.is_empty() {
                stats = stats.and(subtries.write(subtrie).update::<EXCHANGE>(part, lanes));
            }
        }
    };
    if !shared {
        return work();
    }
    thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(work)).collect();
        let mine = work();
        others.into_iter().fold(mine, |stats, other| match other.join() {
            Ok(others) => stats.and(others),
            Err(panic) => std::panic::resume_unwind(panic),
        })
    })
}
