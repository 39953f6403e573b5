//! Amounts of HIVE, HBD and VESTS, and the two forms in which their symbols are packed.
//!
//! An asset is a signed 64-bit amount in the smallest unit, then a symbol. The symbol has two forms:
//!
//! * legacy, 8 bytes: number of decimals, up to six letters padded with zeros, a zero byte. The letters are those of
//!   the Steem era, `STEEM` and `SBD`, on mainnet and mirrornet, and `TESTS` and `TBD` on testnets;
//! * hf26, 4 bytes: a little-endian number, 100000000, 100000001 or 100000002 shifted left by five bits, plus the
//!   number of decimals.
//!
//! Nothing announces the form. The reader looks at the first four bytes: if they begin a legacy symbol of its network,
//! four more must complete it, and otherwise they are a number. The author of a transaction chose one form for all of
//! it, so that a block can hold both kinds, and a transaction hashes as it was written. [`SymbolCounts`] tells what
//! was met.

mod fee;
mod symbols;

pub use fee::{FeeAsset, FeeSymbol, HISTORICAL_FEE_SYMBOLS, HistoricalFeeSymbol};
pub use symbols::{AssetPacking, Packing, SymbolCounts, Symbols};

use crate::pack::{Pack, Packer, Reader, Unpack, UnpackError, UnpackErrorKind};

/// An amount with its symbol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Asset {
    /// Amount in the smallest unit: 0.001 HIVE, 0.001 HBD or 0.000001 VESTS.
    pub amount: i64,
    /// What it is an amount of.
    pub symbol: AssetSymbol,
}

/// A kind of asset.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AssetSymbol {
    /// The stable coin, three decimals. Legacy spelling `SBD` or `TBD`.
    Hbd,
    /// The coin, three decimals. Legacy spelling `STEEM` or `TESTS`.
    Hive,
    /// Vesting shares, six decimals.
    Vests,
    /// The hf26 number of a user token. hived's reader lets these pass and no operation accepts them. Only built by
    /// the reader from a number that [`AssetSymbol::from_number`] takes.
    Other(u32),
}

impl AssetSymbol {
    /// The hf26 number.
    #[must_use]
    pub const fn number(&self) -> u32 {
        match self {
            Self::Hbd => 3_200_000_003,
            Self::Hive => 3_200_000_035,
            Self::Vests => 3_200_000_070,
            Self::Other(number) => *number,
        }
    }

    /// The symbol with an hf26 number, if hived's reader lets it pass: one of the three, or a number with bit 4 set, at
    /// most 12 decimals (bits 0 to 3) and a data part (the bits from 5 on) of 1 to 99,999,999.
    #[must_use]
    pub const fn from_number(number: u32) -> Option<Self> {
        match number {
            3_200_000_003 => Some(Self::Hbd),
            3_200_000_035 => Some(Self::Hive),
            3_200_000_070 => Some(Self::Vests),
            _ => {
                let data = number >> 5;
                let is_token = number & 0x10 != 0 && number & 0x0f <= 12 && data >= 1 && data <= 99_999_999;
                if is_token { Some(Self::Other(number)) } else { None }
            }
        }
    }

    /// How many of the amount's digits stand behind the decimal point.
    #[must_use]
    pub const fn decimals(&self) -> u8 {
        (self.number() & 0x0f) as u8
    }

    /// The number that stands for the symbol in JSON, behind `@@`: nine digits, the last one a Damm check digit.
    #[must_use]
    pub fn nai(&self) -> u32 {
        let data = match self {
            Self::Hbd => 1,
            Self::Hive => 2,
            Self::Vests => 3,
            Self::Other(number) => number >> 5,
        };
        data * 10 + damm_digit(data)
    }
}

/// Damm's check digit over the decimal digits of a number. Leading zeros change nothing, as the row of 0 maps 0 to 0.
fn damm_digit(number: u32) -> u32 {
    const QUASIGROUP: [[u8; 10]; 10] = [
        [0, 3, 1, 7, 5, 9, 8, 6, 4, 2],
        [7, 0, 9, 2, 1, 5, 4, 8, 6, 3],
        [4, 2, 0, 6, 8, 7, 1, 3, 5, 9],
        [1, 7, 5, 0, 9, 8, 3, 4, 2, 6],
        [6, 1, 2, 3, 0, 4, 5, 9, 7, 8],
        [3, 6, 7, 4, 2, 0, 9, 5, 8, 1],
        [5, 8, 6, 9, 7, 2, 0, 1, 3, 4],
        [8, 9, 4, 5, 3, 6, 2, 0, 1, 7],
        [9, 4, 3, 8, 6, 1, 7, 2, 0, 5],
        [2, 5, 8, 1, 4, 3, 6, 7, 9, 0],
    ];
    let digits = std::iter::successors(Some(100_000_000), |power| (*power > 1).then_some(power / 10));
    digits
        .fold(0u8, |state, power| {
            QUASIGROUP[usize::from(state)][(number / power % 10) as usize]
        })
        .into()
}

