//! Ids of blocks in a log, always computed from the bytes.

use std::path::PathBuf;

use cairn_block_log::{BlockDecoder, BlockFault, BlockLog, LogError, Place, StoredBlock};
use cairn_chain::{BlockId, SignedHeader};

use crate::header_chain::Link;

/// The id of a block of the log, computed from its bytes.
///
/// # Errors
/// As [`BlockLog::read`], and when the bytes are not a block, or another one.
pub fn read_id(log: &BlockLog, number: u32) -> Result<BlockId, LogError> {
    let mut decoder = BlockDecoder::new(log.dictionaries().clone());
    link_of(log, &mut decoder, log.read(number)?).map(|link| link.id)
}

/// The id of a block if the log holds it whole.
pub fn id_if_there(log: &BlockLog, number: u32) -> Option<BlockId> {
    read_id(log, number).ok()
}

/// The place of a block in the chain; only its header is decoded.
///
/// # Errors
/// When the bytes are not a block, or one with another number than its place.
pub fn link_of(log: &BlockLog, decoder: &mut BlockDecoder, stored: StoredBlock) -> Result<Link, LogError> {
    let number = stored.number;
    let at = |fault| block_error(log, number, fault);
    let raw = decoder.decode_owned(stored).map_err(|error| at(error.into()))?;
    let (header, _) = SignedHeader::unpack_prefix(&raw).map_err(|error| at(error.into()))?;
    if header.number() != number {
        return Err(at(BlockFault::Number {
            expected: number,
            found: header.number(),
        }));
    }
    Ok(Link {
        id: header.id(),
        previous: header.previous,
    })
}

/// The error for a block of the log.
pub fn block_error(log: &BlockLog, number: u32, fault: BlockFault) -> LogError {
    match log.offset_of(number) {
        Ok((file, offset)) => LogError::Block {
            place: Place {
                file,
                offset,
                block: Some(number),
            },
            fault,
        },
        Err(error) => error,
    }
}

/// Where a block is, for a message: the log itself when that cannot be told.
pub(crate) fn place_of(log: &BlockLog, number: u32) -> Place {
    let (file, offset): (PathBuf, u64) = log
        .offset_of(number)
        .unwrap_or_else(|_| (log.path().to_owned(), 0));
    Place {
        file,
        offset,
        block: Some(number),
    }
}
