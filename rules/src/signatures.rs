//! The keys behind a block's signatures.
//!
//! [`recover`] needs nothing but the block and the chain's constants, so that it runs ahead of the writer, on any thread
//! and in any order. It is by far the dearest part of full validation: one recovery costs about as much as all the rest of
//! a small transaction.
//!
//! A transaction's signatures are over the chain's id followed by its bytes without the signatures. The chain id is the
//! one that belongs to the *block's* time, not to the hardfork in force. A signature must be the one of its pair with the
//! low S, as far as hived enforces it ([`Signature::is_canonical`]). Whether two keys of a transaction are equal is a
//! matter of the authority check.

use cairn_chain::{ChainSpec, DecodedBlock, PublicKey, Sha256Digest, Signature, SignatureError};

/// Keys recovered from all signatures of a block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecoveredKeys {
    /// The key that signed the block.
    pub witness: PublicKey,
    /// For each transaction the keys in the order of its signatures.
    pub transactions: Vec<Vec<PublicKey>>,
}

/// A signature that gives no key, or has a form that is not taken; the block is invalid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RecoverError {
    /// The block's own.
    #[error("block {block}: the witness's signature is not valid: {source}")]
    Witness {
        /// Number of the block.
        block: u32,
        /// What is wrong with it.
        source: SignatureError,
    },
    /// A transaction's.
    #[error("block {block}: signature {signature} of transaction {transaction} is not valid: {source}")]
    Transaction {
        /// Number of the block.
        block: u32,
        /// Position of the transaction, from 0.
        transaction: usize,
        /// Position of the signature, from 0.
        signature: usize,
        /// What is wrong with it.
        source: SignatureError,
    },
}

/// The key behind a signature of the form that is taken.
fn key(signature: &Signature, digest: &Sha256Digest) -> Result<PublicKey, SignatureError> {
    if !signature.is_canonical() {
        return Err(SignatureError::NotCanonical {
            signature: *signature,
        });
    }
    signature.recover(digest)
}

/// Recovers all keys of a block.
///
/// # Errors
/// [`RecoverError`] for the first signature that gives no key or is not the one of its pair that is taken.
pub fn recover(block: &DecodedBlock, spec: &ChainSpec) -> Result<RecoveredKeys, RecoverError> {
    let number = block.number();
    let block = block.block();
    let witness = key(&block.header.witness_signature, &block.header.witness_digest()).map_err(|source| {
        RecoverError::Witness {
            block: number,
            source,
        }
    })?;
    let chain_id = spec.chain_id_at(block.header.timestamp);
    let mut transactions = Vec::with_capacity(block.transactions.len());
    for (position, transaction) in block.transactions.iter().enumerate() {
        let mut keys = Vec::with_capacity(transaction.signatures.len());
        if !transaction.signatures.is_empty() {
            let digest = transaction.signature_digest(&chain_id);
            for (index, signature) in transaction.signatures.iter().enumerate() {
                keys.push(
                    key(signature, &digest).map_err(|source| RecoverError::Transaction {
                        block: number,
                        transaction: position,
                        signature: index,
                        source,
                    })?,
                );
            }
        }
        transactions.push(keys);
    }
    Ok(RecoveredKeys {
        witness,
        transactions,
    })
}
