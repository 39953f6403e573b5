//! The recent posts that votes, replies and edits can name.

use std::collections::VecDeque;

use super::super::rng::Rng;
use super::Post;

/// Posts kept; older ones get no more attention. About six minutes' worth of posts, each 12 bytes.
const KEPT: usize = 2048;

/// Replies go no deeper than this (Hive allows 65535).
pub(super) const MAX_DEPTH: u16 = 64;

/// Blocks that a reply which is going to be deleted lives, which is far below the hour after which a testnet
/// pays it out.
const LIFE: u32 = 20;

/// Recent posts, and the replies that wait for their deletion.
#[derive(Debug, Default)]
pub(super) struct Posts {
    recent: VecDeque<Post>,
    /// Nobody votes on them or answers them, so that they may be deleted; with the block from which on they
    /// are.
    doomed: VecDeque<(u32, Post)>,
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

    /// Keeps a post of block `number` from others until it is deleted.
    pub(super) fn doom(&mut self, post: Post, number: u32) {
        self.doomed.push_back((number + LIFE, post));
    }

    /// The oldest post that is due for deletion in block `number`.
    pub(super) fn take_doomed(&mut self, number: u32) -> Option<Post> {
        let (due, post) = *self.doomed.front()?;
        if due > number {
            return None;
        }
        self.doomed.pop_front();
        Some(post)
    }

    /// Some recent post.
    pub(super) fn any(&self, rng: &mut Rng) -> Option<Post> {
        self.recent
            .get(rng.below(self.recent.len() as u32) as usize)
            .copied()
    }
}
