//! Configuration: hived's `config.ini` and the same options on the command line.
//!
//! One table ([`table::OPTIONS`]) describes every option that has an effect. From it come the config.ini
//! reader, the `--option` arguments of `cairn run` and `cairn replay`, the commented `config.ini.example`
//! and the suggestions for misspelt names. A second list ([`known_hived`]) holds the names that hived
//! has and Cairn does not use, because people share one file between both nodes.
//!
//! The way of a value: [`ini::parse`] (bytes to lines) or the command line -> `gather::gather` (names looked
//! up, scalars given twice, unknown and misspelt names) -> [`Settings::load`] (types, ranges, contradictions).
//! Every stage collects its faults, and all of them are shown at once, each with its file and line.

pub mod endpoint;
pub mod example;
pub mod gather;
pub mod ini;
pub mod known_hived;
pub mod located;
pub mod option;
pub mod p2p_parameters;
pub mod problem;
pub mod settings;
mod suggest;
pub mod table;
pub mod value;

pub use endpoint::{HostPort, ListenEndpoint, SeedNode};
pub use gather::OptionValues;
pub use located::{Located, Origin};
pub use p2p_parameters::P2pParameters;
pub use problem::{ConfigProblem, ConfigProblems, ConfigWarning};
pub use settings::{
    BlockLogSettings, BlockLogSplit, ChainChoice, CommitSettings, P2pSettings, Settings, StatsSettings,
    StopAt,
};
pub use suggest::nearest;
