//! `cairn state ...`: looking into the state of a node, and putting it back. Nothing but `restore` writes.

pub mod check;
mod claims;
pub mod get;
pub mod identity;
pub mod info;
pub mod proof;
pub mod restore;
pub mod root;
