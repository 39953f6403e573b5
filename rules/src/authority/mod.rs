//! Whether the keys that signed a transaction satisfy the authorities that its operations require.
//!
//! # The check
//!
//! Inputs: the keys recovered from the signatures, the [`RequiredAuthorities`](crate::required::RequiredAuthorities) of all operations together, the
//! [`RuleSet`] in force, and an [`AuthoritySource`] that knows the accounts. Everything is looked up in the state before
//! the transaction's first operation, so a transaction cannot use an account that it creates.
//!
//! The heart is the *walk* of one authority: keys first, then accounts, each adding its weight, until the sum reaches
//! the threshold. A member account counts when its own authority (posting or active, whichever the phase looks at) can be
//! walked with success one level deeper, at most two levels below the required one. A threshold of 0 succeeds without
//! anything. See `walk.rs` for the order, which matters: a key behind the point of success is never met, and an unmet
//! signature is an error before hardfork 28.
//!
//! | | before hardfork 20 | 20 to 27 | since 28 |
//! |---|---|---|---|
//! | members looked at per authority | no limit | 40 (mirrornet 41) | the same |
//! | accounts visited | no limit | 125 per required authority | 125 for the transaction |
//! | an account's higher authority stands in | yes | yes | no |
//! | posting together with other levels | refused | refused | allowed |
//! | superfluous signatures | refused | refused | allowed |
//!
//! Before 28, posting: each name's posting authority, failing that its active, failing that its owner authority; members
//! are looked up by their *posting* authority all the same. Otherwise: the explicit authorities, each active name
//! (active, failing that owner), each owner name, each witness name; members by *active*.
//!
//! Since 28: posting names by posting only; then the approvals are forgotten, and explicit, active, owner and witness
//! follow, each by its own level only.
//!
//! # Bounds
//!
//! With limits a transaction costs at most 5000 steps per required authority. Without them (before hardfork 20) cost is
//! bounded by authorities that history holds and nobody can add to any more; [`WORK_LIMIT`] stops a made-up chain.
//! One signature and one required name that it satisfies directly cost no allocation.

mod check;
mod keys;
mod outcome;
mod rule_set;
mod source;
mod walk;

pub use check::check;
pub use outcome::{AuthorityFailure, CheckError, Satisfied};
pub use rule_set::RuleSet;
pub use source::{AuthorityRef, AuthoritySource, Level};
pub use walk::WORK_LIMIT;
