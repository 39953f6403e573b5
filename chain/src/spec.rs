//! Chain specifications: everything on which the networks differ.

use crate::asset::Symbols;

/// Which family of rules a chain follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ChainKind {
    /// Hive's main network.
    Mainnet,
    /// A copy of mainnet's history, signed anew with one key.
    Mirrornet,
    /// A Hive testnet or devnet.
    Testnet,
    /// A testnet of Steem, before Hive.
    SteemTestnet,
}

/// One chain.
#[derive(Debug, Clone)]
pub struct ChainSpec {
    /// Which family of rules the chain follows.
    pub kind: ChainKind,
    /// Its spelling of legacy asset symbols.
    pub symbols: Symbols,
}
