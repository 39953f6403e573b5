//! Which rule an operation breaks.

use cairn_chain::{AccountName, AssetSymbol};

/// A rule that an operation breaks by itself. `field` is the field's name in the protocol.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ValidityError {
    /// The operation came with a later hardfork.
    #[error("not valid before hardfork {since}; {hardfork} is in force")]
    NotYet {
        /// First hardfork that knows it.
        since: u8,
        /// The one in force.
        hardfork: u8,
    },
    /// The operation went with an earlier hardfork.
    #[error("not valid since hardfork {until}; {hardfork} is in force")]
    NoLonger {
        /// First hardfork that refuses it.
        until: u8,
        /// The one in force.
        hardfork: u8,
    },
    /// The operation has never been in use, or stands in no block.
    #[error("this operation is never valid in a block")]
    NeverValid,
    /// Not the form of an account name.
    #[error("{field}: {name:?} is no account name (3 to 16 characters; dot-separated labels of at least 3)")]
    Name {
        /// Where.
        field: &'static str,
        /// What stands there.
        name: AccountName,
    },
    /// A text or list that must not be empty.
    #[error("{field} is empty")]
    Empty {
        /// Where.
        field: &'static str,
    },
    /// A text or list that is too long.
    #[error("{field}: at most {limit} expected, {found} found")]
    TooLong {
        /// Where.
        field: &'static str,
        /// Bytes or elements allowed.
        limit: usize,
        /// Bytes or elements there.
        found: usize,
    },
    /// Not UTF-8.
    #[error("{field}: UTF-8 expected, broken at byte {offset}")]
    NotUtf8 {
        /// Where.
        field: &'static str,
        /// First byte that is wrong.
        offset: usize,
    },
    /// Not JSON, not even to the lax parser that history needs.
    #[error("{field}: JSON expected")]
    NotJson {
        /// Where.
        field: &'static str,
    },
    /// An asset of the wrong kind.
    #[error("{field}: {expected} expected, {found:?} found")]
    Symbol {
        /// Where.
        field: &'static str,
        /// Kinds that would do.
        expected: &'static str,
        /// The kind there.
        found: AssetSymbol,
    },
    /// An account creation fee whose symbol is one of the malformed ones that only history may have.
    #[error("{field}: the fee's symbol is malformed")]
    FeeSymbol {
        /// Where.
        field: &'static str,
    },
    /// A number or amount (in its smallest unit) outside its range.
    #[error("{field}: {least} to {most} expected, {found} found")]
    Range {
        /// Where.
        field: &'static str,
        /// Least allowed.
        least: i64,
        /// Most allowed.
        most: i64,
        /// The number there.
        found: i64,
    },
    /// Several amounts, all zero.
    #[error("at least one of {fields} must be above 0")]
    NothingMoved {
        /// Which.
        fields: &'static str,
    },
    /// A price between an asset and itself, or one that rounds to nothing.
    #[error("{field}: not a price")]
    Price {
        /// Where.
        field: &'static str,
    },
    /// Two fields that must differ and do not, or must be equal and are not.
    #[error("{field}: {rule}")]
    Relation {
        /// Where.
        field: &'static str,
        /// What must hold.
        rule: &'static str,
    },
    /// A member of an authority that is no account name.
    #[error("{field}: member {name:?} is no account name")]
    MemberName {
        /// Where.
        field: &'static str,
        /// What stands there.
        name: AccountName,
    },
    /// Weights that cannot reach the threshold.
    #[error("{field}: the weights sum up to {weights}, the threshold is {threshold}")]
    Impossible {
        /// Where.
        field: &'static str,
        /// Sum of all weights.
        weights: u64,
        /// Threshold.
        threshold: u32,
    },
    /// Threshold 0 where it is not allowed.
    #[error("{field}: threshold above 0 expected")]
    Open {
        /// Where.
        field: &'static str,
    },
    /// A property of `witness_set_properties` that cannot be read.
    #[error("property {property}: {size} bytes that do not hold such a value")]
    Property {
        /// Its name.
        property: &'static str,
        /// Its size.
        size: usize,
    },
    /// A proof of work that does not fit its input.
    #[error("{field}: the work does not belong to this operation")]
    Work {
        /// Where.
        field: &'static str,
    },
}
