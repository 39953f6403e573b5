//! The chain's global properties. One register, kept in memory and written once a block.
//!
//! Key: `07`, `00`. Value, 69 bytes: head number (4), head id (20), head time (4), hardfork (1), witnesses (4), accounts
//! (8), next proposal (8), owner authorities replaced (8), witness votes (8), witnesses
//! that are switched on (4).

use cairn_chain::{BlockId, Time};

use super::{CorruptValue, Fields, GlobalField, Record, TableId};

/// Numbers of which the chain has one each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Globals {
    /// Number of the last block; 0 before the first.
    pub head_number: u32,
    /// Its id; zeros before the first block.
    pub head_id: BlockId,
    /// Its time; genesis time before the first block.
    pub head_time: Time,
    /// The last hardfork that took effect.
    pub hardfork: u8,
    /// Witnesses, whether switched on or off. The next one's index.
    pub witnesses: u32,
    /// Accounts. The next one's index.
    pub accounts: u64,
    /// Id of the next proposal.
    pub next_proposal: i64,
    /// Owner authorities replaced so far, of those that went into an owner history.
    pub owner_changes: u64,
    /// Witness votes of all accounts.
    pub witness_votes: u64,
    /// Witnesses with a signing key.
    pub enabled_witnesses: u32,
}

impl Globals {
    /// Before the first block.
    #[must_use]
    pub fn at_genesis(genesis_time: Time) -> Self {
        Self {
            head_number: 0,
            head_id: BlockId::ZERO,
            head_time: genesis_time,
            hardfork: 0,
            witnesses: 0,
            accounts: 0,
            next_proposal: 0,
            owner_changes: 0,
            witness_votes: 0,
            enabled_witnesses: 0,
        }
    }
}

impl Record for Globals {
    type Owner<'a> = ();
    const NAME: &'static str = "global properties";

    fn key((): (), key: &mut Vec<u8>) {
        key.extend_from_slice(&[TableId::Global as u8, GlobalField::Chain as u8]);
    }

    fn encode(&self, value: &mut Vec<u8>) {
        value.extend_from_slice(&self.head_number.to_le_bytes());
        value.extend_from_slice(self.head_id.as_bytes());
        value.extend_from_slice(&self.head_time.0.to_le_bytes());
        value.push(self.hardfork);
        value.extend_from_slice(&self.witnesses.to_le_bytes());
        value.extend_from_slice(&self.accounts.to_le_bytes());
        value.extend_from_slice(&self.next_proposal.to_le_bytes());
        value.extend_from_slice(&self.owner_changes.to_le_bytes());
        value.extend_from_slice(&self.witness_votes.to_le_bytes());
        value.extend_from_slice(&self.enabled_witnesses.to_le_bytes());
    }

    fn decode(fields: &mut Fields<'_>) -> Result<Self, CorruptValue> {
        Ok(Self {
            head_number: fields.u32()?,
            head_id: fields.array().map(BlockId)?,
            head_time: fields.time()?,
            hardfork: fields.u8()?,
            witnesses: fields.u32()?,
            accounts: fields.u64()?,
            next_proposal: fields.i64()?,
            owner_changes: fields.u64()?,
            witness_votes: fields.u64()?,
            enabled_witnesses: fields.u32()?,
        })
    }
}
