//! Peers that lie, stall and flood: what a node must get through.
//!
//! They run in the test's process and speak the real protocol over loopback. Most are an ordinary network over a
//! [`Stock`] of blocks that is not what it should be; those that break the protocol itself are made of [raw](Raw)
//! streams. The node under test is the built binary: a [`Yard`] holds its folder and starts it.

mod grower;
mod keeper;
mod raw;
mod stock;
mod wire;
mod yard;

pub use grower::Grower;
pub use keeper::Keeper;
pub use raw::{Asked, Raw};
pub use stock::{Stock, zip_bomb};
pub use yard::{Peer, Watcher, Yard};
