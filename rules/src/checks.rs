//! What was checked, and what was not and why. Counts since the state was opened; they are not part of the state. They
//! are of work: checks of a block that a switch to another fork took back, and of one that was refused, stay counted.

use std::collections::BTreeMap;

use serde::Serialize;

/// Why a transaction passed without a signature of its own being needed, or in spite of what it lacked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Exemption {
    /// Everything that was required has threshold 0.
    OpenAuthority,
    /// Nothing is required (proof of work).
    NothingRequired,
    /// A missing active authority in one of the eight historical blocks in which hived forgives it.
    ForgivenMissingActive,
}

/// What a node without balances cannot decide. The block is accepted, and the case counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Undecided {
    /// A recovery request for an account without recovery account: only the witness with the most votes may make it,
    /// and votes weigh by stake.
    RecoveryByTopWitness,
    /// `delete_comment` before hardfork 19 does nothing if the comment's net votes are positive. The comment counts as
    /// deleted.
    CommentDeletion,
    /// `delete_comment` since hardfork 19 fails when net votes are positive or the comment was paid out.
    CommentVotes,
    /// A comment whose deletion is undecided was needed: it must have been there.
    CommentExistence,
    /// The mining queue depends on stake from hardfork 4 on: the target of a proof of work, and whether the miner was
    /// queued, were not checked.
    MiningQueue,
    /// A claim of an account without fee needs a subsidised slot, which depends on the schedule.
    SubsidisedClaim,
    /// The block's slot could not be checked, since the schedule depends on stake.
    Slot,
    /// The witness was absent so long that hived may have switched it off (hardforks 14 to 20), while its key in state
    /// is set.
    IdleWitness,
    /// A block above 64 KiB: how large it may be is the median of the scheduled witnesses' votes, and who is scheduled depends
    /// on stake.
    BlockSize,
    /// A proposal that has ended was needed: hived may have removed it.
    EndedProposal,
    /// Hardfork 20 multiplies the creation fee of the scheduled witnesses by 30; who they are depends on stake.
    ScheduledCreationFee,
}

impl Exemption {
    /// The reason in words.
    #[must_use]
    pub const fn reason(self) -> &'static str {
        match self {
            Self::OpenAuthority => "satisfied without any signature (open authority)",
            Self::NothingRequired => "no authority required (proof of work)",
            Self::ForgivenMissingActive => "missing active authority forgiven (historical block)",
        }
    }
}

impl Undecided {
    /// The reason in words.
    #[must_use]
    pub const fn reason(self) -> &'static str {
        match self {
            Self::RecoveryByTopWitness => "recovery by the witness with the most votes: needs stake",
            Self::CommentDeletion => {
                "delete_comment before hardfork 19: nothing happens if net votes are positive"
            }
            Self::CommentVotes => "delete_comment: net votes and payout need stake",
            Self::CommentExistence => "a comment was needed whose deletion is undecided",
            Self::MiningQueue => "proof of work: target and queue need stake since hardfork 4",
            Self::SubsidisedClaim => "claim_account without fee: subsidised slots need stake",
            Self::Slot => "slot of the block: the schedule needs stake",
            Self::IdleWitness => "witness may have been switched off for missing blocks: needs the schedule",
            Self::BlockSize => "size of a block above 64 KiB: the scheduled witnesses' votes need stake",
            Self::EndedProposal => "an ended proposal was needed, which may have been removed",
            Self::ScheduledCreationFee => "hardfork 20: creation fee of the scheduled witnesses needs stake",
        }
    }
}

/// Counts of what full validation checked.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Checks {
    /// Blocks signed by their witness's key in state.
    pub blocks_signed: u64,
    /// Blocks that were made in their witness's slot.
    pub slots: u64,
    /// Transactions whose signatures satisfy the required authorities, those without signature included.
    pub transactions: u64,
    /// Signatures that were recovered.
    pub signatures: u64,
    /// Transactions whose reference block matched.
    pub reference_blocks: u64,
    /// Transactions of block 1, which refer to nothing.
    pub reference_blocks_of_first: u64,
    /// Requirements met, by level and by the authority that met them.
    pub satisfied: SatisfiedCounts,
    /// Transactions that passed for a reason of their own.
    pub exempt: BTreeMap<Exemption, u64>,
    /// Rules that could not be decided.
    pub undecided: BTreeMap<Undecided, u64>,
}

/// Requirements met: names and explicit authorities.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct SatisfiedCounts {
    /// Posting by the posting authority.
    pub posting_by_posting: u64,
    /// Posting by the active authority.
    pub posting_by_active: u64,
    /// Posting by the owner authority.
    pub posting_by_owner: u64,
    /// Active by the active authority.
    pub active_by_active: u64,
    /// Active by the owner authority.
    pub active_by_owner: u64,
    /// Owner by the owner authority.
    pub owner_by_owner: u64,
    /// Explicit authorities.
    pub other: u64,
    /// Signing keys of witnesses.
    pub witness: u64,
    /// Transactions that needed nested accounts.
    pub nested: u64,
}

impl SatisfiedCounts {
    pub(crate) fn add(&mut self, satisfied: &crate::authority::Satisfied) {
        self.posting_by_posting += u64::from(satisfied.posting_by_posting);
        self.posting_by_active += u64::from(satisfied.posting_by_active);
        self.posting_by_owner += u64::from(satisfied.posting_by_owner);
        self.active_by_active += u64::from(satisfied.active_by_active);
        self.active_by_owner += u64::from(satisfied.active_by_owner);
        self.owner_by_owner += u64::from(satisfied.owner_by_owner);
        self.other += u64::from(satisfied.other);
        self.witness += u64::from(satisfied.witness);
        self.nested += u64::from(satisfied.nested);
    }
}

impl Checks {
    pub(crate) fn exempt(&mut self, exemption: Exemption) {
        *self.exempt.entry(exemption).or_default() += 1;
    }

    pub(crate) fn undecided(&mut self, undecided: Undecided) {
        *self.undecided.entry(undecided).or_default() += 1;
    }
}
