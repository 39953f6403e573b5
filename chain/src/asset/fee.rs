//! The account creation fee in a witness's properties, whose symbol has rules of its own.
//!
//! Early witnesses published fees with malformed symbols, and five such symbols stand in mainnet blocks. They are kept
//! as they are, in both forms of packing. hived takes each of them for HIVE.

use super::{AssetSymbol, unknown_symbol};
use crate::pack::{Pack, Packer, Reader, Unpack, UnpackError};

/// A fee: an amount in 0.001 HIVE, with the symbol as it was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FeeAsset {
    /// Amount in 0.001 HIVE.
    pub amount: i64,
    /// The symbol behind it.
    pub symbol: FeeSymbol,
}

/// The symbol of a fee.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FeeSymbol {
    /// A proper HIVE symbol.
    Hive,
    /// Entry of [`HISTORICAL_FEE_SYMBOLS`].
    Historical(HistoricalFeeSymbol),
}

/// One of the five malformed symbols.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HistoricalFeeSymbol([u8; 8]);

impl HistoricalFeeSymbol {
    /// The eight bytes.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 8] {
        &self.0
    }
}

/// The malformed symbols that mainnet blocks hold: three with a wrong number of decimals (in blocks 994240 and 1021529;
/// 3695672; 3143833 and 3208405), and two with an amount where the letters should be (in block 4338089; 4626205 and
/// 4632595).
pub const HISTORICAL_FEE_SYMBOLS: [HistoricalFeeSymbol; 5] = [
    HistoricalFeeSymbol(*b"\x01STEEM\0\0"),
    HistoricalFeeSymbol(*b"\x02STEEM\0\0"),
    HistoricalFeeSymbol(*b"\x05STEEM\0\0"),
    HistoricalFeeSymbol(*b"\x030.001\0\0"),
    HistoricalFeeSymbol(*b"\x036.000\0\0"),
];

impl FeeAsset {
    /// A fee with a proper symbol.
    #[must_use]
    pub const fn hive(amount: i64) -> Self {
        Self {
            amount,
            symbol: FeeSymbol::Hive,
        }
    }
}

impl<'a> Unpack<'a> for FeeAsset {
    const MIN_SIZE: usize = 8 + 4;

    fn unpack(reader: &mut Reader<'a>) -> Result<Self, UnpackError> {
        let amount = i64::unpack(reader)?;
        if reader.peek() == Some(&AssetSymbol::Hive.number().to_le_bytes()) {
            reader.take(4)?;
            reader.met_mut().add_hf26(AssetSymbol::Hive);
            return Ok(Self {
                amount,
                symbol: FeeSymbol::Hive,
            });
        }
        let start = reader.clone();
        let found: [u8; 8] = reader.array()?;
        let symbols = reader.symbols();
        if Some(found) == AssetSymbol::Hive.legacy(symbols) {
            reader.met_mut().add_legacy(AssetSymbol::Hive, symbols);
            return Ok(Self {
                amount,
                symbol: FeeSymbol::Hive,
            });
        }
        let Some(historical) = HISTORICAL_FEE_SYMBOLS
            .into_iter()
            .find(|symbol| symbol.0 == found)
        else {
            return Err(unknown_symbol(&start));
        };
        reader.met_mut().historical_fee += 1;
        Ok(Self {
            amount,
            symbol: FeeSymbol::Historical(historical),
        })
    }
}

impl Pack for FeeAsset {
    fn pack(&self, packer: &mut Packer) {
        self.amount.pack(packer);
        match self.symbol {
            FeeSymbol::Hive => AssetSymbol::Hive.pack(packer),
            FeeSymbol::Historical(symbol) => packer.raw(&symbol.0),
        }
    }
}
