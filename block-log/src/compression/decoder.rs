//! Decompression of stored blocks.

use std::sync::Arc;

use zstd::zstd_safe::{DCtx, DParameter, FrameFormat, get_error_name};

use super::{Dictionaries, DictionaryError, frame_len};
use crate::{Compression, MAX_RAW_SIZE, MAX_STORED_SIZE, StoredBlock};

/// Why stored bytes do not give a block's raw bytes.
#[derive(Debug, thiserror::Error)]
pub enum DecodeError {
    /// The dictionary is missing or unusable. Says nothing about the block.
    #[error(transparent)]
    Dictionary(#[from] DictionaryError),
    /// More stored bytes than a block may have.
    #[error("stored block has {found} bytes, at most {limit} are allowed")]
    StoredTooLarge {
        /// Stored bytes.
        found: usize,
        /// Most that is allowed.
        limit: usize,
    },
    /// The bytes are not exactly one zstd frame.
    #[error("{found} stored bytes are not one zstd frame ({})", frame_words(.frame))]
    NotOneFrame {
        /// Stored bytes.
        found: usize,
        /// Length of the frame at their start, if there is one.
        frame: Option<usize>,
    },
    /// The frame is damaged, or unpacks to more than [`MAX_RAW_SIZE`] bytes.
    #[error("zstd frame of {stored} bytes does not unpack within {limit} bytes: {reason}")]
    Frame {
        /// Length of the frame.
        stored: usize,
        /// Most bytes that a block may have.
        limit: usize,
        /// zstd's own words.
        reason: &'static str,
    },
}

impl DecodeError {
    /// Whether the bytes are at fault (and not this machine's set of dictionaries).
    pub fn is_damage(&self) -> bool {
        !matches!(self, Self::Dictionary(_))
    }
}

fn frame_words(frame: &Option<usize>) -> String {
    match frame {
        Some(len) => format!("the frame ends after {len}"),
        None => "no frame ends within them".to_owned(),
    }
}

/// Unpacks stored blocks. One per thread; its context and output buffer are used again for each block.
///
/// Output is bounded before any byte is written: the buffer has room for [`MAX_RAW_SIZE`] bytes and never
/// grows, whatever a frame claims. Only the part of it that blocks really fill is ever touched.
pub struct BlockDecoder {
    context: DCtx<'static>,
    output: Vec<u8>,
    dictionaries: Arc<Dictionaries>,
}

impl BlockDecoder {
    /// A decoder that takes its dictionaries from `dictionaries`.
    pub fn new(dictionaries: Arc<Dictionaries>) -> Self {
        let mut context = DCtx::create();
        context
            .set_parameter(DParameter::Format(FrameFormat::Magicless))
            .expect("libzstd is built in with its experimental part, which has this format");
        Self {
            context,
            output: Vec::new(),
            dictionaries,
        }
    }

    /// The raw bytes of a stored block, in a vector of their exact size.
    ///
    /// # Errors
    /// If the dictionary is not at hand, or the bytes are not one frame of at most [`MAX_RAW_SIZE`] bytes.
    pub fn decode(&mut self, block: &StoredBlock) -> Result<Vec<u8>, DecodeError> {
        self.decode_bytes(block.compression, &block.bytes)
    }

    /// As [`decode`](Self::decode), but a block that is stored as is is handed on without a copy.
    ///
    /// # Errors
    /// As [`decode`](Self::decode).
    pub fn decode_owned(&mut self, block: StoredBlock) -> Result<Vec<u8>, DecodeError> {
        match block.compression {
            Compression::None => {
                check_stored_len(&block.bytes)?;
                Ok(block.bytes)
            }
            Compression::Zstd { .. } => self.decode(&block),
        }
    }

    /// As [`decode`](Self::decode), for bytes that are not in a [`StoredBlock`].
    ///
    /// # Errors
    /// As [`decode`](Self::decode).
    pub fn decode_bytes(&mut self, compression: Compression, bytes: &[u8]) -> Result<Vec<u8>, DecodeError> {
        Ok(self.view(compression, bytes)?.to_vec())
    }

    /// The raw bytes, borrowed from `bytes` or from the decoder's own buffer: for callers that only look.
    ///
    /// # Errors
    /// As [`decode`](Self::decode).
    pub fn view<'a>(
        &'a mut self,
        compression: Compression,
        bytes: &'a [u8],
    ) -> Result<&'a [u8], DecodeError> {
        check_stored_len(bytes)?;
        let Compression::Zstd { dictionary } = compression else {
            return Ok(bytes);
        };
        let frame = frame_len(bytes);
        if frame != Some(bytes.len()) {
            return Err(DecodeError::NotOneFrame {
                found: bytes.len(),
                frame,
            });
        }
        self.output.clear();
        // One byte more than allowed, so that a result of exactly the limit is told from a larger one
        // whatever the allocator rounds up to.
        self.output.reserve_exact(MAX_RAW_SIZE + 1);
        let result = match dictionary {
            None => self.context.decompress(&mut self.output, bytes),
            Some(number) => {
                let dictionary = self.dictionaries.get(number)?;
                self.context
                    .decompress_using_ddict(&mut self.output, bytes, dictionary.digested())
            }
        };
        match result {
            Ok(_) if self.output.len() <= MAX_RAW_SIZE => Ok(&self.output),
            Ok(_) => Err(frame_error(bytes, "Destination buffer is too small")),
            Err(code) => Err(frame_error(bytes, get_error_name(code))),
        }
    }
}

fn check_stored_len(bytes: &[u8]) -> Result<(), DecodeError> {
    if bytes.len() > MAX_STORED_SIZE {
        return Err(DecodeError::StoredTooLarge {
            found: bytes.len(),
            limit: MAX_STORED_SIZE,
        });
    }
    Ok(())
}

fn frame_error(bytes: &[u8], reason: &'static str) -> DecodeError {
    DecodeError::Frame {
        stored: bytes.len(),
        limit: MAX_RAW_SIZE,
        reason,
    }
}

impl std::fmt::Debug for BlockDecoder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BlockDecoder")
            .field("dictionaries", &self.dictionaries)
            .finish_non_exhaustive()
    }
}
