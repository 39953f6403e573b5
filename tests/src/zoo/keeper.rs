//! Peers that keep the protocol: an ordinary network over a stock of blocks.

use std::time::Duration;

use cairn_chain::BlockId;
use cairn_p2p::{BlockProvider, LocalStatus, ProvideError, WireBlock};

use super::Stock;

/// Serves a stock.
#[derive(Debug)]
pub struct Keeper {
    stock: Stock,
    status: LocalStatus,
    delay: Duration,
}

impl Keeper {
    /// Says what it has, and answers at once.
    #[must_use]
    pub fn new(stock: Stock) -> Self {
        let head = stock.head();
        let status = LocalStatus {
            first: 1,
            head,
            head_id: stock.id(head),
            first_block_id: Some(stock.id(1)),
        };
        Self {
            stock,
            status,
            delay: Duration::ZERO,
        }
    }

    /// Claims a head that it does not have.
    #[must_use]
    pub fn claiming(mut self, head: u32) -> Self {
        let mut id = [0x77; 20];
        id[..4].copy_from_slice(&head.to_be_bytes());
        (self.status.head, self.status.head_id) = (head, BlockId(id));
        self
    }

    /// Keeps only the blocks from `first` on.
    #[must_use]
    pub fn pruned(mut self, first: u32) -> Self {
        self.status.first = first;
        self
    }

    /// Takes its time before each answer.
    #[must_use]
    pub fn late(mut self, delay: Duration) -> Self {
        self.delay = delay;
        self
    }
}

impl BlockProvider for Keeper {
    fn status(&self) -> LocalStatus {
        self.status
    }

    fn read_range(
        &self,
        first: u32,
        max_count: u32,
        max_bytes: usize,
    ) -> Result<Vec<WireBlock>, ProvideError> {
        std::thread::sleep(self.delay);
        let (mut blocks, mut bytes) = (Vec::new(), 0);
        for (item, number) in self.stock.range(first, max_count).iter().zip(first..) {
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
        if blocks.is_empty() {
            return Err(ProvideError::NoSuchBlock(first));
        }
        Ok(blocks)
    }

    fn read_headers(&self, first: u32, max_count: u32, max_bytes: usize) -> Result<Vec<u8>, ProvideError> {
        std::thread::sleep(self.delay);
        let mut headers = Vec::new();
        for item in self.stock.range(first, max_count) {
            if headers.len() + item.header.len() > max_bytes {
                break;
            }
            headers.extend_from_slice(&item.header);
        }
        if headers.is_empty() {
            return Err(ProvideError::NoSuchBlock(first));
        }
        Ok(headers)
    }
}
