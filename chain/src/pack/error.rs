//! Why bytes could not be read.

/// Bytes that are not what the format demands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("at byte {offset}: {kind}")]
pub struct UnpackError {
    /// Where reading stopped, counted from the start of the bytes given to the reader.
    pub offset: usize,
    /// What was wrong there.
    pub kind: UnpackErrorKind,
}

/// What was wrong with the bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum UnpackErrorKind {
    /// The bytes end inside a value.
    #[error("{needed} more bytes expected, {remaining} left")]
    UnexpectedEnd {
        /// Bytes that the value takes from here on.
        needed: usize,
        /// Bytes that are left.
        remaining: usize,
    },
    /// A list announces more elements than the bytes behind it can hold.
    #[error("a list of {count} elements of at least {element_size} bytes announced, {remaining} bytes left")]
    CountTooLarge {
        /// Announced number of elements.
        count: u32,
        /// Least size of one element.
        element_size: usize,
        /// Bytes that are left.
        remaining: usize,
    },
    /// Bytes follow the last field.
    #[error("nothing more expected, {count} bytes left")]
    TrailingBytes {
        /// How many.
        count: usize,
    },
    /// More bytes than a block may have.
    #[error("{size} bytes, at most {limit} allowed")]
    TooLarge {
        /// Bytes given.
        size: usize,
        /// Most bytes that are accepted.
        limit: usize,
    },
    /// A boolean that is neither 0 nor 1.
    #[error("boolean 0 or 1 expected, {found} found")]
    InvalidBool {
        /// The byte.
        found: u8,
    },
    /// A variant's index is outside its list of alternatives.
    #[error("index of {variant} below {alternatives} expected, {found} found")]
    UnknownAlternative {
        /// Name of the variant type.
        variant: &'static str,
        /// How many alternatives it has.
        alternatives: u32,
        /// The index.
        found: u32,
    },
    /// An asset symbol that this network does not know.
    #[error("asset symbol expected, bytes {} found", hex::encode(found))]
    UnknownSymbol {
        /// The eight bytes at the symbol's place; zero where the input ended.
        found: [u8; 8],
    },
}
