//! The blocks that a peer has, honest or not.

use std::sync::Arc;

use cairn_block_log::{BlockEncoder, Compression, Dictionaries, StoredBlock};
use cairn_chain::{BlockId, SignedHeader};
use cairn_node::devnet::{self, BlocksOptions, Fault, FaultAt};

/// Attributes of a block that is stored as one zstd frame without dictionary.
const ZSTD: u16 = 0x8000;

/// A block as it is stored and sent, with what was made of its header.
#[derive(Clone, Debug)]
pub struct Item {
    /// hived's attributes.
    pub attributes: u16,
    /// Stored bytes.
    pub bytes: Vec<u8>,
    /// The signed header that is sent alone.
    pub header: Vec<u8>,
    /// The id that follows from that header.
    pub id: BlockId,
    raw: Vec<u8>,
}

/// Blocks from 1 on.
#[derive(Clone, Debug)]
pub struct Stock(Vec<Item>);

impl Stock {
    /// The chain that the nodes of these tests are on.
    ///
    /// # Panics
    /// When it cannot be made.
    #[must_use]
    pub fn honest(blocks: u32) -> Self {
        Self::made(blocks, Vec::new())
    }

    /// Another chain of the same witnesses, valid in itself: equal to the honest one below `from`.
    ///
    /// # Panics
    /// When it cannot be made.
    #[must_use]
    pub fn fork(blocks: u32, from: u32) -> Self {
        Self::made(
            blocks,
            vec![FaultAt {
                block: from,
                fault: Fault::Fork,
            }],
        )
    }

    /// The honest chain with something wrong in one block, and what a careless node would have built on it.
    ///
    /// # Panics
    /// When it cannot be made.
    #[must_use]
    pub fn faulty(blocks: u32, block: u32, fault: Fault) -> Self {
        Self::made(blocks, vec![FaultAt { block, fault }])
    }

    /// The blocks of this one below `from`, and then as many that anybody can make, without a witness's key: block `from` has a
    /// time that has not come, so that it is not used, and none that follow find their parent.
    ///
    /// # Panics
    /// Never: what is changed stays a block.
    #[must_use]
    pub fn adrift(&self, from: u32, blocks: u32) -> Self {
        let mut encoder = encoder();
        let model = self.item(self.head()).header.clone();
        let mut items = self.0[..from as usize - 1].to_vec();
        for number in from..from + blocks {
            let mut raw = model.clone();
            let previous = items.last().map_or(BlockId::ZERO, |item| item.id);
            raw[..20].copy_from_slice(&previous.0);
            let time = if number == from { u32::MAX - 60 } else { number };
            raw[20..24].copy_from_slice(&time.to_le_bytes());
            // The Merkle root behind the witness's name, and the number of transactions behind the header: there are none.
            let root = 25 + usize::from(raw[24]);
            raw[root..root + 20].fill(0);
            raw.push(0);
            items.push(item(&mut encoder, raw));
        }
        Self(items)
    }

    /// One block of any chain, as it is stored and sent.
    pub(super) fn one(raw: Vec<u8>) -> Item {
        item(&mut encoder(), raw)
    }

    fn made(blocks: u32, faults: Vec<FaultAt>) -> Self {
        let options = BlocksOptions {
            faults,
            ..BlocksOptions::new(blocks)
        };
        let mut encoder = encoder();
        Self(
            devnet::blocks(&options)
                .map(|block| item(&mut encoder, block.bytes))
                .collect(),
        )
    }

    /// Number of the last block.
    ///
    /// # Panics
    /// Never: there are not so many.
    #[must_use]
    pub fn head(&self) -> u32 {
        u32::try_from(self.0.len()).expect("few blocks")
    }

    /// A block.
    ///
    /// # Panics
    /// When it is not there.
    #[must_use]
    pub fn item(&self, number: u32) -> &Item {
        &self.0[number as usize - 1]
    }

