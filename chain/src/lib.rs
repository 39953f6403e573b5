//! Hive's protocol as pure functions: types, packing, ids, Merkle roots, keys and signatures, chain specifications.
//!
//! Nothing here does I/O, reads a clock or starts a thread.
//!
//! A block is decoded once: [`DecodedBlock::decode`] takes its bytes and gives a [`Block`] that borrows from them. Ids,
//! digests and Merkle leaves are hashed from those bytes, never from fields packed again. What differs from network to
//! network is in a [`ChainSpec`].

#![cfg_attr(
    test,
    allow(clippy::unwrap_used, reason = "a test that cannot go on shall stop")
)]

mod asset;
mod authority;
mod block;
mod extension;
mod hash;
mod ids;
mod json;
mod key;
pub mod merkle;
mod name;
pub mod operations;
pub mod pack;
#[cfg(test)]
mod sample;
pub mod spec;
mod structure;
mod text;
mod time;
mod transaction;
mod version;

pub use asset::{
    Asset, AssetPacking, AssetSymbol, FeeAsset, FeeSymbol, HISTORICAL_FEE_SYMBOLS, HistoricalFeeSymbol,
    Packing, SymbolCounts, Symbols,
};
pub use authority::Authority;
pub use block::{Block, DecodedBlock, HardforkVote, MAX_BLOCK_SIZE, SignedHeader, UnsignedBlock};
pub use extension::{
    Beneficiary, CommentOption, CommentPayoutBeneficiaries, FutureExtension, HeaderExtension,
    ProposalEndDate, ProposalOption, RecurrentTransferOption, RecurrentTransferPair, Void,
};
pub use ids::{BlockId, ChainId, MerkleRoot, ParseHexError, Sha256Digest, TransactionId};
pub use json::{BlockJson, block_json};
pub use key::{ParsePublicKeyError, PrivateKey, PrivateKeyError, PublicKey, Signature, SignatureError};
pub use merkle::MerkleMismatch;
pub use name::{AccountName, CustomId, FixedText};
pub use operations::*;
pub use pack::{Pack, Packer, Reader, Unpack, UnpackError, UnpackErrorKind};
pub use spec::{ChainKind, ChainSpec, SpecError};
pub use text::{Bytes, Text};
pub use time::{ParseTimeError, Time};
pub use transaction::{Transaction, UnsignedTransaction};
pub use version::{ParseVersionError, Version};
