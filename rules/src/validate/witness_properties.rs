//! The properties in `witness_set_properties`: a map from names to packed values.
//!
//! hived reads a value with its general reader, which has two peculiarities that are kept here: bytes behind the value
//! are ignored, and a value of no bytes at all is not read, so that what stood in the variable before stays. Names that
//! mean nothing are ignored. Of two entries with one name the first counts.

use cairn_chain::operations::{Price, WitnessSetProperties};
use cairn_chain::{Asset, AssetSymbol, PublicKey, Reader, Symbols, Text, Unpack};

use super::fields::{FULL_PERCENT, MOST_CREATION_FEE};
use super::witnesses::{LEAST_BLOCK_SIZE, MOST_BLOCK_SIZE};
use super::{Rules, ValidityError, fields, witnesses};

/// Range of the subsidy budget.
const SUBSIDY_BUDGET: (i64, i64) = (1, 268_435_455);

/// Range of the subsidy decay.
const SUBSIDY_DECAY: (i64, i64) = (64, 4_294_967_295);

/// Interest that a witness starts with, in 0.01 %: what an empty value leaves standing.
const DEFAULT_INTEREST: u16 = 1_000;

/// What an operation sets; `None` leaves a property as it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WitnessProperties<'a> {
    /// The signing key before the operation. The operation must name it, and be signed with it.
    pub key: PublicKey,
    /// The signing key from now on; the null key switches the witness off.
    pub new_signing_key: Option<PublicKey>,
    /// In 0.001 HIVE.
    pub account_creation_fee: Option<i64>,
    /// In bytes.
    pub maximum_block_size: Option<u32>,
    /// In 0.01 % a year.
    pub hbd_interest_rate: Option<u16>,
    /// Subsidized accounts a block, in 1/10000.
    pub account_subsidy_budget: Option<i32>,
    /// Decay of that budget.
    pub account_subsidy_decay: Option<u32>,
    /// HBD per HIVE.
    pub hbd_exchange_rate: Option<Price>,
    /// Where the witness explains itself.
    pub url: Option<&'a [u8]>,
}

/// The packed value of a property.
#[must_use]
pub fn find<'a>(op: &WitnessSetProperties<'a>, name: &[u8]) -> Option<&'a [u8]> {
    op.props
        .iter()
        .find(|(key, _)| key.as_bytes() == name)
        .map(|(_, value)| value.as_bytes())
}

/// The key in a property; no bytes at all are the null key. `None`: too few bytes.
#[must_use]
pub fn signing_key(value: &[u8]) -> Option<PublicKey> {
    if value.is_empty() {
        return Some(PublicKey::NULL);
    }
    value.first_chunk().map(|key| PublicKey(*key))
}

/// Reads what an operation that [`super::operation`] has accepted sets. `hardfork`: names that begin with `hbd_` count
/// since 24; those that begin with `sbd_` win over them.
///
/// # Errors
/// [`ValidityError::Property`] if a value cannot be read; [`ValidityError::Empty`] if `key` is missing.
pub fn read<'a>(
    op: &WitnessSetProperties<'a>,
    hardfork: u8,
    symbols: Symbols,
) -> Result<WitnessProperties<'a>, ValidityError> {
    let old_or_new = |old: &'static str, new: &'static str| {
        let new_counts = hardfork >= 24;
        if find(op, old.as_bytes()).is_some() {
            Some(old)
        } else {
            new_counts.then_some(new)
        }
    };
    let properties = Values { op, symbols };
    let key = properties
        .key("key")?
        .ok_or(ValidityError::Empty { field: "key" })?;
    let empty_price = Price {
        base: Asset::hive(0),
        quote: Asset::hive(0),
    };
    Ok(WitnessProperties {
        key,
        // An empty value leaves the variable that holds the present key.
        new_signing_key: match find(op, b"new_signing_key") {
            Some([]) => Some(key),
            _ => properties.key("new_signing_key")?,
        },
        account_creation_fee: properties
            .get("account_creation_fee", Asset::hive(0))?
            .map(|fee: Asset| fee.amount),
        maximum_block_size: properties.get("maximum_block_size", 0)?,
        hbd_interest_rate: match old_or_new("sbd_interest_rate", "hbd_interest_rate") {
            Some(name) => properties.get(name, DEFAULT_INTEREST)?,
            None => None,
        },
        account_subsidy_budget: properties.get("account_subsidy_budget", 0)?.map(u32::cast_signed),
        account_subsidy_decay: properties.get("account_subsidy_decay", 0)?,
        hbd_exchange_rate: match old_or_new("sbd_exchange_rate", "hbd_exchange_rate") {
            Some(name) => properties.get(name, empty_price)?,
            None => None,
        },
        url: properties
            .get("url", Text::default())?
            .map(|url: Text<'a>| url.as_bytes()),
    })
}

