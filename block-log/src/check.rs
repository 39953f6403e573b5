//! What makes a block the one that belongs at its place: everything that its bytes can prove without chain state.

use cairn_chain::{BlockId, ChainSpec, DecodedBlock, Signature, Time};

use crate::BlockFault;

/// What a block must follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Expected {
    /// Number by place, where it is known.
    pub(crate) number: Option<u32>,
    /// Id of the block before, where it is known.
    pub(crate) previous: Option<BlockId>,
}

impl Expected {
    /// What must follow a block.
    pub(crate) fn after(id: BlockId) -> Self {
        Self {
            number: Some(id.number().wrapping_add(1)),
            previous: Some(id),
        }
    }

    /// The first block of a log. Block 1 follows an id of zeros.
    pub(crate) fn first(number: Option<u32>, previous: Option<BlockId>) -> Self {
        let previous = if number == Some(1) {
            Some(BlockId::ZERO)
        } else {
            previous
        };
        Self { number, previous }
    }
}

/// Decodes a block whole and checks number, link, Merkle root, and that time, witness and signature are there (whether
/// they are right, only chain state can tell).
pub(crate) fn check(raw: Vec<u8>, expected: Expected, chain: &ChainSpec) -> Result<DecodedBlock, BlockFault> {
    let block = DecodedBlock::decode(raw, chain.symbols)?;
    if let Some(number) = expected.number.filter(|number| *number != block.number()) {
        return Err(BlockFault::Number {
            expected: number,
            found: block.number(),
        });
    }
    let header = &block.block().header;
    if let Some(id) = expected.previous.filter(|id| *id != header.previous) {
        return Err(BlockFault::Link {
            expected: id,
            found: header.previous,
        });
    }
    for (field, blank) in [
        ("timestamp", header.timestamp == Time(0)),
        ("witness name", header.witness.as_bytes().is_empty()),
        (
            "witness signature",
            header.witness_signature == Signature([0; 65]),
        ),
    ] {
        if blank {
            return Err(BlockFault::Blank { field });
        }
    }
    block.check_merkle_root(chain)?;
    Ok(block)
}
