//! What the transactions of a block are compared with: the last 65536 blocks.
//!
//! A transaction names one of them by the low 16 bits of its number (TaPoS). A repeated transaction further apart
//! than that could not name its block, and would long be expired; so repeats are looked for in the same window, and
//! memory does not grow with the log.

use std::collections::{HashMap, VecDeque};

use cairn_chain::{BlockId, TransactionId};

/// Blocks that a 16-bit number can tell apart.
const WINDOW: usize = 1 << 16;

/// How a transaction's reference fits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reference {
    /// It names a block of the log with the right prefix.
    Match,
    /// It names a block that the log does not hold.
    OutsideLog,
    /// It names a block of the log with another prefix.
    Mismatch,
}

/// The window.
pub(super) struct Recent {
    first: u32,
    /// Prefix of block n at n modulo [`WINDOW`].
    prefixes: Vec<u32>,
    /// Transaction ids of the blocks in the window, oldest first.
    transactions: VecDeque<Vec<TransactionId>>,
    seen: HashMap<TransactionId, u32>,
}

impl Recent {
    /// An empty window in front of block `first`.
    pub(super) fn new(first: u32) -> Self {
        Self {
            first,
            prefixes: vec![0; WINDOW],
            transactions: VecDeque::new(),
            seen: HashMap::new(),
        }
    }

    /// Compares the reference of a transaction in block `number` with the blocks before it.
    pub(super) fn reference(&self, number: u32, ref_block_num: u16, prefix: u32) -> Reference {
        let before = number.wrapping_sub(1);
        let back = u32::from((before as u16).wrapping_sub(ref_block_num));
        match before.checked_sub(back).filter(|named| *named >= self.first) {
            None => Reference::OutsideLog,
            Some(_) if self.prefixes[usize::from(ref_block_num)] == prefix => Reference::Match,
            Some(_) => Reference::Mismatch,
        }
    }

    /// Adds a block; returns how many of its transactions were in the window already.
    pub(super) fn add(&mut self, id: &BlockId, transactions: Vec<TransactionId>) -> u64 {
        self.prefixes[id.number() as usize % WINDOW] = id.reference_prefix();
        if self.transactions.len() == WINDOW {
            for old in self.transactions.pop_front().unwrap_or_default() {
                if let Some(count) = self.seen.get_mut(&old) {
                    *count -= 1;
                    if *count == 0 {
                        self.seen.remove(&old);
                    }
                }
            }
        }
        let mut repeats = 0;
        for transaction in &transactions {
            let count = self.seen.entry(*transaction).or_default();
            repeats += u64::from(*count > 0);
            *count += 1;
        }
        self.transactions.push_back(transactions);
        repeats
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(number: u32) -> BlockId {
        let mut bytes = [7; 20];
        bytes[..4].copy_from_slice(&number.to_be_bytes());
        bytes[4..8].copy_from_slice(&number.wrapping_mul(3).to_le_bytes());
        BlockId(bytes)
    }

    fn filled(first: u32, last: u32) -> Recent {
        let mut recent = Recent::new(first);
        (first..=last).for_each(|number| assert_eq!(recent.add(&id(number), vec![]), 0));
        recent
    }

    #[test]
    fn references_reach_back_to_the_first_block() {
        let recent = filled(801, 900);
        for (number, reference, prefix, expected) in [
            (901, 900, 2700, Reference::Match),
            (901, 801, 2403, Reference::Match),
            (901, 800, 2400, Reference::OutsideLog),
            (901, 850, 2700, Reference::Mismatch),
            (901, 901, 2703, Reference::OutsideLog),
            (901, 60_000, 0, Reference::OutsideLog),
        ] {
            assert_eq!(
                recent.reference(number, reference, prefix),
                expected,
                "{number} {reference}"
            );
        }
    }

    #[test]
    fn references_wrap_at_65536() {
        let recent = filled(1, 70_000);
        assert_eq!(
            recent.reference(70_001, (70_000u32 & 0xffff) as u16, 210_000),
            Reference::Match
        );
        assert_eq!(recent.reference(70_001, 0xffff, 3 * 0xffff), Reference::Match);
        assert_eq!(recent.reference(70_001, 5000, 3 * 5000), Reference::Match);
        assert_eq!(
            recent.reference(70_001, 4464, 3 * 4464),
            Reference::Mismatch,
            "block 70000 took its place"
        );
    }

    #[test]
    fn repeats_are_found_within_the_window_only() {
        let mut recent = Recent::new(1);
        let transaction = TransactionId([1; 20]);
        assert_eq!(recent.add(&id(1), vec![transaction, transaction]), 1);
        assert_eq!(recent.add(&id(2), vec![transaction]), 1);
        for number in 3..=65_538 {
            recent.add(&id(number), vec![]);
        }
        assert_eq!(recent.add(&id(65_539), vec![transaction]), 0);
        assert_eq!(recent.seen.len(), 1);
    }
}
