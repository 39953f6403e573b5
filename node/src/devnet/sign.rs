//! Signatures at the speed of a few multiplications.
//!
//! An ECDSA signature takes a fresh number k, the point R = kG, and s = (z + r d) / k, where z is the digest,
//! d the secret and r the X coordinate of R. Almost all of its time (some 30 microseconds, twice that in the
//! library at hand, which blinds its context anew after each signature) goes into kG, and k must be fresh and
//! secret because two signatures with one k give d away.
//!
//! A devnet's secrets follow from its seed, which stands in its name: there is nothing to give away. So k
//! comes from a table of [`NONCES`] numbers with their points and inverses, chosen by the digest, and a
//! signature costs three operations on numbers. The result is a signature like any other. Do not use this for
//! keys that guard anything.

use std::sync::OnceLock;

use cairn_chain::{Sha256Digest, Signature};
use secp256k1::{PublicKey, Scalar, SecretKey, constants};
use sha2::{Digest, Sha256};

use super::keys::KeySeed;

/// Size of the table: few enough to be made in 20 ms, enough that signatures of one block rarely share R
/// (which would compress better than real ones).
const NONCES: usize = 256;

/// One k.
#[derive(Debug, Clone, Copy)]
struct Nonce {
    inverse: Scalar,
    /// X coordinate of kG.
    r: Scalar,
    /// Whether the Y coordinate of kG is odd.
    odd: bool,
}

/// Signs a digest. The same key and digest always give the same signature, with the lower of the two possible
/// S.
pub(super) fn sign(key: &KeySeed, digest: &Sha256Digest) -> Signature {
    // A digest or a sum outside the range of numbers has never been seen (one in 2^128); the ordinary way
    // knows what to do.
    quick(key, digest, usize::from(digest.0[31])).unwrap_or_else(|| key.private().sign(digest))
}

/// The other signature of the same digest by the same key, the one that hived does not take: its S is too great.
pub(super) fn sign_other_of_pair(key: &KeySeed, digest: &Sha256Digest) -> Signature {
    // Three of four signatures have such a counterpart.
    let pair = (0..NONCES).find_map(|nonce| {
        let other = other_of_pair(quick(key, digest, nonce)?)?;
        (!other.is_canonical()).then_some(other)
    });
    pair.unwrap_or_else(|| key.private().sign(digest))
}

/// (R, n - S) for (R, S): the other Y coordinate goes with it.
fn other_of_pair(Signature(mut bytes): Signature) -> Option<Signature> {
    let s = SecretKey::from_secret_bytes(*bytes.last_chunk()?).ok()?;
    bytes[33..].copy_from_slice(&s.negate().to_secret_bytes());
    bytes[0] = 27 + 4 + ((bytes[0] - 27 - 4) ^ 1);
    Some(Signature(bytes))
}

fn quick(key: &KeySeed, digest: &Sha256Digest, nonce: usize) -> Option<Signature> {
    let nonce = nonces().get(nonce)?;
    let z = Scalar::from_be_bytes(digest.0).ok()?;
    let secret = secret(key.as_bytes())?;
    let s = secret
        .mul_tweak(&nonce.r)
        .ok()?
        .add_tweak(&z)
        .ok()?
        .mul_tweak(&nonce.inverse)
        .ok()?;
    // Of S and n - S the lower one. The other goes with the other Y coordinate.
    let negated = s.negate();
    let (s, high) = (s.to_secret_bytes(), negated.to_secret_bytes());
    let (s, odd) = if s <= high {
        (s, nonce.odd)
    } else {
        (high, !nonce.odd)
    };
    let mut bytes = [0; 65];
    bytes[0] = 27 + 4 + u8::from(odd);
    bytes[1..33].copy_from_slice(&nonce.r.to_be_bytes());
    bytes[33..].copy_from_slice(&s);
    Some(Signature(bytes))
}

/// The key whose secret is the SHA-256 of a text.
fn secret(text: &[u8]) -> Option<SecretKey> {
    SecretKey::from_secret_bytes(Sha256::digest(text).into()).ok()
}

/// The table. Entries that would need special care are left out; none does.
fn nonces() -> &'static [Nonce] {
    static TABLE: OnceLock<Vec<Nonce>> = OnceLock::new();
    TABLE.get_or_init(|| (0..NONCES).filter_map(nonce).collect())
}

fn nonce(index: usize) -> Option<Nonce> {
    let k = secret(format!("cairn devnet nonce {index}").as_bytes())?;
    // 02 or 03, which tells whether Y is odd, then X.
    let [parity, x @ ..] = PublicKey::from_secret_key(&k).serialize();
    Some(Nonce {
        inverse: inverse(&k)?,
        r: Scalar::from_be_bytes(x).ok()?,
        odd: parity == 3,
    })
}

/// 1 / k modulo the order n of the group, which is a prime: k to the power n - 2 (Fermat).
fn inverse(k: &SecretKey) -> Option<Scalar> {
    let mut exponent = constants::CURVE_ORDER;
    // The last byte is 41 (hexadecimal), so nothing is borrowed.
    exponent[31] -= 2;
    let factor = Scalar::from(*k);
    let mut power = SecretKey::from_secret_bytes(Scalar::ONE.to_be_bytes()).ok()?;
    for byte in exponent {
        for bit in (0..8).rev() {
            power = power.mul_tweak(&Scalar::from(power)).ok()?;
            if byte >> bit & 1 == 1 {
                power = power.mul_tweak(&factor).ok()?;
            }
        }
    }
    Some(Scalar::from(power))
}

#[cfg(test)]
mod tests {
    use cairn_chain::Sha256Digest;

    use super::super::keys::{KeyName, Keys, Role};
    use super::{NONCES, nonces, quick, sign, sign_other_of_pair};

    #[test]
    fn every_nonce_gives_signatures_of_the_key() {
        assert_eq!(nonces().len(), NONCES);
        for number in 0..600u32 {
            let key = Keys::new(9).seed_of(KeyName::new(number, Role::Posting, 0));
            let mut digest = Sha256Digest::of(&number.to_le_bytes());
            digest.0[31] = number as u8;
            let nonce = usize::from(digest.0[31]);
            let signature = quick(&key, &digest, nonce).expect("nothing is out of range");
            assert_eq!(signature.recover(&digest), Ok(key.private().public_key()));
            assert!(signature.is_low_s() && signature.is_canonical());
            assert_eq!(signature, sign(&key, &digest));
            let other = sign_other_of_pair(&key, &digest);
            assert_eq!(other.recover(&digest), Ok(key.private().public_key()));
            assert!(!other.is_low_s() && !other.is_canonical());
        }
    }

    #[test]
    fn a_digest_out_of_range_is_signed_the_ordinary_way() {
        let key = Keys::new(9).seed_of(KeyName::new(30, Role::Posting, 0));
        let digest = Sha256Digest([0xff; 32]);
        assert_eq!(quick(&key, &digest, 255), None);
        assert_eq!(
            sign(&key, &digest).recover(&digest),
            Ok(key.private().public_key())
        );
    }
}
