//! A proof as bytes, numbers little-endian.
//!
//! | bytes | content |
//! |---|---|
//! | 1 | format version, 1 |
//! | 1 | what the way ends in: 0 the register, 1 the empty subtrie, 2 another register |
//! | 2 | depth: number of siblings, at most 256 |
//! | depth / 8, rounded up | bit `i % 8` of byte `i / 8`: sibling `i`, counted from the root, is not empty; the other bits are 0 |
//! | 64 | only for 2: path of the other register, hash of its value |
//! | 32 each | the siblings that are not empty, the one next to the root first |

use super::error::ProofBytesError;
use super::{End, Proof};
use crate::path::Path;
use crate::trie::scheme::{NodeHash, PATH_BITS, ValueHash};

const VERSION: u8 = 1;

impl Proof {
    /// The proof as bytes, as this module's source says. At most 8,292.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let depth = self.siblings.len();
        debug_assert!(depth <= usize::from(PATH_BITS));
        let mut out = vec![VERSION, 0];
        out.extend((depth as u16).to_le_bytes());
        let map = out.len();
        out.resize(map + depth.div_ceil(8), 0);
        match self.end {
            End::Register => {}
            End::Empty => out[1] = 1,
            End::Other { path, value } => {
                out[1] = 2;
                out.extend(path.as_bytes());
                out.extend(value.as_bytes());
            }
        }
        for (at, sibling) in self.siblings.iter().enumerate() {
            if *sibling != NodeHash::EMPTY {
                out[map + at / 8] |= 1 << (at % 8);
                out.extend(sibling.as_bytes());
            }
        }
        out
    }

    /// Reads what [`Self::encode`] writes, and nothing else.
    ///
    /// # Errors
    /// What is wrong, and where.
    pub fn decode(bytes: &[u8]) -> Result<Self, ProofBytesError> {
        let mut input = Input::new(bytes);
        let proof = Self::read(&mut input)?;
        input.end()?;
        Ok(proof)
    }

    pub(super) fn read(input: &mut Input<'_>) -> Result<Self, ProofBytesError> {
        let offset = input.offset;
        let [version] = input.take("format version")?;
        if version != VERSION {
            return Err(ProofBytesError::Version {
                offset,
                found: version,
            });
        }
        let kind_at = input.offset;
        let [kind] = input.take("kind of end")?;
        let depth_at = input.offset;
        let depth = u16::from_le_bytes(input.take("depth")?);
        at_most("depth", depth_at, u64::from(depth), u64::from(PATH_BITS))?;
        let depth = usize::from(depth);
        let map_at = input.offset;
        let map = input.slice("map of siblings", depth.div_ceil(8))?;
        if depth % 8 != 0 && map.last().is_some_and(|last| last >> (depth % 8) != 0) {
            return Err(ProofBytesError::Spelling {
                field: "map of siblings",
                offset: map_at,
            });
        }
        at_most("kind of end", kind_at, u64::from(kind), 2)?;
        let end = match kind {
            0 => End::Register,
            1 => End::Empty,
            _ => End::Other {
                path: Path::from_bytes(input.take("path of the other register")?),
                value: ValueHash::from_bytes(input.take("hash of the other register's value")?),
            },
        };
        let mut siblings = Vec::with_capacity(depth);
        for at in 0..depth {
            let offset = input.offset;
            let sibling = match map[at / 8] >> (at % 8) & 1 {
                0 => NodeHash::EMPTY,
                _ => NodeHash::from_bytes(input.take("sibling")?),
            };
            if map[at / 8] >> (at % 8) & 1 == 1 && sibling == NodeHash::EMPTY {
                return Err(ProofBytesError::Spelling {
                    field: "sibling",
                    offset,
                });
            }
            siblings.push(sibling);
        }
        Ok(Self { siblings, end })
    }
}

/// Bytes that are being read.
pub(super) struct Input<'a> {
    bytes: &'a [u8],
    pub(super) offset: usize,
}

impl<'a> Input<'a> {
    pub(super) const fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, offset: 0 }
    }

    pub(super) fn slice(&mut self, field: &'static str, length: usize) -> Result<&'a [u8], ProofBytesError> {
        let Some((taken, rest)) = self.bytes.split_at_checked(length) else {
            return Err(ProofBytesError::Short {
                field,
                offset: self.offset,
                expected: length,
                found: self.bytes.len(),
            });
        };
        self.bytes = rest;
        self.offset += length;
        Ok(taken)
    }

    pub(super) fn take<const N: usize>(&mut self, field: &'static str) -> Result<[u8; N], ProofBytesError> {
        let mut taken = [0; N];
        taken.copy_from_slice(self.slice(field, N)?);
        Ok(taken)
    }

    pub(super) fn end(&self) -> Result<(), ProofBytesError> {
        match self.bytes.len() {
            0 => Ok(()),
            found => Err(ProofBytesError::Long {
                offset: self.offset,
                found,
            }),
        }
    }
}

pub(super) fn at_most(
    field: &'static str,
    offset: usize,
    found: u64,
    most: u64,
) -> Result<(), ProofBytesError> {
    if found <= most {
        return Ok(());
    }
    Err(ProofBytesError::Field {
        field,
        offset,
        found,
        most,
    })
}
