//! A register with its proof, to be sent around.
//!
//! | bytes | content |
//! |---|---|
//! | 8 | `cairn-pf` |
//! | 2 | length of the key, at most 4,096 |
//! | that many | the key |
//! | 1 | 1 when there is a value, 0 when the register does not exist |
//! | 4 | only for 1: length of the value, 1 to 16 MiB |
//! | that many | the value |
//! | the rest | the proof, see `bytes.rs` |

use super::bytes::{Input, at_most};
use super::error::{ProofBytesError, ProofError};
use super::{Proof, verify};
use crate::record::{MAX_KEY_BYTES, MAX_VALUE_BYTES};
use crate::trie::scheme::NodeHash;

const MAGIC: &[u8; 8] = b"cairn-pf";

/// A register, or that there is none, with the proof of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RegisterProof {
    /// The register's key.
    pub key: Vec<u8>,
    /// Its value; `None`: it does not exist.
    pub value: Option<Vec<u8>>,
    /// The proof.
    pub proof: Proof,
}

impl RegisterProof {
    /// The longest encoding, in bytes: a reader need not take more from a stranger.
    pub const LONGEST: usize = 8 + 2 + MAX_KEY_BYTES + 1 + 4 + MAX_VALUE_BYTES + 4 + 32 + 64 + 256 * 32;

    /// Whether what is said is so in the state with a root.
    ///
    /// # Errors
    /// As [`verify`].
    pub fn verify(&self, root: &NodeHash) -> Result<(), ProofError> {
        verify(root, &self.key, self.value.as_deref(), &self.proof)
    }

    /// As bytes, as this module's source says.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        debug_assert!(self.key.len() <= MAX_KEY_BYTES);
        let mut out = MAGIC.to_vec();
        out.extend((self.key.len() as u16).to_le_bytes());
        out.extend(&self.key);
        out.push(u8::from(self.value.is_some()));
        if let Some(value) = &self.value {
            debug_assert!((1..=MAX_VALUE_BYTES).contains(&value.len()));
            out.extend((value.len() as u32).to_le_bytes());
            out.extend(value);
        }
        out.extend(self.proof.encode());
        out
    }

    /// Reads what [`Self::encode`] writes, and nothing else. That it holds is for [`Self::verify`] to see.
    ///
    /// # Errors
    /// What is wrong, and where.
    pub fn decode(bytes: &[u8]) -> Result<Self, ProofBytesError> {
        let mut input = Input::new(bytes);
        if !bytes.starts_with(MAGIC) {
            return Err(ProofBytesError::Magic);
        }
        input.slice("magic", MAGIC.len())?;
        let offset = input.offset;
        let length = u16::from_le_bytes(input.take("length of the key")?);
        at_most("length of the key", offset, length.into(), MAX_KEY_BYTES as u64)?;
        let key = input.slice("key", length.into())?.to_vec();
        let offset = input.offset;
        let [exists] = input.take("flag of the value")?;
        at_most("flag of the value", offset, exists.into(), 1)?;
        let value = match exists {
            0 => None,
            _ => {
                let offset = input.offset;
                let length = u32::from_le_bytes(input.take("length of the value")?);
                if length == 0 {
                    return Err(ProofBytesError::EmptyValue { offset });
                }
                at_most(
                    "length of the value",
                    offset,
                    length.into(),
                    MAX_VALUE_BYTES as u64,
                )?;
                Some(input.slice("value", length as usize)?.to_vec())
            }
        };
        let proof = Proof::read(&mut input)?;
        input.end()?;
        Ok(Self { key, value, proof })
    }
}
