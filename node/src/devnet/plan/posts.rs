//! The recent posts that votes, replies and edits can name.

use std::collections::VecDeque;

use super::super::rng::Rng;
use super::Post;

/// Posts kept; older ones get no more attention. About 20 minutes' worth, each 12 bytes.
const KEPT: usize = 2048;

/// Replies go no deeper than this (Hive allows 65535).
pub(super) const MAX_DEPTH: u16 = 64;

/// Recent posts.
#[derive(Debug, Clone, Default)]
pub(super) struct Posts {
    recent: VecDeque<Post>,
    serial: u32,
}

impl Posts {
    /// A name for a new post of `author`.
    pub(super) fn create(&mut self, author: u32, depth: u16) -> Post {
        let serial = self.serial;
        self.serial += 1;
        Post {
            author,
            serial,
            depth,
        }
    }

    /// Lets others find a post.
    pub(super) fn publish(&mut self, post: Post) {
        if self.recent.len() == KEPT {
            self.recent.pop_front();
        }
        self.recent.push_back(post);
    }

    /// Some recent post.
    pub(super) fn any(&self, rng: &mut Rng) -> Option<Post> {
        self.recent
            .get(rng.below(self.recent.len() as u32) as usize)
            .copied()
    }
}
