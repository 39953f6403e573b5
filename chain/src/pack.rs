//! Hive's packing: how values lie in block bytes.
//!
//! Integers are little-endian and fixed in width; lengths and variant indices are varints; a structure is its
//! fields one after the other with nothing between. There is no type information in the bytes, so reading is driven
//! by the Rust types: [`Unpack`] for each of them, out of a [`Reader`] that borrows from the input, and [`Pack`] the
//! other way, into a [`Packer`].
//!
//! # Limits
//!
//! The types do not contain themselves, so the nesting of the input is bounded by the nesting of the types, and no
//! depth counter is needed. Before a list is read, its announced count is compared with the bytes that remain
//! (`count * MIN_SIZE` of the element), and no more than 64 KiB are reserved on the strength of a count: memory grows
//! with elements that are really there.
//!
//! # Packing again
//!
//! A value that was read packs to the same bytes, with these exceptions, none of which hived's own writer produces:
//! a varint that is longer than it must be (the reader takes it, the writer writes the shortest form), a name that is
//! longer than its field or holds a zero byte ([`crate::FixedText`]), and a transaction that mixes the two forms of
//! asset symbols ([`crate::Packing::Mixed`]). Nothing depends on it, since ids, digests and Merkle leaves are taken
//! over the bytes as they were read and never over packed values.

mod collections;
mod error;
mod packer;
mod primitives;
mod reader;

pub use error::{UnpackError, UnpackErrorKind};
pub use packer::Packer;
pub use reader::Reader;

/// A value that can be read out of packed bytes.
pub trait Unpack<'a>: Sized {
    /// The least number of bytes that a value of this type takes. List counts are checked against it.
    const MIN_SIZE: usize;

    /// Reads one value and leaves the reader behind it.
    ///
    /// # Errors
    ///
    /// [`UnpackError`] names the offset at which the bytes stopped making sense.
    fn unpack(reader: &mut Reader<'a>) -> Result<Self, UnpackError>;
}

/// A value that can be written as packed bytes.
pub trait Pack {
    /// Appends the packed value.
    fn pack(&self, packer: &mut Packer);
}

#[cfg(test)]
mod tests;
