//! Finds the first block of a log that is not what it must be.
//!
//! Nothing but the blocks' own bytes counts: ids are computed from them, each block must name the id of the one before,
//! and its transactions must have the Merkle root that its header commits to. What an artifacts file says about ids is
//! never looked at. Which chain of blocks it is, only a trusted id can tell: compare one with [`Verified::head`], or with
//! the ids that `on_block` is shown.

use cairn_chain::{BlockId, ChainSpec, DecodedBlock};

use crate::check::{Expected, check};
use crate::facts::Facts;
use crate::{BlockDecoder, BlockFault, BlockLog, LogError, StoredBlock};

/// A log, or the part of one that was asked for, without a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Verified {
    /// Blocks that were checked.
    pub blocks: u64,
    /// Id of the last one.
    pub head: Option<BlockId>,
}

/// Checks blocks that come one after the other, from wherever they are read.
#[derive(Debug)]
pub struct Verifier<'a> {
    chain: &'a ChainSpec,
    decoder: BlockDecoder,
    previous: Option<BlockId>,
}

impl<'a> Verifier<'a> {
    /// Starts with a block whose parent has the id `previous`; without it, the first block's link is not checked
    /// (that of block 1 always is).
    pub fn new(chain: &'a ChainSpec, decoder: BlockDecoder, previous: Option<BlockId>) -> Self {
        Self {
            chain,
            decoder,
            previous,
        }
    }

    /// Checks the next block.
    ///
    /// # Errors
    /// The first thing that is wrong with it. The block is not counted then: the one that belongs here may be tried.
    pub fn check(&mut self, block: StoredBlock) -> Result<DecodedBlock, BlockFault> {
        let expected = Expected::first(Some(block.number), self.previous);
        let decoded = check(self.decoder.decode_owned(block)?, expected, self.chain)?;
        self.previous = Some(decoded.id());
        Ok(decoded)
    }
}

/// Walks a log from block `from` up to block `to` (or the head), and stops at the first fault. If the log holds the
/// block before `from`, the link to it is checked too. `on_block` sees each block that is right.
///
/// # Errors
/// [`LogError::Block`] names the block's number, file and offset, what was expected and what was found. Other errors if
/// the log cannot be read, or does not hold the range.
pub fn verify(
    log: &BlockLog,
    from: u32,
    to: Option<u32>,
    chain: &ChainSpec,
    mut on_block: impl FnMut(&DecodedBlock),
) -> Result<Verified, LogError> {
    let mut verified = Verified {
        blocks: 0,
        head: None,
    };
    let Some((first, head)) = log.range() else {
        return Ok(verified);
    };
    let last = to.unwrap_or(head);
    if from < first || last > head {
        let block = if from < first { from } else { last };
        return Err(LogError::OutOfRange {
            block,
            range: Some((first, head)),
        });
    }
    let mut decoder = BlockDecoder::new(log.dictionaries().clone());
    let previous = match from.checked_sub(1).filter(|before| *before >= first) {
        Some(before) => Some(id_of(log, before, &mut decoder)?),
        None => None,
    };
    let mut verifier = Verifier::new(chain, decoder, previous);
    for block in log.sequential(from) {
        let block = block?;
        let number = block.number;
        if number > last {
            break;
        }
        match verifier.check(block) {
            Ok(decoded) => {
                verified.blocks += 1;
                verified.head = Some(decoded.id());
                on_block(&decoded);
            }
            Err(fault) => return Err(log.fault_at(number, fault)),
        }
    }
    Ok(verified)
}

fn id_of(log: &BlockLog, number: u32, decoder: &mut BlockDecoder) -> Result<BlockId, LogError> {
    let block = log.read(number)?;
    match decoder.view(block.compression, &block.bytes) {
        Ok(raw) => Facts::of(raw)
            .map(|facts| facts.id)
            .map_err(|error| log.fault_at(number, error.into())),
        Err(error) => Err(log.fault_at(number, error.into())),
    }
}
