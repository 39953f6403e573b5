//! Comments: that they exist, what they reply to, how many replies they have. Their content is not state.
//!
//! Key: `05`, author (16), permlink. Value:
//!
//! | bytes | content |
//! |---|---|
//! | 1 | flags: 1 deletion undecided, 2 number of replies undecided |
//! | 4 | replies |
//! | 2 | depth: 0 for a root post |
//! | 16 | parent's author; only if the depth is not 0 |
//! | the rest | parent's permlink; only if the depth is not 0 |

use cairn_chain::AccountName;

use super::{CorruptValue, Fields, Record, TableId};

/// What names a comment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CommentId<'a> {
    /// Its author.
    pub author: &'a AccountName,
    /// Its permlink, at most 255 bytes.
    pub permlink: &'a [u8],
}

impl<'a> CommentId<'a> {
    /// Takes the permlink out of a comment's key, `None` for another table's key.
    #[must_use]
    pub fn split_key(key: &'a [u8]) -> Option<(AccountName, &'a [u8])> {
        match key.split_first() {
            Some((table, rest)) if *table == TableId::Comment as u8 => {
                let (author, permlink) = rest.split_at_checked(16)?;
                Some((AccountName::new(author), permlink))
            }
            _ => None,
        }
    }
}

/// What is not known about a comment, since it depends on votes by stake.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CommentFlags {
    /// It was deleted before hardfork 19, which did nothing if its net votes were positive. It counts as deleted, but
    /// what needs it is let through.
    pub deletion_undecided: bool,
    /// A reply's deletion is undecided, so that the number of replies may be too low.
    pub replies_undecided: bool,
}

/// What a comment replies to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parent {
    /// Author of the parent.
    pub author: AccountName,
    /// Permlink of the parent.
    pub permlink: Vec<u8>,
}

/// A comment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Comment {
    /// What is not known about it.
    pub flags: CommentFlags,
    /// Replies to it.
    pub replies: u32,
    /// 0 for a root post, else one more than the parent's.
    pub depth: u16,
    /// What it replies to; `None` for a root post, that is at depth 0.
    pub parent: Option<Parent>,
}

const DELETION_UNDECIDED: u8 = 1;
const REPLIES_UNDECIDED: u8 = 2;

impl Comment {
    /// A new root post.
    #[must_use]
    pub fn root() -> Self {
        Self {
            flags: CommentFlags::default(),
            replies: 0,
            depth: 0,
            parent: None,
        }
    }

    /// Whether this is the parent.
    #[must_use]
    pub fn replies_to(&self, author: &AccountName, permlink: &[u8]) -> bool {
        self.parent
            .as_ref()
            .is_some_and(|parent| parent.author == *author && parent.permlink == permlink)
    }
}

impl Record for Comment {
    type Owner<'a> = CommentId<'a>;
    const NAME: &'static str = "comment";

    fn key(owner: CommentId<'_>, key: &mut Vec<u8>) {
        key.push(TableId::Comment as u8);
        key.extend_from_slice(owner.author.padded());
        key.extend_from_slice(owner.permlink);
    }

    fn encode(&self, value: &mut Vec<u8>) {
        value.push(
            u8::from(self.flags.deletion_undecided) * DELETION_UNDECIDED
                + u8::from(self.flags.replies_undecided) * REPLIES_UNDECIDED,
        );
        value.extend_from_slice(&self.replies.to_le_bytes());
        value.extend_from_slice(&self.depth.to_le_bytes());
        if let Some(parent) = &self.parent {
            value.extend_from_slice(parent.author.padded());
            value.extend_from_slice(&parent.permlink);
        }
    }

    fn decode(fields: &mut Fields<'_>) -> Result<Self, CorruptValue> {
        let flags = fields.u8()?;
        if flags & !(DELETION_UNDECIDED | REPLIES_UNDECIDED) != 0 {
            return Err(fields.bad_number("flags 0 to 3", flags.into()));
        }
        let replies = fields.u32()?;
        let depth = fields.u16()?;
        let parent = match depth {
            0 => None,
            _ => Some(Parent {
                author: fields.name()?,
                permlink: fields.rest().to_vec(),
            }),
        };
        Ok(Self {
            flags: CommentFlags {
                deletion_undecided: flags & DELETION_UNDECIDED != 0,
                replies_undecided: flags & REPLIES_UNDECIDED != 0,
            },
            replies,
            depth,
            parent,
        })
    }
}
