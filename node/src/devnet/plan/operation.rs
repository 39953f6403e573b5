//! Operations as they are planned: accounts by index, texts not yet written.

use super::super::accounts::Held;

/// A post, named by its author and a number that no other post has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(in super::super) struct Post {
    pub(in super::super) author: u32,
    pub(in super::super) serial: u32,
    /// Posts above it; 0 for a root post.
    pub(in super::super) depth: u16,
}

/// What an account update does to one authority.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum AuthorityChange {
    Keep,
    Set(Held),
}

/// What an account update changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) struct AuthorityChanges {
    pub(in super::super) owner: AuthorityChange,
    pub(in super::super) active: AuthorityChange,
    pub(in super::super) posting: AuthorityChange,
}

impl AuthorityChanges {
    pub(in super::super) const NONE: Self = Self {
        owner: AuthorityChange::Keep,
        active: AuthorityChange::Keep,
        posting: AuthorityChange::Keep,
    };
}

/// An operation, decided but not written. Amounts are in thousandths.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Planned {
    /// `generation` is that of all the new account's keys.
    AccountCreate {
        creator: u32,
        account: u32,
        generation: u32,
    },
    /// `memo` is the generation of the memo key that the account has afterwards.
    AccountUpdate {
        account: u32,
        changes: AuthorityChanges,
        memo: u32,
        profile: bool,
    },
    AccountUpdate2 {
        account: u32,
        changes: AuthorityChanges,
        memo: Option<u32>,
        profile: bool,
        posting_profile: bool,
    },
    ChangeRecoveryAccount {
        account: u32,
        to: u32,
    },
    Comment {
        post: Post,
        parent: Option<Post>,
        edit: bool,
    },
    CommentOptions {
        post: Post,
        beneficiary: Option<u32>,
    },
    Custom {
        account: u32,
    },
    CustomJson {
        account: u32,
        active: bool,
    },
    /// As large as it may be, signed by the active key.
    LargeJson {
        account: u32,
    },
    FeedPublish {
        witness: u32,
    },
    Proxy {
        account: u32,
        to: Option<u32>,
    },
    /// `new` and `recent` are generations of the owner key.
    RecoverAccount {
        account: u32,
        new: u32,
        recent: u32,
    },
    RequestRecovery {
        by: u32,
        account: u32,
        new: u32,
    },
    TransferTbd {
        from: u32,
        to: u32,
        amount: i64,
    },
    TransferTests {
        from: u32,
        to: u32,
        amount: i64,
    },
    TransferToVesting {
        from: u32,
        to: u32,
        amount: i64,
    },
    Vote {
        voter: u32,
        post: Post,
        weight: i16,
    },
    /// `key` and `new_key` are generations of the block key.
    WitnessSetProperties {
        witness: u32,
        key: u32,
        new_key: u32,
    },
    WitnessUpdate {
        witness: u32,
        key: u32,
    },
    /// A witness votes for blocks as large as can be.
    WantLargeBlocks {
        witness: u32,
        key: u32,
    },
}
