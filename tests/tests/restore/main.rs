//! Restore points, and parts of a folder that do not fit each other after a crash.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod checkpoint_files;
mod damage;
mod offline;
mod restored;
mod world;
