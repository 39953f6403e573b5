//! Compression of blocks as hived does it.

use std::sync::Arc;

use zstd::zstd_safe::{CCtx, CParameter, FrameFormat, compress_bound, get_error_name};

use super::{Dictionaries, DictionaryError};
use crate::{Compression, MAX_RAW_SIZE, MAX_STORED_SIZE, StoredBlock};

/// zstd's default level, the one that hived's node compresses with.
pub const DEFAULT_LEVEL: i32 = 3;

/// Why a block was not compressed.
#[derive(Debug, thiserror::Error)]
pub enum EncodeError {
    /// The dictionary is missing or unusable.
    #[error(transparent)]
    Dictionary(#[from] DictionaryError),
    /// More raw bytes than a block may have.
    #[error("block has {found} bytes, at most {limit} are allowed")]
    TooLarge {
        /// Bytes of the block.
        found: usize,
        /// Most that is allowed.
        limit: usize,
    },
    /// zstd failed (out of memory).
    #[error("zstd did not compress a block of {raw} bytes: {reason}")]
    Zstd {
        /// Bytes of the block.
        raw: usize,
        /// zstd's own words.
        reason: &'static str,
    },
}

/// Compresses blocks into hived's frames. One per thread.
///
/// The dictionary stays loaded in the context until a block asks for another one.
pub struct BlockEncoder {
    context: CCtx<'static>,
    loaded: Option<u8>,
    dictionaries: Arc<Dictionaries>,
}

impl BlockEncoder {
    /// An encoder at [`DEFAULT_LEVEL`].
    pub fn new(dictionaries: Arc<Dictionaries>) -> Self {
        Self::with_level(dictionaries, DEFAULT_LEVEL)
    }

    /// An encoder at another zstd level; libzstd cuts the level to its own range.
    pub fn with_level(dictionaries: Arc<Dictionaries>, level: i32) -> Self {
        let mut context = CCtx::create();
        for parameter in [
            CParameter::Format(FrameFormat::Magicless),
            CParameter::CompressionLevel(level),
            CParameter::ContentSizeFlag(false),
            CParameter::DictIdFlag(false),
            CParameter::ChecksumFlag(false),
        ] {
            context
                .set_parameter(parameter)
                .expect("libzstd is built in and knows these parameters");
        }
        Self {
            context,
            loaded: None,
            dictionaries,
        }
    }

    /// The stored bytes of a block in the given form.
    ///
    /// # Errors
    /// If the block is over [`MAX_RAW_SIZE`], or the dictionary is not at hand.
    pub fn encode(&mut self, raw: &[u8], compression: Compression) -> Result<Vec<u8>, EncodeError> {
        if raw.len() > MAX_RAW_SIZE {
            return Err(EncodeError::TooLarge {
                found: raw.len(),
                limit: MAX_RAW_SIZE,
            });
        }
        let Compression::Zstd { dictionary } = compression else {
            return Ok(raw.to_vec());
        };
        self.load(dictionary)?;
        let mut frame = Vec::with_capacity(compress_bound(raw.len()));
        self.context
            .compress2(&mut frame, raw)
            .map_err(|code| zstd_error(raw, code))?;
        frame.shrink_to_fit();
        Ok(frame)
    }

    /// A block as hived would store it: zstd, with the dictionary of its height if there are dictionaries,
    /// and also when that makes it longer. Only a frame too long for a log is given up for the raw bytes.
    ///
    /// # Errors
    /// As [`encode`](Self::encode).
    pub fn encode_block(&mut self, number: u32, raw: &[u8]) -> Result<StoredBlock, EncodeError> {
        let dictionary = self.dictionaries.for_block(number);
        let mut compression = Compression::Zstd { dictionary };
        let mut bytes = self.encode(raw, compression)?;
        if bytes.len() > MAX_STORED_SIZE {
            compression = Compression::None;
            bytes = raw.to_vec();
        }
        Ok(StoredBlock {
            number,
            compression,
            bytes,
        })
    }

    fn load(&mut self, dictionary: Option<u8>) -> Result<(), EncodeError> {
        if self.loaded == dictionary {
            return Ok(());
        }
        match dictionary {
            None => self.context.disable_dictionary(),
            Some(number) => {
                let dictionary = self.dictionaries.get(number)?;
                self.context.load_dictionary(dictionary.bytes())
            }
        }
        .map_err(|code| zstd_error(&[], code))?;
        self.loaded = dictionary;
        Ok(())
    }
}

fn zstd_error(raw: &[u8], code: usize) -> EncodeError {
    EncodeError::Zstd {
        raw: raw.len(),
        reason: get_error_name(code),
    }
}

impl std::fmt::Debug for BlockEncoder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BlockEncoder")
            .field("loaded", &self.loaded)
            .field("dictionaries", &self.dictionaries)
            .finish_non_exhaustive()
    }
}
