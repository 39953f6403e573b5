//! The node's own block log as the network sees it.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

use cairn_block_log::{BlockLog, Headers, LogError, LogHeaders};
use cairn_chain::{BlockId, ChainId};
use cairn_p2p::{BlockProvider, LocalStatus, ProvideError, WireBlock};
use cairn_sync::ChainView;

use super::header_builder::{HeaderBuilder, SharedHeaders};
use super::to_wire;

/// Most stored bytes that are read for one request for headers where they are not in the header file: what comes
/// behind is left for the next request.
const READ_FOR_HEADERS: usize = 32 << 20;

/// The log of this node, for those who read it while the node runs. It follows its writer; a writer that was opened
/// anew brings a new one.
#[derive(Clone, Debug, Default)]
pub struct SharedLog(Arc<RwLock<Option<BlockLog>>>);

impl SharedLog {
    /// The log now.
    pub fn get(&self) -> Option<BlockLog> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Shares this log from now on. Who reads the log before it goes on with that one.
    pub fn replace(&self, log: Option<BlockLog>) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = log;
    }
}

/// Serves the durable blocks of the log; what a crash could still take back is not offered.
#[derive(Debug)]
pub struct ServedLog {
    log: SharedLog,
    view: Arc<ChainView>,
    first_block_id: OnceLock<Option<BlockId>>,
    headers: SharedHeaders,
    builder: Option<HeaderBuilder>,
}

impl ServedLog {
    /// The view says how far the log is durable. Without a log nothing is served.
    pub fn new(log: SharedLog, view: Arc<ChainView>) -> Self {
        Self {
            log,
            view,
            first_block_id: OnceLock::new(),
            headers: SharedHeaders::default(),
            builder: None,
        }
    }

    /// Keeps a header file at `path` from now on, by a thread in the background, and serves headers from it.
    #[must_use]
    pub fn with_header_file(mut self, path: PathBuf, chain: ChainId) -> Self {
        if self.log.get().is_some() {
            let (view, headers) = (Arc::clone(&self.view), Arc::clone(&self.headers));
            match HeaderBuilder::start(path, chain, self.log.clone(), view, headers) {
                Ok(builder) => self.builder = Some(builder),
                Err(error) => {
                    tracing::warn!(target: "p2p", "no header file is kept: no thread can be started: {error}");
                }
            }
        }
        self
    }

    /// First and last block that are served.
    fn range(&self, log: &BlockLog) -> Option<(u32, u32, BlockId)> {
        let durable = self.view.heads().durable?;
        let first = log.first_number()?;
        (first <= durable.number).then_some((first, durable.number, durable.id))
    }

    fn first_block_id(&self, log: &BlockLog) -> Option<BlockId> {
        if log.first_number() != Some(1) {
            return None;
        }
        *self
            .first_block_id
            .get_or_init(|| cairn_sync::id_if_there(log, 1))
    }

    /// The log, and the last block of a request that is served.
    fn bounds(&self, first: u32, max_count: u32) -> Result<(BlockLog, u32), ProvideError> {
        let log = self.log.get().ok_or(ProvideError::NoSuchBlock(first))?;
        let Some((lowest, head, _)) = self.range(&log) else {
            return Err(ProvideError::NoSuchBlock(first));
        };
        if !(lowest..=head).contains(&first) {
            return Err(ProvideError::NoSuchBlock(first));
        }
        Ok((log, head.min(first.saturating_add(max_count.saturating_sub(1)))))
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
}

impl BlockProvider for ServedLog {
    fn status(&self) -> LocalStatus {
        let Some(log) = self.log.get() else {
            return LocalStatus::EMPTY;
        };
        match self.range(&log) {
            Some((first, head, head_id)) => LocalStatus {
                first,
                head,
                head_id,
                first_block_id: self.first_block_id(&log),
            },
            None => LocalStatus::EMPTY,
        }
    }

    fn read_range(
        &self,
        first: u32,
        max_count: u32,
        max_bytes: usize,
    ) -> Result<Vec<WireBlock>, ProvideError> {
        let (log, last) = self.bounds(first, max_count)?;
        let (mut blocks, mut bytes) = (Vec::new(), 0);
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
            let number = block.number;
            blocks.push(block);
            if number >= last || bytes >= max_bytes {
                break;
            }
        }
        Ok(blocks)
    }

    fn read_headers(&self, first: u32, max_count: u32, max_bytes: usize) -> Result<Vec<u8>, ProvideError> {
        let (log, last) = self.bounds(first, max_count)?;
        let wanted = last - first + 1;
        let Headers { mut bytes, count } = self.kept_headers(first, wanted, max_bytes);
        if count == wanted {
            return Ok(bytes);
        }
        let (mut next, mut read) = (first + count, 0);
        let mut source = LogHeaders::new(&log, next);
        while next <= last && read < READ_FOR_HEADERS {
            let whole = bytes.len();
            match source.take(&mut bytes) {
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
        Ok(bytes)
    }
}

fn failed(number: u32, error: impl std::error::Error + Send + Sync + 'static) -> ProvideError {
    ProvideError::Read {
        number,
        source: Box::new(error),
    }
}
