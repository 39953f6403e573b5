//! hived's checksum over a log, the same whatever form its blocks are stored in.

use cairn_chain::Sha256Digest;
use sha2::{Digest, Sha256};

use crate::{BlockDecoder, BlockLog, LogError, PartInfo};

/// SHA-256 over a file of the log as it would be if every block were stored as is: for each block its raw bytes, then
/// its offset in that imagined file as eight bytes, little-endian. The first block of each part has offset 0.
///
/// `part` is one of [`BlockLog::parts`].
///
/// # Errors
/// If the part cannot be read, or a block of it does not unpack.
pub fn uncompressed_sha256(log: &BlockLog, part: &PartInfo) -> Result<Sha256Digest, LogError> {
    let mut decoder = BlockDecoder::new(log.dictionaries().clone());
    let mut hasher = Sha256::new();
    let mut offset: u64 = 0;
    for block in log.sequential(part.first) {
        let block = block?;
        if block.number > part.last {
            break;
        }
        let raw = decoder
            .view(block.compression, &block.bytes)
            .map_err(|error| log.fault_at(block.number, error.into()))?;
        hasher.update(raw);
        hasher.update(offset.to_le_bytes());
        offset += (raw.len() + crate::TRAILER_LEN) as u64;
    }
    Ok(Sha256Digest(hasher.finalize().into()))
}
