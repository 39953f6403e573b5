//! Held roots within one subtrie: which nodes they share with the present, and when those can go.
//!
//! Time is counted in *epochs*; taking a hold ends one. A node carries the epoch that it was made in. A node of the
//! present trie is shared with a hold exactly when it was made before that hold was taken, for then it was part of
//! what was held. So it is shared with any hold if and only if it is not younger than the *newest* one, and an
//! update copies just those; without holds it does not even look.
//!
//! A shared node that leaves the present trie is put on the list of the newest hold. When a hold is dropped, what
//! is on its list is younger than the hold before it, and is freed, or it is not, and moves to that one's list. No
//! newer hold can have it: it had left the trie before those were taken.

use super::arena::{Interiors, LeafSlots};

/// The holds on a subtrie, oldest first.
#[derive(Debug)]
pub(super) struct Holds {
    /// The present epoch.
    epoch: u32,
    held: Vec<Held>,
}

#[derive(Debug)]
struct Held {
    /// The last epoch whose nodes this hold has.
    epoch: u32,
    interiors: Vec<u32>,
    leaves: Vec<u32>,
}

impl Holds {
    pub(super) const fn new() -> Self {
        Self {
            epoch: 0,
            held: Vec::new(),
        }
    }

    /// The present epoch, which new nodes are made in.
    pub(super) fn epoch(&self) -> u32 {
        self.epoch
    }

    /// Nodes of this epoch and older ones are shared; `None` when nothing is held.
    #[inline]
    pub(super) fn newest(&self) -> Option<u32> {
        Some(self.held.last()?.epoch)
    }

    /// Holds what is there now. Returns what it is released by.
    pub(super) fn hold(&mut self) -> u32 {
        let epoch = self.epoch;
        // Reached after 136 years of a hold a second.
        assert!(epoch < u32::MAX, "a trie can be held 2^32 - 1 times");
        self.epoch += 1;
        self.held.push(Held {
            epoch,
            interiors: Vec::new(),
            leaves: Vec::new(),
        });
        epoch
    }

    /// Lets go, and frees what no other hold has.
    pub(super) fn release(&mut self, epoch: u32, interiors: &mut Interiors, leaves: &mut LeafSlots) {
        let Ok(at) = self.held.binary_search_by_key(&epoch, |held| held.epoch) else {
            return;
        };
        let gone = self.held.remove(at);
        let mut older = at.checked_sub(1).map(|older| &mut self.held[older]);
        for index in gone.interiors {
            match &mut older {
                Some(older) if interiors.born(index) <= older.epoch => older.interiors.push(index),
                _ => interiors.remove(index),
            }
        }
        for index in gone.leaves {
            match &mut older {
                Some(older) if leaves.get(index).born <= older.epoch => older.leaves.push(index),
                _ => leaves.remove(index),
            }
        }
    }

    /// Takes an interior node out of the present trie.
    pub(super) fn retire_interior(&mut self, index: u32, interiors: &mut Interiors) {
        match self.held.last_mut() {
            Some(newest) if interiors.born(index) <= newest.epoch => newest.interiors.push(index),
            _ => interiors.remove(index),
        }
    }

    /// Takes a leaf out of the present trie.
    pub(super) fn retire_leaf(&mut self, index: u32, leaves: &mut LeafSlots) {
        match self.held.last_mut() {
            Some(newest) if leaves.get(index).born <= newest.epoch => newest.leaves.push(index),
            _ => leaves.remove(index),
        }
    }

    pub(super) fn bytes(&self) -> usize {
        let lists = self
            .held
            .iter()
            .map(|held| held.interiors.capacity() + held.leaves.capacity());
        lists.sum::<usize>() * size_of::<u32>() + self.held.capacity() * size_of::<Held>()
    }
}
