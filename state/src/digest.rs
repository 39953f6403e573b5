//! One number for a whole state.
//!
//! The digest is blake3 over all registers in path order, each as
//!
//! | bytes | content |
//! |---|---|
//! | 4 | length of the key, little-endian |
//! | that many | key |
//! | 4 | length of the value, little-endian |
//! | that many | value |
//!
//! so it is a function of the set of registers alone, whatever the history, and different sets give different
//! inputs. It reads every register; it is for comparing nodes and tests, not for every block.

use std::fmt;
use std::time::Instant;

use crate::cursor::RegisterCursor;
use crate::error::StateError;
use crate::hex::Hex;

/// The digest of a state, with the size of what was read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct StateDigest {
    /// Registers read.
    pub registers: u64,
    /// Bytes of their keys and values.
    pub bytes: u64,
    /// blake3 over the registers, as the module describes.
    pub digest: [u8; 32],
}

impl fmt::Display for StateDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} registers, {} bytes, digest {}",
            self.registers,
            self.bytes,
            Hex(&self.digest)
        )
    }
}

/// Registers between two looks at the clock.
const LOOK: u64 = 4_096;

/// Reads the registers to the end; `None` when the time comes before.
pub(crate) fn of(
    mut registers: RegisterCursor<'_>,
    end: Option<Instant>,
) -> Result<Option<StateDigest>, StateError> {
    let mut hasher = blake3::Hasher::new();
    let (mut count, mut bytes) = (0, 0);
    while let Some((key, value)) = registers.next()? {
        for part in [key, value] {
            // Both are bounded far below 4 GiB by what the cursor accepts.
            hasher.update(&(part.len() as u32).to_le_bytes());
            hasher.update(part);
            bytes += part.len() as u64;
        }
        count += 1;
        if count % LOOK == 0 && end.is_some_and(|end| Instant::now() >= end) {
            return Ok(None);
        }
    }
    Ok(Some(StateDigest {
        registers: count,
        bytes,
        digest: *hasher.finalize().as_bytes(),
    }))
}
