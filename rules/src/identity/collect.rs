//! One pass over all registers: what there is, in the order of the canonical form.

use cairn_chain::{AccountName, Time};
use cairn_state::Store;
use sha2::{Digest, Sha256};

use super::IdentityError;
use crate::registers::{
    AccountField, Comment, CommentId, Globals, OwnerHistoryEntry, Record, ReferenceBlock, TableError,
    TableId, WitnessField, decode, split_named_key,
};

/// Slots of the ring of reference blocks.
const RING_SLOTS: usize = 1 << 16;

const ID_SIZE: usize = 20;

/// Names of what there is, sorted.
pub(super) struct Collected {
    pub(super) globals: Globals,
    pub(super) accounts: Vec<AccountName>,
    pub(super) witnesses: Vec<AccountName>,
    /// Accounts that vote for witnesses.
    pub(super) voters: Vec<AccountName>,
    /// Author and permlink.
    pub(super) comments: Vec<(AccountName, Box<[u8]>)>,
    pub(super) comments_undecided: u64,
    /// Accounts with a recovery request.
    pub(super) recovery_requests: Vec<AccountName>,
    /// Accounts that change their recovery account.
    pub(super) recovery_changes: Vec<AccountName>,
    /// Owner history by order of making, with the account.
    pub(super) owner_history: Vec<(OwnerHistoryEntry, AccountName)>,
    /// Accounts that decline their voting rights.
    pub(super) declined_voting: Vec<AccountName>,
    ring: Vec<u8>,
}

impl Collected {
    pub(super) fn read(store: &Store) -> Result<Self, IdentityError> {
        let mut found = Self {
            globals: Globals::at_genesis(Time(0)),
            accounts: Vec::new(),
            witnesses: Vec::new(),
            voters: Vec::new(),
            comments: Vec::new(),
            comments_undecided: 0,
            recovery_requests: Vec::new(),
            recovery_changes: Vec::new(),
            owner_history: Vec::new(),
            declined_voting: Vec::new(),
            ring: vec![0; RING_SLOTS * ID_SIZE],
        };
        let mut global_key = Vec::new();
        Globals::key((), &mut global_key);
        let mut registers = store.registers();
        while let Some((key, value)) = registers.next()? {
            if key == global_key {
                found.globals = decode(key, value)?;
            } else {
                found.add(key, value)?;
            }
        }
        found.sort();
        Ok(found)
    }

    fn add(&mut self, key: &[u8], value: &[u8]) -> Result<(), TableError> {
        if let Some((name, field)) = split_named_key(TableId::Account, key) {
            if let Some(names) = self.accounts_with(field) {
                names.push(name);
            }
        } else if let Some((name, field)) = split_named_key(TableId::Witness, key) {
            if field == WitnessField::Core as u8 {
                self.witnesses.push(name);
            }
        } else if let Some((author, permlink)) = CommentId::split_key(key) {
            if decode::<Comment>(key, value)?.flags.deletion_undecided {
                self.comments_undecided += 1;
            } else {
                self.comments.push((author, permlink.into()));
            }
        } else if let Some(account) = OwnerHistoryEntry::owner_of(key) {
            self.owner_history.push((decode(key, value)?, account));
        } else if let Some(slot) = ReferenceBlock::slot_of(key) {
            let ReferenceBlock(id) = decode(key, value)?;
            let offset = usize::from(slot) * ID_SIZE;
            self.ring[offset..offset + ID_SIZE].copy_from_slice(id.as_bytes());
        }
        Ok(())
    }

    /// The list of the accounts that have this field, if there is one.
    fn accounts_with(&mut self, field: u8) -> Option<&mut Vec<AccountName>> {
        const CORE: u8 = AccountField::Core as u8;
        const VOTES: u8 = AccountField::WitnessVotes as u8;
        const REQUEST: u8 = AccountField::RecoveryRequest as u8;
        const CHANGE: u8 = AccountField::RecoveryAccountChange as u8;
        const DECLINED: u8 = AccountField::DeclinedVotingRequest as u8;
        match field {
            CORE => Some(&mut self.accounts),
            VOTES => Some(&mut self.voters),
            REQUEST => Some(&mut self.recovery_requests),
            CHANGE => Some(&mut self.recovery_changes),
            DECLINED => Some(&mut self.declined_voting),
            _ => None,
        }
    }

    fn sort(&mut self) {
        for names in [
            &mut self.accounts,
            &mut self.witnesses,
            &mut self.voters,
            &mut self.recovery_requests,
            &mut self.recovery_changes,
            &mut self.declined_voting,
        ] {
            names.sort_unstable();
        }
        self.comments.sort_unstable();
        self.owner_history
            .sort_unstable_by_key(|(entry, _)| entry.sequence);
    }

    pub(super) fn ring_digest(&self) -> [u8; 32] {
        Sha256::digest(&self.ring).into()
    }
}
