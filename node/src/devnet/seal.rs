//! Closes blocks: the header, its signature, the id. This is the part that chains blocks to each other, so it
//! runs in order; it costs one signature and two hashes a block.

use cairn_chain::{
    AccountName, AssetPacking, BlockId, HardforkVote, HeaderExtension, MerkleRoot, Pack, Packer,
    Sha256Digest, Signature, SignedHeader, Symbols, Time, Version,
};

use super::faults::Fault;
use super::keys::{KeySeed, Keys};
use super::names;
use super::plan::BlockPlan;
use super::sign;
use super::spec;
use super::write::Written;

/// A block as it stands in a chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RawBlock {
    /// Block number, from 1.
    pub number: u32,
    /// The block's id, computed from `bytes`.
    pub id: BlockId,
    /// Id of the block before.
    pub previous: BlockId,
    /// When it was made.
    pub time: Time,
    /// Who made it.
    pub witness: AccountName,
    /// The packed block.
    pub bytes: Vec<u8>,
    /// Transactions in the block.
    pub transactions: u32,
    /// Operations in the block.
    pub operations: u32,
}

impl RawBlock {
    /// A block that was just packed, on top of `previous` whatever it says itself.
    pub(super) fn of(
        bytes: Vec<u8>,
        previous: BlockId,
        number: u32,
        (transactions, operations): (u32, u32),
    ) -> Self {
        let (header, _) = SignedHeader::unpack_prefix(&bytes).expect("a header was just packed there");
        let (id, time, witness) = (header.id(), header.timestamp, header.witness);
        Self {
            number,
            id,
            previous,
            time,
            witness,
            bytes,
            transactions,
            operations,
        }
    }
}

/// Closes one block after the other.
#[derive(Debug)]
pub(super) struct Sealer {
    keys: Keys,
    /// Id to which the next block links.
    previous: BlockId,
}

impl Sealer {
    pub(super) fn new(keys: Keys) -> Self {
        Self {
            keys,
            previous: BlockId::ZERO,
        }
    }

    /// Id of the last block, as the next one names it.
    pub(super) fn previous(&self) -> BlockId {
        self.previous
    }

    /// Closes the next block.
    pub(super) fn seal(&mut self, written: Written) -> RawBlock {
        let Written {
            plan,
            fault,
            transactions,
            merkle_root,
        } = written;
        let header = Header::of(&plan, self.previous, merkle_root);
        let key = match fault {
            Some(Fault::WitnessSignature) => KeySeed::stranger(),
            _ => self.keys.seed_of(plan.producer_key),
        };
        let honest = header.sealed(&key, &transactions);
        let next_links_to = id(&honest);
        let bytes = match fault {
            Some(Fault::Replaced) => {
                let other = Header {
                    merkle_root: MerkleRoot::ZERO,
                    extensions: vec![HeaderExtension::Version(Version(
                        spec::version(spec::LAST_HARDFORK) + 1,
                    ))],
                    ..header
                };
                other.sealed(&key, &[0])
            }
            _ => honest,
        };
        let previous = std::mem::replace(&mut self.previous, next_links_to);
        let (transactions, operations) = counts(&plan, fault);
        RawBlock {
            number: plan.number,
            id: id(&bytes),
            previous,
            time: Time(plan.time),
            witness: header.witness,
            bytes,
            transactions,
            operations,
        }
    }
}

/// What stands in a block in front of its transactions, apart from the signature.
#[derive(Debug, Clone)]
pub(super) struct Header {
    pub(super) previous: BlockId,
    pub(super) time: u32,
    pub(super) witness: AccountName,
    pub(super) merkle_root: MerkleRoot,
    pub(super) extensions: Vec<HeaderExtension>,
}

impl Header {
    /// The header of a planned block.
    pub(super) fn of(plan: &BlockPlan, previous: BlockId, merkle_root: MerkleRoot) -> Self {
        Self {
            previous,
            time: plan.time,
            witness: names::account(plan.producer),
            merkle_root,
            extensions: extensions(plan),
        }
    }

    /// The header's bytes that are signed.
    fn packer(&self) -> Packer {
        // There are no assets in a header, so that neither choice matters.
        let mut packer = Packer::new(AssetPacking::Legacy, Symbols::Testnet);
        self.previous.pack(&mut packer);
        Time(self.time).pack(&mut packer);
        self.witness.pack(&mut packer);
        self.merkle_root.pack(&mut packer);
        packer.varint(self.extensions.len() as u32);
        for extension in &self.extensions {
            extension.pack(&mut packer);
        }
        packer
    }

    /// The packed block, signed with this key.
    pub(super) fn sealed(&self, key: &KeySeed, transactions: &[u8]) -> Vec<u8> {
        self.sealed_by(|digest| sign::sign(key, digest), transactions)
    }

    /// The packed block with whatever signature is made of the digest.
    pub(super) fn sealed_by(
        &self,
        sign: impl FnOnce(&Sha256Digest) -> Signature,
        transactions: &[u8],
    ) -> Vec<u8> {
        let mut packer = self.packer();
        sign(&Sha256Digest::of(packer.bytes())).pack(&mut packer);
        packer.raw(transactions);
        packer.into_bytes()
    }
}

/// What a witness reports: its version in its first block; in block 1, as hived does there, also a vote for
/// the first hardfork, which is in force by then.
fn extensions(plan: &BlockPlan) -> Vec<HeaderExtension> {
    let mut extensions = Vec::new();
    if plan.first_of_producer {
        extensions.push(HeaderExtension::Version(Version(spec::version(plan.hardfork))));
    }
    if plan.number == 1 {
        let hf_time = Time(spec::block_time(1));
        extensions.push(HeaderExtension::HardforkVote(HardforkVote {
            hf_version: Version::new(0, 1, 0),
            hf_time,
        }));
    }
    extensions
}

/// The id of a packed block.
pub(super) fn id(block: &[u8]) -> BlockId {
    let (header, _) = SignedHeader::unpack_prefix(block).expect("a header was just packed there");
    header.id()
}

/// Transactions and operations of the block that is shown.
pub(super) fn counts(plan: &BlockPlan, fault: Option<Fault>) -> (u32, u32) {
    let planned = plan
        .transactions
        .iter()
        .map(|transaction| transaction.operations.len() as u32);
    match fault {
        Some(Fault::Replaced) => (0, 0),
        Some(Fault::AlteredBody) => (planned.len() as u32 + 1, planned.sum::<u32>() + 1),
        _ => (planned.len() as u32, planned.sum()),
    }
}
