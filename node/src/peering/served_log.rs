//! The node's own block log as the network sees it.

use std::sync::{Arc, OnceLock};

use cairn_block_log::BlockLog;
use cairn_chain::BlockId;
use cairn_p2p::{BlockProvider, LocalStatus, ProvideError, WireBlock};
use cairn_sync::ChainView;

use super::to_wire;

/// Serves the durable blocks of the log; what a crash could still take back is not offered.
#[derive(Debug)]
pub struct ServedLog {
    log: Option<BlockLog>,
    view: Arc<ChainView>,
    first_block_id: OnceLock<Option<BlockId>>,
}

impl ServedLog {
    /// A log that follows its writer, and the view that says how far it is durable. Without a log nothing is served.
    pub fn new(log: Option<BlockLog>, view: Arc<ChainView>) -> Self {
        Self {
            log,
            view,
            first_block_id: OnceLock::new(),
        }
    }

    /// First and last block that are served.
    fn range(&self) -> Option<(u32, u32, BlockId)> {
        let durable = self.view.heads().durable?;
        let first = self.log.as_ref()?.first_number()?;
        (first <= durable.number).then_some((first, durable.number, durable.id))
    }

    fn first_block_id(&self) -> Option<BlockId> {
        let log = self.log.as_ref().filter(|log| log.first_number() == Some(1))?;
        *self
            .first_block_id
            .get_or_init(|| cairn_sync::id_if_there(log, 1))
    }
}

impl BlockProvider for ServedLog {
    fn status(&self) -> LocalStatus {
        match self.range() {
            Some((first, head, head_id)) => LocalStatus {
                first,
                head,
                head_id,
                first_block_id: self.first_block_id(),
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
        let (Some(log), Some((lowest, head, _))) = (&self.log, self.range()) else {
            return Err(ProvideError::NoSuchBlock(first));
        };
        if !(lowest..=head).contains(&first) {
            return Err(ProvideError::NoSuchBlock(first));
        }
        let last = head.min(first.saturating_add(max_count.saturating_sub(1)));
        let (mut blocks, mut bytes) = (Vec::new(), 0);
        for stored in log.sequential(first) {
            let failed = |source| ProvideError::Read {
                number: first,
                source,
            };
            let block = to_wire(stored.map_err(|error| failed(error.into()))?)
                .map_err(|error| failed(error.into()))?;
            bytes += block.bytes.len();
            let number = block.number;
            blocks.push(block);
            if number >= last || bytes >= max_bytes {
                break;
            }
        }
        Ok(blocks)
    }
}
