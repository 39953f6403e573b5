//! The chains that need no file.

use super::{ChainKind, ChainSpec, HardforkSchedule, Limits};
use crate::asset::Symbols;
use crate::ids::ChainId;
use crate::key::PublicKey;
use crate::time::Time;

/// Names of the built-in chains.
pub const BUILT_IN: [&str; 4] = ["hive", "hive-testnet", "hive-mirrornet", "steem-testnet"];

/// A name that no built-in chain has.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no chain is called {found:?}; built in are {}", BUILT_IN.join(", "))]
pub struct UnknownChain {
    /// The name.
    pub found: String,
}

/// `STM8GC13uCZbP44HzMLV6zPZGwVQ8Nt4Kji8PapsPiNq1BK153XTX`: initminer's on mainnet.
const MAINNET_FIRST_KEY: PublicKey =
    key(b"03bc5cd80588b23948aaa1e65be1a8b32cd9bed062a346c471c9319e62ba82a9ef");

/// `STM6LLegbAgLAy28EHrffBVuANFWcFgmqRMW13wBmTExqFE9SCkg4`: initminer's on test networks, of the seed `init_key`.
const TEST_KEY: PublicKey = key(b"02be643d4c424ac7cf2f3cf51dd048773cbdcee30b111adb30d89c27668c501705");

/// `STM7sw22HqsXbz7D2CmJfmMwt9rimtk518dRzsR1f8Cgw52dQR1pR`: given to robbed accounts by hardfork 9.
const HARDFORK_9_KEY: PublicKey = key(b"0389d28937022880a7f0c7deaa6f46b4d87ce08bd5149335cb39b5a8e9b04981c2");

/// `beeab0de`, then zeros.
const HIVE: ChainId = ChainId(short_id(&[0xbe, 0xea, 0xb0, 0xde]));

/// `42`, then zeros: mirrornet's unless the node is told another.
const MIRRORNET: ChainId = ChainId(short_id(&[0x42]));

/// SHA-256 of the byte 07 and the word `testnet`: the word was hashed with its length in front.
const TESTNET: ChainId = ChainId([
    0x18, 0xdc, 0xf0, 0xa2, 0x85, 0x36, 0x5f, 0xc5, 0x8b, 0x71, 0xf1, 0x8b, 0x3d, 0x3f, 0xec, 0x95, 0x4a,
    0xa0, 0xc1, 0x41, 0xc4, 0x4e, 0x4e, 0x5c, 0xb4, 0xcf, 0x77, 0x7b, 0x9e, 0xab, 0x27, 0x4e,
]);

/// 2016-03-24T16:00:00, five minutes before mainnet's block 1.
const MAINNET_GENESIS: Time = Time(1_458_835_200);

/// 2016-01-01T00:00:00.
const TESTNET_GENESIS: Time = Time(1_451_606_400);

/// Blocks in a part of a split block log, mainnet and mirrornet.
const MAINNET_PART: u32 = 1_000_000;

/// The same on testnet builds.
const TESTNET_PART: u32 = 400;

const fn short_id(start: &[u8]) -> [u8; 32] {
    let mut id = [0; 32];
    let mut index = 0;
    while index < start.len() {
        id[index] = start[index];
        index += 1;
    }
    id
}

/// A key from its hexadecimal digits, lower case, at compile time.
pub(super) const fn key(digits: &[u8; 66]) -> PublicKey {
    const fn value(digit: u8) -> u8 {
        match digit {
            b'0'..=b'9' => digit - b'0',
            b'a'..=b'f' => digit - b'a' + 10,
            _ => panic!("a lower-case hexadecimal digit expected"),
        }
    }
    let mut bytes = [0; 33];
    let mut index = 0;
    while index < bytes.len() {
        bytes[index] = value(digits[2 * index]) << 4 | value(digits[2 * index + 1]);
        index += 1;
    }
    PublicKey(bytes)
}

impl ChainSpec {
    /// A built-in chain.
    ///
    /// # Errors
    ///
    /// [`UnknownChain`] if none has the name.
    pub fn builtin(name: &str) -> Result<Self, UnknownChain> {
        match name {
            "hive" => Ok(Self::hive()),
            "hive-testnet" => Ok(Self::hive_testnet()),
            "hive-mirrornet" => Ok(Self::hive_mirrornet()),
            "steem-testnet" => Ok(Self::steem_testnet()),
            _ => Err(UnknownChain {
                found: name.to_owned(),
            }),
        }
    }

    /// Hive's main network.
    #[must_use]
    pub fn hive() -> Self {
        Self {
            name: "hive".to_owned(),
            kind: ChainKind::Mainnet,
            symbols: Symbols::Mainnet,
            genesis_time: MAINNET_GENESIS,
            first_key: MAINNET_FIRST_KEY,
            init_witnesses: Vec::new(),
            hardfork_9_key: HARDFORK_9_KEY,
            blocks_per_log_part: MAINNET_PART,
            hardforks: HardforkSchedule::mainnet(),
            limits: Limits::mainnet(),
            chain_id: HIVE,
        }
    }

    /// A testnet build of hived without further options.
    #[must_use]
    pub fn hive_testnet() -> Self {
        Self {
            name: "hive-testnet".to_owned(),
            kind: ChainKind::Testnet,
            symbols: Symbols::Testnet,
            genesis_time: TESTNET_GENESIS,
            first_key: TEST_KEY,
            init_witnesses: Vec::new(),
            hardfork_9_key: HARDFORK_9_KEY,
            blocks_per_log_part: TESTNET_PART,
            hardforks: HardforkSchedule::testnet(),
            limits: Limits::testnet(),
            chain_id: TESTNET,
        }
    }

    /// Mainnet's history signed with the test key, which is mirrornet's skeleton key here.
    #[must_use]
    pub fn hive_mirrornet() -> Self {
        Self {
            name: "hive-mirrornet".to_owned(),
            kind: ChainKind::Mirrornet,
            first_key: TEST_KEY,
            hardfork_9_key: TEST_KEY,
            limits: Limits::mirrornet(),
            chain_id: MIRRORNET,
            ..Self::hive()
        }
    }

    /// A testnet build of steemd 0.24.
    #[must_use]
    pub fn steem_testnet() -> Self {
        Self {
            name: "steem-testnet".to_owned(),
            kind: ChainKind::SteemTestnet,
            hardforks: HardforkSchedule::steem_testnet(),
            limits: Limits::steem_testnet(),
            ..Self::hive_testnet()
        }
    }
}
