//! The node's own blocks as the network sees them.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

use cairn_block_log::BlockLog;
use cairn_chain::{BlockId, ChainId, ChainSpec};
use cairn_p2p::{BlockProvider, LocalStatus, ProvideError, WireBlock};
use cairn_sync::ChainView;

use super::frozen_chain::FrozenChain;
use super::header_builder::{HeaderBuilder, SharedHeaders};
use super::self_check::SelfCheck;

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

/// Serves the blocks of the log, and near the head of the chain those that are not irreversible yet.
#[derive(Debug)]
pub struct ServedLog {
    log: SharedLog,
    view: Arc<ChainView>,
    first_block_id: OnceLock<Option<BlockId>>,
    headers: SharedHeaders,
    builder: Option<HeaderBuilder>,
    check: Option<Arc<SelfCheck>>,
}

impl ServedLog {
    /// The view says how far the log is durable, and what lies above it.
    pub fn new(log: SharedLog, view: Arc<ChainView>) -> Self {
        Self {
            log,
            view,
            first_block_id: OnceLock::new(),
            headers: SharedHeaders::default(),
            builder: None,
            check: None,
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

    /// Looks again at what was served when a peer bans this node; a damaged block is noted in the file `note`.
    #[must_use]
    pub fn with_self_check(mut self, chain: Arc<ChainSpec>, note: PathBuf) -> Self {
        self.check = Some(Arc::new(SelfCheck::new(chain, note)));
        self
    }

    /// What is served now.
    fn now(&self) -> Option<FrozenChain> {
        // The view first: the log may be ahead of it, and has then the same blocks.
        let heads = self.view.heads();
        FrozenChain::new(
            self.log.get(),
            heads,
            Arc::clone(&self.headers),
            self.check.clone(),
        )
    }

    fn first_block_id(&self, log: &BlockLog) -> Option<BlockId> {
        if log.first_number() != Some(1) {
            return None;
        }
        *self
            .first_block_id
            .get_or_init(|| cairn_sync::id_if_there(log, 1))
    }
}

impl BlockProvider for ServedLog {
    fn status(&self) -> LocalStatus {
        let Some(chain) = self.now() else {
            return LocalStatus::EMPTY;
        };
        LocalStatus {
            first_block_id: self.log.get().and_then(|log| self.first_block_id(&log)),
            ..chain.status()
        }
    }

    fn frozen(&self) -> Option<Arc<dyn BlockProvider>> {
        Some(Arc::new(self.now()?))
    }

    fn read_range(
        &self,
        first: u32,
        max_count: u32,
        max_bytes: usize,
    ) -> Result<Vec<WireBlock>, ProvideError> {
        let chain = self.now().ok_or(ProvideError::NoSuchBlock(first))?;
        chain.read_range(first, max_count, max_bytes)
    }

    fn read_headers(&self, first: u32, max_count: u32, max_bytes: usize) -> Result<Vec<u8>, ProvideError> {
        let chain = self.now().ok_or(ProvideError::NoSuchBlock(first))?;
        chain.read_headers(first, max_count, max_bytes)
    }

    fn turned_away(&self) {
        if let (Some(check), Some(log)) = (&self.check, self.log.get()) {
            check.look_again(log);
        }
    }
}
