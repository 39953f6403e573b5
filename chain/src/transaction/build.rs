//! Making transactions.

use super::signature_digest;
use crate::asset::{AssetPacking, Symbols};
use crate::extension::FutureExtension;
use crate::ids::{BlockId, ChainId, Sha256Digest};
use crate::key::{PrivateKey, Signature};
use crate::operations::Operation;
use crate::pack::{Pack, Packer};
use crate::time::Time;

/// A transaction that nobody has signed yet.
#[derive(Debug, Clone)]
pub struct UnsignedTransaction<'a> {
    /// Low 16 bits of the number of a recent block.
    pub ref_block_num: u16,
    /// Bytes 4 to 7 of that block's id, little-endian.
    pub ref_block_prefix: u32,
    /// Until when it may enter a block.
    pub expiration: Time,
    /// What it does, in order.
    pub operations: Vec<Operation<'a>>,
}

impl<'a> UnsignedTransaction<'a> {
    /// A transaction that refers to a recent block.
    #[must_use]
    pub const fn new(reference: &BlockId, expiration: Time, operations: Vec<Operation<'a>>) -> Self {
        Self {
            ref_block_num: reference.number() as u16,
            ref_block_prefix: reference.reference_prefix(),
            expiration,
            operations,
        }
    }

    /// The packed transaction with one signature for each of the keys, in their order.
    #[must_use]
    pub fn sign(
        &self,
        chain: &ChainId,
        keys: &[PrivateKey],
        packing: AssetPacking,
        symbols: Symbols,
    ) -> Vec<u8> {
        let mut packer = Packer::new(packing, symbols);
        self.pack(&mut packer);
        let digest: Sha256Digest = signature_digest(chain, packer.bytes());
        let signatures: Vec<Signature> = keys.iter().map(|key| key.sign(&digest)).collect();
        signatures.pack(&mut packer);
        packer.into_bytes()
    }
}

/// The bytes up to the signatures.
impl Pack for UnsignedTransaction<'_> {
    fn pack(&self, packer: &mut Packer) {
        self.ref_block_num.pack(packer);
        self.ref_block_prefix.pack(packer);
        self.expiration.pack(packer);
        self.operations.pack(packer);
        Vec::<FutureExtension>::new().pack(packer);
    }
}
