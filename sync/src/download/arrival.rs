//! A block that has just come in, with what its header says of itself.

use cairn_block_log::{BlockDecoder, DecodeError, StoredBlock};
use cairn_chain::{BlockId, SignedHeader};
use thiserror::Error;

/// A block as it was received; its id is computed from its bytes.
///
/// The id covers the header alone: that the transactions are the header's is found by the prevalidation (Merkle root).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// The block.
    pub stored: StoredBlock,
    /// Its id.
    pub id: BlockId,
    /// The id of the block before, as its header names it.
    pub previous: BlockId,
}

/// Why a received block's header cannot be read.
#[derive(Debug, Error)]
pub enum ArrivalError {
    /// This node has no dictionary for it: nothing is said about the block.
    #[error(transparent)]
    Unreadable(DecodeError),
    /// It is no block, or another one: the sender's fault. In words.
    #[error("{0}")]
    NoBlock(String),
}

impl Arrival {
    /// Reads the header.
    ///
    /// # Errors
    /// [`ArrivalError`].
    pub fn read(decoder: &mut BlockDecoder, stored: StoredBlock) -> Result<Self, ArrivalError> {
        let no_block = ArrivalError::NoBlock;
        let raw = decoder.view(stored.compression, &stored.bytes).map_err(|error| {
            if error.is_damage() {
                no_block(format!("the stored bytes cannot be unpacked: {error}"))
            } else {
                ArrivalError::Unreadable(error)
            }
        })?;
        let (header, _) = SignedHeader::unpack_prefix(raw)
            .map_err(|error| no_block(format!("the bytes are not a block: {error}")))?;
        if header.number() != stored.number {
            return Err(no_block(format!("it is block {}", header.number())));
        }
        let (id, previous) = (header.id(), header.previous);
        Ok(Self { stored, id, previous })
    }

    /// Its number.
    pub fn number(&self) -> u32 {
        self.stored.number
    }

    /// Bytes that it takes in the window.
    pub fn stored_len(&self) -> u64 {
        self.stored.bytes.len() as u64
    }
}
