//! The shuffle of a round's witnesses.

use cairn_chain::Time;

/// Multiplier of the generator (xorshift64*).
const MULTIPLIER: u64 = 2_685_821_657_736_338_717;

/// Brings the list into the order in which its entries get slots. `time` is that of the block that ends the round before.
pub fn shuffle<T>(list: &mut [T], time: Time) {
    let seed = u64::from(time.seconds()) << 32;
    let count = list.len() as u64;
    for index in 0..count {
        let mut k = seed.wrapping_add(index.wrapping_mul(MULTIPLIER));
        k ^= k >> 12;
        k ^= k << 25;
        k ^= k >> 27;
        k = k.wrapping_mul(MULTIPLIER);
        let other = index + k % (count - index);
        list.swap(index as usize, other as usize);
    }
}
