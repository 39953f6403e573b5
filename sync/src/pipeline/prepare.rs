//! What is done with one block before the writer sees it.

use std::sync::Arc;

use cairn_block_log::{
    BlockDecoder, BlockEncoder, Compression, DecodeError, Dictionaries, EncodeError, StoredBlock,
};
use cairn_chain::{ChainSpec, DecodedBlock, MerkleMismatch, UnpackError};
use cairn_rules::signatures::{RecoverError, RecoveredKeys, recover};
use thiserror::Error;

/// Which blocks are validated in full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ValidationPlan {
    /// Blocks up to this number are applied with reduced validation, later ones are validated in full.
    pub reduced_through: u32,
}

impl ValidationPlan {
    /// Every block is validated in full.
    pub const FULL: Self = Self { reduced_through: 0 };
    /// No block is validated in full.
    pub const REDUCED: Self = Self {
        reduced_through: u32::MAX,
    };

    /// Whether the block with this number is validated in full.
    pub fn is_full(self, number: u32) -> bool {
        number > self.reduced_through
    }
}

/// How blocks are written to this node's block log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogForm {
    /// Not at all.
    None,
    /// As they are.
    Plain,
    /// Compressed; a block that comes compressed stays as it came.
    Zstd {
        /// zstd level for the blocks that come as they are.
        level: i32,
    },
}

/// What every worker needs.
#[derive(Clone, Debug)]
pub struct PrepareContext {
    /// The chain.
    pub spec: Arc<ChainSpec>,
    /// Dictionaries for compressed blocks.
    pub dictionaries: Arc<Dictionaries>,
    /// How blocks go to the block log.
    pub log_form: LogForm,
    /// Signatures are recovered for the blocks that are validated in full.
    pub plan: ValidationPlan,
}

/// A block's bytes for the block log.
#[derive(Debug)]
pub enum LogEntry {
    /// It is not written.
    None,
    /// The decoded block's own bytes.
    Plain,
    /// These.
    Stored(StoredBlock),
}

/// A block that is whole in itself: it decodes, its id is computed from its bytes, and its transactions
/// are the ones that its header names.
#[derive(Debug)]
pub struct PreparedBlock {
    /// The block.
    pub block: DecodedBlock,
    /// For the block log.
    pub log_entry: LogEntry,
    /// The keys that made its signatures; only for blocks that are validated in full.
    pub keys: Option<RecoveredKeys>,
    /// Bytes of the block as it was stored or received.
    pub stored_len: usize,
}

/// A block that is not whole in itself.
#[derive(Debug, Error)]
pub enum PrepareError {
    /// The frame cannot be unpacked.
    #[error("the stored bytes cannot be unpacked: {0}")]
    Unpack(#[from] DecodeError),
    /// The bytes are not a block.
    #[error("the bytes are not a block: {0}")]
    Decode(#[from] UnpackError),
    /// It is a block, but another one.
    #[error("found block {found} where block {expected} should be")]
    Number {
        /// The number of the place where it was stored, or for which it was sent.
        expected: u32,
        /// The number that follows from its header.
        found: u32,
    },
    /// The transactions are not the ones of the header.
    #[error(transparent)]
    Merkle(#[from] MerkleMismatch),
    /// A signature is none.
    #[error(transparent)]
    Signature(#[from] RecoverError),
    /// The block cannot be compressed for the log.
    #[error("the block cannot be compressed: {0}")]
    Pack(#[from] EncodeError),
}

/// A worker's own tools; contexts of the compressor are reused from block to block.
pub(super) struct Preparer {
    context: PrepareContext,
    decoder: BlockDecoder,
    encoder: BlockEncoder,
}

impl Preparer {
    pub(super) fn new(context: PrepareContext) -> Self {
        let decoder = BlockDecoder::new(Arc::clone(&context.dictionaries));
        let dictionaries = Arc::clone(&context.dictionaries);
        let encoder = match context.log_form {
            LogForm::Zstd { level } => BlockEncoder::with_level(dictionaries, level),
            LogForm::None | LogForm::Plain => BlockEncoder::new(dictionaries),
        };
        Self {
            context,
            decoder,
            encoder,
        }
    }

    pub(super) fn prepare(&mut self, stored: StoredBlock) -> Result<PreparedBlock, PrepareError> {
        let (expected, stored_len) = (stored.number, stored.bytes.len());
        let (raw, compressed) = match stored.compression {
            Compression::None => (stored.bytes, None),
            Compression::Zstd { .. } => (self.decoder.decode(&stored)?, Some(stored)),
        };
        let block = DecodedBlock::decode(raw, self.context.spec.symbols)?;
        if block.number() != expected {
            return Err(PrepareError::Number {
                expected,
                found: block.number(),
            });
        }
        block.check_merkle_root(&self.context.spec)?;
        let full = self.context.plan.is_full(expected);
        let keys = full.then(|| recover(&block, &self.context.spec)).transpose()?;
        let log_entry = match (self.context.log_form, compressed) {
            (LogForm::None, _) => LogEntry::None,
            (LogForm::Plain, _) => LogEntry::Plain,
            (LogForm::Zstd { .. }, Some(stored)) => LogEntry::Stored(stored),
            (LogForm::Zstd { .. }, None) => {
                LogEntry::Stored(self.encoder.encode_block(expected, block.bytes())?)
            }
        };
        Ok(PreparedBlock {
            block,
            log_entry,
            keys,
            stored_len,
        })
    }
}
