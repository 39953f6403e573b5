//! Trees of forks, delivered in any order: every node ends on the longest branch, with the state of a node that only ever
//! saw that branch, and with nothing else in its block log.

#![allow(
    clippy::unwrap_used,
    missing_docs,
    reason = "a test that cannot go on shall stop"
)]

mod broken;
mod deep;
mod trees;
mod world;
