//! The block that a state belongs to.

use std::fmt;

use crate::hex::Hex;

/// The block after which the state is as it is. The engine stores it and gives it no meaning: number 0 with a
/// zero id may stand for a chain's genesis.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct Head {
    /// The block's number.
    pub number: u32,
    /// The block's id.
    pub id: [u8; 20],
}

impl fmt::Display for Head {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{},{}]", self.number, Hex(&self.id))
    }
}
