//! Chain specifications from JSON.
//!
//! The keys of hived's `--alternate-chain-spec` file are understood, so that such a file can be used as it is, and these in
//! addition:
//!
//! | key | value |
//! |---|---|
//! | `name` | name of the chain; else that of `base` |
//! | `base` | built-in chain to start from: `hive-testnet` (if not given), `hive-mirrornet` or `steem-testnet` |
//! | `chain_id` | hexadecimal digits, padded with zeros on the right |
//! | `initminer_key` | public key of initminer and the other first witnesses |
//! | `blocks_per_log_part` | blocks in each file of a split block log |
//!
//! Of hived's keys these count: `genesis_time` (seconds), `hardfork_schedule`, `init_witnesses`, `hive_owner_update_limit`
//! and `min_root_comment_interval` (seconds). Its others are about balances or about what a node prints, and are passed over.
//! Any other key is an error, since it may be a misspelt one.
//!
//! `hardfork_schedule` is a list of `{"hardfork": N, "block_num": B}`: hardfork N takes effect at genesis plus B block
//! intervals, and so do those below it back to the entry before. Hardforks above the last entry keep the time of the base.

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::{BLOCK_INTERVAL, ChainKind, ChainSpec, UnknownChain};
use crate::ids::ChainId;
use crate::key::ParsePublicKeyError;
use crate::name::AccountName;
use crate::time::Time;

/// JSON that is no chain specification.
#[derive(Debug, thiserror::Error)]
pub enum SpecError {
    /// Not JSON, an unknown key, a value of the wrong type.
    #[error("the chain specification is not valid")]
    Json(#[from] serde_json::Error),
    /// `base` names no built-in chain.
    #[error("the chain specification's base")]
    Base(#[from] UnknownChain),
    /// `base` is mainnet, of which there is one.
    #[error(
        "a chain specification cannot start from hive, of which nothing may differ; use hive-mirrornet or hive-testnet"
    )]
    Mainnet,
    /// `hardfork_schedule` has an entry for hardfork 0, which is genesis, or for one that the chain does not know.
    #[error("hardfork_schedule: hardforks 1 to {newest} can be given, found {found}")]
    UnknownHardfork {
        /// Newest hardfork of the base.
        newest: u8,
        /// The number given.
        found: u32,
    },
    /// `hardfork_schedule` is not in ascending order.
    #[error("hardfork_schedule: hardforks in ascending order expected, found {found} behind {before}")]
    HardforkOrder {
        /// Hardfork of the entry before.
        before: u32,
        /// Hardfork of this entry.
        found: u32,
    },
    /// A block so late that its time does not fit into 32 bits.
    #[error("hardfork_schedule: hardfork {hardfork} at block {block_num} would be after the year 2106")]
    HardforkTime {
        /// The hardfork.
        hardfork: u32,
        /// The block given.
        block_num: u32,
    },
    /// An entry of `init_witnesses` is no account name, or one that exists already.
    #[error("init_witnesses: {found:?} is not a name for a new account")]
    InitWitness {
        /// The name given.
        found: String,
    },
    /// `chain_id` is not at most 32 bytes in hexadecimal digits.
    #[error("chain_id: 2 to 64 hexadecimal digits expected, an even number of them, found {found:?}")]
    ChainId {
        /// The text given.
        found: String,
    },
    /// `initminer_key` is no public key.
    #[error("initminer_key")]
    FirstKey(#[source] ParsePublicKeyError),
    /// `blocks_per_log_part` is 0.
    #[error("blocks_per_log_part: at least 1 expected, found 0")]
    LogPart,
    /// `hive_owner_update_limit` is not what hived takes.
    #[error("hive_owner_update_limit: at least 6 seconds and a multiple of 3 expected, found {found}")]
    OwnerUpdateLimit {
        /// Seconds given.
        found: u32,
    },
}

#[derive(Deserialize)]
#[serde(
    deny_unknown_fields,
    expecting = "an object with the keys of a chain specification"
)]
struct File {
    name: Option<String>,
    base: Option<String>,
    chain_id: Option<String>,
    initminer_key: Option<String>,
    blocks_per_log_part: Option<u32>,
    genesis_time: Option<u32>,
    #[serde(default)]
    hardfork_schedule: Vec<Hardfork>,
    #[serde(default)]
    init_witnesses: Vec<String>,
    hive_owner_update_limit: Option<u32>,
    min_root_comment_interval: Option<u32>,
    #[serde(rename = "init_supply")]
    _init_supply: Option<IgnoredAny>,
    #[serde(rename = "hbd_init_supply")]
    _hbd_init_supply: Option<IgnoredAny>,
    #[serde(rename = "initial_vesting")]
    _initial_vesting: Option<IgnoredAny>,
    #[serde(rename = "generate_missed_block_operations")]
    _generate_missed_block_operations: Option<IgnoredAny>,
    #[serde(rename = "hf_21_stall_block")]
    _hf_21_stall_block: Option<IgnoredAny>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Hardfork {
    hardfork: u32,
    block_num: u32,
}

impl ChainSpec {
    /// Reads a chain specification; the module describes its keys.
    ///
    /// # Errors
    ///
    /// [`SpecError`] names the key and what is wrong with its value.
    pub fn from_json(text: &str) -> Result<Self, SpecError> {
        let file: File = serde_json::from_str(text)?;
        let mut spec = Self::builtin(file.base.as_deref().unwrap_or("hive-testnet"))?;
        if spec.kind == ChainKind::Mainnet {
            return Err(SpecError::Mainnet);
        }
        if let Some(name) = file.name {
            spec.name = name;
        }
        if let Some(text) = file.chain_id {
            spec.chain_id = chain_id(&text).ok_or(SpecError::ChainId { found: text })?;
        }
        if let Some(text) = file.initminer_key {
            spec.set_first_key(&text)?;
        }
        if let Some(blocks) = file.blocks_per_log_part {
            if blocks == 0 {
                return Err(SpecError::LogPart);
            }
            spec.blocks_per_log_part = blocks;
        }
        if let Some(seconds) = file.genesis_time {
            spec.genesis_time = Time(seconds);
        }
        spec.set_hardforks(&file.hardfork_schedule)?;
        for name in &file.init_witnesses {
            spec.add_init_witness(name)?;
        }
        if let Some(found) = file.hive_owner_update_limit {
            if found < 6 || found % 3 != 0 {
                return Err(SpecError::OwnerUpdateLimit { found });
            }
            spec.limits.owner_update_interval = Some(found);
            spec.limits.recovery_interval = found;
        }
        if let Some(seconds) = file.min_root_comment_interval {
            spec.limits.root_comment_interval = seconds;
        }
        Ok(spec)
    }

