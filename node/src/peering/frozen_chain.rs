//! This node's chain at one moment: the block log and, behind it, the blocks that could still be taken back.

use std::sync::Arc;

use cairn_block_log::{BlockLog, Compression, Headers, LogError, LogHeaders, StoredBlock};
use cairn_chain::{BlockId, SignedHeader};
use cairn_p2p::{BlockProvider, LocalStatus, ProvideError, WireBlock};
use cairn_sync::pipeline::{LogEntry, PreparedBlock};
use cairn_sync::{Heads, ReversibleBlocks};

use super::header_builder::SharedHeaders;
use super::self_check::SelfCheck;
use super::to_wire;

/// Most stored bytes that are read for one request for headers where they are not in the header file: what comes
/// behind is left for the next request.
const READ_FOR_HEADERS: usize = 32 << 20;

/// What is served; see the module. What the log has is irreversible, and the first of the other blocks continues it, so
/// that all of it is one chain although the log goes on growing.
#[derive(Debug)]
pub(super) struct FrozenChain {
    log: Option<BlockLog>,
    reversible: ReversibleBlocks,
    headers: SharedHeaders,
    check: Option<Arc<SelfCheck>>,
    /// First and last block that are served.
    first: u32,
    head: u32,
    head_id: BlockId,
}

impl FrozenChain {
    /// `None`: nothing is served. A crash could take back what is not durable: only near the head of the chain, where
    /// everybody has such blocks, are they served.
    pub(super) fn new(
        log: Option<BlockLog>,
        heads: Heads,
        headers: SharedHeaders,
        check: Option<Arc<SelfCheck>>,
    ) -> Option<Self> {
        let logged = log
            .as_ref()
            .and_then(|log| log.first_number().zip(log.head_number()));
        let above = heads.reversible.first_number();
        let (first, last) = match (logged, above, heads.head) {
            // The blocks between are on their way into the log.
            (Some((_, end)), Some(above), _) if above > end.saturating_add(1) => (logged?.0, heads.durable?),
            (Some((first, _)), Some(_), Some(head)) => (first, head),
            (None, Some(above), Some(head)) => (above, head),
            (Some((first, _)), ..) => (first, heads.durable?),
            (None, ..) => return None,
        };
        let first = first.max(check.as_ref().map_or(0, |check| check.first()));
        (first <= last.number).then_some(Self {
            log,
            headers,
            check,
            first,
            head: last.number,
            head_id: last.id,
            reversible: heads.reversible,
        })
    }

    /// The last block of a request that is served.
    fn last_of(&self, first: u32, max_count: u32) -> Result<u32, ProvideError> {
        if !(self.first..=self.head).contains(&first) {
            return Err(ProvideError::NoSuchBlock(first));
        }
        Ok(self.head.min(first.saturating_add(max_count.saturating_sub(1))))
    }

    /// The last block that is read from the log.
    fn log_end(&self) -> u32 {
        self.reversible
            .first_number()
            .map_or(self.head, |first| first - 1)
    }

    /// Headers from the file, as far as it goes. A file that cannot be read is not missed: there are the blocks.
    fn kept_headers(&self, first: u32, count: u32, max_bytes: usize) -> Headers {
        let Some(file) = self.headers.get() else {
            return Headers::default();
        };
        file.read(first, count, max_bytes).unwrap_or_else(|error| {
            tracing::warn!(target: "p2p", "{error}");
            Headers::default()
        })
    }

