//! Which spelling and which form of asset symbols: of a network, of a writer, of a transaction that was read.

use super::AssetSymbol;

/// A network's spelling of the legacy symbols. A network does not know the other one's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Symbols {
    /// `STEEM` and `SBD`: mainnet and mirrornet.
    Mainnet,
    /// `TESTS` and `TBD`: testnets.
    Testnet,
}

/// The form that a writer gives to asset symbols.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AssetPacking {
    /// Eight bytes with letters. What hived writes unless told otherwise.
    Legacy,
    /// Four bytes with a number; known to chains since hardfork 26.
    Hf26,
}

/// The forms of asset symbols met in one transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Packing {
    /// No asset symbol at all: both forms of the transaction are the same bytes.
    None,
    /// Legacy symbols only.
    Legacy,
    /// hf26 symbols only.
    Hf26,
    /// Both. Readable, but packing it again gives other bytes. None is known.
    Mixed,
}

impl Packing {
    /// The form that packs the transaction to the bytes that it was read from. For [`Packing::Mixed`] there is none.
    #[must_use]
    pub const fn for_packing(self) -> Option<AssetPacking> {
        match self {
            Self::None | Self::Legacy => Some(AssetPacking::Legacy),
            Self::Hf26 => Some(AssetPacking::Hf26),
            Self::Mixed => None,
        }
    }
}

/// How many asset symbols of each form were met.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SymbolCounts {
    /// `STEEM` and `SBD`.
    pub legacy_mainnet: u32,
    /// `TESTS` and `TBD`.
    pub legacy_testnet: u32,
    /// `VESTS`, which both networks spell the same.
    pub legacy_vests: u32,
    /// hf26 numbers of HIVE, HBD and VESTS.
    pub hf26: u32,
    /// hf26 numbers of user tokens.
    pub hf26_other: u32,
    /// The malformed symbols of old account creation fees, which are the same bytes in both forms.
    pub historical_fee: u32,
}

impl SymbolCounts {
    pub(crate) fn add_legacy(&mut self, symbol: AssetSymbol, symbols: Symbols) {
        match (symbol, symbols) {
            (AssetSymbol::Vests, _) => self.legacy_vests += 1,
            (_, Symbols::Mainnet) => self.legacy_mainnet += 1,
            (_, Symbols::Testnet) => self.legacy_testnet += 1,
        }
    }

    pub(crate) fn add_hf26(&mut self, symbol: AssetSymbol) {
        match symbol {
            AssetSymbol::Other(_) => self.hf26_other += 1,
            _ => self.hf26 += 1,
        }
    }

    /// The forms met, in one word.
    #[must_use]
    pub const fn packing(&self) -> Packing {
        let legacy = self.legacy_mainnet + self.legacy_testnet + self.legacy_vests > 0;
        // A user token has no legacy form, so that it says nothing about what the others would be.
        match (legacy, self.hf26 > 0) {
            (false, false) => Packing::None,
            (true, false) => Packing::Legacy,
            (false, true) => Packing::Hf26,
            (true, true) => Packing::Mixed,
        }
    }
}
