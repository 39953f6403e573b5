//! Headers of a log, read from whole blocks.

use cairn_chain::SignedHeader;

use crate::{BlockDecoder, BlockFault, BlockLog, LogError, Sequential};

/// The headers of a log's blocks in order.
pub struct LogHeaders {
    log: BlockLog,
    blocks: Sequential,
    decoder: BlockDecoder,
}

/// A header that was taken from a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TakenHeader {
    /// Number of its block.
    pub number: u32,
    /// Bytes that had to be read for it: what the log stores for the block.
    pub stored: usize,
}

impl std::fmt::Debug for LogHeaders {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LogHeaders")
            .field("next", &self.blocks.next_number())
            .finish_non_exhaustive()
    }
}

impl LogHeaders {
    /// The headers of block `from` and on.
    pub fn new(log: &BlockLog, from: u32) -> Self {
        Self {
            log: log.clone(),
            blocks: log.sequential(from),
            decoder: BlockDecoder::new(log.dictionaries().clone()),
        }
    }

    /// Appends the next header to `out`; `None` at the end of the log.
    ///
    /// # Errors
    /// When the block cannot be read, or is not the one that belongs there.
    pub fn take(&mut self, out: &mut Vec<u8>) -> Option<Result<TakenHeader, LogError>> {
        let stored = match self.blocks.next()? {
            Ok(stored) => stored,
            Err(error) => return Some(Err(error)),
        };
        let number = stored.number;
        Some(
            append(&mut self.decoder, &stored, out)
                .map(|()| TakenHeader {
                    number,
                    stored: stored.bytes.len(),
                })
                .map_err(|fault| self.log.fault_at(number, fault)),
        )
    }
}

fn append(
    decoder: &mut BlockDecoder,
    stored: &crate::StoredBlock,
    out: &mut Vec<u8>,
) -> Result<(), BlockFault> {
    let raw = decoder.view(stored.compression, &stored.bytes)?;
    let (header, _) = SignedHeader::unpack_prefix(raw)?;
    if header.number() != stored.number {
        return Err(BlockFault::Number {
            expected: stored.number,
            found: header.number(),
        });
    }
    out.extend_from_slice(header.bytes());
    Ok(())
}
