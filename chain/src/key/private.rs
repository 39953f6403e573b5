//! Private keys: from a seed or from text, and signing.

use std::fmt;

use secp256k1::ecdsa::RecoverableSignature;
use secp256k1::{Message, SecretKey};

use super::{PublicKey, Signature};
use crate::hash;
use crate::ids::Sha256Digest;

/// First byte of the text form, before encoding.
const WIF_VERSION: u8 = 0x80;

/// A secret number and what can be done with it. Its debug form does not show it.
#[derive(Clone, PartialEq, Eq)]
pub struct PrivateKey(SecretKey);

/// Bytes or text that are no private key. Holds no part of the input, which may be a secret with a typing error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PrivateKeyError {
    /// Zero, or not below the order of the group.
    #[error("the 32 bytes are not a private key: zero, or not below the order of the group")]
    OutOfRange,
    /// A character outside the base58 alphabet.
    #[error("the private key is not base58")]
    Base58,
    /// Not 37 bytes in base58, or another first byte.
    #[error("a private key in text form is 37 bytes in base58 that start with 80; {length} bytes found")]
    Form {
        /// Bytes found.
        length: usize,
    },
    /// A letter was mistyped.
    #[error("the checksum of the private key does not match: the text was altered")]
    Checksum,
}

impl PrivateKey {
    /// Takes 32 bytes as a number, big-endian.
    ///
    /// # Errors
    ///
    /// [`PrivateKeyError::OutOfRange`] if it is no private key.
    pub fn from_bytes(bytes: [u8; 32]) -> Result<Self, PrivateKeyError> {
        SecretKey::from_secret_bytes(bytes)
            .map(Self)
            .map_err(|_| PrivateKeyError::OutOfRange)
    }

    /// The key whose number is SHA-256 of a seed. The test key of initminer has the seed `init_key`.
    ///
    /// # Panics
    ///
    /// If the hash is zero or not below the order of the group: one seed in 2^128, and none is known.
    #[must_use]
    pub fn from_seed(seed: &[u8]) -> Self {
        Self::from_bytes(hash::sha256(&[seed])).expect("no seed with such a hash is known")
    }

    /// Reads the text form that wallets use: base58 of the byte 80, the 32 bytes, and the first four bytes of SHA-256 of
    /// SHA-256 of those.
    ///
    /// # Errors
    ///
    /// [`PrivateKeyError`] if the text is none.
    pub fn from_wif(text: &str) -> Result<Self, PrivateKeyError> {
        // Base58 decoding takes quadratic time; no key is nearly this long.
        if text.len() > 64 {
            return Err(PrivateKeyError::Form { length: text.len() });
        }
        let bytes = bs58::decode(text)
            .into_vec()
            .map_err(|_| PrivateKeyError::Base58)?;
        let [WIF_VERSION, rest @ ..] = bytes.as_slice() else {
            return Err(PrivateKeyError::Form { length: bytes.len() });
        };
        let Some((secret, checksum)) = rest.split_first_chunk::<32>() else {
            return Err(PrivateKeyError::Form { length: bytes.len() });
        };
        if checksum.len() != 4 {
            return Err(PrivateKeyError::Form { length: bytes.len() });
        }
        if checksum != wif_checksum(secret) {
            return Err(PrivateKeyError::Checksum);
        }
        Self::from_bytes(*secret)
    }

    /// The text form that wallets use. Whoever has it has the key.
    #[must_use]
    pub fn wif(&self) -> String {
        let secret = self.0.to_secret_bytes();
        let mut bytes = [0; 37];
        bytes[0] = WIF_VERSION;
        bytes[1..33].copy_from_slice(&secret);
        bytes[33..].copy_from_slice(&wif_checksum(&secret));
        bs58::encode(bytes).into_string()
    }

    /// The public key.
    #[must_use]
    pub fn public_key(&self) -> PublicKey {
        PublicKey(secp256k1::PublicKey::from_secret_key(&self.0).serialize())
    }

    /// Signs a digest. The same key and digest always give the same signature (RFC 6979).
    ///
    /// libsecp256k1 gives the lower of the two possible S, whose first byte is at most 7f, so that the signature is
    /// canonical by hived's rule and by the one that is meant.
    #[must_use]
    pub fn sign(&self, digest: &Sha256Digest) -> Signature {
        let message = Message::from_digest(digest.0);
        let (recovery_id, compact) =
            RecoverableSignature::sign_ecdsa_recoverable(message, &self.0).serialize_compact();
        Signature::from_parts(recovery_id, &compact)
    }
}

fn wif_checksum(secret: &[u8; 32]) -> [u8; 4] {
    let [a, b, c, d, ..] = hash::sha256(&[&hash::sha256(&[&[WIF_VERSION], secret])]);
    [a, b, c, d]
}

impl fmt::Debug for PrivateKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PrivateKey(of {})", self.public_key())
    }
}
