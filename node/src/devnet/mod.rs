//! A generator of valid chains in Hive's format, with real keys and real signatures.
//!
//! A devnet is a testnet (symbols TESTS and TBD) whose hardforks are all in force from block 1 on, with a
//! chain id of its own. In the first blocks initminer creates witnesses and users; from block 43 on
//! 21 witnesses (or fewer) produce in the order that hived draws where nobody votes, one block each 3 s, apart from
//! slots that are missed on purpose. The chain is a function of its [`ChainShape`]: a longer chain begins with the
//! shorter one, and the number of threads changes nothing.
//!
//! Every block is valid under full validation: signatures by the keys that the chain has registered,
//! reference blocks, expirations, posting intervals, limits on owner updates. Transfers never overdraw what
//! the sender got from initminer's genesis supply.
//!
//! | module | what |
//! |---|---|
//! | [`blocks`](mod@blocks) | the blocks as an iterator, made by many threads |
//! | [`Rule`] | the rules that a block can break, by name |
//! | [`faults`] | what can be wrong with a block on purpose |
//! | [`Tip`], [`Tree`] | the blocks one at a time, with forks |
//! | [`generate`](mod@generate) | writes them as a block log with its chain specification |
//! | `plan` | decides what is in a block; keeps just enough of the chain's state for that |
//! | `write` | turns plans into bytes and signs them |
//! | `sign` | signatures by keys that are no secrets |
//! | `seal` | headers, witness signatures, ids |
//! | `schedule` | who produces which block |

mod accounts;
pub mod blocks;
mod broken;
pub mod faults;
pub mod generate;
mod keys;
mod names;
mod plan;
mod pool;
mod profile;
mod rng;
mod schedule;
mod seal;
mod shape;
mod sign;
mod spec;
mod stored;
mod tip;
mod tree;
mod write;

pub use blocks::{Blocks, BlocksOptions, blocks};
pub use broken::{CannotBreak, Rule, UnknownRule};
pub use faults::{Fault, FaultAt};
pub use generate::{
    BrokenAt, ForkAt, GenerateError, GenerateOptions, Generated, GeneratedFork, Progress, generate,
};
pub use profile::{Profile, UnknownProfile};
pub use seal::RawBlock;
pub use shape::{ChainShape, MAX_MISSED_SLOTS, MAX_WITNESSES, Mix};
pub use spec::MAX_BLOCKS;
pub use tip::{Step, Tip};
pub use tree::Tree;

use cairn_chain::{ChainId, ChainSpec};

/// The chain specification of the devnet with this seed, as JSON that `ChainSpec::from_json` reads.
#[must_use]
pub fn chain_spec_json(seed: u64) -> String {
    ChainShape::new(seed).spec_json()
}

/// The chain id of the devnet with this seed.
#[must_use]
pub fn chain_id(seed: u64) -> ChainId {
    spec::chain_id(seed)
}

/// The chain specification of the devnet with this seed.
#[must_use]
pub fn chain_spec(seed: u64) -> ChainSpec {
    ChainShape::new(seed).spec()
}