    fn set_first_key(&mut self, text: &str) -> Result<(), SpecError> {
        self.first_key = text.parse().map_err(SpecError::FirstKey)?;
        if self.kind == ChainKind::Mirrornet {
            // The skeleton key replaces this one too.
            self.hardfork_9_key = self.first_key;
        }
        Ok(())
    }

    fn set_hardforks(&mut self, schedule: &[Hardfork]) -> Result<(), SpecError> {
        let newest = self.hardforks.count();
        let mut before = 0;
        for &Hardfork { hardfork, block_num } in schedule {
            if hardfork == 0 || hardfork > u32::from(newest) {
                return Err(SpecError::UnknownHardfork {
                    newest,
                    found: hardfork,
                });
            }
            if hardfork <= before {
                return Err(SpecError::HardforkOrder {
                    before,
                    found: hardfork,
                });
            }
            let delay = block_num.checked_mul(BLOCK_INTERVAL);
            let time = delay.and_then(|delay| self.genesis_time.seconds().checked_add(delay));
            let time = time.ok_or(SpecError::HardforkTime { hardfork, block_num })?;
            self.hardforks
                .set(before as usize + 1, hardfork as usize, Time(time));
            before = hardfork;
        }
        Ok(())
    }

    fn add_init_witness(&mut self, text: &str) -> Result<(), SpecError> {
        let name = AccountName::from(text);
        let exists = self.genesis_accounts().iter().any(|account| account.name == name);
        if exists || !name.is_valid() || name.as_bytes() != text.as_bytes() {
            return Err(SpecError::InitWitness {
                found: text.to_owned(),
            });
        }
        self.init_witnesses.push(name);
        Ok(())
    }
}

/// Hexadecimal digits, padded with zeros on the right.
fn chain_id(text: &str) -> Option<ChainId> {
    let bytes = hex::decode(text).ok()?;
    if bytes.is_empty() || bytes.len() > 32 {
        return None;
    }
    let mut id = [0; 32];
    id[..bytes.len()].copy_from_slice(&bytes);
    Some(ChainId(id))
}
