//! Chain specifications: everything on which the networks differ.
//!
//! Four chains are built in ([`BUILT_IN`]); any other is read from JSON ([`ChainSpec::from_json`]), starting from a built-in
//! one. Numbers come from hived's `config.hpp`, `testnet_blockchain_configuration.cpp` and `hardfork.d`, and for Steem's
//! testnet from the same files of Steem 0.24.

mod built_in;
mod file;
mod genesis;
mod hardforks;
mod limits;

pub use built_in::{BUILT_IN, UnknownChain};
pub use file::SpecError;
pub use genesis::{GenesisAccount, GenesisWitness};
pub use hardforks::{HARDFORK_COUNT, HardforkSchedule};
pub use limits::Limits;

use crate::asset::Symbols;
use crate::ids::ChainId;
use crate::key::PublicKey;
use crate::name::AccountName;
use crate::time::Time;
use crate::version::Version;

/// Seconds from one slot to the next, on all networks.
pub const BLOCK_INTERVAL: u32 = 3;

/// Which family of rules a chain follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ChainKind {
    /// Hive's main network, with the history of Steem up to block 41818752.
    Mainnet,
    /// A copy of mainnet's history whose blocks and transactions are signed anew, all with the first key (which is called
    /// the skeleton key there).
    Mirrornet,
    /// A Hive testnet or devnet.
    Testnet,
    /// A testnet of Steem, which Hive forked from.
    SteemTestnet,
}

/// One chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChainSpec {
    /// Name: of a built-in chain, or as the file says.
    pub name: String,
    /// Which family of rules the chain follows.
    pub kind: ChainKind,
    /// Its spelling of legacy asset symbols.
    pub symbols: Symbols,
    /// Time of the state before block 1. The first slot is one block interval later, so that block 1 lies off the grid of
    /// multiples of three seconds if this does.
    pub genesis_time: Time,
    /// Key of initminer and of the witnesses below.
    pub first_key: PublicKey,
    /// Witnesses that exist from genesis beside initminer, with its key.
    pub init_witnesses: Vec<AccountName>,
    /// Key that hardfork 9 gives to the accounts whose keys were stolen.
    pub hardfork_9_key: PublicKey,
    /// Blocks in each file of a split block log.
    pub blocks_per_log_part: u32,
    /// When hardforks take effect.
    pub hardforks: HardforkSchedule,
    /// Periods and limits.
    pub limits: Limits,
    chain_id: ChainId,
}

/// Block time in seconds up to which mainnet's transactions are signed for the chain id of Steem, 32 zero bytes. It is the
/// time of the block at whose end hardfork 24 took effect: 2020-10-14T19:31:24.
const LAST_TIME_OF_STEEM_CHAIN_ID: Time = Time(1_602_703_884);

impl ChainSpec {
    /// The chain's id today: what the network is named by and new transactions are signed for.
    #[must_use]
    pub const fn chain_id(&self) -> ChainId {
        self.chain_id
    }

    /// The chain id that transactions of a block are signed for. It depends on the time of the block that holds them, not
    /// on hardforks; only mainnet ever changed it.
    #[must_use]
    pub fn chain_id_at(&self, block_time: Time) -> ChainId {
        if self.kind == ChainKind::Mainnet && block_time <= LAST_TIME_OF_STEEM_CHAIN_ID {
            ChainId::ZERO
        } else {
            self.chain_id
        }
    }

    /// Whether the chain is Steem's, which kept rules that Hive changed after the fork.
    #[must_use]
    pub const fn is_steem(&self) -> bool {
        matches!(self.kind, ChainKind::SteemTestnet)
    }

    /// Time of a hardfork; none if the chain does not know it.
    #[must_use]
    pub fn hardfork_time(&self, hardfork: u8) -> Option<Time> {
        self.hardforks.time(hardfork)
    }

    /// Block at whose end a hardfork took effect, if that is known for this chain.
    #[must_use]
    pub fn hardfork_block(&self, hardfork: u8) -> Option<u32> {
        self.hardforks.block(hardfork)
    }

    /// The version that a hardfork brings: major 1 from Hive's hardfork 24 on, 0 before and on Steem.
    #[must_use]
    pub const fn hardfork_version(&self, hardfork: u8) -> Version {
        let major = if hardfork >= 24 && !self.is_steem() { 1 } else { 0 };
        Version::new(major, hardfork, 0)
    }
}
