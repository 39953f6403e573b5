//! The three hash functions of the protocol.

use ripemd::Ripemd160;
use sha2::{Digest, Sha224, Sha256};

/// SHA-256 of the parts one after the other.
#[must_use]
pub(crate) fn sha256(parts: &[&[u8]]) -> [u8; 32] {
    let mut hasher = Sha256::new();
    for part in parts {
        hasher.update(part);
    }
    hasher.finalize().into()
}

/// SHA-224.
#[must_use]
pub(crate) fn sha224(bytes: &[u8]) -> [u8; 28] {
    Sha224::digest(bytes).into()
}

/// RIPEMD-160.
#[must_use]
pub(crate) fn ripemd160(bytes: &[u8]) -> [u8; 20] {
    Ripemd160::digest(bytes).into()
}
