//! Hashing many blocks of 64 bytes side by side.

use blake3::IncrementCounter;
use blake3::platform::{Platform, words_from_le_bytes_32};

use super::scheme::{INTERIOR_KEY, LEAF_KEY};

/// Blocks that are hashed in one call, at most. With AVX-512 blake3 hashes 16 of them in the registers of one core;
/// processors with narrower registers take two or four turns for them.
pub(super) const WIDTH: usize = 16;

/// How blocks are hashed: many a call, or one. The hashes are the same.
///
/// The function behind the first way is public in blake3 but hidden from its documentation and may change in any
/// release, so the workspace pins blake3's version, and a test compares both ways.
#[derive(Clone, Copy, Debug)]
pub struct Lanes {
    platform: Platform,
    width: usize,
}

impl Lanes {
    /// Up to sixteen a call, with what the processor has: AVX-512, AVX2, SSE or NEON, else plain code.
    #[must_use]
    pub fn many() -> Self {
        Self {
            platform: Platform::detect(),
            width: WIDTH,
        }
    }

    /// One a call, by blake3's documented interface. For comparison.
    #[must_use]
    pub fn one() -> Self {
        Self {
            platform: Platform::detect(),
            width: 1,
        }
    }

    /// As [`Self::many`] on a processor without such registers.
    #[cfg(test)]
    pub(super) fn portable() -> Self {
        Self {
            platform: Platform::portable(),
            width: WIDTH,
        }
    }

    /// Blocks a call.
    pub(super) fn width(self) -> usize {
        self.width
    }

    /// Hashes each block under one of the scheme's keys. There are as many outputs as blocks, at most [`WIDTH`].
    pub(super) fn hash(self, domain: Domain, blocks: &[&[u8; 64]], out: &mut [[u8; 32]]) {
        /// blake3's flags, by its specification.
        const CHUNK_START: u8 = 1;
        const CHUNK_END: u8 = 2;
        const ROOT: u8 = 8;
        const KEYED_HASH: u8 = 16;
        if self.width == 1 {
            for (block, out) in blocks.iter().zip(out) {
                *out = *blake3::keyed_hash(domain.key(), *block).as_bytes();
            }
            return;
        }
        self.platform.hash_many(
            blocks,
            &words_from_le_bytes_32(domain.key()),
            0,
            IncrementCounter::No,
            KEYED_HASH,
            CHUNK_START,
            CHUNK_END | ROOT,
            out.as_flattened_mut(),
        );
    }
}

impl Default for Lanes {
    fn default() -> Self {
        Self::many()
    }
}

/// What a block is: each kind has a key of its own.
#[derive(Clone, Copy, Debug)]
pub(super) enum Domain {
    Leaf,
    Interior,
}

impl Domain {
    fn key(self) -> &'static [u8; 32] {
        match self {
            Self::Leaf => LEAF_KEY,
            Self::Interior => INTERIOR_KEY,
        }
    }
}
