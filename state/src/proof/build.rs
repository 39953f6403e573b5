//! Finding the way along a path among leaves that come in path order.

use crate::path::Path;
use crate::stream::{RootStream, shared_bits};
use crate::trie::scheme::{NodeHash, PATH_BITS, root_above};

/// The leaves that part from the path at one depth, and no other leaves, are the subtrie beside the way there; in path
/// order they come one behind the other. So one walk gives all siblings and the root.
pub(crate) struct WayStream {
    path: Path,
    here: Option<NodeHash>,
    /// The siblings that are complete, with the depth of the node that they hang from, and the one in hand.
    done: Vec<(usize, NodeHash)>,
    open: Option<(usize, RootStream)>,
    /// The leaf that shares most bits with the path, the bits, and how many leaves share as many.
    nearest: Option<(Path, NodeHash, usize, u64)>,
}

/// Where the way ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FoundWay {
    pub(crate) root: NodeHash,
    /// From the root down.
    pub(crate) siblings: Vec<NodeHash>,
    /// The leaf at the end, which may be another path's; `None`: the empty subtrie.
    pub(crate) end: Option<(Path, NodeHash)>,
}

impl WayStream {
    pub(crate) fn new(path: Path) -> Self {
        Self {
            path,
            here: None,
            done: Vec::new(),
            open: None,
            nearest: None,
        }
    }

    /// Takes the next leaf; its path must be above that of the one before.
    pub(crate) fn push(&mut self, path: Path, hash: NodeHash) {
        let shared = shared_bits(&self.path, &path);
        if shared == usize::from(PATH_BITS) {
            self.here = Some(hash);
            return;
        }
        match &mut self.nearest {
            Some((.., most, count)) if *most == shared => *count += 1,
            Some((.., most, _)) if *most > shared => {}
            _ => self.nearest = Some((path, hash, shared, 1)),
        }
        if self.open.as_ref().is_none_or(|(depth, _)| *depth != shared) {
            self.close();
            self.open = Some((shared, RootStream::below(shared + 1)));
        }
        if let Some((_, open)) = &mut self.open {
            open.push(path, hash);
        }
    }

    fn close(&mut self) {
        if let Some((depth, open)) = self.open.take() {
            self.done.push((depth, open.finish()));
        }
    }

    /// The way, once all leaves have been taken.
    pub(crate) fn finish(mut self) -> FoundWay {
        self.close();
        let (depth, end) = match (self.here, self.nearest) {
            (here, None) => (0, here.map(|hash| (self.path, hash))),
            (Some(hash), Some((.., shared, _))) => (shared + 1, Some((self.path, hash))),
            // Alone below the depth at which the others part: it hangs there, as high as it can.
            (None, Some((path, hash, shared, 1))) => match self.second(shared) {
                None => (0, Some((path, hash))),
                Some(second) => (second + 1, Some((path, hash))),
            },
            (None, Some((.., shared, _))) => (shared + 1, None),
        };
        let mut siblings = vec![NodeHash::EMPTY; depth];
        for (at, hash) in &self.done {
            if let Some(sibling) = siblings.get_mut(*at) {
                *sibling = *hash;
            }
        }
        let hash = end.map_or(NodeHash::EMPTY, |(_, hash)| hash);
        FoundWay {
            // A path has no more bits than leaves can share, and one.
            root: root_above(&self.path, hash, &siblings).unwrap_or(NodeHash::EMPTY),
            siblings,
            end,
        }
    }

    /// The most bits that a leaf shares with the path, among those that share fewer than `most`.
    fn second(&self, most: usize) -> Option<usize> {
        let depths = self.done.iter().map(|(depth, _)| *depth);
        depths.filter(|depth| *depth < most).max()
    }
}
