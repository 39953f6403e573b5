//! Periods and limits on which the networks differ. Times are in seconds.

/// Periods and limits of a chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Owner authority: an update is allowed when more than this has passed since the last one (from hardfork 11 on; from
    /// hardfork 26 on also when more has passed since the one before). 60 min; testnets 6 s; Steem's testnet has no limit.
    pub owner_update_limit: Option<u32>,
    /// Account recovery: allowed when more than this has passed since the last one (from hardfork 12 on). 60 min; testnets 6
    /// s; Steem's testnet 0, so that only a second one in the same block is refused.
    pub account_recovery_limit: u32,
    /// How long a request for account recovery stands. 1 day; testnets 12 s.
    pub recovery_request_expiration: u32,
    /// One period with three uses: how long a replaced owner authority can prove ownership, how long a change of the
    /// recovery account waits, and how long declining of voting rights waits. 30 days; testnets 60 s.
    pub owner_auth_recovery_period: u32,
    /// Number of the head block from which on replaced owner authorities are kept. 3186477; testnets 1.
    pub owner_history_start_block: u32,
    /// How long governance votes last without a new one (acts from hardfork 25 on). 365 days; testnets 5 days.
    pub governance_vote_period: u32,
    /// No governance vote ends before this time: 365 days after hardfork 25 took effect on mainnet.
    pub first_governance_expiration: u32,
    /// Governance votes that would end before [`Self::first_governance_expiration`] end this much later at most: the sum is
    /// taken modulo this period. Half a year of 365 days.
    pub governance_expiration_spread: u32,
    /// Proposal votes that one block removes at most, for declined voting rights and again for expired governance votes.
    /// 200; testnets 20.
    pub proposal_vote_removals_per_block: u32,
    /// Number of blocks at the start of the chain with simpler rules: while the head is below it, a block is irreversible
    /// 21 blocks later, and before hardfork 4 the mining queue alone makes the schedule. 864000 (30 days); Hive's testnets
    /// 30; Steem's testnet 864000.
    pub early_chain_blocks: u32,
    /// Least account creation fee that a witness may ask for, and the one that the first witnesses ask for, in 0.001 HIVE.
    /// 1; testnets 0.
    pub min_account_creation_fee: i64,
    /// From hardfork 14 to 20 a scheduled witness that misses a slot loses its signing key if its last block is more than
    /// this many blocks behind. 28800 (one day) on mainnet and mirrornet; testnets never do it.
    pub idle_witness_blocks: Option<u32>,
    /// Least time between two posts of an author that are no replies, from hardfork 6 on: more than this. 5 min.
    pub root_comment_interval: u32,
    /// Least time between two replies of an author before hardfork 20: more than this. Only Steem's testnet has it, with 20
    /// s; Hive applies the rule of hardfork 20 (at least 3 s) from hardfork 6 on.
    pub old_reply_interval: Option<u32>,
    /// Whether declining voting rights is refused to an account that declined already. Steem allowed to repeat it.
    pub refuse_repeated_declining: bool,
    /// Whether proof of work is checked: that a miner's active authority is one key, that key the worker, and that the work
    /// is below the target. Not on mirrornet, where keys were exchanged.
    pub check_proof_of_work: bool,
}

const MINUTE: u32 = 60;
const DAY: u32 = 24 * 60 * MINUTE;

impl Limits {
    /// Mainnet's.
    pub(super) const fn mainnet() -> Self {
        Self {
            owner_update_limit: Some(60 * MINUTE),
            account_recovery_limit: 60 * MINUTE,
            recovery_request_expiration: DAY,
            owner_auth_recovery_period: 30 * DAY,
            owner_history_start_block: 3_186_477,
            governance_vote_period: 365 * DAY,
            first_governance_expiration: 1_625_061_600 + 365 * DAY,
            governance_expiration_spread: 365 * DAY / 2,
            proposal_vote_removals_per_block: 200,
            early_chain_blocks: 864_000,
            min_account_creation_fee: 1,
            idle_witness_blocks: Some(28_800),
            root_comment_interval: 5 * MINUTE,
            old_reply_interval: None,
            refuse_repeated_declining: true,
            check_proof_of_work: true,
        }
    }

    /// Mirrornet's: mainnet's rules on exchanged keys.
    pub(super) const fn mirrornet() -> Self {
        Self {
            check_proof_of_work: false,
            ..Self::mainnet()
        }
    }

    /// A Hive testnet's: short periods, so that tests need not wait.
    pub(super) const fn testnet() -> Self {
        Self {
            owner_update_limit: Some(6),
            account_recovery_limit: 6,
            recovery_request_expiration: 12,
            owner_auth_recovery_period: 60,
            owner_history_start_block: 1,
            governance_vote_period: 5 * DAY,
            proposal_vote_removals_per_block: 20,
            early_chain_blocks: 30,
            min_account_creation_fee: 0,
            idle_witness_blocks: None,
            ..Self::mainnet()
        }
    }

    /// Steem's testnet's.
    pub(super) const fn steem_testnet() -> Self {
        Self {
            owner_update_limit: None,
            account_recovery_limit: 0,
            early_chain_blocks: 864_000,
            old_reply_interval: Some(20),
            refuse_repeated_declining: false,
            ..Self::testnet()
        }
    }
}
