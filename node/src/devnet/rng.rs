//! The generator's random numbers: splitmix64 (Steele, Lea, Flood 2014) to spread a seed, and
//! xoshiro256++ (Blackman, Vigna 2018) for the stream.
//!
//! They are written out here because a devnet must be the same bytes for the same seed for as long as the
//! project lives, and a library is free to change its stream with any release.

/// One step of splitmix64: a well-mixed value for each input, also for neighboring inputs.
pub(super) fn mix(value: u64) -> u64 {
    let mut z = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// A stream of pseudo-random numbers; equal seeds give equal streams.
#[derive(Debug, Clone)]
pub(super) struct Rng {
    state: [u64; 4],
}

impl Rng {
    pub(super) fn new(seed: u64) -> Self {
        let mut at = seed;
        let state = std::array::from_fn(|_| {
            let value = mix(at);
            at = at.wrapping_add(0x9e37_79b9_7f4a_7c15);
            value
        });
        Self { state }
    }

    pub(super) fn next(&mut self) -> u64 {
        let s = &mut self.state;
        let result = s[0].wrapping_add(s[3]).rotate_left(23).wrapping_add(s[0]);
        let shifted = s[1] << 17;
        s[2] ^= s[0];
        s[3] ^= s[1];
        s[1] ^= s[2];
        s[0] ^= s[3];
        s[2] ^= shifted;
        s[3] = s[3].rotate_left(45);
        result
    }

    /// A number below `bound`; 0 if `bound` is 0.
    ///
    /// The upper half of a 64 by 64 bit product. Its bias (at most `bound` / 2^64) does not matter here.
    pub(super) fn below(&mut self, bound: u32) -> u32 {
        ((u128::from(self.next()) * u128::from(bound)) >> 64) as u32
    }

    /// A number from `low` to `high`, both included.
    pub(super) fn between(&mut self, low: u32, high: u32) -> u32 {
        low + self.below(high - low + 1)
    }

    /// True in `percent` of 100 cases.
    pub(super) fn percent(&mut self, percent: u32) -> bool {
        self.below(100) < percent
    }

    /// One of `items`, which must not be empty.
    pub(super) fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len() as u32) as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::{Rng, mix};

    #[test]
    fn splitmix_gives_the_published_numbers() {
        // Reference output of splitmix64 for the seed 1234567 (first two values).
        assert_eq!(mix(1_234_567), 6_457_827_717_110_365_317);
        assert_eq!(
            mix(1_234_567u64.wrapping_add(0x9e37_79b9_7f4a_7c15)),
            3_203_168_211_198_807_973
        );
    }

    #[test]
    fn xoshiro_gives_the_published_numbers() {
        // Reference output of xoshiro256++ for the state 1, 2, 3, 4.
        let mut rng = Rng { state: [1, 2, 3, 4] };
        assert_eq!(
            [rng.next(), rng.next(), rng.next()],
            [41_943_041, 58_720_359, 3_588_806_011_781_223]
        );
    }

    #[test]
    fn bounds_hold_and_are_reached() {
        let mut rng = Rng::new(7);
        let mut seen = [false; 6];
        for _ in 0..1000 {
            seen[rng.between(3, 8) as usize - 3] = true;
        }
        assert_eq!(seen, [true; 6]);
        assert_eq!(rng.below(0), 0);
    }
}
