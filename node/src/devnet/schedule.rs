//! Who produces which block, on a chain where nobody votes.
//!
//! Hive draws the list of producers at the end of each block whose number is divisible by 21, one round ahead
//! (since hardfork 26): the list drawn there comes into force 21 blocks later. Where nobody votes, and with
//! at most 21 witnesses, every witness is on the list: the first 20 by name, then the one that is left, which
//! is the last by name too. The list is then shuffled with numbers that are made of the time of the block
//! that drew it. The producer is entry `slot mod length`, where `slot` counts the slots since genesis, missed ones
//! included.

use cairn_chain::Time;
use cairn_rules::schedule::draw::ROUND;
use cairn_rules::schedule::shuffle::shuffle;

/// The list in force and the one that follows it; entries are indexes of witnesses.
#[derive(Debug, Clone)]
pub(super) struct Schedule {
    /// Slots since genesis, up to that of the last block.
    slot: u64,
    current: Vec<u32>,
    next: Vec<u32>,
}

impl Schedule {
    /// The schedule at genesis: one witness alone.
    pub(super) fn alone(witness: u32) -> Self {
        Self {
            slot: 0,
            current: vec![witness],
            next: vec![witness],
        }
    }

    /// Who may produce the next block after so many missed slots.
    pub(super) fn producer(&self, missed: u32) -> u32 {
        let slot = self.slot + 1 + u64::from(missed);
        self.current[(slot % self.current.len() as u64) as usize]
    }

    /// Ends block `number` with the time `time`, which came after so many missed slots. `by_name` is asked for all witnesses, sorted by name, when a
    /// new list is due.
    pub(super) fn end_block(
        &mut self,
        number: u32,
        time: u32,
        missed: u32,
        by_name: impl FnOnce() -> Vec<u32>,
    ) {
        self.slot += 1 + u64::from(missed);
        if number.is_multiple_of(ROUND) {
            let mut drawn = by_name();
            debug_assert!(
                drawn.len() <= ROUND as usize,
                "more witnesses than places need virtual time"
            );
            shuffle(&mut drawn, Time(time));
            self.current = std::mem::replace(&mut self.next, drawn);
        }
    }
}

#[cfg(test)]
mod tests {
    use cairn_chain::Time;

    use super::{Schedule, shuffle};

    /// Producers of blocks 85 to 105 of a real testnet log (`hf28_tests`): initminer is 0, the others are the
    /// number in their names plus 1. Their list was drawn by block 63.
    const OBSERVED: [u32; 21] = [
        9, 1, 6, 19, 0, 3, 7, 16, 12, 18, 14, 13, 20, 5, 8, 17, 11, 15, 10, 2, 4,
    ];
    const BLOCK_63: u32 = 1_675_817_706;

    fn witnesses_by_name() -> Vec<u32> {
        let mut names: Vec<(String, u32)> = (0..20).map(|i| (format!("witness{i}-alpha"), i + 1)).collect();
        names.push(("initminer".to_owned(), 0));
        names.sort();
        names.into_iter().map(|(_, index)| index).collect()
    }

    #[test]
    fn shuffle_gives_the_order_of_a_real_log() {
        let mut list = witnesses_by_name();
        shuffle(&mut list, Time(BLOCK_63));
        // Millions of slots were missed before that log's first block: its counter is 13 ahead of the number,
        // modulo 21.
        let order: Vec<u32> = (85..106).map(|number| list[(number + 13) % 21]).collect();
        assert_eq!(order, OBSERVED);
    }

    #[test]
    fn a_list_comes_into_force_a_round_after_its_draw() {
        let mut schedule = Schedule::alone(0);
        for number in 1..=42 {
            assert_eq!(schedule.producer(0), 0, "block {number}");
            schedule.end_block(number, number * 3, 0, || vec![5, 6]);
        }
        assert!([5, 6].contains(&schedule.producer(0)));
        assert_ne!(schedule.producer(0), schedule.producer(1));
        let second = schedule.producer(2);
        schedule.end_block(43, 43 * 3 + 3, 1, Vec::new);
        assert_eq!(schedule.producer(0), second, "the missed slot counts");
    }
}
