//! Blocks: header, transactions, and what is computed from their bytes.

mod build;
mod decoded;
mod header;

pub use build::UnsignedBlock;
pub use decoded::DecodedBlock;
pub use header::{HardforkVote, SignedHeader};

use crate::asset::Symbols;
use crate::ids::{MerkleRoot, Sha256Digest};
use crate::merkle;
use crate::pack::{Pack, Packer, Reader, Unpack, UnpackError, UnpackErrorKind};
use crate::transaction::Transaction;

/// Size that no block exceeds, in bytes: hived's hard limit, which witnesses can only vote to lower.
pub const MAX_BLOCK_SIZE: usize = 2 * 1024 * 1024;

/// A block that was read, borrowing from its bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block<'a> {
    /// The header with the witness's signature.
    pub header: SignedHeader<'a>,
    /// The transactions in order.
    pub transactions: Vec<Transaction<'a>>,
}

impl<'a> Block<'a> {
    /// Reads a block that takes up all of the bytes.
    ///
    /// # Errors
    ///
    /// [`UnpackError`] if the bytes are no block, go on behind it, or are more than [`MAX_BLOCK_SIZE`].
    pub fn unpack_exact(bytes: &'a [u8], symbols: Symbols) -> Result<Self, UnpackError> {
        if bytes.len() > MAX_BLOCK_SIZE {
            let kind = UnpackErrorKind::TooLarge {
                size: bytes.len(),
                limit: MAX_BLOCK_SIZE,
            };
            return Err(UnpackError {
                offset: MAX_BLOCK_SIZE,
                kind,
            });
        }
        let mut reader = Reader::new(bytes, symbols);
        let block = Self::unpack(&mut reader)?;
        reader.finish()?;
        Ok(block)
    }

    /// The Merkle root over the transactions, computed from their bytes.
    #[must_use]
    pub fn compute_merkle_root(&self) -> MerkleRoot {
        let leaves: Vec<Sha256Digest> = self.transactions.iter().map(Transaction::merkle_digest).collect();
        merkle::root(&leaves)
    }
}

impl<'a> Unpack<'a> for Block<'a> {
    const MIN_SIZE: usize = SignedHeader::MIN_SIZE + 1;

    fn unpack(reader: &mut Reader<'a>) -> Result<Self, UnpackError> {
        Ok(Self {
            header: Unpack::unpack(reader)?,
            transactions: Unpack::unpack(reader)?,
        })
    }
}

impl Pack for Block<'_> {
    fn pack(&self, packer: &mut Packer) {
        self.header.pack(packer);
        self.transactions.pack(packer);
    }
}
