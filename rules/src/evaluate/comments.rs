//! Comments exist, or not. Their content is not state.

use cairn_chain::operations::{Comment as CommentOp, CommentOptions, DeleteComment, Vote};
use cairn_chain::{AccountName, Time};

use super::{Evaluated, Evaluator, is_longer_ago, no_comment};
use crate::checks::Undecided;
use crate::error::{OperationFault, Stop};
use crate::registers::{AccountCore, Comment, CommentFlags, CommentId, Parent, PostingTimes};
use crate::validate::fields::is_new_permlink;

/// Bytes of a permlink.
const MAX_PERMLINK: usize = 255;

/// Between any two posts before hardfork 6, in seconds: more than this.
const FIRST_INTERVAL: u32 = 60;

/// Between any post and a reply, and between any post or edit and an edit since hardfork 21: at least this.
const REPLY_INTERVAL: u32 = 3;

/// Depth at which a comment has no replies before hardfork 17.
const FIRST_MAX_DEPTH: u16 = 6;

impl Evaluator<'_> {
    pub(super) fn comment(&mut self, op: &CommentOp<'_>) -> Evaluated {
        let id = CommentId {
            author: &op.author,
            permlink: op.permlink.as_bytes(),
        };
        keepable(id.permlink)?;
        keepable(op.parent_permlink.as_bytes())?;
        self.account_exists(&op.author)?;
        let parent_id = (!op.parent_author.is_empty()).then_some(CommentId {
            author: &op.parent_author,
            permlink: op.parent_permlink.as_bytes(),
        });
        let parent = match parent_id {
            Some(parent_id) => Some(self.parent(parent_id)?),
            None => None,
        };
        let mut times = self.tables.read::<PostingTimes>(&op.author)?.unwrap_or_default();
        let present = self.tables.read::<Comment>(id)?;
        match (present, parent_id.zip(parent)) {
            (Some(present), parent) if !present.flags.deletion_undecided => {
                self.edit_allowed(&present, parent.map(|(id, _)| id), &times)?;
            }
            (present, parent) => {
                // A comment whose deletion is undecided is written anew: were it there, this would be an edit, and
                // it would have the same parent.
                if present.is_none() {
                    self.new_comment_allowed(op, &times)?;
                } else if self.full {
                    self.checks.undecided(Undecided::CommentExistence);
                }
                let mut comment = Comment::root();
                if let Some((parent_id, mut parent)) = parent {
                    comment.depth = parent.depth.saturating_add(1);
                    comment.parent = Some(Parent {
                        author: *parent_id.author,
                        permlink: parent_id.permlink.to_vec(),
                    });
                    parent.replies = parent.replies.saturating_add(1);
                    parent.flags.deletion_undecided = false;
                    self.tables.write(parent_id, &parent)?;
                } else {
                    times.last_root_post = self.now();
                }
                times.last_post = self.now();
                self.tables.write(id, &comment)?;
            }
        }
        times.last_edit = self.now();
        Ok(self.tables.write(&op.author, &times)?)
    }

    /// Reads a comment that is replied to.
    fn parent(&mut self, id: CommentId<'_>) -> Result<Comment, Stop> {
        let parent: Comment = self
            .tables
            .read(id)?
            .ok_or_else(|| no_comment(id.author, id.permlink))?;
        if self.full {
            if parent.flags.deletion_undecided {
                self.checks.undecided(Undecided::CommentExistence);
            }
            let limit = if self.hardfork() < 17 {
                FIRST_MAX_DEPTH
            } else {
                u16::MAX
            };
            if parent.depth >= limit {
                return Err(OperationFault::Depth {
                    limit,
                    found: parent.depth,
                }
                .into());
            }
        }
        Ok(parent)
    }

    /// In full validation: the permlinks are those of a new comment, and the author has waited long enough.
    fn new_comment_allowed(&self, op: &CommentOp<'_>, times: &PostingTimes) -> Evaluated {
        if !self.full {
            return Ok(());
        }
        if self.hardfork() >= 1 {
            for permlink in [op.permlink, op.parent_permlink] {
                if !is_new_permlink(permlink.as_bytes()) {
                    return Err(OperationFault::Permlink(permlink.to_string_lossy().into_owned()).into());
                }
            }
        }
        let is_reply = !op.parent_author.is_empty();
        let limits = &self.spec.limits;
        if self.hardfork() < 6 {
            return self.longer_ago("post", times.last_post, FIRST_INTERVAL);
        }
        if !is_reply {
            return self.longer_ago("root post", times.last_root_post, limits.root_comment_interval);
        }
        match limits.old_reply_interval {
            Some(seconds) if self.hardfork() < 20 => self.longer_ago("post", times.last_post, seconds),
            _ => self.at_least_ago("post", times.last_post),
        }
    }

    /// In full validation: the edit leaves the parent as it is, and the author has waited long enough.
    fn edit_allowed(
        &self,
        present: &Comment,
        parent: Option<CommentId<'_>>,
        times: &PostingTimes,
    ) -> Evaluated {
        if !self.full {
            return Ok(());
        }
        let same_parent = match parent {
            // Before hardfork 21 a parent that was named was not compared.
            Some(parent) => self.hardfork() < 21 || present.replies_to(parent.author, parent.permlink),
            None => present.parent.is_none(),
        };
        if !same_parent {
            return Err(OperationFault::ParentChanged.into());
        }
        if self.hardfork() >= 21 {
            self.at_least_ago("post or edit", times.last_edit)?;
        }
        Ok(())
    }

    fn at_least_ago(&self, what: &'static str, last: Time) -> Evaluated {
        let seconds = REPLY_INTERVAL - 1;
        if is_longer_ago(self.now(), last, seconds) {
            return Ok(());
        }
        Err(OperationFault::TooSoon {
            what,
            seconds,
            last,
            now: self.now(),
        }
        .into())
    }

    pub(super) fn delete_comment(&mut self, op: &DeleteComment<'_>) -> Evaluated {
        let id = CommentId {
            author: &op.author,
            permlink: op.permlink.as_bytes(),
        };
        let mut comment: Comment = self
            .tables
            .read(id)?
            .ok_or_else(|| no_comment(id.author, id.permlink))?;
        let is_undecided = self.hardfork() < 19;
        if self.full {
            if comment.flags.deletion_undecided {
                self.checks.undecided(Undecided::CommentExistence);
            }
            if comment.replies > 0 {
                return Err(OperationFault::HasReplies(comment.replies).into());
            }
            let kind = if is_undecided {
                Undecided::CommentDeletion
            } else {
                Undecided::CommentVotes
            };
            self.checks.undecided(kind);
        }
        let was_deleted = comment.flags.deletion_undecided;
        if let Some(parent) = comment.parent.as_ref().filter(|_| !was_deleted) {
            self.lose_reply(&parent.author, &parent.permlink, is_undecided)?;
        }
        if is_undecided {
            comment.flags = CommentFlags {
                deletion_undecided: true,
                ..comment.flags
            };
            Ok(self.tables.write(id, &comment)?)
        } else {
            Ok(self.tables.remove::<Comment>(id)?)
        }
    }

    /// The parent has one reply less, or perhaps not.
    fn lose_reply(&mut self, author: &AccountName, permlink: &[u8], is_undecided: bool) -> Evaluated {
        let id = CommentId { author, permlink };
        if let Some(mut parent) = self.tables.read::<Comment>(id)? {
            parent.replies = parent.replies.saturating_sub(1);
            parent.flags.replies_undecided |= is_undecided;
            self.tables.write(id, &parent)?;
        }
        Ok(())
    }

    pub(super) fn comment_options(&mut self, op: &CommentOptions<'_>) -> Evaluated {
        self.comment_exists(&op.author, op.permlink.as_bytes())
    }

    pub(super) fn vote(&mut self, op: &Vote<'_>) -> Evaluated {
        if self.full {
            let voter: AccountCore = self.account(&op.voter)?;
            if !voter.can_vote {
                return Err(OperationFault::Declined(op.voter).into());
            }
        }
        self.comment_exists(&op.author, op.permlink.as_bytes())
    }
}

/// The permlink fits into a register's key.
fn keepable(permlink: &[u8]) -> Evaluated {
    if permlink.len() > MAX_PERMLINK {
        return Err(OperationFault::PermlinkLength(permlink.len()).into());
    }
    Ok(())
}