    /// Headers of blocks of the log, up to block `last`; how many.
    fn logged_headers(
        &self,
        bytes: &mut Vec<u8>,
        first: u32,
        last: u32,
        max_bytes: usize,
    ) -> Result<u32, ProvideError> {
        let Some(log) = self.log.as_ref().filter(|_| first <= last) else {
            return Ok(0);
        };
        let kept = self.kept_headers(first, last - first + 1, max_bytes);
        let mut next = first + kept.count;
        *bytes = kept.bytes;
        let mut read = 0;
        let mut source = LogHeaders::new(log, next);
        while next <= last && read < READ_FOR_HEADERS {
            let whole = bytes.len();
            match source.take(bytes) {
                Some(Ok(taken)) if bytes.len() <= max_bytes => {
                    read += taken.stored;
                    next += 1;
                }
                // No room for this one.
                Some(Ok(_)) => {
                    bytes.truncate(whole);
                    break;
                }
                // What came before is worth sending; the next request ends here again.
                Some(Err(error)) if whole == 0 => return Err(failed(first, error)),
                Some(Err(_)) | None => break,
            }
        }
        Ok(next - first)
    }
}

impl BlockProvider for FrozenChain {
    fn status(&self) -> LocalStatus {
        LocalStatus {
            first: self.first,
            head: self.head,
            head_id: self.head_id,
            first_block_id: None,
        }
    }

    fn read_range(
        &self,
        first: u32,
        max_count: u32,
        max_bytes: usize,
    ) -> Result<Vec<WireBlock>, ProvideError> {
        let last = self.last_of(first, max_count)?;
        let log_end = self.log_end();
        let (mut blocks, mut bytes, mut next) = (Vec::new(), 0, first);
        if let Some(log) = self.log.as_ref().filter(|_| first <= log_end) {
            for stored in log.sequential(first) {
                let stored = match stored {
                    Ok(stored) => stored,
                    // Pruned away a moment ago.
                    Err(LogError::OutOfRange { block, .. }) if blocks.is_empty() => {
                        return Err(ProvideError::NoSuchBlock(block));
                    }
                    Err(error) => return Err(failed(first, error)),
                };
                let block = to_wire(stored).map_err(|error| failed(first, error))?;
                bytes += block.bytes.len();
                next = block.number + 1;
                blocks.push(block);
                if next > last.min(log_end) || bytes >= max_bytes {
                    break;
                }
            }
            if let (Some(check), true) = (&self.check, next > first) {
                check.note_served(first, next - 1);
            }
        }
        while next <= last && bytes < max_bytes {
            let Some(prepared) = self.reversible.get(next) else {
                break;
            };
            let block = to_wire(stored_form(prepared)).map_err(|error| failed(next, error))?;
            bytes += block.bytes.len();
            blocks.push(block);
            next += 1;
        }
        if blocks.is_empty() {
            return Err(ProvideError::NoSuchBlock(first));
        }
        Ok(blocks)
    }

    fn read_headers(&self, first: u32, max_count: u32, max_bytes: usize) -> Result<Vec<u8>, ProvideError> {
        let last = self.last_of(first, max_count)?;
        let log_end = self.log_end().min(last);
        let mut bytes = Vec::new();
        let mut next = first + self.logged_headers(&mut bytes, first, log_end, max_bytes)?;
        while next > log_end && next <= last {
            let Some(prepared) = self.reversible.get(next) else {
                break;
            };
            let (header, _) =
                SignedHeader::unpack_prefix(prepared.block.bytes()).map_err(|error| failed(next, error))?;
            if bytes.len() + header.bytes().len() > max_bytes {
                break;
            }
            bytes.extend_from_slice(header.bytes());
            next += 1;
        }
        if bytes.is_empty() {
            return Err(ProvideError::NoSuchBlock(first));
        }
        Ok(bytes)
    }
}

/// A reversible block as it will be in the log.
fn stored_form(prepared: &PreparedBlock) -> StoredBlock {
    match &prepared.log_entry {
        LogEntry::Stored(stored) => stored.clone(),
        LogEntry::Plain | LogEntry::None => StoredBlock {
            number: prepared.block.number(),
            compression: Compression::None,
            bytes: prepared.block.bytes().to_vec(),
        },
    }
}

fn failed(number: u32, error: impl std::error::Error + Send + Sync + 'static) -> ProvideError {
    ProvideError::Read {
        number,
        source: Box::new(error),
    }
}
