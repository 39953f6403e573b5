//! Blocks in the form in which a log holds them, compressed by several threads.

use std::sync::Arc;

use cairn_block_log::{BlockEncoder, Compression, Dictionaries, EncodeError, StoredBlock};
use cairn_chain::{BlockId, Time};

use super::plan::LAG;
use super::pool::OrderedPool;
use super::seal::RawBlock;

/// Blocks that are compressed at once; as many as are written at once.
const AHEAD: u64 = LAG as u64;

/// A block to append to a log.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) id: BlockId,
    pub(super) time: Time,
    pub(super) transactions: u32,
    pub(super) operations: u32,
    pub(super) block: StoredBlock,
}

/// A block that could not be compressed.
#[derive(Debug)]
pub(super) struct Failure {
    pub(super) block: u32,
    pub(super) source: EncodeError,
}

/// An iterator over the blocks, as they are or compressed.
pub(super) enum Stored<B> {
    AsIs(B),
    Compressed {
        blocks: B,
        encoders: OrderedPool<RawBlock, Result<Entry, Failure>>,
    },
}

impl<B: Iterator<Item = RawBlock>> Stored<B> {
    pub(super) fn new(blocks: B, compress: bool, threads: usize) -> Self {
        if !compress {
            return Self::AsIs(blocks);
        }
        let encoders = OrderedPool::start(threads, || {
            let mut encoder = BlockEncoder::new(Arc::new(Dictionaries::none()));
            move |block: RawBlock| compressed(&mut encoder, &block)
        });
        Self::Compressed { blocks, encoders }
    }
}

impl<B: Iterator<Item = RawBlock>> Iterator for Stored<B> {
    type Item = Result<Entry, Failure>;

    fn next(&mut self) -> Option<Self::Item> {
        match self {
            Self::AsIs(blocks) => blocks.next().map(|block| Ok(as_is(block))),
            Self::Compressed { blocks, encoders } => {
                while encoders.pending() < AHEAD
                    && let Some(block) = blocks.next()
                {
                    encoders.submit(block);
                }
                encoders.take()
            }
        }
    }
}

fn as_is(block: RawBlock) -> Entry {
    let RawBlock {
        number,
        id,
        time,
        bytes,
        transactions,
        operations,
        ..
    } = block;
    let block = StoredBlock {
        number,
        compression: Compression::None,
        bytes,
    };
    Entry {
        id,
        time,
        transactions,
        operations,
        block,
    }
}

fn compressed(encoder: &mut BlockEncoder, block: &RawBlock) -> Result<Entry, Failure> {
    let RawBlock {
        number,
        id,
        time,
        ref bytes,
        transactions,
        operations,
        ..
    } = *block;
    match encoder.encode_block(number, bytes) {
        Ok(block) => Ok(Entry {
            id,
            time,
            transactions,
            operations,
            block,
        }),
        Err(source) => Err(Failure {
            block: number,
            source,
        }),
    }
}
