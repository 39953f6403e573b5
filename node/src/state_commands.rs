//! `cairn state ...`: looking into the state of a node. Nothing here writes.

pub mod get;
pub mod identity;
pub mod info;
