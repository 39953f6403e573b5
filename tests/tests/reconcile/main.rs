//! What a node has in its folder, each part of it missing, torn, older or newer than the others: the first start brings
//! them together, says so, and syncs on to the right state; the second one finds nothing to do.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod headers;
mod lost_log;
mod table;
mod world;
