//! Witnesses. Four registers each, and one that finds them by order of creation:
//!
//! * core, key `03`, name, `00`; 75 or 99 bytes, see [`Witness`]: signing key (33), created (4), creation fee (8), maximum
//!   block size (4), interest (2), subsidy budget (4), subsidy decay (4), queue number (8), index (4), time of the feed
//!   (4), feed: base amount (8), base symbol (4), quote amount (8), quote symbol (4); without a feed the last 24 bytes
//!   are absent;
//! * activity, key `03`, name, `01`; 16 bytes, see [`WitnessActivity`]: last block (4), running version (4), hardfork
//!   voted for (4), its time (4);
//! * url, key `03`, name, `02`: the text; no register if it is empty;
//! * last work, key `03`, name, `03`: 32 bytes; no register if there is none;
//! * by index, key `04`, index (4, big-endian): the name, 16 bytes.

use cairn_chain::{AccountName, Asset, AssetSymbol, PublicKey, Time, Version};

use super::{CorruptValue, Fields, Record, TableId, WitnessField, named_key};

/// An exchange rate that a witness published.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Feed {
    /// So much of this
    pub base: Asset,
    /// for so much of that.
    pub quote: Asset,
}

/// What a witness has set. The register exists if and only if the witness does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Witness {
    /// The key that signs its blocks; the null key switches it off.
    pub signing_key: PublicKey,
    /// When it became a witness: the time of the block before; 0 for those of genesis.
    pub created: Time,
    /// Account creation fee that it votes for, in 0.001 HIVE.
    pub account_creation_fee: i64,
    /// Maximum block size that it votes for, in bytes.
    pub maximum_block_size: u32,
    /// Interest on HBD that it votes for, in 0.01 %.
    pub interest_rate: u16,
    /// Subsidised accounts a block, in 1/10000.
    pub subsidy_budget: i32,
    /// Decay of that budget.
    pub subsidy_decay: u32,
    /// Place in the mining queue; 0: not queued.
    pub queue_number: u64,
    /// Witnesses that were created before it.
    pub index: u32,
    /// When the feed was published; 0 never.
    pub feed_time: Time,
    /// Its feed.
    pub feed: Option<Feed>,
}

impl Witness {
    /// A witness with the properties that every new one starts with.
    #[must_use]
    pub fn new(signing_key: PublicKey, created: Time) -> Self {
        Self {
            signing_key,
            created,
            account_creation_fee: 1,
            maximum_block_size: 131_072,
            interest_rate: 1_000,
            subsidy_budget: 797,
            subsidy_decay: 347_321,
            queue_number: 0,
            index: 0,
            feed_time: Time(0),
            feed: None,
        }
    }
}

fn encode_asset(asset: &Asset, value: &mut Vec<u8>) {
    value.extend_from_slice(&asset.amount.to_le_bytes());
    value.extend_from_slice(&asset.symbol.number().to_le_bytes());
}

fn decode_asset(fields: &mut Fields<'_>) -> Result<Asset, CorruptValue> {
    let amount = fields.i64()?;
    let number = fields.u32()?;
    match AssetSymbol::from_number(number) {
        Some(symbol) => Ok(Asset { amount, symbol }),
        None => Err(fields.bad_number("number of an asset symbol", number.into())),
    }
}

impl Record for Witness {
    type Owner<'a> = &'a AccountName;
    const NAME: &'static str = "witness";

    fn key(owner: &AccountName, key: &mut Vec<u8>) {
        named_key(TableId::Witness, owner, WitnessField::Core as u8, key);
    }

    fn encode(&self, value: &mut Vec<u8>) {
        value.extend_from_slice(self.signing_key.as_bytes());
        value.extend_from_slice(&self.created.0.to_le_bytes());
        value.extend_from_slice(&self.account_creation_fee.to_le_bytes());
        value.extend_from_slice(&self.maximum_block_size.to_le_bytes());
        value.extend_from_slice(&self.interest_rate.to_le_bytes());
        value.extend_from_slice(&self.subsidy_budget.to_le_bytes());
        value.extend_from_slice(&self.subsidy_decay.to_le_bytes());
        value.extend_from_slice(&self.queue_number.to_le_bytes());
        value.extend_from_slice(&self.index.to_le_bytes());
        value.extend_from_slice(&self.feed_time.0.to_le_bytes());
        if let Some(feed) = &self.feed {
            encode_asset(&feed.base, value);
            encode_asset(&feed.quote, value);
        }
    }