impl Asset {
    /// Builds an asset.
    #[must_use]
    pub const fn new(amount: i64, symbol: AssetSymbol) -> Self {
        Self { amount, symbol }
    }

    /// An amount of HIVE in 0.001 HIVE.
    #[must_use]
    pub const fn hive(amount: i64) -> Self {
        Self::new(amount, AssetSymbol::Hive)
    }

    /// An amount of HBD in 0.001 HBD.
    #[must_use]
    pub const fn hbd(amount: i64) -> Self {
        Self::new(amount, AssetSymbol::Hbd)
    }

    /// An amount of VESTS in 0.000001 VESTS.
    #[must_use]
    pub const fn vests(amount: i64) -> Self {
        Self::new(amount, AssetSymbol::Vests)
    }
}

impl<'a> Unpack<'a> for Asset {
    const MIN_SIZE: usize = 8 + 4;

    fn unpack(reader: &mut Reader<'a>) -> Result<Self, UnpackError> {
        Ok(Self {
            amount: i64::unpack(reader)?,
            symbol: AssetSymbol::unpack(reader)?,
        })
    }
}

impl Pack for Asset {
    fn pack(&self, packer: &mut Packer) {
        self.amount.pack(packer);
        self.symbol.pack(packer);
    }
}

impl<'a> Unpack<'a> for AssetSymbol {
    const MIN_SIZE: usize = 4;

    fn unpack(reader: &mut Reader<'a>) -> Result<Self, UnpackError> {
        let start = reader.clone();
        let first: [u8; 4] = reader.array()?;
        for symbol in [Self::Hbd, Self::Hive, Self::Vests] {
            // Each of the three has a legacy spelling.
            let Some(legacy) = symbol.legacy(reader.symbols()) else {
                continue;
            };
            let Some(rest) = legacy.strip_prefix(&first) else {
                continue;
            };
            if reader.array::<4>()? != rest {
                return Err(unknown_symbol(&start));
            }
            let symbols = reader.symbols();
            reader.met_mut().add_legacy(symbol, symbols);
            return Ok(symbol);
        }
        let Some(symbol) = Self::from_number(u32::from_le_bytes(first)) else {
            return Err(unknown_symbol(&start));
        };
        reader.met_mut().add_hf26(symbol);
        Ok(symbol)
    }
}

impl Pack for AssetSymbol {
    fn pack(&self, packer: &mut Packer) {
        match (packer.packing(), self.legacy(packer.symbols())) {
            (AssetPacking::Legacy, Some(legacy)) => packer.raw(&legacy),
            _ => packer.raw(&self.number().to_le_bytes()),
        }
    }
}

impl AssetSymbol {
    /// The eight bytes of the legacy form; user tokens have none.
    pub(crate) const fn legacy(&self, symbols: Symbols) -> Option<[u8; 8]> {
        match (self, symbols) {
            (Self::Hbd, Symbols::Mainnet) => Some(*b"\x03SBD\0\0\0\0"),
            (Self::Hbd, Symbols::Testnet) => Some(*b"\x03TBD\0\0\0\0"),
            (Self::Hive, Symbols::Mainnet) => Some(*b"\x03STEEM\0\0"),
            (Self::Hive, Symbols::Testnet) => Some(*b"\x03TESTS\0\0"),
            (Self::Vests, _) => Some(*b"\x06VESTS\0\0"),
            (Self::Other(_), _) => None,
        }
    }
}

/// The error for the bytes at a reader's position, which are no symbol.
fn unknown_symbol(reader: &Reader<'_>) -> UnpackError {
    let mut rest = reader.clone();
    let mut found = [0; 8];
    if let Ok(bytes) = rest.take(reader.remaining().min(8)) {
        found[..bytes.len()].copy_from_slice(bytes);
    }
    reader.error(UnpackErrorKind::UnknownSymbol { found })
}

#[cfg(test)]
mod tests;
