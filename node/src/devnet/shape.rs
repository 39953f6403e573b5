//! What a chain is like, apart from its length.

use cairn_chain::ChainSpec;

use super::names::WITNESSES;
use super::plan::LAG;
use super::profile::Profile;
use super::spec;

/// Most witnesses: as many as fit into a round, so that all of them are scheduled whoever they are.
pub const MAX_WITNESSES: u32 = WITNESSES + 1;

/// Most missed slots, in percent: a chain of this many lies has four times the length in time.
pub const MAX_MISSED_SLOTS: u32 = 75;

/// Kinds of transactions, in percent; what is left of 100 goes to account operations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mix {
    /// `custom_json`, by posting and active authorities.
    pub custom_json: u32,
    /// Votes for posts.
    pub votes: u32,
    /// Posts, replies, edits.
    pub comments: u32,
    /// Transfers, of every kind.
    pub transfers: u32,
}

impl Mix {
    /// About what a real chain has.
    pub const USUAL: Self = Self {
        custom_json: 50,
        votes: 22,
        comments: 12,
        transfers: 10,
    };

    /// Mostly what changes the state, so that two branches of a fork contradict each other soon.
    pub const STATEFUL: Self = Self {
        custom_json: 10,
        votes: 5,
        comments: 25,
        transfers: 5,
    };
}

/// What a chain is like. Two chains are equal if their shapes are, as far as the shorter one goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChainShape {
    /// Everything random follows from it, the chain id too.
    pub seed: u64,
    /// What the blocks hold.
    pub profile: Profile,
    /// Witnesses, initminer included, 1 to [`MAX_WITNESSES`]. With transactions ([`Profile::Mixed`]) they register in
    /// block 2 or soon after, and the first list of all of them is in force from block 43 on.
    pub witnesses: u32,
    /// Chance of each slot to be missed, in percent, at most [`MAX_MISSED_SLOTS`]. Block 1 misses none.
    pub missed_slots: u32,
    /// Users that the start-up creates, at least 8.
    pub users: u32,
    /// Transactions of a block after the start-up, least and most; at most 60.
    pub transactions: (u32, u32),
    /// Which transactions.
    pub mix: Mix,
    /// How far behind a block its transactions' reference block lies, 1 to 128. The farther, the more transactions of
    /// one branch of a fork would be valid in another.
    pub reference_lag: u32,
    /// The last hardfork in force, 27 or 28. What changed with 28 are the rules of signatures.
    pub hardfork: u8,
}

impl ChainShape {
    /// What `cairn devnet generate` makes of this seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self {
            seed,
            profile: Profile::Mixed,
            witnesses: MAX_WITNESSES,
            missed_slots: 0,
            users: 400,
            transactions: (30, 60),
            mix: Mix::USUAL,
            reference_lag: LAG,
            hardfork: spec::LAST_HARDFORK,
        }
    }

    /// A small chain for tests of forks: 4 witnesses, 12 users, at most 4 transactions a block, most of which change the
    /// state; every fifth slot is missed; references lie 3 blocks back.
    #[must_use]
    pub fn small(seed: u64) -> Self {
        Self {
            witnesses: 4,
            missed_slots: 20,
            users: 12,
            transactions: (0, 4),
            mix: Mix::STATEFUL,
            reference_lag: 3,
            ..Self::new(seed)
        }
    }

    /// The chain specification, as JSON that `ChainSpec::from_json` reads.
    #[must_use]
    pub fn spec_json(&self) -> String {
        spec::text(self.seed, self.in_range().hardfork)
    }

    /// The chain specification.
    #[must_use]
    pub fn spec(&self) -> ChainSpec {
        spec::chain(self.seed, self.in_range().hardfork)
    }

    /// The shape with every number brought into its range.
    pub(super) fn in_range(self) -> Self {
        let most = self.transactions.1.min(super::plan::MAX_TRANSACTIONS);
        Self {
            witnesses: self.witnesses.clamp(1, MAX_WITNESSES),
            missed_slots: self.missed_slots.min(MAX_MISSED_SLOTS),
            users: self.users.clamp(8, 10_000),
            transactions: (self.transactions.0.min(most), most),
            reference_lag: self.reference_lag.clamp(1, LAG),
            hardfork: self.hardfork.clamp(27, spec::LAST_HARDFORK),
            ..self
        }
    }
}
