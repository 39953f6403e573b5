//! What the header of a block says about its place in the chain, computed from the bytes.

use cairn_chain::{BlockId, SignedHeader, UnpackError};

/// Number, id and parent of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Facts {
    pub(crate) number: u32,
    pub(crate) id: BlockId,
    pub(crate) previous: BlockId,
}

impl Facts {
    /// From the raw bytes of a block. Only the header is decoded.
    pub(crate) fn of(raw: &[u8]) -> Result<Self, UnpackError> {
        let (header, _) = SignedHeader::unpack_prefix(raw)?;
        let id = header.id();
        Ok(Self {
            number: id.number(),
            id,
            previous: header.previous,
        })
    }
}
