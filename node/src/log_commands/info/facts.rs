//! What one block contributes. Gathered on worker threads: the signatures cost nearly all the time.

use cairn_block_log::{BlockDecoder, BlockLog, Compression, LogError, StoredBlock};
use cairn_chain::{
    AccountName, BlockId, ChainSpec, HeaderExtension, OperationKind, Packing, PublicKey, Sha256Digest,
    Signature, SymbolCounts, Time, TransactionId,
};

use super::super::block;

/// Facts of one block.
pub(super) struct BlockFacts {
    pub(super) id: BlockId,
    pub(super) previous: BlockId,
    pub(super) timestamp: Time,
    pub(super) witness: AccountName,
    pub(super) witness_signature: SignatureFacts,
    /// Kind and value, as the report shows them.
    pub(super) extensions: Vec<(&'static str, String)>,
    pub(super) transactions: Vec<TransactionFacts>,
    pub(super) compression: Compression,
    pub(super) stored_len: u64,
    /// The uncompressed bytes.
    pub(super) raw: Vec<u8>,
}

/// Facts of one transaction.
pub(super) struct TransactionFacts {
    pub(super) id: TransactionId,
    pub(super) ref_block_num: u16,
    pub(super) ref_block_prefix: u32,
    pub(super) packing: Packing,
    pub(super) symbols: SymbolCounts,
    pub(super) operations: Vec<OperationKind>,
    pub(super) signatures: Vec<SignatureFacts>,
}

/// Key and forms of one signature.
pub(super) struct SignatureFacts {
    /// `None`: it gives no key.
    pub(super) key: Option<PublicKey>,
    pub(super) hived: bool,
    pub(super) low_s: bool,
    pub(super) fc: bool,
}

impl SignatureFacts {
    fn gather(signature: &Signature, digest: &Sha256Digest) -> Self {
        Self {
            key: signature.recover(digest).ok(),
            hived: signature.is_canonical(),
            low_s: signature.is_low_s(),
            fc: signature.is_fc_canonical(),
        }
    }
}

impl BlockFacts {
    pub(super) fn gather(
        log: &BlockLog,
        decoder: &mut BlockDecoder,
        stored: StoredBlock,
        chain: &ChainSpec,
    ) -> Result<Self, LogError> {
        let (compression, stored_len) = (stored.compression, stored.bytes.len() as u64);
        let decoded = block::decode(log, decoder, stored, chain.symbols)?;
        let header = &decoded.block().header;
        let chain_id = chain.chain_id_at(header.timestamp);
        let transactions = decoded.block().transactions.iter();
        let transactions = transactions
            .map(|transaction| {
                let signatures = &transaction.signatures;
                let digest = transaction.signature_digest(&chain_id);
                TransactionFacts {
                    id: transaction.id(),
                    ref_block_num: transaction.ref_block_num,
                    ref_block_prefix: transaction.ref_block_prefix,
                    packing: transaction.packing(),
                    symbols: *transaction.symbols_met(),
                    operations: transaction
                        .operations
                        .iter()
                        .map(|operation| operation.kind())
                        .collect(),
                    signatures: signatures
                        .iter()
                        .map(|one| SignatureFacts::gather(one, &digest))
                        .collect(),
                }
            })
            .collect();
        Ok(Self {
            id: decoded.id(),
            previous: header.previous,
            timestamp: header.timestamp,
            witness: header.witness,
            witness_signature: SignatureFacts::gather(&header.witness_signature, &header.witness_digest()),
            extensions: header.extensions.iter().map(extension).collect(),
            transactions,
            compression,
            stored_len,
            raw: decoded.into_bytes(),
        })
    }
}

fn extension(extension: &HeaderExtension) -> (&'static str, String) {
    match extension {
        HeaderExtension::Void(_) => ("void_t", String::new()),
        HeaderExtension::Version(version) => ("version", version.to_string()),
        HeaderExtension::HardforkVote(vote) => (
            "hardfork_version_vote",
            format!(
                "{{\"hf_version\": \"{}\", \"hf_time\": \"{}\"}}",
                vote.hf_version, vote.hf_time
            ),
        ),
    }
}
