//! A peer at the head of a chain: it has one branch at a time, and says so when it has another one.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cairn_chain::BlockId;
use cairn_node::devnet::RawBlock;
use cairn_p2p::{BlockProvider, LocalStatus, ProvideError, WireBlock};

use super::Stock;
use super::stock::Item;

/// Serves a branch that can be exchanged for another one at any time.
#[derive(Clone, Debug, Default)]
pub struct Grower(Arc<Mutex<Branch>>);

#[derive(Debug, Default)]
struct Branch {
    items: Vec<Item>,
    /// A head that it claims.
    claims: Option<BlockId>,
    /// Requests for blocks and headers.
    requests: u64,
}

impl Grower {
    /// Has these blocks from 1 on.
    #[must_use]
    pub fn new(blocks: &[RawBlock]) -> Self {
        let grower = Self::default();
        grower.go_to(blocks);
        grower
    }

    /// Has the first blocks of a stock.
    ///
    /// # Panics
    /// When there are not so many.
    #[must_use]
    pub fn of(stock: &Stock, blocks: u32) -> Self {
        let grower = Self::default();
        (1..=blocks).for_each(|number| grower.push_item(stock.item(number)));
        grower
    }

    fn branch(&self) -> MutexGuard<'_, Branch> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Has these blocks from now on, and no others.
    pub fn go_to(&self, blocks: &[RawBlock]) {
        let mut branch = self.branch();
        let known: HashMap<BlockId, Item> = std::mem::take(&mut branch.items)
            .into_iter()
            .map(|item| (item.id, item))
            .collect();
        let new = |block: &RawBlock| Stock::one(block.bytes.clone());
        branch.items = blocks
            .iter()
            .map(|block| known.get(&block.id).cloned().unwrap_or_else(|| new(block)))
            .collect();
    }

    /// Has one block more.
    pub fn push(&self, block: &RawBlock) {
        self.branch().items.push(Stock::one(block.bytes.clone()));
    }

    /// Has one block of a stock more.
    pub fn push_item(&self, item: &Item) {
        self.branch().items.push(item.clone());
    }

    /// Says that its head is this one.
    pub fn claim(&self, id: BlockId) {
        self.branch().claims = Some(id);
    }

    /// How many requests came.
    #[must_use]
    pub fn requests(&self) -> u64 {
        self.branch().requests
    }
}

impl Branch {
    fn range(&mut self, first: u32, count: u32) -> Result<&[Item], ProvideError> {
        self.requests += 1;
        let start = first as usize - 1;
        if start >= self.items.len() {
            return Err(ProvideError::NoSuchBlock(first));
        }
        let end = start.saturating_add(count as usize).min(self.items.len());
        Ok(&self.items[start..end])
    }
}

impl BlockProvider for Grower {
    fn status(&self) -> LocalStatus {
        let branch = self.branch();
        let (Some(first), Some(last)) = (branch.items.first(), branch.items.last()) else {
            return LocalStatus::EMPTY;
        };
        let head_id = branch.claims.unwrap_or(last.id);
        LocalStatus {
            first: 1,
            head: head_id.number(),
            head_id,
            first_block_id: Some(first.id),
        }
    }

    fn read_range(
        &self,
        first: u32,
        max_count: u32,
        max_bytes: usize,
    ) -> Result<Vec<WireBlock>, ProvideError> {
        let mut branch = self.branch();
        let (mut blocks, mut bytes) = (Vec::new(), 0);
        for (item, number) in branch.range(first, max_count)?.iter().zip(first..) {
            bytes += item.bytes.len();
            blocks.push(WireBlock {
                number,
                attributes: item.attributes,
                bytes: item.bytes.clone(),
            });
            if bytes >= max_bytes {
                break;
            }
        }
        Ok(blocks)
    }

    fn read_headers(&self, first: u32, max_count: u32, max_bytes: usize) -> Result<Vec<u8>, ProvideError> {
        let mut branch = self.branch();
        let mut headers = Vec::new();
        for item in branch.range(first, max_count)? {
            if headers.len() + item.header.len() > max_bytes {
                break;
            }
            headers.extend_from_slice(&item.header);
        }
        Ok(headers)
    }
}