/// The values of an operation by name.
struct Values<'o, 'a> {
    op: &'o WitnessSetProperties<'a>,
    symbols: Symbols,
}

impl<'a> Values<'_, 'a> {
    /// A value, if there is one; `empty` if it has no bytes.
    fn get<T: Unpack<'a>>(&self, property: &'static str, empty: T) -> Result<Option<T>, ValidityError> {
        match find(self.op, property.as_bytes()) {
            None => Ok(None),
            Some([]) => Ok(Some(empty)),
            Some(bytes) => match T::unpack(&mut Reader::new(bytes, self.symbols)) {
                Ok(value) => Ok(Some(value)),
                Err(_) => Err(ValidityError::Property {
                    property,
                    size: bytes.len(),
                }),
            },
        }
    }

    fn key(&self, property: &'static str) -> Result<Option<PublicKey>, ValidityError> {
        let Some(bytes) = find(self.op, property.as_bytes()) else {
            return Ok(None);
        };
        match signing_key(bytes) {
            Some(key) => Ok(Some(key)),
            None => Err(ValidityError::Property {
                property,
                size: bytes.len(),
            }),
        }
    }
}

/// The operation's own rules. Ranges hold for the value whether its name counts yet or not.
pub(super) fn check(op: &WitnessSetProperties<'_>, rules: &Rules<'_>) -> Result<(), ValidityError> {
    rules.since(20)?;
    fields::name("owner", op.owner)?;
    let properties = Values {
        op,
        symbols: rules.spec.symbols,
    };
    properties
        .key("key")?
        .ok_or(ValidityError::Empty { field: "key" })?;
    properties.key("new_signing_key")?;
    if let Some(fee) = properties.get("account_creation_fee", Asset::hive(0))? {
        fields::symbol("account_creation_fee", fee, AssetSymbol::Hive)?;
        fields::range(
            "account_creation_fee",
            fee.amount,
            rules.spec.limits.min_account_creation_fee,
            MOST_CREATION_FEE,
        )?;
    }
    if let Some(size) = properties.get("maximum_block_size", 0u32)? {
        fields::range(
            "maximum_block_size",
            size.into(),
            LEAST_BLOCK_SIZE,
            MOST_BLOCK_SIZE,
        )?;
    }
    let old_or_new = |old: &'static str, new: &'static str| {
        if find(op, old.as_bytes()).is_some() {
            old
        } else {
            new
        }
    };
    if let Some(rate) = properties.get(old_or_new("sbd_interest_rate", "hbd_interest_rate"), 0u16)? {
        fields::range("hbd_interest_rate", rate.into(), 0, FULL_PERCENT)?;
    }
    let empty_price = Price {
        base: Asset::hive(0),
        quote: Asset::hive(0),
    };
    if let Some(rate) = properties.get(old_or_new("sbd_exchange_rate", "hbd_exchange_rate"), empty_price)? {
        fields::symbol("hbd_exchange_rate", rate.base, AssetSymbol::Hbd)?;
        fields::symbol("hbd_exchange_rate", rate.quote, AssetSymbol::Hive)?;
        fields::price("hbd_exchange_rate", rate)?;
    }
    if let Some(url) = properties.get("url", Text::default())? {
        witnesses::url(url.as_bytes())?;
    }
    if let Some(budget) = properties.get("account_subsidy_budget", 0u32)? {
        fields::range(
            "account_subsidy_budget",
            budget.cast_signed().into(),
            SUBSIDY_BUDGET.0,
            SUBSIDY_BUDGET.1,
        )?;
    }
    if let Some(decay) = properties.get("account_subsidy_decay", 0u32)? {
        fields::range(
            "account_subsidy_decay",
            decay.into(),
            SUBSIDY_DECAY.0,
            SUBSIDY_DECAY.1,
        )?;
    }
    Ok(())
}
