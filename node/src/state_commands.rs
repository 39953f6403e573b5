//! `cairn state ...`: looking into the state of a node, and putting it back. Nothing but `restore` writes.

pub mod get;
pub mod identity;
pub mod info;
pub mod restore;