    fn decode(fields: &mut Fields<'_>) -> Result<Self, CorruptValue> {
        Ok(Self {
            signing_key: fields.public_key()?,
            created: fields.time()?,
            account_creation_fee: fields.i64()?,
            maximum_block_size: fields.u32()?,
            interest_rate: fields.u16()?,
            subsidy_budget: fields.array().map(i32::from_le_bytes)?,
            subsidy_decay: fields.u32()?,
            queue_number: fields.u64()?,
            index: fields.u32()?,
            feed_time: fields.time()?,
            feed: match fields.remaining() {
                0 => None,
                _ => Some(Feed {
                    base: decode_asset(fields)?,
                    quote: decode_asset(fields)?,
                }),
            },
        })
    }
}

/// What a witness's blocks say. Written with each of its blocks; exists if and only if the witness does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct WitnessActivity {
    /// Number of its last block; 0: none.
    pub last_block: u32,
    /// Version that it runs.
    pub running_version: Version,
    /// The hardfork that it votes for.
    pub hardfork_vote: Version,
    /// The time at which that is to happen.
    pub hardfork_time: Time,
}

impl Record for WitnessActivity {
    type Owner<'a> = &'a AccountName;
    const NAME: &'static str = "witness activity";

    fn key(owner: &AccountName, key: &mut Vec<u8>) {
        named_key(TableId::Witness, owner, WitnessField::Activity as u8, key);
    }

    fn encode(&self, value: &mut Vec<u8>) {
        value.extend_from_slice(&self.last_block.to_le_bytes());
        value.extend_from_slice(&self.running_version.0.to_le_bytes());
        value.extend_from_slice(&self.hardfork_vote.0.to_le_bytes());
        value.extend_from_slice(&self.hardfork_time.0.to_le_bytes());
    }

    fn decode(fields: &mut Fields<'_>) -> Result<Self, CorruptValue> {
        Ok(Self {
            last_block: fields.u32()?,
            running_version: Version(fields.u32()?),
            hardfork_vote: Version(fields.u32()?),
            hardfork_time: fields.time()?,
        })
    }
}

/// Where a witness explains itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WitnessUrl(pub Vec<u8>);

impl Record for WitnessUrl {
    type Owner<'a> = &'a AccountName;
    const NAME: &'static str = "witness url";

    fn key(owner: &AccountName, key: &mut Vec<u8>) {
        named_key(TableId::Witness, owner, WitnessField::Url as u8, key);
    }

    fn encode(&self, value: &mut Vec<u8>) {
        value.extend_from_slice(&self.0);
    }

    fn decode(fields: &mut Fields<'_>) -> Result<Self, CorruptValue> {
        Ok(Self(fields.rest().to_vec()))
    }
}

/// The work that a witness did last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WitnessWork(pub [u8; 32]);

impl Record for WitnessWork {
    type Owner<'a> = &'a AccountName;
    const NAME: &'static str = "last work of a witness";

    fn key(owner: &AccountName, key: &mut Vec<u8>) {
        named_key(TableId::Witness, owner, WitnessField::LastWork as u8, key);
    }

    fn encode(&self, value: &mut Vec<u8>) {
        value.extend_from_slice(&self.0);
    }

    fn decode(fields: &mut Fields<'_>) -> Result<Self, CorruptValue> {
        fields.array().map(Self)
    }
}

/// The witness that was created after so many others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WitnessByIndex(pub AccountName);

impl Record for WitnessByIndex {
    type Owner<'a> = u32;
    const NAME: &'static str = "witness by index";

    fn key(index: u32, key: &mut Vec<u8>) {
        key.push(TableId::WitnessByIndex as u8);
        key.extend_from_slice(&index.to_be_bytes());
    }

    fn encode(&self, value: &mut Vec<u8>) {
        value.extend_from_slice(self.0.padded());
    }

    fn decode(fields: &mut Fields<'_>) -> Result<Self, CorruptValue> {
        fields.name().map(Self)
    }
}
