//! Proposals, as far as identity needs them: that they exist, and who votes for which.
//!
//! * proposal, key `0a`, id (8, big-endian); 36 bytes: creator (16), receiver (16), end date (4);
//! * votes of an account, key `01`, name, `0c`; 8 bytes for each id, in ascending order. No register without votes.

use cairn_chain::{AccountName, Time};

use super::{AccountField, CorruptValue, Fields, Record, TableId, named_key};

/// A proposal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Proposal {
    /// Who made it.
    pub creator: AccountName,
    /// Whom it pays.
    pub receiver: AccountName,
    /// When it ends.
    pub end_date: Time,
}

impl Record for Proposal {
    type Owner<'a> = i64;
    const NAME: &'static str = "proposal";

    fn key(id: i64, key: &mut Vec<u8>) {
        key.push(TableId::Proposal as u8);
        key.extend_from_slice(&id.to_be_bytes());
    }

    fn encode(&self, value: &mut Vec<u8>) {
        value.extend_from_slice(self.creator.padded());
        value.extend_from_slice(self.receiver.padded());
        value.extend_from_slice(&self.end_date.0.to_le_bytes());
    }

    fn decode(fields: &mut Fields<'_>) -> Result<Self, CorruptValue> {
        Ok(Self {
            creator: fields.name()?,
            receiver: fields.name()?,
            end_date: fields.time()?,
        })
    }
}

/// The proposals that an account votes for. Votes for proposals that are gone may be among them; they do not count.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ProposalVotes(Vec<i64>);

impl ProposalVotes {
    /// The ids, in ascending order.
    #[must_use]
    pub fn proposals(&self) -> &[i64] {
        &self.0
    }

    /// Adds a vote; nothing happens if it is there already.
    pub fn add(&mut self, proposal: i64) {
        if let Err(position) = self.0.binary_search(&proposal) {
            self.0.insert(position, proposal);
        }
    }

    /// Removes a vote, if there is one.
    pub fn remove(&mut self, proposal: i64) {
        if let Ok(position) = self.0.binary_search(&proposal) {
            self.0.remove(position);
        }
    }
}

impl Record for ProposalVotes {
    type Owner<'a> = &'a AccountName;
    const NAME: &'static str = "proposal votes";

    fn key(owner: &AccountName, key: &mut Vec<u8>) {
        named_key(TableId::Account, owner, AccountField::ProposalVotes as u8, key);
    }

    fn encode(&self, value: &mut Vec<u8>) {
        for id in &self.0 {
            value.extend_from_slice(&id.to_le_bytes());
        }
    }

    fn decode(fields: &mut Fields<'_>) -> Result<Self, CorruptValue> {
        let mut ids = Vec::with_capacity(fields.remaining() / 8);
        while fields.remaining() > 0 {
            ids.push(fields.i64()?);
        }
        if !ids.is_sorted_by(|left, right| left < right) {
            return Err(fields.bad_number("ids in ascending order", 0));
        }
        Ok(Self(ids))
    }
}
