//! How many registers there are and how many bytes they hold, kept by differences.

/// The size of a state. Kept up to date by the differences that changes make, and stored with the head, so that
/// nobody has to walk the state to know it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counts {
    /// Registers that exist.
    pub registers: u64,
    /// Bytes of their keys and values together, without what the store adds.
    pub bytes: u64,
}

impl Counts {
    /// These counts after a change, or `None` when the result would not be a count: then the counts that were
    /// stored are wrong.
    pub(crate) fn checked_add(self, change: CountsChange) -> Option<Self> {
        Some(Self {
            registers: self.registers.checked_add_signed(change.registers)?,
            bytes: self.bytes.checked_add_signed(change.bytes)?,
        })
    }
}

/// The difference between two [`Counts`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct CountsChange {
    registers: i64,
    bytes: i64,
}

impl CountsChange {
    /// This change without an earlier part of it.
    pub(crate) fn since(self, earlier: Self) -> Self {
        Self {
            registers: self.registers - earlier.registers,
            bytes: self.bytes - earlier.bytes,
        }
    }

    /// Adds the change of one register from one size to another; size 0 is an unallocated register.
    pub(crate) fn resize(&mut self, from: usize, to: usize) {
        self.registers += i64::from(to > 0) - i64::from(from > 0);
        self.bytes += to as i64 - from as i64;
    }
}
