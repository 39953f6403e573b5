//! Transactions, and the hashes that are taken over their bytes.

mod build;

pub use build::UnsignedTransaction;

use crate::asset::{Packing, SymbolCounts, Symbols};
use crate::extension::FutureExtension;
use crate::hash;
use crate::ids::{ChainId, Sha256Digest, TransactionId};
use crate::key::Signature;
use crate::operations::Operation;
use crate::pack::{Pack, Packer, Reader, Unpack, UnpackError};
use crate::time::Time;

/// A transaction that was read, with the bytes that it was read from.
///
/// Hashes run over those bytes. They are computed anew at each call: a block below the last checkpoint needs nothing but
/// the Merkle digest, and the others are needed once at most.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transaction<'a> {
    /// Low 16 bits of the number of a recent block.
    pub ref_block_num: u16,
    /// Bytes 4 to 7 of that block's id, little-endian.
    pub ref_block_prefix: u32,
    /// Until when it may enter a block.
    pub expiration: Time,
    /// What it does, in order.
    pub operations: Vec<Operation<'a>>,
    /// Reserved; normally empty.
    pub extensions: Vec<FutureExtension>,
    /// Signatures, possibly none.
    pub signatures: Vec<Signature>,
    bytes: &'a [u8],
    unsigned_size: usize,
    symbols_met: SymbolCounts,
    is_exact: bool,
}

impl<'a> Transaction<'a> {
    /// Reads a transaction that takes up all of the bytes.
    ///
    /// # Errors
    ///
    /// [`UnpackError`] if the bytes are no transaction, or more than one.
    pub fn unpack_exact(bytes: &'a [u8], symbols: Symbols) -> Result<Self, UnpackError> {
        let mut reader = Reader::new(bytes, symbols);
        let transaction = Self::unpack(&mut reader)?;
        reader.finish()?;
        Ok(transaction)
    }

    /// All bytes, signatures included.
    #[must_use]
    pub const fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// The bytes up to the signatures: what the id and the signatures are about.
    #[must_use]
    pub fn unsigned_bytes(&self) -> &'a [u8] {
        &self.bytes[..self.unsigned_size]
    }

    /// SHA-256 of the bytes without the signatures.
    #[must_use]
    pub fn digest(&self) -> Sha256Digest {
        Sha256Digest::of(self.unsigned_bytes())
    }

    /// The id: the first 20 bytes of [`Self::digest`].
    #[must_use]
    pub fn id(&self) -> TransactionId {
        TransactionId::of(&self.digest())
    }

    /// SHA-256 of all bytes: the transaction's leaf of the Merkle tree.
    #[must_use]
    pub fn merkle_digest(&self) -> Sha256Digest {
        Sha256Digest::of(self.bytes)
    }

    /// What signatures sign on a chain: SHA-256 of the chain id followed by the bytes without the signatures.
    #[must_use]
    pub fn signature_digest(&self, chain: &ChainId) -> Sha256Digest {
        signature_digest(chain, self.unsigned_bytes())
    }

    /// Which forms of asset symbols stand in the transaction.
    #[must_use]
    pub const fn packing(&self) -> Packing {
        self.symbols_met.packing()
    }

    /// Whether packing the transaction again gives the bytes that it was read from: no name was cut, no varint longer
    /// than it must be, no mix of forms ([`crate::pack`]). hived's own writer makes no others.
    ///
    /// It matters on Steem, whose node hashes what it packs again: there the signatures of another transaction are not
    /// about these bytes.
    #[must_use]
    pub fn packs_to_same_bytes(&self) -> bool {
        self.is_exact && self.packing() != Packing::Mixed
    }

    /// How many asset symbols of each form stand in the transaction.
    #[must_use]
    pub const fn symbols_met(&self) -> &SymbolCounts {
        &self.symbols_met
    }
}

impl TransactionId {
    /// The id that belongs to a transaction's digest.
    #[must_use]
    pub const fn of(digest: &Sha256Digest) -> Self {
        let mut id = [0; 20];
        let mut index = 0;
        while index < id.len() {
            id[index] = digest.0[index];
            index += 1;
        }
        Self(id)
    }
}

fn signature_digest(chain: &ChainId, unsigned: &[u8]) -> Sha256Digest {
    Sha256Digest(hash::sha256(&[&chain.0, unsigned]))
}

impl<'a> Unpack<'a> for Transaction<'a> {
    // Two numbers, a time, and three counts.
    const MIN_SIZE: usize = 2 + 4 + 4 + 1 + 1 + 1;

    fn unpack(reader: &mut Reader<'a>) -> Result<Self, UnpackError> {
        let start = reader.position();
        reader.take_symbol_counts();
        reader.take_exact();
        let ref_block_num = Unpack::unpack(reader)?;
        let ref_block_prefix = Unpack::unpack(reader)?;
        let expiration = Unpack::unpack(reader)?;
        let operations = Unpack::unpack(reader)?;
        let extensions = Unpack::unpack(reader)?;
        let unsigned_size = reader.position() - start;
        let signatures = Unpack::unpack(reader)?;
        Ok(Self {
            ref_block_num,
            ref_block_prefix,
            expiration,
            operations,
            extensions,
            signatures,
            bytes: reader.since(start),
            unsigned_size,
            symbols_met: reader.take_symbol_counts(),
            is_exact: reader.take_exact(),
        })
    }
}

/// Packs the fields again. The kept bytes play no part, so that comparing both tests reader and writer.
impl Pack for Transaction<'_> {
    fn pack(&self, packer: &mut Packer) {
        self.ref_block_num.pack(packer);
        self.ref_block_prefix.pack(packer);
        self.expiration.pack(packer);
        self.operations.pack(packer);
        self.extensions.pack(packer);
        self.signatures.pack(packer);
    }
}
