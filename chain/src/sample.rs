//! Random values of all packed types, for tests.
//!
//! Values are drawn from a seeded source rather than built by strategies, so that the macros that define the types can
//! provide them: a type cannot be forgotten. The edges are drawn on purpose: extremes of integers, empty and full names,
//! text that is not UTF-8.

use crate::asset::{Asset, AssetSymbol, FeeAsset, FeeSymbol, HISTORICAL_FEE_SYMBOLS};
use crate::ids::{BlockId, MerkleRoot, Sha256Digest, TransactionId};
use crate::key::{PublicKey, Signature};
use crate::name::FixedText;
use crate::text::{Bytes, Text};
use crate::time::Time;
use crate::version::Version;

/// Numbers that follow from a seed (SplitMix64).
pub(crate) struct Source(pub(crate) u64);

impl Source {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len() as u64) as usize]
    }
}

pub(crate) trait Sample {
    fn sample(source: &mut Source) -> Self;
}

macro_rules! integers {
    ($($integer:ty),*) => {$(
        impl Sample for $integer {
            fn sample(source: &mut Source) -> Self {
                let any = source.next() as $integer;
                source.pick(&[<$integer>::MIN, <$integer>::MAX, 0, 1, any, any])
            }
        }
    )*};
}

integers!(u8, u16, u32, u64, i16, i64);

impl Sample for bool {
    fn sample(source: &mut Source) -> Self {
        source.below(2) == 1
    }
}

impl<const N: usize> Sample for [u8; N] {
    fn sample(source: &mut Source) -> Self {
        std::array::from_fn(|_| u8::sample(source))
    }
}

macro_rules! wrappers {
    ($($name:ident),*) => {$(
        impl Sample for $name {
            fn sample(source: &mut Source) -> Self {
                Self(Sample::sample(source))
            }
        }
    )*};
}

wrappers!(
    BlockId,
    MerkleRoot,
    Sha256Digest,
    TransactionId,
    PublicKey,
    Signature,
    Time,
    Version
);

/// Longer than one byte of a varint, not UTF-8, holds a zero byte.
const LONG: [u8; 300] = {
    let mut text = [b'x'; 300];
    text[17] = 0xff;
    text[200] = 0;
    text
};

const TEXTS: [&[u8]; 6] = [
    b"",
    b"a",
    "\u{e9}\u{4e2d}\u{1f41d}".as_bytes(),
    b"{\"key\": \"value\\n\"}",
    b"\xff\xfe not UTF-8",
    &LONG,
];

impl Sample for Text<'_> {
    fn sample(source: &mut Source) -> Self {
        Self(source.pick(&TEXTS))
    }
}

impl Sample for Bytes<'_> {
    fn sample(source: &mut Source) -> Self {
        Self(source.pick(&TEXTS))
    }
}

impl<const N: usize> Sample for FixedText<N> {
    fn sample(source: &mut Source) -> Self {
        let full = [b'z'; N];
        Self::new(source.pick(&[b"", b"initminer", b"\xf0\x9f", &full]))
    }
}

impl Sample for AssetSymbol {
    fn sample(source: &mut Source) -> Self {
        source.pick(&[Self::Hbd, Self::Hive, Self::Vests])
    }
}

impl Sample for Asset {
    fn sample(source: &mut Source) -> Self {
        Self {
            amount: Sample::sample(source),
            symbol: Sample::sample(source),
        }
    }
}

impl Sample for FeeAsset {
    fn sample(source: &mut Source) -> Self {
        let historical = source.pick(&HISTORICAL_FEE_SYMBOLS);
        let symbol = source.pick(&[FeeSymbol::Hive, FeeSymbol::Historical(historical)]);
        Self {
            amount: Sample::sample(source),
            symbol,
        }
    }
}

impl<T: Sample> Sample for Vec<T> {
    fn sample(source: &mut Source) -> Self {
        (0..source.below(4)).map(|_| T::sample(source)).collect()
    }
}

impl<T: Sample> Sample for Option<T> {
    fn sample(source: &mut Source) -> Self {
        bool::sample(source).then(|| T::sample(source))
    }
}

impl<A: Sample, B: Sample> Sample for (A, B) {
    fn sample(source: &mut Source) -> Self {
        (A::sample(source), B::sample(source))
    }
}
