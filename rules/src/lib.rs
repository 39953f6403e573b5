//! What blocks mean: what each operation requires and does to typed registers, authority checks, block validation.
//!
//! [`IdentityState`] is the way in: it owns the registers of one chain and applies blocks to them, one after the
//! other, in reduced or full validation. What a node without balances can derive from blocks exactly is called the
//! *identity state*: accounts with their authorities, witnesses and their signing keys, votes, proxies, pending
//! recoveries, the existence of comments, and what is needed to check transactions (reference blocks, duplicates).
//!
//! | module | what |
//! |---|---|
//! | [`registers`] | the typed registers: keys, values, byte layouts |
//! | [`authority`], [`required`], [`signatures`] | who must sign, who signed, and whether that does |
//! | [`validate`] | rules that an operation keeps by itself |
//! | [`schedule`] | whose turn it is to make a block |
//! | [`time_queue`] | work that becomes due at a time |
//! | [`identity`] | the canonical text form of the state and its digests |
//! | [`checks`] | what was checked, and what cannot be |
//!
//! # What is trusted
//!
//! Nothing in a block. A block that breaks a rule leaves no trace in the state, and the error says which rule, where,
//! what was expected and what was found.
#![cfg_attr(test, allow(clippy::unwrap_used, reason = "a test fails by panicking"))]

mod accounts_source;
mod apply;
pub mod authority;
pub mod checks;
mod due;
mod duplicates;
mod error;
mod evaluate;
mod finality;
mod genesis;
mod hardforks;
pub mod identity;
mod queues;
pub mod registers;
pub mod required;
mod roster;
mod rounds;
pub mod schedule;
pub mod signatures;
mod state;
#[cfg(test)]
mod tests;
pub mod time_queue;
pub mod validate;

pub use error::{BlockFault, OpenError, OperationFault, RuleError, TransactionFault};
pub use finality::Finality;
pub use state::{AppliedBlock, Head, IdentityState, Validation};
