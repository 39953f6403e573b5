//! Kinds of operations, without their content: for counting, and for tables that must have an entry for each.

use std::fmt;

use super::for_each_operation;

/// An index that no operation in a block has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("operation index below {} expected, {found} found", OperationKind::ALL.len())]
pub struct UnknownOperation {
    /// The index.
    pub found: u8,
}

macro_rules! define_kind {
    ($($index:literal $name:ident($type:ty) = $json:literal,)*) => {
        /// The kind of an operation; its number is the index by which it is packed.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        pub enum OperationKind {
            $(#[doc = concat!("`", $json, "`")] $name = $index,)*
        }

        impl OperationKind {
            /// All kinds, in order of their indices.
            pub const ALL: [Self; [$($index),*].len()] = [$(Self::$name),*];

            /// Name in JSON, such as `vote_operation`.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$name => $json,)*
                }
            }
        }
    };
}

for_each_operation!(define_kind);

impl OperationKind {
    /// Index by which operations of this kind are packed.
    #[must_use]
    pub const fn index(self) -> u8 {
        self as u8
    }
}

impl TryFrom<u8> for OperationKind {
    type Error = UnknownOperation;

    fn try_from(index: u8) -> Result<Self, Self::Error> {
        Self::ALL
            .get(usize::from(index))
            .copied()
            .ok_or(UnknownOperation { found: index })
    }
}

impl fmt::Display for OperationKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
