//! Rules of single fields, shared by many operations.

use cairn_chain::operations::Price;
use cairn_chain::{AccountName, Asset, AssetSymbol, Text};

use super::{ValidityError, json};

/// 100 % in units of 0.01 %.
pub const FULL_PERCENT: i64 = 10_000;

/// Bytes of a permlink.
pub const PERMLINK_LIMIT: usize = 255;

/// Bytes of a memo.
pub const MEMO_LIMIT: usize = 2_047;

/// Most that an account's creation may cost, in 0.001 HIVE.
pub const MOST_CREATION_FEE: i64 = 1_000_000_000;

/// Whether the permlink of a new comment, or its parent's, has the letters that are demanded since hardfork 1: 1 to 255
/// of a to z, 0 to 9 and hyphen.
#[must_use]
pub fn is_new_permlink(permlink: &[u8]) -> bool {
    let is_letter = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || *byte == b'-';
    (1..=PERMLINK_LIMIT).contains(&permlink.len()) && permlink.iter().all(is_letter)
}

pub(super) fn name(field: &'static str, name: AccountName) -> Result<(), ValidityError> {
    if name.is_valid() {
        Ok(())
    } else {
        Err(ValidityError::Name { field, name })
    }
}

/// A name, or nothing.
pub(super) fn optional_name(field: &'static str, value: AccountName) -> Result<(), ValidityError> {
    if value.is_empty() {
        Ok(())
    } else {
        name(field, value)
    }
}

pub(super) fn not_empty(field: &'static str, size: usize) -> Result<(), ValidityError> {
    if size == 0 {
        Err(ValidityError::Empty { field })
    } else {
        Ok(())
    }
}

pub(super) fn at_most(field: &'static str, found: usize, limit: usize) -> Result<(), ValidityError> {
    if found > limit {
        Err(ValidityError::TooLong { field, limit, found })
    } else {
        Ok(())
    }
}

/// UTF-8 as hived's library checks it, which is UTF-8 as Rust checks it: no surrogates, nothing above U+10FFFF, no
/// overlong forms.
pub(super) fn utf8(field: &'static str, bytes: &[u8]) -> Result<(), ValidityError> {
    match std::str::from_utf8(bytes) {
        Ok(_) => Ok(()),
        Err(error) => Err(ValidityError::NotUtf8 {
            field,
            offset: error.valid_up_to(),
        }),
    }
}

pub(super) fn permlink(field: &'static str, permlink: Text<'_>) -> Result<(), ValidityError> {
    at_most(field, permlink.len(), PERMLINK_LIMIT)?;
    utf8(field, permlink.as_bytes())
}

pub(super) fn memo(memo: Text<'_>) -> Result<(), ValidityError> {
    at_most("memo", memo.len(), MEMO_LIMIT)?;
    utf8("memo", memo.as_bytes())
}

/// JSON, or nothing.
pub(super) fn metadata(field: &'static str, text: Text<'_>) -> Result<(), ValidityError> {
    if text.is_empty() {
        Ok(())
    } else {
        json::check(field, text.as_bytes())
    }
}

pub(super) fn range(field: &'static str, found: i64, least: i64, most: i64) -> Result<(), ValidityError> {
    if (least..=most).contains(&found) {
        return Ok(());
    }
    Err(ValidityError::Range {
        field,
        least,
        most,
        found,
    })
}

pub(super) fn percent(field: &'static str, found: u16) -> Result<(), ValidityError> {
    range(field, found.into(), 0, FULL_PERCENT)
}

pub(super) fn symbol(field: &'static str, asset: Asset, expected: AssetSymbol) -> Result<(), ValidityError> {
    if asset.symbol == expected {
        return Ok(());
    }
    let expected = match expected {
        AssetSymbol::Hbd => "HBD",
        AssetSymbol::Hive => "HIVE",
        AssetSymbol::Vests => "VESTS",
        AssetSymbol::Other(_) => "the other side's asset",
    };
    Err(ValidityError::Symbol {
        field,
        expected,
        found: asset.symbol,
    })
}

/// HIVE or HBD.
pub(super) fn liquid(field: &'static str, asset: Asset) -> Result<(), ValidityError> {
    match asset.symbol {
        AssetSymbol::Hive | AssetSymbol::Hbd => Ok(()),
        found => Err(ValidityError::Symbol {
            field,
            expected: "HIVE or HBD",
            found,
        }),
    }
}

/// Bit of a user token's number that marks its vesting form.
const TOKEN_VESTING_BIT: u32 = 0x20;

/// Anything but vesting shares.
pub(super) fn not_vesting(field: &'static str, asset: Asset) -> Result<(), ValidityError> {
    let is_vesting = match asset.symbol {
        AssetSymbol::Hive | AssetSymbol::Hbd => false,
        AssetSymbol::Vests => true,
        AssetSymbol::Other(number) => number & TOKEN_VESTING_BIT != 0,
    };
    if is_vesting {
        return Err(ValidityError::Symbol {
            field,
            expected: "HIVE or HBD",
            found: asset.symbol,
        });
    }
    Ok(())
}

pub(super) fn positive(field: &'static str, asset: Asset) -> Result<(), ValidityError> {
    range(field, asset.amount, 1, i64::MAX)
}

pub(super) fn not_negative(field: &'static str, asset: Asset) -> Result<(), ValidityError> {
    range(field, asset.amount, 0, i64::MAX)
}

/// A fee for creating an account.
pub(super) fn creation_fee(asset: Asset) -> Result<(), ValidityError> {
    symbol("fee", asset, AssetSymbol::Hive)?;
    range("fee", asset.amount, 0, MOST_CREATION_FEE)
}

/// Both amounts above 0, of two kinds.
pub(super) fn price(field: &'static str, price: Price) -> Result<(), ValidityError> {
    positive(field, price.base)?;
    positive(field, price.quote)?;
    if price.base.symbol == price.quote.symbol {
        return Err(ValidityError::Price { field });
    }
    Ok(())
}
