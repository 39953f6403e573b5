//! A fresh node bootstraps from a seed over loopback: two processes, a generated chain.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod kills;
mod seeds;
mod sync;
mod world;
