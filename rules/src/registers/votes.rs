//! The witnesses that an account votes for.
//!
//! Key: `01`, name, `07`. Value: 16 bytes for each witness's name, in ascending order. An account without votes has no
//! register. At most 30 since hardfork 2; one mainnet account had more before.

use cairn_chain::AccountName;

use super::{AccountField, CorruptValue, Fields, Record, TableId, named_key};

/// Witness votes of one account, sorted by name.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct WitnessVotes(Vec<AccountName>);

impl WitnessVotes {
    /// The witnesses voted for, in ascending order.
    #[must_use]
    pub fn witnesses(&self) -> &[AccountName] {
        &self.0
    }

    /// Whether there is a vote for this witness.
    #[must_use]
    pub fn contains(&self, witness: &AccountName) -> bool {
        self.0.binary_search(witness).is_ok()
    }

    /// Adds a vote; false if it is there already.
    pub fn add(&mut self, witness: AccountName) -> bool {
        match self.0.binary_search(&witness) {
            Ok(_) => false,
            Err(position) => {
                self.0.insert(position, witness);
                true
            }
        }
    }

    /// Removes a vote; false if there is none.
    pub fn remove(&mut self, witness: &AccountName) -> bool {
        match self.0.binary_search(witness) {
            Ok(position) => {
                self.0.remove(position);
                true
            }
            Err(_) => false,
        }
    }
}

impl Record for WitnessVotes {
    type Owner<'a> = &'a AccountName;
    const NAME: &'static str = "witness votes";

    fn key(owner: &AccountName, key: &mut Vec<u8>) {
        named_key(TableId::Account, owner, AccountField::WitnessVotes as u8, key);
    }

    fn encode(&self, value: &mut Vec<u8>) {
        for witness in &self.0 {
            value.extend_from_slice(witness.padded());
        }
    }

    fn decode(fields: &mut Fields<'_>) -> Result<Self, CorruptValue> {
        let mut witnesses = Vec::with_capacity(fields.remaining() / 16);
        while fields.remaining() > 0 {
            witnesses.push(fields.name()?);
        }
        if !witnesses.is_sorted_by(|left, right| left < right) {
            return Err(fields.bad_number("names in ascending order", 0));
        }
        Ok(Self(witnesses))
    }
}
