//! Ids of blocks in a log, always computed from the bytes.

use cairn_block_log::{BlockDecoder, BlockFault, BlockLog, LogError, Place};
use cairn_chain::{BlockId, SignedHeader};

/// The id of a block of the log, computed from its bytes.
///
/// # Errors
/// As [`BlockLog::read`], and when the bytes are not a block.
pub fn read_id(log: &BlockLog, number: u32) -> Result<BlockId, LogError> {
    let stored = log.read(number)?;
    let mut decoder = BlockDecoder::new(log.dictionaries().clone());
    let raw = decoder
        .decode_owned(stored)
        .map_err(|error| block_error(log, number, error.into()))?;
    let (header, _) =
        SignedHeader::unpack_prefix(&raw).map_err(|error| block_error(log, number, error.into()))?;
    Ok(header.id())
}

/// The id of a block if the log holds it whole.
pub fn id_if_there(log: &BlockLog, number: u32) -> Option<BlockId> {
    read_id(log, number).ok()
}

fn block_error(log: &BlockLog, number: u32, fault: BlockFault) -> LogError {
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
