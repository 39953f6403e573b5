//! hived's compression of single blocks.
//!
//! A compressed block is one zstd frame in "magicless" form: no magic number, no content size, no dictionary
//! number and no checksum. libzstd reads and writes that form itself when told so by a context parameter, so
//! nothing is copied to put a magic number in front.

mod decoder;
mod dictionaries;
mod encoder;
mod frame;

pub use decoder::{BlockDecoder, DecodeError};
pub use dictionaries::{Dictionaries, Dictionary, DictionaryError};
pub use encoder::{BlockEncoder, DEFAULT_LEVEL, EncodeError};
pub(crate) use frame::frame_len;