    /// Blocks from `first` on, at most `count`.
    #[must_use]
    pub fn range(&self, first: u32, count: u32) -> &[Item] {
        let start = (first as usize - 1).min(self.0.len());
        let end = start.saturating_add(count as usize).min(self.0.len());
        &self.0[start..end]
    }

    /// The id of a block.
    ///
    /// # Panics
    /// When it is not there.
    #[must_use]
    pub fn id(&self, number: u32) -> BlockId {
        self.item(number).id
    }

    /// Stored bytes of all blocks.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.0.iter().map(|item| item.bytes.len() as u64).sum()
    }

    /// Each block with the last byte of its last transaction's signature changed; headers as they were.
    #[must_use]
    pub fn with_altered_bodies(mut self) -> Self {
        let mut encoder = encoder();
        for item in &mut self.0 {
            let Some(last) = item.raw.last_mut() else { continue };
            *last ^= 1;
            item.store(&mut encoder);
        }
        self
    }

    /// Each block with another second in its header's time, in what is sent alone too.
    ///
    /// # Panics
    /// Never: what is changed stays a header.
    #[must_use]
    pub fn with_altered_headers(mut self) -> Self {
        let mut encoder = encoder();
        for item in &mut self.0 {
            // Behind the id of the block before.
            item.raw[20] ^= 1;
            let header = SignedHeader::unpack_prefix(&item.raw).expect("still a header").0;
            (item.id, item.header) = (header.id(), header.bytes().to_vec());
            item.store(&mut encoder);
        }
        self
    }

    /// Each block's header with the transactions of the block after it.
    #[must_use]
    pub fn with_swapped_bodies(mut self) -> Self {
        let mut encoder = encoder();
        let bodies: Vec<Vec<u8>> = self
            .0
            .iter()
            .map(|item| item.raw[item.header.len()..].to_vec())
            .collect();
        for (at, item) in self.0.iter_mut().enumerate() {
            let body = &bodies[(at + 1) % bodies.len()];
            item.raw = [item.header.as_slice(), body].concat();
            item.store(&mut encoder);
        }
        self
    }

    /// Each block's bytes replaced by a frame that unpacks to far more than any block may have.
    #[must_use]
    pub fn with_zip_bombs(mut self) -> Self {
        for item in &mut self.0 {
            (item.attributes, item.bytes) = (ZSTD, zip_bomb());
        }
        self
    }
}

impl Item {
    fn store(&mut self, encoder: &mut BlockEncoder) {
        let form = Compression::Zstd { dictionary: None };
        self.bytes = encoder
            .encode(&self.raw, form)
            .expect("a block of this chain is small");
    }
}

/// Two gigabytes of zeros in 64 KiB: a zstd frame without magic number, of blocks that each repeat one byte 128 Ki times.
#[must_use]
pub fn zip_bomb() -> Vec<u8> {
    // No content size, no checksum, no dictionary; a window of 128 KiB.
    let mut frame = vec![0x00, 7 << 3];
    for block in 1..=16_384_u32 {
        let last = u32::from(block == 16_384);
        let header = (128 << 10) << 3 | 1 << 1 | last;
        frame.extend_from_slice(&header.to_le_bytes()[..3]);
        frame.push(0);
    }
    frame
}

fn encoder() -> BlockEncoder {
    BlockEncoder::new(Arc::new(Dictionaries::none()))
}

fn item(encoder: &mut BlockEncoder, raw: Vec<u8>) -> Item {
    let header = SignedHeader::unpack_prefix(&raw)
        .expect("a block begins with its header")
        .0;
    let (id, header) = (header.id(), header.bytes().to_vec());
    let mut item = Item {
        attributes: ZSTD,
        bytes: Vec::new(),
        header,
        id,
        raw,
    };
    item.store(encoder);
    item
}

impl From<&Item> for StoredBlock {
    fn from(item: &Item) -> Self {
        Self {
            number: item.id.number(),
            compression: Compression::Zstd { dictionary: None },
            bytes: item.bytes.clone(),
        }
    }
}
