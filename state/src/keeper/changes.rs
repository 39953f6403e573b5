//! The registers of a commit, for the keeper.

use crate::path::Path;
use crate::record::Record;
use crate::trie::LeafBatch;

/// Paths and values, in one allocation each.
#[derive(Debug, Default)]
pub(crate) struct Changes {
    registers: Vec<Changed>,
    values: Vec<u8>,
}

#[derive(Debug)]
struct Changed {
    path: Path,
    key_bytes: u32,
    /// 0: removed.
    value_bytes: u32,
}

impl Changes {
    /// A list with room for so many registers, and so many bytes of values. A list that grows would be copied.
    pub(crate) fn with_room(registers: usize, bytes: usize) -> Self {
        Self {
            registers: Vec::with_capacity(registers),
            values: Vec::with_capacity(bytes),
        }
    }

    pub(crate) fn push(&mut self, path: Path, record: &Record) {
        let value = record.value();
        self.values.extend_from_slice(value);
        self.registers.push(Changed {
            path,
            // Both are bounded far below 4 GiB by what a register may be.
            key_bytes: (record.size() - value.len()) as u32,
            value_bytes: value.len() as u32,
        });
    }

    /// Puts them into a batch, which hashes them.
    pub(super) fn fill(&self, batch: &mut LeafBatch) {
        batch.clear();
        let mut values = &self.values[..];
        for Changed {
            path,
            key_bytes,
            value_bytes,
        } in &self.registers
        {
            let (value, rest) = values.split_at(*value_bytes as usize);
            values = rest;
            match value.is_empty() {
                true => batch.remove(*path),
                false => batch.set(*path, *key_bytes as usize, value),
            }
        }
    }
}
