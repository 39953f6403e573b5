//! When hardforks take effect.
//!
//! Hardforks up to 5 take effect by time alone, later ones when 17 of the 21 scheduled witnesses voted for them, at the end
//! of the first block that is not earlier than the time. Before the transactions of block 1 all hardforks whose time is not
//! later than that block's time are applied. On mainnet the blocks are known, and a node that cannot count votes (which
//! takes stake) goes by them.

use crate::time::Time;

/// Number of the newest hardfork that this code knows.
pub const HARDFORK_COUNT: usize = 28;

/// Times, and on mainnet blocks, of hardforks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HardforkSchedule {
    /// Time of hardfork n at n - 1.
    times: Vec<Time>,
    /// Block at whose end hardfork n took effect, at n - 1.
    blocks: &'static [u32],
}

/// Configured times on mainnet, for hardforks 1 to 28.
const MAINNET_TIMES: [u32; HARDFORK_COUNT] = [
    1_461_605_400, // 1: 2016-04-25T17:30:00
    1_461_693_600, // 2
    1_461_762_000, // 3
    1_462_028_400, // 4
    1_464_714_000, // 5
    1_467_295_200, // 6
    1_467_590_400, // 7
    1_467_594_000, // 8
    1_468_454_400, // 9
    1_468_584_000, // 10
    1_468_767_600, // 11
    1_469_545_200, // 12
    1_471_269_600, // 13
    1_474_383_600, // 14
    1_478_620_800, // 15
    1_481_040_000, // 16
    1_490_886_000, // 17
    1_490_886_000, // 18
    1_497_970_800, // 19
    1_537_887_600, // 20
    1_566_918_000, // 21
    1_567_090_800, // 22
    1_584_712_800, // 23
    1_601_992_800, // 24
    1_625_061_600, // 25
    1_665_489_600, // 26
    1_666_612_800, // 27
    1_763_557_200, // 28: 2025-11-19T13:00:00
];

/// Blocks at whose end hardforks 1 to 27 took effect on mainnet, from hived's `doc/hf_blocks.txt`. The block of hardfork 28 is
/// not known here.
const MAINNET_BLOCKS: [u32; 27] = [
    905_693, 934_585, 953_363, 1_041_497, 1_934_236, 2_790_882, 2_889_019, 2_889_959, 3_202_773, 3_239_649,
    3_276_913, 3_533_567, 4_105_155, 5_137_542, 6_547_932, 7_353_249, 10_629_455, 10_629_486, 12_988_978,
    26_256_743, 35_921_786, 35_974_326, 41_818_752, 47_797_680, 55_235_767, 68_676_505, 69_050_084,
];

impl HardforkSchedule {
    /// Mainnet's.
    pub(super) fn mainnet() -> Self {
        Self {
            times: MAINNET_TIMES.map(Time).to_vec(),
            blocks: &MAINNET_BLOCKS,
        }
    }

    /// A Hive testnet's: as mainnet, with three that came early.
    pub(super) fn testnet() -> Self {
        let mut times = MAINNET_TIMES;
        times[24 - 1] = 1_588_334_400;
        times[25 - 1] = 1_622_808_000;
        times[28 - 1] = 1_675_818_000;
        Self {
            times: times.map(Time).to_vec(),
            blocks: &[],
        }
    }

    /// Steem's testnet: up to 22 as mainnet, then two of its own.
    pub(super) fn steem_testnet() -> Self {
        let mut times = MAINNET_TIMES[..24].to_vec();
        times[23 - 1] = 1_570_539_600;
        times[24 - 1] = 1_571_065_200;
        Self {
            times: times.into_iter().map(Time).collect(),
            blocks: &[],
        }
    }

    /// Sets the times of hardforks `from` to `to`, both included, and forgets mainnet's blocks. Hardforks behind `to` keep
    /// their times.
    pub(super) fn set(&mut self, from: usize, to: usize, time: Time) {
        self.blocks = &[];
        for entry in self.times.iter_mut().take(to).skip(from - 1) {
            *entry = time;
        }
    }

    /// Number of hardforks that the chain knows; they are numbered from 1.
    #[must_use]
    pub fn count(&self) -> u8 {
        // At most HARDFORK_COUNT.
        self.times.len() as u8
    }

    /// Time of a hardfork; none for number 0 and for those that the chain does not know.
    #[must_use]
    pub fn time(&self, hardfork: u8) -> Option<Time> {
        self.times.get(usize::from(hardfork).checked_sub(1)?).copied()
    }

    /// Block at whose end a hardfork took effect, if that is known for this chain.
    #[must_use]
    pub fn block(&self, hardfork: u8) -> Option<u32> {
        self.blocks.get(usize::from(hardfork).checked_sub(1)?).copied()
    }

    /// The number of hardforks that are applied, in order, before the transactions of a block 1 with this time: those up
    /// to the first whose time is later.
    #[must_use]
    pub fn applied_at_start(&self, block_1_time: Time) -> u8 {
        self.times
            .iter()
            .take_while(|time| **time <= block_1_time)
            .count() as u8
    }
}
