//! A block that owns its bytes.

use std::fmt;

use self_cell::self_cell;

use super::Block;
use crate::asset::Symbols;
use crate::ids::BlockId;
use crate::merkle::{self, MerkleMismatch};
use crate::pack::UnpackError;
use crate::spec::ChainSpec;

self_cell! {
    struct Cell {
        owner: Vec<u8>,

        #[covariant]
        dependent: Block,
    }
}

/// A block decoded once, together with its bytes, to be handed from thread to thread.
pub struct DecodedBlock {
    cell: Cell,
    id: BlockId,
}

impl DecodedBlock {
    /// Decodes a block and computes its id from the bytes.
    ///
    /// # Errors
    ///
    /// As [`Block::unpack_exact`].
    pub fn decode(bytes: Vec<u8>, symbols: Symbols) -> Result<Self, UnpackError> {
        let cell = Cell::try_new(bytes, |bytes| Block::unpack_exact(bytes, symbols))?;
        let id = cell.borrow_dependent().header.id();
        Ok(Self { cell, id })
    }

    /// The bytes.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        self.cell.borrow_owner()
    }

    /// The bytes, without the decoded form.
    #[must_use]
    pub fn into_bytes(self) -> Vec<u8> {
        self.cell.into_owner()
    }

    /// The decoded block.
    #[must_use]
    pub fn block(&self) -> &Block<'_> {
        self.cell.borrow_dependent()
    }

    /// The block's number.
    #[must_use]
    pub fn number(&self) -> u32 {
        self.id.number()
    }

    /// The block's id.
    #[must_use]
    pub fn id(&self) -> BlockId {
        self.id
    }

    /// Compares the header's Merkle root with the one computed from the transactions. The historical blocks of mainnet
    /// whose header is wrong must have the root that is known for them.
    ///
    /// # Errors
    ///
    /// [`MerkleMismatch`] if they differ: the transactions are not the ones that the header is about.
    pub fn check_merkle_root(&self, spec: &ChainSpec) -> Result<(), MerkleMismatch> {
        let header = self.block().header.transaction_merkle_root;
        let computed = self.block().compute_merkle_root();
        let expected = if header == computed {
            computed
        } else {
            merkle::historical_root(spec.kind, self.number()).unwrap_or(header)
        };
        if expected == computed {
            return Ok(());
        }
        Err(MerkleMismatch {
            block: self.number(),
            header,
            computed,
        })
    }
}

impl fmt::Debug for DecodedBlock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DecodedBlock")
            .field("id", &self.id)
            .field("block", self.block())
            .finish()
    }
}
