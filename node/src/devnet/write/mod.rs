//! Writes planned transactions: texts, keys, packing, signatures. This is the expensive part of the
//! generator; it needs nothing but the plan, the seed and the id of the reference block, so any thread can do
//! it for any block.

mod authority;
mod operation;
mod text;

use cairn_chain::{AssetPacking, BlockId, ChainId, MerkleRoot, Pack, Packer, Sha256Digest, Symbols, merkle};
use sha2::{Digest, Sha256};

use super::faults::Fault;
use super::keys::{KeySeed, Keys};
use super::plan::{BlockPlan, TransactionPlan};
use super::rng::Rng;
use super::sign;

/// A planned block on its way to the thread that writes it.
#[derive(Debug)]
pub(super) struct Job {
    pub(super) plan: BlockPlan,
    /// Id of the block that the transactions refer to.
    pub(super) reference: BlockId,
    pub(super) fault: Option<Fault>,
}

/// The transactions of a block, packed and signed.
#[derive(Debug)]
pub(super) struct Written {
    pub(super) plan: BlockPlan,
    pub(super) fault: Option<Fault>,
    /// The packed list of transactions, as it ends a block.
    pub(super) transactions: Vec<u8>,
    pub(super) merkle_root: MerkleRoot,
}

/// A list of packed transactions, as it ends a block.
pub(super) fn packed_list(transactions: &[Vec<u8>]) -> Vec<u8> {
    let mut list = Packer::new(AssetPacking::Legacy, Symbols::Testnet);
    list.varint(transactions.len() as u32);
    for bytes in transactions {
        list.raw(bytes);
    }
    list.into_bytes()
}

/// The Merkle root over packed transactions.
pub(super) fn merkle_root(transactions: &[Vec<u8>]) -> MerkleRoot {
    let leaves: Vec<Sha256Digest> = transactions.iter().map(|bytes| Sha256Digest::of(bytes)).collect();
    merkle::root(&leaves)
}

/// Writes blocks' transactions.
#[derive(Debug, Clone, Copy)]
pub(super) struct BodyWriter {
    pub(super) keys: Keys,
    pub(super) chain_id: ChainId,
}

impl BodyWriter {
    /// Writes the transactions of a block.
    pub(super) fn write(self, job: Job) -> Written {
        let Job {
            mut plan,
            reference,
            fault,
        } = job;
        if fault == Some(Fault::Fork) {
            plan.add_smuggled_transaction();
        }
        let foreign = fault == Some(Fault::ForeignTransactionSignature);
        let list = self.transactions(&plan, reference, foreign);
        let merkle_root = merkle_root(&list);
        let transactions = if fault == Some(Fault::AlteredBody) {
            self.altered(&plan, reference)
        } else {
            packed_list(&list)
        };
        Written {
            plan,
            fault,
            transactions,
            merkle_root,
        }
    }

    /// The packed transactions of a block. With `foreign`, a stranger's key signs the first one.
    pub(super) fn transactions(self, plan: &BlockPlan, reference: BlockId, foreign: bool) -> Vec<Vec<u8>> {
        let transactions = plan.transactions.iter().enumerate();
        transactions
            .map(|(position, transaction)| self.transaction(transaction, reference, foreign && position == 0))
            .collect()
    }

    /// The transactions of a block with one more than its Merkle root knows.
    fn altered(self, plan: &BlockPlan, reference: BlockId) -> Vec<u8> {
        let mut plan = plan.clone();
        plan.add_smuggled_transaction();
        self.write(Job {
            plan,
            reference,
            fault: None,
        })
        .transactions
    }

    /// The bytes of one transaction. With `foreign`, a stranger's key signs in place of the first one.
    fn transaction(self, plan: &TransactionPlan, reference: BlockId, foreign: bool) -> Vec<u8> {
        let mut rng = Rng::new(plan.content);
        // Some wallets write the short asset symbols of hardfork 26.
        let packing = if rng.percent(20) {
            AssetPacking::Hf26
        } else {
            AssetPacking::Legacy
        };
        let mut packer = Packer::new(packing, Symbols::Testnet);
        (reference.number() as u16).pack(&mut packer);
        reference.reference_prefix().pack(&mut packer);
        plan.expiration.pack(&mut packer);
        packer.varint(plan.operations.len() as u32);
        let mut writer = operation::Writer {
            keys: self.keys,
            rng,
            packer: &mut packer,
        };
        for operation in &plan.operations {
            writer.write(*operation);
        }
        // No extensions.
        packer.varint(0);
        let digest = Sha256::new()
            .chain_update(self.chain_id.0)
            .chain_update(packer.bytes())
            .finalize();
        let digest = Sha256Digest(digest.into());
        packer.varint(plan.signers.keys().len() as u32);
        for (position, key) in plan.signers.keys().iter().enumerate() {
            let key = if foreign && position == 0 {
                KeySeed::stranger()
            } else {
                self.keys.seed_of(*key)
            };
            sign::sign(&key, &digest).pack(&mut packer);
        }
        packer.into_bytes()
    }
}
