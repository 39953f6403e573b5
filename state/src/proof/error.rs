//! Why a proof is refused.

use crate::trie::scheme::NodeHash;

/// Why a proof does not show what it is said to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ProofError {
    /// The way leads to another root.
    #[error("the proof leads to root {found}, {expected} was expected")]
    OtherRoot {
        /// The root that is trusted.
        expected: NodeHash,
        /// Where the proof leads.
        found: NodeHash,
    },
    /// A value was to be shown, and the proof ends in nothing or in another register.
    #[error("the proof is one of absence, and a value was given")]
    ShowsAbsence,
    /// Absence was to be shown, and the proof ends in the register itself.
    #[error("the proof is one of a value, and none was given")]
    ShowsPresence,
    /// Absence was to be shown by a leaf that has the register's own path.
    #[error("the proof shows absence by a leaf at the register's own path")]
    ExistsHere,
    /// Absence was to be shown by a leaf that is not on the register's way.
    #[error("the proof ends at depth {depth} in a leaf whose path leaves the register's at depth {shared}")]
    OffTheWay {
        /// Depth of the end.
        depth: usize,
        /// Bits that the two paths share.
        shared: usize,
    },
    /// An empty value was given: no register has one.
    #[error("no register has an empty value")]
    EmptyValue,
    /// There are more siblings than a path has bits.
    #[error("the proof has {found} siblings, at most {most} are possible")]
    TooDeep {
        /// How many.
        found: usize,
        /// How many are possible.
        most: u16,
    },
}

/// Why bytes are no proof. Offsets are in bytes from the start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ProofBytesError {
    /// Fewer bytes than there have to be.
    #[error(
        "the proof ends too soon: {expected} bytes for the {field} were expected at offset {offset}, {found} are there"
    )]
    Short {
        /// What should stand there.
        field: &'static str,
        /// Where.
        offset: usize,
        /// Its bytes.
        expected: usize,
        /// Bytes that are there.
        found: usize,
    },
    /// Bytes behind the end.
    #[error("{found} bytes follow the end of the proof at offset {offset}")]
    Long {
        /// Where it ends.
        offset: usize,
        /// How many follow.
        found: usize,
    },
    /// A number that is not possible there.
    #[error("the {field} at offset {offset} is {found}, at most {most} is possible")]
    Field {
        /// What stands there.
        field: &'static str,
        /// Where.
        offset: usize,
        /// The number found.
        found: u64,
        /// The largest possible.
        most: u64,
    },
    /// The bytes do not begin as those of a register proof.
    #[error("the bytes do not begin with `cairn-pf`: this is no register proof")]
    Magic,
    /// A version that this program does not know.
    #[error("the proof has format version {found} at offset {offset}, this program knows 1")]
    Version {
        /// Where it stands.
        offset: usize,
        /// The version found.
        found: u8,
    },
    /// Something that has a shorter spelling.
    #[error("the {field} at offset {offset} is not spelled as it must be")]
    Spelling {
        /// What stands there.
        field: &'static str,
        /// Where.
        offset: usize,
    },
    /// A register with an empty value, which none has.
    #[error("the value at offset {offset} is empty, which no register's is")]
    EmptyValue {
        /// Where its length stands.
        offset: usize,
    },
}
