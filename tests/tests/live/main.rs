//! A node at the head of the network: blocks that peers announce, forks, a crash, falling behind. Real connections over
//! loopback, the built binary.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod crash;
mod deep_fork;
mod follow;
mod modes;
mod node;
mod validation;
