//! Block headers.

use crate::asset::Symbols;
use crate::extension::HeaderExtension;
use crate::hash;
use crate::ids::{BlockId, MerkleRoot, Sha256Digest};
use crate::key::Signature;
use crate::name::AccountName;
use crate::pack::{Pack, Packer, Reader, Unpack, UnpackError};
use crate::structure::packed_struct;
use crate::time::Time;
use crate::version::Version;

packed_struct! {
    /// A witness's vote for a hardfork.
    #[derive(Copy)]
    pub struct HardforkVote {
        /// Version that the hardfork brings; its release part is 0.
        hf_version: Version,
        /// When it shall take effect.
        hf_time: Time,
    }
}

/// A header with its witness's signature, and the bytes that both were read from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignedHeader<'a> {
    /// Id of the block before; zero for block 1.
    pub previous: BlockId,
    /// When the block was made.
    pub timestamp: Time,
    /// Who made it.
    pub witness: AccountName,
    /// Root over the transactions.
    pub transaction_merkle_root: MerkleRoot,
    /// What the witness says about its version and the next hardfork.
    pub extensions: Vec<HeaderExtension>,
    /// Signature of [`Self::witness_digest`].
    pub witness_signature: Signature,
    bytes: &'a [u8],
}

impl<'a> SignedHeader<'a> {
    /// Reads the header at the start of a block's bytes and looks at nothing behind it. Returns the header's length too.
    ///
    /// # Errors
    ///
    /// [`UnpackError`] if the bytes do not start with a header.
    pub fn unpack_prefix(bytes: &'a [u8]) -> Result<(Self, usize), UnpackError> {
        // There are no assets in a header.
        let mut reader = Reader::new(bytes, Symbols::Mainnet);
        let header = Self::unpack(&mut reader)?;
        Ok((header, reader.position()))
    }

    /// All bytes, signature included.
    #[must_use]
    pub const fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// The bytes without the signature.
    #[must_use]
    pub fn unsigned_bytes(&self) -> &'a [u8] {
        &self.bytes[..self.bytes.len() - Signature::MIN_SIZE]
    }

    /// The block's number: one more than that of the block before. Numbers are not stored; if the block before claims
    /// the greatest one, this is 0.
    #[must_use]
    pub const fn number(&self) -> u32 {
        self.previous.number().wrapping_add(1)
    }

    /// The block's id: SHA-224 over the bytes, signature included, cut to 20 bytes, the first four replaced by the number.
    #[must_use]
    pub fn id(&self) -> BlockId {
        let hash = hash::sha224(self.bytes);
        let mut id = [0; 20];
        id.copy_from_slice(&hash[..20]);
        id[..4].copy_from_slice(&self.number().to_be_bytes());
        BlockId(id)
    }

    /// What the witness signs: SHA-256 of the bytes without the signature. There is no chain id in it.
    #[must_use]
    pub fn witness_digest(&self) -> Sha256Digest {
        Sha256Digest::of(self.unsigned_bytes())
    }
}

impl<'a> Unpack<'a> for SignedHeader<'a> {
    // Id, time, empty name, root, no extensions, signature.
    const MIN_SIZE: usize = 20 + 4 + 1 + 20 + 1 + 65;

    fn unpack(reader: &mut Reader<'a>) -> Result<Self, UnpackError> {
        let start = reader.position();
        Ok(Self {
            previous: Unpack::unpack(reader)?,
            timestamp: Unpack::unpack(reader)?,
            witness: Unpack::unpack(reader)?,
            transaction_merkle_root: Unpack::unpack(reader)?,
            extensions: Unpack::unpack(reader)?,
            witness_signature: Unpack::unpack(reader)?,
            bytes: reader.since(start),
        })
    }
}

/// Packs the fields again; the kept bytes play no part.
impl Pack for SignedHeader<'_> {
    fn pack(&self, packer: &mut Packer) {
        self.previous.pack(packer);
        self.timestamp.pack(packer);
        self.witness.pack(packer);
        self.transaction_merkle_root.pack(packer);
        self.extensions.pack(packer);
        self.witness_signature.pack(packer);
    }
}
