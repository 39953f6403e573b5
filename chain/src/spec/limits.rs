//! Periods and limits on which the networks differ. Times are in seconds.

/// Periods and limits of a chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Owner authority: an update is allowed when more than this has passed since the last one (from hardfork 11 on; from
    /// hardfork 26 on also when more has passed since the one before). 60 min; testnets 6 s; Steem's testnet has no limit.
    pub owner_update_interval: Option<u32>,
    /// Account recovery: allowed when more than this has passed since the last one (from hardfork 12 on). 60 min; testnets 6
    /// s; Steem's testnet 0, so that only a second one in the same block is refused.
    pub recovery_interval: u32,
    /// How long a request for account recovery stands. 1 day; testnets 12 s.
    pub recovery_request_time: u32,
    /// How long a change of the recovery account waits before it takes effect. 30 days; testnets 60 s.
    pub recovery_change_delay: u32,
    /// How long a replaced owner authority can prove ownership. 30 days; testnets 60 s.
    pub owner_history_time: u32,
    /// How long declining of voting rights waits before it takes effect. 30 days; testnets 60 s.
    pub declined_voting_delay: u32,
    /// Number of the head block from which on replaced owner authorities are kept. 3186477; testnets 1.
    pub owner_history_start: u32,
    /// How long governance votes last without a new one (acts from hardfork 25 on). 365 days; testnets 5 days.
    pub governance_vote_time: u32,
    /// No governance vote ends before this time: 365 days after hardfork 25 took effect on mainnet.
    pub first_governance_expiration: u32,
    /// Governance votes that would end before [`Self::first_governance_expiration`] end this much later at most: the sum is
    /// taken modulo this period. Half a year of 365 days.
    pub governance_expiration_spread: u32,
    /// Proposal votes that one block removes at most, for declined voting rights and again for expired governance votes.
    /// 200; testnets 20.
    pub proposal_vote_removals: u32,
    /// Number of blocks at the start of the chain with simpler rules: while the head is below it, a block is irreversible
    /// 21 blocks later, and before hardfork 4 the mining queue alone makes the schedule. 864000 (30 days); Hive's testnets
    /// 30; Steem's testnet 864000.
    pub early_chain_blocks: u32,
    /// Least account creation fee that a witness may ask for, and the one that the first witnesses ask for, in 0.001 HIVE.
    /// 1; testnets 0.
    pub min_account_creation_fee: i64,
    /// Whether, from hardfork 14 to 20, a scheduled witness that misses a slot loses its signing key if its last block is
    /// more than a day (28800 blocks) behind. On mainnet and mirrornet; testnets never do it.
    pub idle_witnesses_switched_off: bool,
    /// Least time between two posts of an author that are no replies, from hardfork 6 on: more than this. 5 min.
    pub root_comment_interval: u32,
    /// Least time between two replies of an author before hardfork 20: more than this. Only Steem's testnet has it, with 20
    /// s; Hive applies the rule of hardfork 20 (at least 3 s) from hardfork 6 on.
    pub old_reply_interval: Option<u32>,
    /// Whether an account that declined its voting rights may do so again. Only on Steem's testnet.
    pub declining_may_repeat: bool,
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
            owner_update_interval: Some(60 * MINUTE),
            recovery_interval: 60 * MINUTE,
            recovery_request_time: DAY,
            recovery_change_delay: 30 * DAY,
            owner_history_time: 30 * DAY,
            declined_voting_delay: 30 * DAY,
            owner_history_start: 3_186_477,
            governance_vote_time: 365 * DAY,
            first_governance_expiration: 1_625_061_600 + 365 * DAY,
            governance_expiration_spread: 365 * DAY / 2,
            proposal_vote_removals: 200,
            early_chain_blocks: 864_000,
            min_account_creation_fee: 1,
            idle_witnesses_switched_off: true,
            root_comment_interval: 5 * MINUTE,
            old_reply_interval: None,
            declining_may_repeat: false,
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
            owner_update_interval: Some(6),
            recovery_interval: 6,
            recovery_request_time: 12,
            recovery_change_delay: 60,
            owner_history_time: 60,
            declined_voting_delay: 60,
            owner_history_start: 1,
            governance_vote_time: 5 * DAY,
            proposal_vote_removals: 20,
            early_chain_blocks: 30,
            min_account_creation_fee: 0,
            idle_witnesses_switched_off: false,
            ..Self::mainnet()
        }
    }

    /// Steem's testnet's.
    pub(super) const fn steem_testnet() -> Self {
        Self {
            owner_update_interval: None,
            recovery_interval: 0,
            early_chain_blocks: 864_000,
            old_reply_interval: Some(20),
            declining_may_repeat: true,
            ..Self::testnet()
        }
    }
}
