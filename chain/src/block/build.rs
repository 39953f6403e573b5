//! Making blocks.

use crate::asset::{AssetPacking, Symbols};
use crate::extension::HeaderExtension;
use crate::ids::{BlockId, Sha256Digest};
use crate::key::PrivateKey;
use crate::merkle;
use crate::name::AccountName;
use crate::pack::{Pack, Packer};
use crate::time::Time;

/// A block that its witness has not signed yet.
#[derive(Debug, Clone)]
pub struct UnsignedBlock {
    /// Id of the block before; zero for block 1.
    pub previous: BlockId,
    /// When the block is made.
    pub timestamp: Time,
    /// Who makes it.
    pub witness: AccountName,
    /// What the witness says about its version and the next hardfork.
    pub extensions: Vec<HeaderExtension>,
    /// Packed transactions in order.
    pub transactions: Vec<Vec<u8>>,
}

impl UnsignedBlock {
    /// The packed block, signed.
    #[must_use]
    pub fn sign(&self, key: &PrivateKey) -> Vec<u8> {
        let leaves: Vec<Sha256Digest> = self
            .transactions
            .iter()
            .map(|bytes| Sha256Digest::of(bytes))
            .collect();
        // There are no assets in a header, so that neither choice matters.
        let mut packer = Packer::new(AssetPacking::Legacy, Symbols::Mainnet);
        self.previous.pack(&mut packer);
        self.timestamp.pack(&mut packer);
        self.witness.pack(&mut packer);
        merkle::root(&leaves).pack(&mut packer);
        self.extensions.pack(&mut packer);
        let signature = key.sign(&Sha256Digest::of(packer.bytes()));
        signature.pack(&mut packer);
        packer.count(self.transactions.len());
        for bytes in &self.transactions {
            packer.raw(bytes);
        }
        packer.into_bytes()
    }
}
