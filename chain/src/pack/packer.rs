//! Writing packed bytes.

use super::Pack;
use crate::asset::{AssetPacking, Symbols};

/// Packed bytes under construction, and how assets are spelled in them.
#[derive(Debug, Clone)]
pub struct Packer {
    bytes: Vec<u8>,
    packing: AssetPacking,
    symbols: Symbols,
}

impl Packer {
    /// Starts with no bytes.
    #[must_use]
    pub fn new(packing: AssetPacking, symbols: Symbols) -> Self {
        Self {
            bytes: Vec::new(),
            packing,
            symbols,
        }
    }

    /// Packs one value by itself.
    #[must_use]
    pub fn pack_one(value: &impl Pack, packing: AssetPacking, symbols: Symbols) -> Vec<u8> {
        let mut packer = Self::new(packing, symbols);
        value.pack(&mut packer);
        packer.into_bytes()
    }

    /// Which form asset symbols are written in.
    #[must_use]
    pub fn packing(&self) -> AssetPacking {
        self.packing
    }

    /// The network's spelling of legacy asset symbols.
    #[must_use]
    pub fn symbols(&self) -> Symbols {
        self.symbols
    }

    /// What was written so far.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// What was written.
    #[must_use]
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// Appends bytes as they are.
    pub fn raw(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// Appends a varint in its shortest form.
    pub fn varint(&mut self, value: u32) {
        let mut rest = value;
        loop {
            let group = (rest & 0x7f) as u8;
            rest >>= 7;
            if rest == 0 {
                self.bytes.push(group);
                return;
            }
            self.bytes.push(group | 0x80);
        }
    }

    /// Appends a count as a varint.
    ///
    /// # Panics
    ///
    /// If there are more than 2^32 - 1 elements; a block has room for two million bytes.
    pub(crate) fn count(&mut self, count: usize) {
        let count = u32::try_from(count);
        self.varint(count.expect("a list in memory holds fewer elements than 2^32"));
    }

    /// Appends bytes behind their length.
    pub fn length_prefixed(&mut self, bytes: &[u8]) {
        self.count(bytes.len());
        self.raw(bytes);
    }
}
