//! Recoverable signatures.
//!
//! A signature does not say who made it: the key is recovered from signature and digest, and then compared with the
//! keys that are allowed to sign.
//!
//! # Forms
//!
//! For each signature (R, S) there is another one, (R, n - S), of the same digest by the same key. Rules about the form
//! exist so that third parties cannot turn one into the other. Three are of interest: what hived enforces today
//! ([`Signature::is_canonical`]), what it means to enforce ([`Signature::is_low_s`]), and what was enforced in the Steem
//! era ([`Signature::is_fc_canonical`]), which about half of today's signatures do not meet.

use std::fmt;

use secp256k1::ecdsa::{RecoverableSignature, RecoveryId};
use secp256k1::{Message, constants};

use super::PublicKey;
use crate::ids::Sha256Digest;
use crate::pack::{Pack, Packer, Reader, Unpack, UnpackError};

/// Header byte, R, S. The header is 27 + 4 + recovery id; `1b` and `1c`, without the 4, stand in mainnet blocks too.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Signature(pub [u8; 65]);

/// A signature that gives no key, or one that may not stand in a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SignatureError {
    /// The header byte says nothing about the key.
    #[error("signature header byte 27 to 34 expected, {found} found")]
    Header {
        /// The byte.
        found: u8,
    },
    /// S is greater than hived takes; the other signature of the pair would do. [`Signature::recover`] does not ask for it.
    #[error(
        "the S of the signature {signature} is greater than the greatest that is taken; the other one of the pair has a lower S"
    )]
    NotCanonical {
        /// The signature.
        signature: Signature,
    },
    /// R or S is zero or not below the order of the group, or no point has R as its X coordinate.
    #[error("the signature {signature} is not one of any key over the digest {digest}")]
    NoKey {
        /// The signature.
        signature: Signature,
        /// What it should sign.
        digest: Sha256Digest,
    },
}

/// The greatest S that hived takes. It is n / 2 with its bytes reversed: hived compares the big-endian bytes of S with the
/// memory image of n / 2 on a little-endian machine.
const GREATEST_CANONICAL_S: [u8; 32] = [
    0xa0, 0x20, 0x1b, 0x68, 0x46, 0x2f, 0xe9, 0xdf, 0x1d, 0x50, 0xa4, 0x57, 0x73, 0x6e, 0x57, 0x5d, 0xff,
    0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f,
];

/// n / 2 rounded down, where n is the order of the group.
const HALF_ORDER: [u8; 32] = halved(constants::CURVE_ORDER);

const fn halved(number: [u8; 32]) -> [u8; 32] {
    let mut half = [0; 32];
    let mut carry = 0;
    let mut index = 0;
    while index < 32 {
        half[index] = (number[index] >> 1) | carry;
        carry = number[index] << 7;
        index += 1;
    }
    half
}

impl Signature {
    /// The 65 bytes.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 65] {
        &self.0
    }

    pub(super) fn from_parts(recovery_id: RecoveryId, compact: &[u8; 64]) -> Self {
        let mut bytes = [0; 65];
        bytes[0] = 27 + 4 + recovery_id.to_u8();
        bytes[1..].copy_from_slice(compact);
        Self(bytes)
    }

    /// The key that made this signature of a digest.
    ///
    /// # Errors
    ///
    /// [`SignatureError`] if no key can have made it.
    pub fn recover(&self, digest: &Sha256Digest) -> Result<PublicKey, SignatureError> {
        let [header, compact @ ..] = &self.0;
        if !(27..=34).contains(header) {
            return Err(SignatureError::Header { found: *header });
        }
        let recovery_id = RecoveryId::from_u8_masked(header - 27);
        RecoverableSignature::from_compact(compact, recovery_id)
            .and_then(|signature| signature.recover_ecdsa(Message::from_digest(digest.0)))
            .map(|key| PublicKey(key.serialize()))
            .map_err(|_| SignatureError::NoKey {
                signature: *self,
                digest: *digest,
            })
    }

    fn s(&self) -> &[u8] {
        &self.0[33..]
    }

    /// Whether hived takes the form of this signature today, at any height.
    #[must_use]
    pub fn is_canonical(&self) -> bool {
        *self.s() <= GREATEST_CANONICAL_S[..]
    }

    /// Whether S is at most n / 2: the rule that hived's is meant to be.
    #[must_use]
    pub fn is_low_s(&self) -> bool {
        *self.s() <= HALF_ORDER[..]
    }

    /// Whether the signature meets the rule of the Steem era: neither R nor S has its top bit set, or starts with a zero
    /// byte that is not needed to keep the top bit clear.
    #[must_use]
    pub fn is_fc_canonical(&self) -> bool {
        let fits = |first: u8, second: u8| first & 0x80 == 0 && !(first == 0 && second & 0x80 == 0);
        fits(self.0[1], self.0[2]) && fits(self.0[33], self.0[34])
    }
}

impl fmt::Display for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&hex::encode(self.0))
    }
}

impl fmt::Debug for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Signature({self})")
    }
}

impl<'a> Unpack<'a> for Signature {
    const MIN_SIZE: usize = 65;

    fn unpack(reader: &mut Reader<'a>) -> Result<Self, UnpackError> {
        reader.array().map(Self)
    }
}

impl Pack for Signature {
    fn pack(&self, packer: &mut Packer) {
        packer.raw(&self.0);
    }
}
