//! Going through all leaves in the order of their paths.

use super::arena::Kind;
use super::leaf::Leaf;
use super::subtrie::{End, SUBTRIES, Subtrie};
use super::top::{Subtries, Top};
use crate::path::Path;

/// Leaves that are read under one lock: some ten microseconds, which an update may have to wait.
const AT_ONCE: usize = 256;

/// The leaves of one root, in ascending order of their paths. Takes memory for the depth of the trie and 256 leaves.
#[derive(Debug)]
pub struct Leaves<'a> {
    subtries: &'a Subtries,
    top: &'a Top,
    /// The subtrie in hand.
    subtrie: usize,
    /// What is still to be gone through in it, the leftmost last.
    stack: Vec<End>,
    /// Leaves that were read ahead, and how many of them are given out.
    ahead: Vec<(Path, Leaf)>,
    given: usize,
}

impl<'a> Leaves<'a> {
    /// The nodes of the root must not change while this lives: it is held, or the trie is borrowed.
    pub(super) fn new(subtries: &'a Subtries, top: &'a Top) -> Self {
        Self {
            subtries,
            top,
            subtrie: 0,
            stack: vec![top.ends[0]],
            ahead: Vec::with_capacity(AT_ONCE),
            given: 0,
        }
    }

    fn read_ahead(&mut self) {
        self.ahead.clear();
        self.given = 0;
        while self.ahead.is_empty() && self.subtrie < SUBTRIES {
            let subtrie = self.subtries.read(self.subtrie);
            fill(&subtrie, &mut self.stack, &mut self.ahead);
            if self.stack.is_empty() {
                self.subtrie += 1;
                self.stack.extend(self.top.ends.get(self.subtrie));
            }
        }
    }
}

fn fill(subtrie: &Subtrie, stack: &mut Vec<End>, ahead: &mut Vec<(Path, Leaf)>) {
    while ahead.len() < AT_ONCE
        && let Some(end) = stack.pop()
    {
        match end.node.kind() {
            Kind::Empty => (),
            Kind::Interior(node) => stack.extend([1, 0].map(|side| subtrie.child(node, side))),
            Kind::Leaf(_) => ahead.extend(subtrie.leaf(end)),
        }
    }
}

impl Iterator for Leaves<'_> {
    type Item = (Path, Leaf);

    fn next(&mut self) -> Option<Self::Item> {
        if self.given == self.ahead.len() {
            self.read_ahead();
        }
        let leaf = self.ahead.get(self.given).copied();
        self.given += usize::from(leaf.is_some());
        leaf
    }
}
