//! JSON of transactions and blocks.

use serde::Serializer;
use serde::ser::{Serialize, SerializeMap};

use super::{AsJson, JsonValue, field};
use crate::block::{DecodedBlock, SignedHeader};
use crate::ids::TransactionId;
use crate::key::{PublicKey, SignatureError};
use crate::transaction::Transaction;

impl JsonValue for Transaction<'_> {
    fn to_json<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_map(Some(6))?;
        field(&mut object, "ref_block_num", &self.ref_block_num)?;
        field(&mut object, "ref_block_prefix", &self.ref_block_prefix)?;
        field(&mut object, "expiration", &self.expiration)?;
        field(&mut object, "operations", &self.operations)?;
        field(&mut object, "extensions", &self.extensions)?;
        field(&mut object, "signatures", &self.signatures)?;
        object.end()
    }
}

impl Serialize for Transaction<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.to_json(serializer)
    }
}

fn header_fields<M: SerializeMap>(object: &mut M, header: &SignedHeader<'_>) -> Result<(), M::Error> {
    field(object, "previous", &header.previous)?;
    field(object, "timestamp", &header.timestamp)?;
    field(object, "witness", &header.witness)?;
    field(object, "transaction_merkle_root", &header.transaction_merkle_root)?;
    field(object, "extensions", &header.extensions)?;
    field(object, "witness_signature", &header.witness_signature)
}

impl Serialize for SignedHeader<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_map(Some(6))?;
        header_fields(&mut object, self)?;
        object.end()
    }
}

/// A block in the form that `block_api.get_block` prints: the block's own fields, then its id, the key recovered from
/// the witness's signature, and the ids of its transactions. Made by [`block_json`].
#[derive(Debug)]
pub struct BlockJson<'b> {
    block: &'b DecodedBlock,
    signing_key: PublicKey,
    transaction_ids: Vec<TransactionId>,
}

/// Prepares a block for printing as JSON: recovers the signing key and hashes the transactions.
///
/// # Errors
///
/// [`SignatureError`] if the witness's signature gives no key.
pub fn block_json(block: &DecodedBlock) -> Result<BlockJson<'_>, SignatureError> {
    let header = &block.block().header;
    Ok(BlockJson {
        block,
        signing_key: header.witness_signature.recover(&header.witness_digest())?,
        transaction_ids: block.block().transactions.iter().map(Transaction::id).collect(),
    })
}

impl Serialize for BlockJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let block = self.block.block();
        let mut object = serializer.serialize_map(Some(10))?;
        header_fields(&mut object, &block.header)?;
        object.serialize_entry("transactions", &AsJson(&block.transactions))?;
        field(&mut object, "block_id", &self.block.id())?;
        field(&mut object, "signing_key", &self.signing_key)?;
        field(&mut object, "transaction_ids", &self.transaction_ids)?;
        object.end()
    }
}
