//! The internal market, conversions, and the price feed.

use cairn_chain::operations::{
    CollateralizedConvert, Convert, FeedPublish, LimitOrderCreate, LimitOrderCreate2, Price,
};
use cairn_chain::{Asset, AssetSymbol};

use super::{Rules, ValidityError, fields};

/// HIVE against HBD in either direction, or HIVE against a user token (which nobody has, so that such an order fails
/// later).
fn pair(field: &'static str, sell: AssetSymbol, receive: AssetSymbol) -> Result<(), ValidityError> {
    use AssetSymbol::{Hbd, Hive, Other};
    match (sell, receive) {
        (Hive, Hbd | Other(_)) | (Hbd | Other(_), Hive) => Ok(()),
        (_, found) => Err(ValidityError::Symbol {
            field,
            expected: "the market of HIVE and HBD",
            found,
        }),
    }
}

pub(super) fn create(op: &LimitOrderCreate) -> Result<(), ValidityError> {
    fields::name("owner", op.owner)?;
    pair(
        "min_to_receive",
        op.amount_to_sell.symbol,
        op.min_to_receive.symbol,
    )?;
    fields::price(
        "min_to_receive",
        Price {
            base: op.amount_to_sell,
            quote: op.min_to_receive,
        },
    )
}

pub(super) fn create2(op: &LimitOrderCreate2) -> Result<(), ValidityError> {
    fields::name("owner", op.owner)?;
    fields::symbol("amount_to_sell", op.amount_to_sell, op.exchange_rate.base.symbol)?;
    fields::price("exchange_rate", op.exchange_rate)?;
    pair(
        "exchange_rate",
        op.amount_to_sell.symbol,
        op.exchange_rate.quote.symbol,
    )?;
    // What the order would bring, rounded down, must be more than nothing.
    if converted(op.amount_to_sell, op.exchange_rate) <= 0 {
        return Err(ValidityError::Price {
            field: "amount_to_sell",
        });
    }
    Ok(())
}

/// An amount of the base, in the quote. The price is a valid one. hived keeps the low 64 bits of what does not fit.
const fn converted(amount: Asset, price: Price) -> i64 {
    let result = amount.amount as i128 * price.quote.amount as i128 / price.base.amount as i128;
    result as i64
}

pub(super) fn feed(op: &FeedPublish, rules: &Rules<'_>) -> Result<(), ValidityError> {
    fields::name("publisher", op.publisher)?;
    let rate = op.exchange_rate;
    match (rate.base.symbol, rate.quote.symbol) {
        (AssetSymbol::Hbd, AssetSymbol::Hive) => {}
        (AssetSymbol::Hive, AssetSymbol::Hbd) if rules.hardfork < 20 => {}
        (found, _) => {
            let expected = if rules.hardfork < 20 {
                "HBD and HIVE"
            } else {
                "HBD per HIVE"
            };
            return Err(ValidityError::Symbol {
                field: "exchange_rate",
                expected,
                found,
            });
        }
    }
    fields::price("exchange_rate", rate)
}

pub(super) fn convert(op: &Convert) -> Result<(), ValidityError> {
    fields::name("owner", op.owner)?;
    fields::symbol("amount", op.amount, AssetSymbol::Hbd)?;
    fields::positive("amount", op.amount)
}

pub(super) fn collateralized_convert(
    op: &CollateralizedConvert,
    rules: &Rules<'_>,
) -> Result<(), ValidityError> {
    rules.since(25)?;
    fields::name("owner", op.owner)?;
    fields::symbol("amount", op.amount, AssetSymbol::Hive)?;
    fields::positive("amount", op.amount)
}
