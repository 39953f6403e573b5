//! A node among peers that lie, stall and flood: real connections over loopback, the built binary.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod adrift;
mod proven;
mod unproven;
