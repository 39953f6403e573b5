//! Comments and votes on them.

use crate::asset::Asset;
use crate::extension::CommentOption;
use crate::name::AccountName;
use crate::structure::packed_struct;
use crate::text::Text;

packed_struct! {
    /// Votes on a comment.
    pub struct Vote<'a> {
        voter: AccountName,
        author: AccountName,
        permlink: Text<'a>,
        /// In 0.01 %, from -10000 to 10000.
        weight: i16,
    }
}

packed_struct! {
    /// Writes or edits a comment. Without parent author it is a post, and the parent permlink its category.
    pub struct Comment<'a> {
        parent_author: AccountName,
        parent_permlink: Text<'a>,
        author: AccountName,
        permlink: Text<'a>,
        title: Text<'a>,
        /// The text, or a patch to it.
        body: Text<'a>,
        json_metadata: Text<'a>,
    }
}

packed_struct! {
    /// Deletes a comment.
    pub struct DeleteComment<'a> {
        author: AccountName,
        permlink: Text<'a>,
    }
}

packed_struct! {
    /// Sets how a comment is paid.
    pub struct CommentOptions<'a> {
        author: AccountName,
        permlink: Text<'a>,
        /// In HBD.
        max_accepted_payout: Asset,
        /// Share paid in HBD, in 0.01 %.
        percent_hbd: u16,
        allow_votes: bool,
        allow_curation_rewards: bool,
        /// At most one.
        extensions: Vec<CommentOption>,
    }
}
