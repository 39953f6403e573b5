//! Typed registers: keys (table, owner, field) and values, and their bytes.
//!
//! A register's key starts with the byte of its table ([`TableId`]), then its owner, then, for tables with several
//! registers an owner, the byte of the field. Account names in keys are the 16 zero-padded bytes; numbers in keys are
//! big-endian, in values little-endian. Each file of this module holds one table and documents its values; every
//! value has exactly one encoding, so equal states have equal bytes.
//!
//! What is small and changes often is split from what is large and changes seldom: an account's times do not drag
//! its authorities along, nor those its metadata.
//!
//! Decoding never panics: bytes that are no value of their table are a [`TableError::Corrupt`], which can only come
//! from a damaged store or another version's store, never from a block.

mod account;
mod authority;
mod block_size;
mod comment;
mod declined_voting;
mod fields;
mod global;
mod hardfork;
mod metadata;
mod mining;
mod owner_history;
mod posting_times;
mod proposal;
mod recovery_change;
mod recovery_request;
mod reference_block;
mod schedule;
mod tables;
mod votes;
mod witness;

pub use account::AccountCore;
pub use authority::{
    ActiveAuthority, OwnerAuthority, PostingAuthority, StoredAuthority, canonical_authority,
};
pub use block_size::VotedBlockSizes;
pub use comment::{Comment, CommentFlags, CommentId, Parent};
pub use declined_voting::DeclinedVotingRequest;
pub use fields::{CorruptValue, Fields};
pub use global::Globals;
pub use hardfork::HardforkState;
pub use metadata::{JsonMetadata, PostingJsonMetadata};
pub use mining::{MinedWork, Mining};
pub use owner_history::{OwnerHistory, OwnerHistoryEntry};
pub use posting_times::PostingTimes;
pub use proposal::{Proposal, ProposalVotes};
pub use recovery_change::RecoveryAccountChange;
pub use recovery_request::RecoveryRequest;
pub use reference_block::ReferenceBlock;
pub use schedule::StoredSchedule;
pub(crate) use tables::decode;
pub use tables::{TableError, Tables};
pub use votes::WitnessVotes;
pub use witness::{Feed, Witness, WitnessActivity, WitnessByIndex, WitnessUrl, WitnessWork};

/// First byte of a register's key.
///
/// The numbers are part of the stored format: they are never given to another table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum TableId {
    /// One account, several fields; owner: name.
    Account = 0x01,
    /// Entries of the owner history; owner: name, entry number (u32).
    OwnerHistory = 0x02,
    /// One witness, several fields; owner: name.
    Witness = 0x03,
    /// Witnesses by order of creation; owner: index (u32).
    WitnessByIndex = 0x04,
    /// Comments; owner: author, permlink (without length).
    Comment = 0x05,
    /// Ring of block ids that transactions refer to; owner: slot (u16).
    ReferenceBlock = 0x06,
    /// Registers of which there is one.
    Global = 0x07,
    /// Which witness holds a piece of work as its last; owner: the work (32 bytes).
    MinedWork = 0x08,
    /// Proposals; owner: id (i64).
    Proposal = 0x0a,
    /// Work that becomes due at a time; owner: queue, kind of node, and what [`crate::time_queue`] says.
    TimeQueue = 0x0b,
}

/// Last byte of the key of an account's register ([`TableId::Account`]).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum AccountField {
    /// [`AccountCore`]; exists if and only if the account does.
    Core = 0,
    /// [`OwnerAuthority`].
    Owner = 1,
    /// [`ActiveAuthority`].
    Active = 2,
    /// [`PostingAuthority`].
    Posting = 3,
    /// [`JsonMetadata`].
    JsonMetadata = 4,
    /// [`PostingJsonMetadata`].
    PostingJsonMetadata = 5,
    /// [`PostingTimes`].
    PostingTimes = 6,
    /// [`WitnessVotes`].
    WitnessVotes = 7,
    /// [`RecoveryRequest`].
    RecoveryRequest = 8,
    /// [`RecoveryAccountChange`].
    RecoveryAccountChange = 9,
    /// [`OwnerHistory`].
    OwnerHistory = 10,
    /// [`DeclinedVotingRequest`].
    DeclinedVotingRequest = 11,
    /// [`ProposalVotes`].
    ProposalVotes = 12,
}

/// Last byte of the key of a witness's register ([`TableId::Witness`]).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum WitnessField {
    /// [`Witness`]; exists if and only if the witness does.
    Core = 0,
    /// [`WitnessActivity`]; exists if and only if the witness does.
    Activity = 1,
    /// [`WitnessUrl`].
    Url = 2,
    /// [`WitnessWork`].
    LastWork = 3,
}

/// Last byte of the key of a register of which there is one ([`TableId::Global`]).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum GlobalField {
    /// [`Globals`].
    Chain = 0,
    /// [`HardforkState`].
    Hardforks = 1,
    /// [`Mining`].
    Mining = 2,
    /// [`StoredSchedule`].
    Schedule = 3,
    /// [`VotedBlockSizes`].
    VotedBlockSizes = 4,
}

/// A kind of register: how its key is made and its value encoded.
pub trait Record: Sized {
    /// What the register belongs to.
    type Owner<'a>: Copy;

    /// Name of the kind, for errors.
    const NAME: &'static str;

    /// Appends the key.
    fn key(owner: Self::Owner<'_>, key: &mut Vec<u8>);

    /// Appends the value. A value of no bytes removes the register, as an empty list of votes does.
    fn encode(&self, value: &mut Vec<u8>);

    /// Reads the value.
    ///
    /// # Errors
    ///
    /// [`CorruptValue`] if the bytes are no value of this kind. Bytes after the value are the caller's to refuse.
    fn decode(fields: &mut Fields<'_>) -> Result<Self, CorruptValue>;
}

/// Appends the key of a register of one account or witness.
pub(crate) fn named_key(table: TableId, name: &cairn_chain::AccountName, field: u8, key: &mut Vec<u8>) {
    key.push(table as u8);
    key.extend_from_slice(name.padded());
    key.push(field);
}

/// Takes the name and field out of the key of an account's or witness's register, `None` if it is another table's.
pub(crate) fn split_named_key(table: TableId, key: &[u8]) -> Option<(cairn_chain::AccountName, u8)> {
    match key {
        [first, name @ .., field] if *first == table as u8 && name.len() == 16 => {
            Some((cairn_chain::AccountName::new(name), *field))
        }
        _ => None,
    }
}
