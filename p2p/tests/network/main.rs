//! Whole networks over loopback: nodes with each other, and nodes with scripted peers.
//!
//! One binary, because every binary that holds libp2p takes long to build. `P2P_TEST_LOG=1` shows the log lines.

#![allow(
    clippy::unwrap_used,
    missing_docs,
    unreachable_pub,
    reason = "a failed unwrap is a failed test, and nobody imports a test"
)]

mod common;
mod door;
mod headers;
mod hostile_clients;
mod hostile_servers;
mod lifecycle;
mod scripted;
mod transfer;
