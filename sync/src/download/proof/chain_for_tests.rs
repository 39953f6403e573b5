//! A chain of empty headers, made up: what the tests of this module need of blocks.

use cairn_block_log::{Compression, StoredBlock};
use cairn_chain::{BlockId, SignedHeader};

use crate::checkpoint::Checkpoint;
use crate::download::arrival::Arrival;

/// Headers of blocks 1.. that continue each other.
#[derive(Clone, Debug)]
pub(crate) struct HeaderChain {
    headers: Vec<Vec<u8>>,
    ids: Vec<BlockId>,
}

impl HeaderChain {
    /// `len` blocks; chains with another `salt` differ from block 1 on.
    pub(crate) fn new(len: u32, salt: u8) -> Self {
        let mut chain = Self {
            headers: Vec::new(),
            ids: vec![BlockId::ZERO],
        };
        chain.extend(len, salt);
        chain
    }

    /// The same up to block `last`, and another chain from there.
    pub(crate) fn fork_after(&self, last: u32, salt: u8) -> Self {
        let mut fork = self.clone();
        let len = fork.headers.len() as u32;
        fork.headers.truncate(last as usize);
        fork.ids.truncate(last as usize + 1);
        fork.extend(len, salt);
        fork
    }

    fn extend(&mut self, len: u32, salt: u8) {
        while self.headers.len() < len as usize {
            let mut bytes = self.ids.last().unwrap().0.to_vec();
            bytes.extend_from_slice(&(self.headers.len() as u32 * 3).to_le_bytes());
            bytes.extend_from_slice(&[1, b'a' + salt % 26]);
            bytes.extend_from_slice(&[0; 20]);
            bytes.push(0);
            bytes.extend_from_slice(&[salt; 65]);
            let (header, len) = SignedHeader::unpack_prefix(&bytes).unwrap();
            assert_eq!(len, bytes.len());
            self.ids.push(header.id());
            self.headers.push(bytes);
        }
    }

    pub(crate) fn id(&self, number: u32) -> BlockId {
        self.ids[number as usize]
    }

    pub(crate) fn checkpoint(&self, number: u32) -> Checkpoint {
        Checkpoint {
            number,
            id: self.id(number),
        }
    }

    /// The headers of `count` blocks from `first` on, as far as there are any.
    pub(crate) fn bytes(&self, first: u32, count: u32) -> Vec<u8> {
        self.headers
            .iter()
            .skip(first as usize - 1)
            .take(count as usize)
            .flatten()
            .copied()
            .collect()
    }

    /// A block with this header and `size` bytes.
    pub(crate) fn arrival(&self, number: u32, size: usize) -> Arrival {
        let mut bytes = self.headers[number as usize - 1].clone();
        bytes.resize(size.max(bytes.len()), 0);
        Arrival {
            stored: StoredBlock {
                number,
                compression: Compression::None,
                bytes,
            },
            id: self.id(number),
            previous: self.id(number - 1),
        }
    }
}
